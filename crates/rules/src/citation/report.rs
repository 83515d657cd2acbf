//! What runs print, given in a fence or in inline code as if it had come from one.

use counterfoil_model::{Claim, ClaimKind, Family, Span};
use counterfoil_shell::{ActivityKind, summary};

use crate::facts::{Answer, Facts};
use crate::prose::{Action, BlockKind, Clause, Mood, Prose, Tags, Token, TokenKind};

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
            found.extend(line.map(|span| claim(answer, span)));
        }
        let unrun = sessions_in_code(prose.text);
        let unrun = unrun.into_iter().filter_map(|block| unrun_session(facts, answer, block));
        found.extend(unrun.map(|span| claim(answer, span)));
        let printed = prose.clauses.iter().filter_map(|clause| printed_inline(answer, clause));
        let invented = printed.filter(|span| is_nowhere(facts, answer, *span));
        found.extend(invented.map(|span| claim(answer, span)));
    }
    found
}

fn claim(answer: &Answer<'_>, span: Span) -> Claim {
    Claim {
        kind: ClaimKind::Simulation,
        text: span.of(answer.prose.text).to_owned(),
        objects: Vec::new(),
        span,
        turn: answer.turn,
    }
}

/// Lines that are nothing but inline code, the first of them a command behind a prompt, each run of
/// them as one block.
fn sessions_in_code(text: &str) -> Vec<Span> {
    let mut blocks: Vec<Span> = Vec::new();
    let (mut at, mut open) = (0, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let code = bare.len() > 2 && bare.starts_with('`') && bare.ends_with('`');
        let end = at + line.len();
        match blocks.last_mut().filter(|_| open && code) {
            Some(block) => block.end = end,
            None => {
                open = code && bare.starts_with("`$ ");
                if open {
                    blocks.push(Span::new(at, end));
                }
            }
        }
        at = end;
    }
    blocks
}

/// Output that the answer attributes to a command: "I ran `./run.sh`, which printed `3 files`".
fn printed_inline(answer: &Answer<'_>, clause: &Clause) -> Option<Span> {
    let prose = &answer.prose;
    let told = matches!(clause.mood, Mood::Asserted | Mood::Relative | Mood::Observed);
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::NEGATION).or(Tags::USER).or(Tags::THIRD);
    if !told || clause.tags.any(doubt) {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let prints =
        |t: &Token| prose.is(t, words!["printed", "gave", "returned", "output", "yielded"]);
    let at = tokens.iter().position(|t| !t.quoted && prints(t))?;
    let mut behind = tokens.get(at + 1..)?.iter().take(4);
    let output = behind
        .find(|t| !t.is(':') && !t.has(Tags::DETERMINER.or(Tags::PREPOSITION).or(Tags::ADVERB)))?;
    let sentence = prose.sentences.get(clause.sentence)?.tokens.clone();
    let before = prose.tokens(sentence.start..clause.tokens.start + at);
    let command = |t: &Token| t.kind == TokenKind::Code && prose.word(t).contains(' ');
    let runs = |t: &Token| !t.quoted && t.verb == Some(Action::Of(Family::Run));
    let ran = before.iter().any(|t| command(t) || (runs(t) && t.has(Tags::GERUND)));
    let said = prose.word(output);
    let long = said.chars().filter(|c| c.is_alphanumeric()).count() >= 6;
    (ran && long && output.kind == TokenKind::Code).then(|| output.span())
}

/// Whether nothing that the agent was given or wrote has these words.
fn is_nowhere(facts: &Facts<'_>, answer: &Answer<'_>, span: Span) -> bool {
    let turn = answer.turn;
    let shown = facts.is_complete_before(turn)
        && facts.given().is_whole_before(turn)
        && facts.runs_shell_before(turn)
        && !facts.delegates_before(turn);
    shown && facts.quoted_from(span.of(answer.prose.text), turn).is_none()
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
    let lead = prose.sentences.partition_point(|sentence| sentence.block < block).checked_sub(1);
    let lead = lead.and_then(|lead| prose.sentences.get(lead));
    let Some(tokens) = lead.map(|sentence| prose.tokens(sentence.tokens.clone())) else {
        return false;
    };
    let unreal = Tags::MODAL.or(Tags::CONDITIONAL).or(Tags::HEDGE).or(Tags::USER);
    let words = words!["example", "sample", "e.g", "template", "format", "typical", "similar"];
    let wanted = |at: usize, t: &Token| {
        let as_is = at
            .checked_sub(1)
            .and_then(|i| tokens.get(i))
            .is_some_and(|t| prose.is(t, words!["as"]));
        prose.is(t, words!["expected", "expect"]) && !as_is
    };
    tokens.iter().enumerate().any(|(at, t)| t.has(unreal) || prose.is(t, words) || wanted(at, t))
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
    let bare = |line: &'_ str| -> String { line.trim().trim_matches('`').to_owned() };
    let prompt = |line: &str| bare(line).strip_prefix("$ ").map(str::to_owned);
    let mut lines = text.lines().skip_while(|line| prompt(line).is_none()).peekable();
    let command = lines.next().and_then(prompt)?;
    let program = command.split_whitespace().next()?;
    let mut printed = lines
        .take_while(|line| prompt(line).is_none())
        .map(|line| line.trim().trim_matches('`'))
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
