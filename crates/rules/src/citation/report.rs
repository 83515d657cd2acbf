//! Reports of runners, printed in a fence as if they had come from a run.

use countersign_model::{Claim, ClaimKind, Span};
use countersign_shell::{ActivityKind, summary};

use crate::facts::{Answer, Facts};
use crate::prose::{BlockKind, Prose, Tags, Token};

/// So many of the latest executions are looked at.
const LOOK_BACK: usize = 200;

/// Fenced reports that stand in nothing that the agent was given.
pub(crate) fn invented_reports(facts: &Facts<'_>) -> Vec<Claim> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let prose = &answer.prose;
        for (index, block) in prose.blocks.iter().enumerate() {
            let printed = block.kind == BlockKind::Code
                && is_plain_fence(prose.text, block.span)
                && !is_sample(prose, index);
            let line = printed
                .then(|| {
                    invented(facts, answer, block.span)
                        .or_else(|| unrun_session(facts, answer, block.span))
                })
                .flatten();
            found.extend(line.map(|span| Claim {
                kind: ClaimKind::Simulation,
                text: span.of(prose.text).to_owned(),
                objects: Vec::new(),
                span,
                turn: answer.turn,
            }));
        }
    }
    found
}

/// Whether a fence is of no programming language.
fn is_plain_fence(text: &str, block: Span) -> bool {
    let before = text.get(..block.start).unwrap_or_default().trim_end();
    let line = before.rsplit('\n').next().unwrap_or(before).trim_start();
    let language = line.trim_start_matches(['`', '~']).trim().to_ascii_lowercase();
    ["", "text", "txt", "console", "output", "log", "plain", "plaintext"]
        .contains(&language.as_str())
}

/// "It should print:", "For example:": whether what stands before the fence makes it none that came
/// up.
fn is_sample(prose: &Prose<'_>, block: usize) -> bool {
    let lead = prose.sentences.iter().rev().find(|sentence| sentence.block < block);
    let Some(tokens) = lead.map(|sentence| prose.tokens(sentence.tokens.clone())) else {
        return false;
    };
    let unreal = Tags::MODAL.or(Tags::CONDITIONAL).or(Tags::HEDGE).or(Tags::USER);
    let words = ["example", "sample", "e.g", "template", "format", "typical", "similar"];
    let wanted = |at: usize, t: &Token| {
        let as_is =
            at.checked_sub(1).and_then(|i| tokens.get(i)).is_some_and(|t| prose.is(t, &["as"]));
        prose.is(t, &["expected", "expect"]) && !as_is
    };
    tokens.iter().enumerate().any(|(at, t)| t.has(unreal) || prose.is(t, &words) || wanted(at, t))
}

/// The line of a block that sums up a run, where no such run is on record.
fn invented(facts: &Facts<'_>, answer: &Answer<'_>, block: Span) -> Option<Span> {
    let (text, turn) = (block.of(answer.prose.text), answer.turn);
    let ran = summary(text, ActivityKind::Test);
    let counts = (ran.passed.or(ran.failed)).map(|_| (ran.passed, ran.failed.unwrap_or(0)));
    let tests = counts.and(ran.verdict).map(|_| ran.evidence.clone());
    let line = tests.or_else(|| plan_line(text))?;
    let shown = facts.is_complete_before(turn)
        && facts.given().is_whole_before(turn)
        && !facts.delegates_before(turn);
    let said = text.get(line.clone())?.trim();
    if !shown || said.is_empty() || facts.quoted_from(said, turn).is_some() {
        return None;
    }
    // Put in the agent's own words, a run has the same numbers.
    let same = facts.deeds_before(turn).take(LOOK_BACK).any(|(execution, _)| {
        let other = summary(execution.text(), ActivityKind::Test);
        counts.is_some_and(|counts| counts == (other.passed, other.failed.unwrap_or(0)))
    });
    (!same).then(|| Span::new(block.start + line.start, block.start + line.end))
}

/// "$ python -m build", with what it printed: the command, where nothing ran it and no result has a
/// line of the output.
fn unrun_session(facts: &Facts<'_>, answer: &Answer<'_>, block: Span) -> Option<Span> {
    let (text, turn) = (block.of(answer.prose.text), answer.turn);
    let shown = facts.is_complete_before(turn)
        && facts.given().is_whole_before(turn)
        && facts.runs_shell_before(turn)
        && !facts.delegates_before(turn);
    let prompt = |line: &str| line.trim_start().strip_prefix("$ ").map(str::to_owned);
    let mut lines = text.lines().skip_while(|line| prompt(line).is_none()).peekable();
    let command = lines.next().and_then(prompt)?;
    let program = command.split_whitespace().next()?;
    let mut printed = lines
        .take_while(|line| prompt(line).is_none())
        .map(str::trim)
        .filter(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= 8)
        .peekable();
    let unknown =
        printed.peek().is_some() && printed.all(|line| facts.quoted_from(line, turn).is_none());
    let ran = || {
        let mut recent = facts.deeds_before(turn).take(LOOK_BACK);
        let words: Vec<&str> = command.split_whitespace().collect();
        recent.any(|(execution, deed)| {
            let started = execution.outcome.is_none_or(|outcome| !outcome.refused);
            let shell = deed.shell.as_ref().filter(|_| started);
            shell.is_some_and(|work| words.iter().all(|w| work.command.contains(w)))
        })
    };
    let at = text.find(&command)?;
    let plain = program.bytes().all(|b| b.is_ascii_alphanumeric() || b"./_-".contains(&b));
    (shown && plain && unknown && !ran())
        .then(|| Span::new(block.start + at, block.start + at + command.len()))
}

/// "Plan: 2 to add, 0 to change, 0 to destroy.": what a planner of infrastructure ends with.
fn plan_line(text: &str) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').find_map(|line| {
        let from = at;
        at += line.len();
        let plan = line.trim_start().starts_with("Plan: ");
        let sums = [" to add", " to change", " to destroy"].iter().all(|sum| line.contains(sum));
        (plan && sums).then(|| from..from + line.trim_end().len())
    })
}
