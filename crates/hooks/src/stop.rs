use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, Instant};

use counterfoil_guard::{Guard, Redactor, Review, Session, reason, review};
use counterfoil_judge::Contradicted;
use counterfoil_model::{
    Agent, Digest, Finding, Message, Role, Severity, Subject, Transcript, Verdict,
};
use counterfoil_rules::set_aside_feedback;

use crate::answer::{Answer, Decision};
use crate::contract::transcripts;
use crate::event::Event;
use crate::late::{Coverage, Receipt, add_last, add_receipts, believed};
use crate::memory::{Memory, Turn};
use crate::options::StopMode;
use crate::respond::{RespondError, Surrounding};
use crate::sub_agent::who_speaks;

/// How often a late or missing file is waited for, and how long each time.
const PATIENCE: u32 = 5;
const STEP: Duration = Duration::from_millis(100);
/// The time after which the file is not read again.
const LONGEST: Duration = Duration::from_millis(500);

/// The limit on how often an agent is sent back without a stop that passed, as a multiple of the
/// number of blocks in a row. It holds however often prompts reset the count.
const IN_ALL: u64 = 4;

/// The maximum number of warnings in one notice.
const MOST_WARNINGS: usize = 5;

/// The maximum number of bytes since the last stop that are judged, newest first. Judging more
/// could take longer than the agent waits, and then nothing would be judged.
const MOST_JUDGED: usize = 128 * 1024;

/// The agent or sub-agent that stops, with its log.
struct Speaker<'e> {
    log: Cow<'e, Path>,
    /// The name of the sub-agent; `None` for the main agent.
    name: Option<Cow<'e, str>>,
}

