use counterfoil_model::{Code, Format, Mode, Role};

use crate::facts::{Execution, Facts};
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::rule::Rule;
use crate::tool_use::{
    Known, Mention, Used, is_like_called, is_talked_about, known, mentions, used,
};

/// FK014: the agent names a tool as used that does not exist or was never called.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("FK014"),
    "hallucinated-tool",
    Mode::Block,
    "the agent claims to have used a tool that is not in the catalog or was never called",
    include_str!("../../spec/FK014.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    let catalogued = |name: &str| facts.names().has(name);
    for mention in facts.answers().iter().flat_map(|answer| mentions(answer, &catalogued)) {
        judge(facts, findings, &mention);
    }
}

fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, mention: &Mention) {
    let Mention { claim, name, .. } = mention;
    let turn = claim.turn;
    // Another tool may do the same.
    if mention.by_deed && facts.record().count_before(turn) > 0
        || mention.alone && is_no_report(facts, turn)
    {
        return;
    }
    let provable = match used(facts, name, turn) {
        Used::Yes(execution) => {
            let Some(why) = cannot_have_run(facts, execution, name) else {
                return findings.supported(claim, [facts.evidence(execution)]);
            };
            let note = Note::proven(why)
                .help("say which tool was really used")
                .evidence([facts.evidence(execution)]);
            return findings.contradicted(facts, claim, note);
        }
        // A call after the announcement counts as use, too.
        Used::No(provable) => {
            let later = |execution: &Execution<'_>| {
                execution.called_at >= turn && execution.tool() == name.as_str()
            };
            provable && !facts.record().executions().iter().any(later)
        }
    };
    not_used(facts, findings, mention, provable);
}

/// Judges a mention of a tool that no call used.
fn not_used(facts: &Facts<'_>, findings: &mut Findings<'_>, mention: &Mention, provable: bool) {
    let Mention { claim, name, .. } = mention;
    let turn = claim.turn;
    match known(facts, name) {
        Known::Tool(tool) => findings.unsupported(
            facts,
            claim,
            Note::proven(format!("`{}` was never called", tool.name))
                .help("call the tool, or do not mention it")
                .provable_if(provable),
        ),
        Known::Unavailable(tool) => findings.contradicted(
            facts,
            claim,
            Note::proven(format!("`{}` is not available", tool.name))
                .help("say which tool was really used"),
        ),
        // Such words may mean any tool that was called, or what it ran.
        Known::No if mention.loose && facts.record().count_before(turn) > 0 => {
            findings.not_checkable(claim, "the words may describe a tool that was called");
        }
        Known::No if is_like_called(facts, name, turn) => {
            findings.not_checkable(claim, "the name may mean a tool that was called");
        }
        Known::No if is_subject_matter(facts, mention) => {
            findings.not_checkable(claim, "the name may mean something other than a tool");
        }
        Known::No => findings.contradicted(
            facts,
            claim,
            Note::proven(format!("there is no tool `{name}`"))
                .help("say which tool was really used; the catalog has no tool with this name")
                .provable_if(provable),
        ),
        Known::Unknown if calls_nothing(facts, mention) => findings.unsupported(
            facts,
            claim,
            Note::proven(format!("`{name}` was never called; the log contains no calls"))
                .help("call the tool, or do not mention it")
                .provable_if(provable),
        ),
        Known::Unknown => findings.not_checkable(claim, "the log has no list of tools"),
    }
}

/// Whether "Using the X service." may answer a question, or announce a call.
fn is_no_report(facts: &Facts<'_>, turn: usize) -> bool {
    let mut before = facts.transcript().messages.iter().take(turn).rev();
    let request = before.find(|message| message.role == Role::User);
    let asks = |word: &str| ["how", "what", "which"].iter().any(|w| word.eq_ignore_ascii_case(w));
    let mut words = request.iter().flat_map(|message| message.text.split(' '));
    words.any(|word| asks(word) || word.contains('?'))
        || facts.record().executions().iter().any(|execution| execution.called_at >= turn)
}

/// Returns why a call does not count as use: its tool is marked as not available, or is not
/// registered and returned nothing.
fn cannot_have_run(facts: &Facts<'_>, execution: &Execution<'_>, name: &str) -> Option<String> {
    let unanswered = execution.text().is_empty() && !execution.tool().is_empty();
    match known(facts, name) {
        Known::Unavailable(tool) => Some(format!("`{}` is marked as not available", tool.name)),
        _ if !unanswered => None,
        Known::No if matches!(known(facts, execution.tool()), Known::No) => {
            Some(format!("there is no tool `{name}`, and the call returned nothing"))
        }
        _ => None,
    }
}

/// Whether a coding agent's own log, which always has the calls, has none, and nobody else spoke of
/// the tool. Next to other calls, one of them may be what the agent calls by this name.
fn calls_nothing(facts: &Facts<'_>, mention: &Mention) -> bool {
    use Format as F;
    let format = facts.transcript().format;
    matches!(format, F::ClaudeCode | F::Codex | F::CodexExec | F::GeminiCli | F::Opencode)
        && mention.noun.starts_with("tool")
        && facts.record().executions().is_empty()
        && !is_subject_matter(facts, mention)
}

/// Whether the name may be part of the topic rather than a tool of the agent: it occurs in what the
/// agent was given, or is a program or a service that a shell can reach. Where nothing was called,
/// a name that the user gave is no excuse.
fn is_subject_matter(facts: &Facts<'_>, mention: &Mention) -> bool {
    let turn = mention.claim.turn;
    let plain_tool = mention.noun.starts_with("tool");
    if plain_tool && mention.called && facts.record().count_before(turn) == 0 {
        return false;
    }
    // A program of the project may be called `run_speed_test`; a program that is known is not.
    let reaches = match mention.name.contains('_') {
        true => facts.is_opaque_before(turn),
        false => facts.runs_shell_before(turn),
    };
    (reaches && (!plain_tool || !mention.called)) || is_talked_about(facts, &mention.name, turn)
}
