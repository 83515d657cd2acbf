//! Commands that are named and said to have come out well: "`terraform plan` ran through".

use countersign_model::{Claim, ClaimKind, Family, Object, ObjectKind};
use countersign_shell::{Command, Script, Status, Word};

use super::extract::{OutcomeClaim, excepts};
use super::verdict::{clears, passing_at, some_fail};
use crate::facts::{Answer, Execution, Facts};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, is_agenda};

/// So many of the latest executions are looked at.
const LOOK_BACK: usize = 200;

/// The commands that are said to have come out well while the latest run of that very command
/// failed, each with that run.
pub(crate) fn failed_commands<'f, 't>(facts: &'f Facts<'t>) -> Vec<(Claim, &'f Execution<'t>)> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let prose = &answer.prose;
        for clause in prose.clauses.iter().filter(|clause| says_passed(prose, clause)) {
            for token in prose.tokens(clause.tokens.clone()) {
                let Some(words) = command_in(prose, token) else { continue };
                if let Some(execution) = failed_run(facts, answer.turn, &words) {
                    found.push((claim(answer, clause, &words), execution));
                }
            }
        }
    }
    found
}

/// Whether the clause says of all that it names that it came out well.
fn says_passed(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::EARLIER).or(Tags::INTEND);
    let clear = clears(prose, tokens).is_some();
    let denied = |t: &Token| t.has(Tags::NEGATION.or(Tags::FAILURE)) && !clear;
    clause.mood == Mood::Asserted
        && (clear || passing_at(prose, tokens).is_some())
        && !tokens.iter().any(|t| t.has(doubt) || denied(t))
        && !excepts(prose, clause)
        && !some_fail(prose, clause)
        && !is_agenda(prose, clause)
}

/// The words of a command in inline code: a program and what it is to do.
fn command_in(prose: &Prose<'_>, token: &Token) -> Option<Vec<String>> {
    let text = prose.word(token);
    if token.kind != TokenKind::Code || !text.contains(' ') {
        return None;
    }
    let script = Script::parse(text).ok()?;
    let [command] = script.commands() else { return None };
    command.program()?;
    let words = words_of(command);
    let verb = words.get(1)?;
    verb.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-').then_some(words)
}

fn words_of(command: &Command) -> Vec<String> {
    let arguments = command.args.iter().filter_map(Word::literal).map(str::to_owned);
    command.program().map(str::to_owned).into_iter().chain(arguments).collect()
}

/// The latest run of a command with these words, if it failed.
fn failed_run<'f, 't>(
    facts: &'f Facts<'t>,
    turn: usize,
    words: &[String],
) -> Option<&'f Execution<'t>> {
    let (execution, alone, decides) =
        facts.deeds_before(turn).take(LOOK_BACK).find_map(|(execution, deed)| {
            let work = deed
                .shell
                .as_ref()
                .filter(|work| words.iter().all(|w| work.command.contains(w.as_str())))?;
            let script = Script::parse(&work.command).ok()?;
            let same = |command: &&Command| {
                let own = words_of(command);
                words.iter().all(|word| own.contains(word)) && own.first() == words.first()
            };
            let command = script.commands().iter().find(same)?;
            let alone = script.commands().len() == 1;
            Some((execution, alone, command.status == Status::Decides))
        })?;
    let outcome = execution.outcome?;
    let exit = outcome.exit_code;
    let failed = match exit {
        Some(0) | None => !decides && says_error(&outcome.text),
        // A search that finds nothing ends like this, too.
        Some(_) => alone && decides && !outcome.text.trim().is_empty(),
    };
    failed.then_some(execution)
}

/// Whether an output, of which a part may be cut off, has lines of errors and nothing else that
/// tells how it went.
fn says_error(text: &str) -> bool {
    let bare = |line: &str| line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let mut lines = text.lines().map(bare);
    let good = ["success", "complete", "passed", "done", "ok", "finished"];
    lines.any(|line| line.starts_with("Error: ") || line.starts_with("fatal: "))
        && !text.lines().map(bare).any(|line| {
            let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            good.iter().any(|word| first.to_ascii_lowercase().starts_with(word))
        })
}

/// "Smoke test: `python -c 'import app'` ✅": the latest command that holds the one in code, where
/// it worked. What known checks print is read by others.
pub(super) fn named_command<'f, 't>(
    facts: &'f Facts<'t>,
    said: &OutcomeClaim,
    count: usize,
) -> Option<&'f Execution<'t>> {
    let mut named = said.claim.objects.iter().filter(|o| o.kind == ObjectKind::Quote);
    let command = named.find(|o| o.text.contains(' '))?;
    let mut latest = (0..count).rev().take(LOOK_BACK).filter_map(|at| facts.deed(at));
    let (execution, deed) = latest.find(|(_, deed)| {
        deed.shell.as_ref().is_some_and(|work| work.command.contains(&command.text))
    })?;
    let known = deed.shell.iter().flat_map(|work| &work.runs).any(|run| run.family == said.family);
    (!known && deed.status().succeeded()).then_some(execution)
}

fn claim(answer: &Answer<'_>, clause: &Clause, words: &[String]) -> Claim {
    Claim {
        kind: ClaimKind::Outcome(Family::Run),
        text: clause.span.of(answer.prose.text).to_owned(),
        objects: vec![Object { kind: ObjectKind::Quote, text: words.join(" ") }],
        span: clause.span,
        turn: answer.turn,
    }
}