impl<'e> Speaker<'e> {
    /// Identifies the speaker. Returns an error with the notice for the person if nothing can be
    /// checked. Gemini CLI gives only the folder of its sub-agents' logs.
    fn from_event(event: &'e Event, agent: Agent) -> Result<Self, &'static str> {
        const NO_LOG: &str =
            "counterfoil: the agent did not name its transcript; nothing was checked";
        const WHO_SPEAKS: &str =
            "counterfoil: cannot tell which sub-agent is reporting; its report was not checked";
        let log = event.transcript.as_deref().ok_or(NO_LOG)?;
        if agent == Agent::Gemini && log.is_dir() {
            let helper = who_speaks(log).ok_or(WHO_SPEAKS)?;
            return Ok(Self { log: helper.path.into(), name: Some(helper.name.into()) });
        }
        Ok(Self { log: log.into(), name: event.agent.as_deref().map(Cow::from) })
    }
}

/// What was said since the last stop, and its findings.
struct Judged {
    turn: Turn,
    /// Whether the last message was missing from the log.
    added: bool,
    coverage: Coverage,
    review: Review,
    /// The number of bytes that were not judged.
    left_out: usize,
}

/// Checks what was said since the last stop against the record.
pub(crate) async fn stop(
    guard: &Guard,
    session: &Session,
    around: &Surrounding<'_>,
    event: &Event,
    last: Option<&str>,
    again: bool,
) -> Result<Answer, RespondError> {
    if around.settings.stop == StopMode::Off {
        return Ok(Answer::default());
    }
    let speaker = match Speaker::from_event(event, around.agent) {
        Ok(speaker) => speaker,
        Err(why) => return Ok(Answer::notice(why)),
    };
    let agent = speaker.name.as_deref();
    let mut memory = match around.folder {
        Some(folder) => Memory::open(folder, &event.session, agent)?,
        None => Memory::none(),
    };
    memory.at_prompt(event.prompt.as_deref());
    memory.set_by_plugin(around.by_plugin);
    let reported = last;
    // This agent reports everything that it said since the user's prompt.
    let last = match around.agent {
        Agent::Gemini if agent.is_none() => last.map(|last| memory.not_judged(last)),
        Agent::Gemini | Agent::ClaudeCode | Agent::Codex => last,
    };
    let last = last.map(str::to_owned);
    let mut judged = judge(guard, session, around, event, &speaker, &memory, last.as_deref())?;
    let heard = judged.turn.transcript.messages.iter().skip(judged.turn.first);
    for outcome in heard.flat_map(|message| &message.outcomes).filter(|outcome| outcome.refused) {
        // There is no event for a call that the user denied: only the transcript shows it.
        session.not_made(&outcome.call_id).await?;
    }
    let (blocks, may) = may_send_back(&memory, around, again);
    let unread = read_by_judge(guard, &mut judged, &mut memory).await;
    let mut answer = answer(&judged, may);
    if let Some(why) = unread {
        answer.add_notice(&format!("counterfoil: the answer was not checked by the judge: {why}"));
    }
    memory.set_blocks(if answer.decision.is_some() { blocks + 1 } else { 0 });
    memory.set_judged(answer.decision.is_some(), reported.unwrap_or_default());
    memory.set_late(last.filter(|_| judged.added).as_deref().map(digest).unwrap_or_default());
    // A sub-agent gets no further prompt.
    if let (Some(notice), None) = (&answer.notice, agent) {
        memory.set_pending(notice.clone());
    }
    let Judged { turn, review, .. } = judged;
    memory.keep(Some(turn))?;
    let findings = review.blocking.iter().chain(&review.warnings);
    session.judged(&review.answer, findings).await.map_err(RespondError::NotJudged)?;
    Ok(answer)
}

/// Has a judge read the last answer if the rules found nothing; returns why it was not read. If no
/// tool was called since, earlier contradictions are reported again without asking the judge.
async fn read_by_judge(guard: &Guard, judged: &mut Judged, memory: &mut Memory) -> Option<String> {
    if !judged.review.blocking.is_empty() {
        return None;
    }
    let transcript = &judged.turn.transcript;
    let is_answer =
        |message: &Message| message.role == Role::Assistant && message.text == judged.review.answer;
    let turn = transcript.messages.iter().rposition(is_answer)?;
    let new = transcript.messages.get(judged.turn.first..).unwrap_or_default();
    if new.iter().all(|message| message.calls.is_empty()) {
        let answer = transcript.messages.get(turn)?;
        let again = memory.contradicted().iter().filter_map(|kept| kept.again(answer, turn));
        judged.review.blocking.extend(again);
        if !judged.review.blocking.is_empty() {
            return None;
        }
    }
    let mut findings = Vec::new();
    let unread = guard.read_answer(transcript, turn, &mut findings).await;
    let (errors, others): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| finding.severity == Severity::Error);
    if unread.is_none() {
        memory.set_contradicted(errors.iter().filter_map(Contradicted::from_finding).collect());
    }
    let warnings = others.into_iter().filter(|finding| finding.severity == Severity::Warning);
    judged.review.warnings.extend(warnings);
    judged.review.blocking.extend(errors);
    unread
}

/// Reads and judges the log, and retries for a while if it is written late.
fn judge(
    guard: &Guard,
    session: &Session,
    around: &Surrounding<'_>,
    event: &Event,
    speaker: &Speaker<'_>,
    memory: &Memory,
    last: Option<&str>,
) -> Result<Judged, RespondError> {
    let (format, grows) = transcripts(around.agent);
    let agent = speaker.name.as_deref();
    let (mut patience, began) = (PATIENCE, Instant::now());
    loop {
        let waits = patience > 0 && began.elapsed() <= LONGEST;
        patience = patience.saturating_sub(1);
        if waits && agent.is_some() && !speaker.log.exists() {
            std::thread::sleep(STEP);
            continue;
        }
        let mut turn = memory.read_on(&speaker.log, format, grows)?;
        turn.skip_late(memory.late());
        set_aside_feedback(&mut turn.transcript);
        if let Some(folder) = &event.cwd {
            turn.transcript.directory = Some(folder.display().to_string());
        }
        let (first, transcript) = (turn.first, &mut turn.transcript);
        let added = add_last(transcript, first, last, agent);
        let coverage = add_receipts(transcript, first, guard.ledger(), session.id(), agent);
        let (first, left_out) = newest(transcript, first);
        let mut found = review(transcript, first, guard.rules());
        // If the file lacks the last message, it may also lack a call before it, and if the hook
        // gets no tool events, the call is nowhere else. Waiting is better than sending the agent
        // back by mistake.
        let late = added && !coverage.recorded && !found.blocking.is_empty()
            || !coverage.unheard.is_empty();
        if late && waits {
            std::thread::sleep(STEP);
            continue;
        }
        if !coverage.unheard.is_empty() {
            let believed = believed(transcript.clone(), first, &coverage.unheard, agent);
            let mut shown = review(&believed.transcript, first, guard.rules()).blocking;
            shown.iter_mut().for_each(|finding| finding.turn = believed.before(finding.turn));
            block_what_nothing_shows(&mut found, shown);
        }
        return Ok(Judged { turn, added, coverage, review: found, left_out });
    }
}

/// Selects the newest messages that fit into the limit. Returns the index of the first one, and the
/// number of bytes that were left out. A last message that is too long keeps its beginning and its
/// end.
fn newest(transcript: &mut Transcript, first: usize) -> (usize, usize) {
    let (mut judged, mut from, mut left_out) = (0, transcript.messages.len(), 0);
    for (at, message) in transcript.messages.iter_mut().enumerate().skip(first).rev() {
        if message.role != Role::Assistant {
            continue;
        }
        let length = message.text.len();
        if judged > 0 && judged + length > MOST_JUDGED {
            left_out += length;
            continue;
        }
        if length > MOST_JUDGED {
            let head = message.text.floor_char_boundary(MOST_JUDGED / 2);
            let tail = message.text.ceil_char_boundary(length - MOST_JUDGED / 2);
            let parts = [message.text.get(..head), message.text.get(tail..)];
            left_out += tail - head;
            message.text = parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
        }
        // Nothing older than a message that was left out is judged.
        if left_out == 0 || judged == 0 {
            from = at;
        }
        judged += length.min(MOST_JUDGED);
    }
    (if left_out == 0 { first } else { from }, left_out)
}

/// Blocks claims that would not be shown even if all receipts were believed: they are false however
/// late the log is.
fn block_what_nothing_shows(found: &mut Review, believed: Vec<Finding>) {
    let place = |finding: &Finding| match &finding.subject {
        Subject::Claim { span, .. } => Some(*span),
        Subject::Call(_) => None,
    };
    let same =
        |a: &Finding, b: &Finding| a.code == b.code && a.turn == b.turn && place(a) == place(b);
    for finding in believed.into_iter().filter(|f| f.verdict == Verdict::Unsupported) {
        if found.blocking.iter().all(|known| !same(known, &finding)) {
            found.warnings.retain(|known| !same(known, &finding));
            found.blocking.push(finding);
        }
    }
}

/// How many times in a row the agent was sent back, and whether it may be sent back again.
fn may_send_back(memory: &Memory, around: &Surrounding<'_>, again: bool) -> (u64, bool) {
    let most = u64::from(around.settings.blocks_in_a_row);
    // Without a memory nothing is counted, so the agent is not sent back a second time.
    let (blocks, in_all) = match memory.is_kept() {
        true => (memory.blocks(), memory.sent_back()),
        false => (if again { most } else { 0 }, 0),
    };
    let always = in_all >= most.saturating_mul(IN_ALL);
    (blocks, around.settings.stop == StopMode::Block && blocks < most && !always)
}

fn answer(judged: &Judged, may_send_back: bool) -> Answer {
    let Judged { turn, coverage, review, left_out, .. } = judged;
    let (mut answer, redactor) = (Answer::default(), Redactor::standard());
    if *left_out > 0 {
        answer.add_notice(&format!(
            "counterfoil: the agent's text is too long; its first {} kB were not checked",
            left_out.div_ceil(1000)
        ));
    }
    if !review.blocking.is_empty() && may_send_back {
        let reason = in_full(&review.blocking, &turn.transcript, coverage);
        answer.decision = Some(Decision::GoOn(redactor.redact(&reason).into_owned()));
    } else if let Some(text) = warnings(review, coverage) {
        answer.add_notice(&redactor.redact(&text));
    }
    answer
}

pub(crate) fn digest(text: &str) -> String {
    Digest::of_bytes(text.trim().as_bytes()).to_string()
}

fn in_full(blocking: &[Finding], transcript: &Transcript, coverage: &Coverage) -> String {
    let mut text = reason(blocking, transcript);
    if let Some(gap) = gap(coverage) {
        text.push_str("\n\n");
        text.push_str(&gap);
    }
    text
}

fn warnings(review: &Review, coverage: &Coverage) -> Option<String> {
    let findings: Vec<&Finding> = review.blocking.iter().chain(&review.warnings).collect();
    if findings.is_empty() {
        let tampering = tampering(coverage);
        return (!tampering.is_empty()).then(|| format!("counterfoil: {}", tampering.join("; ")));
    }
    let mut text = "counterfoil: the record does not support everything the agent said".to_owned();
    for finding in findings.iter().take(MOST_WARNINGS) {
        text.push_str(&format!("\n- {}", counterfoil_guard::remark(finding)));
    }
    if findings.len() > MOST_WARNINGS {
        text.push_str(&format!("\n- and {} more", findings.len() - MOST_WARNINGS));
    }
    if let Some(gap) = gap(coverage) {
        text.push('\n');
        text.push_str(&gap);
    }
    Some(text)
}

/// A notice if the agent's own log and the receipts differ.
fn gap(coverage: &Coverage) -> Option<String> {
    let Coverage { calls, without, .. } = coverage;
    let mut notices = tampering(coverage);
    if *without > 0 {
        notices.push(format!(
            "({without} of {calls} tool calls in this turn have no receipt; the \
            agent's own log was used instead)"
        ));
    }
    (!notices.is_empty()).then(|| notices.join("\n"))
}

/// Notices about receipts or log entries that may be forged.
fn tampering(coverage: &Coverage) -> Vec<String> {
    let named = |tools: &[&str]| {
        let mut names: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
        names.dedup();
        names.join(", ")
    };
    let mut notices = Vec::new();
    if !coverage.unheard.is_empty() {
        let tools: Vec<&str> = coverage.unheard.iter().map(Receipt::tool).collect();
        let tools = named(&tools);
        notices.push(format!(
            "receipts for {tools} name calls that are not in the agent's own log; these receipts \
            support no claim [FK040 receipt-tampering]"
        ));
    }
    if !coverage.differing.is_empty() {
        let tools: Vec<&str> = coverage.differing.iter().map(String::as_str).collect();
        let tools = named(&tools);
        notices.push(format!(
            "the agent's own log has a different result for {tools} than the \
            receipts; the receipts take precedence [FK040 receipt-tampering]"
        ));
    }
    notices
}

#[cfg(test)]
mod tests {
    use counterfoil_model::Format;

    use super::*;

    #[test]
    fn the_newest_is_judged_where_there_is_too_much() {
        let kb = |count: usize| "x".repeat(count * 1024);
        for (sizes, from, left_out) in [
            (vec![1, 1, 1], 0, 0),
            (vec![100, 100, 20], 1, 100),
            (vec![1, 1000], 1, 1000 - 128 + 1),
            (vec![1000], 0, 1000 - 128),
            (vec![], 0, 0),
        ] {
            let mut transcript = Transcript::new("s", Format::ClaudeCode);
            let messages = sizes.iter().map(|count| Message::text(Role::Assistant, kb(*count)));
            transcript.messages.extend(messages);
            assert_eq!(newest(&mut transcript, 0), (from, left_out * 1024), "{sizes:?}");
        }
    }
}
