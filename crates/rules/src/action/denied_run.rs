//! The agent says it did not run a command: "I did not run `terraform plan`", "PHPUnit has not
//! been started".

use counterfoil_model::Family;
use counterfoil_shell::Script;

use super::judge::LOOK_BACK;
use crate::facts::{Execution, Facts};
use crate::prose::{Action, Clause, Mood, Prose, Tags, Token, TokenKind, sets};

/// The run that contradicts a clause which denies it, where nothing was changed since, so that no
/// later run can be meant.
pub(crate) fn run_denied<'f, 't>(
    facts: &'f Facts<'t>,
    prose: &Prose<'_>,
    clause: &Clause,
    turn: usize,
) -> Option<&'f Execution<'t>> {
    let (token, ever) = denied(prose, clause)?;
    let since = if ever { 0 } else { facts.request_before(turn) };
    let recent = || {
        let recent = facts.deeds_before(turn).take(LOOK_BACK);
        recent.take_while(|(e, _)| e.called_at >= since)
    };
    let names = wanted(prose, token)?;
    let ran = recent().find(|(execution, deed)| {
        let started = execution.outcome.is_some_and(|outcome| !outcome.refused);
        let shell = deed.shell.as_ref().filter(|work| started && !work.not_found);
        shell.is_some_and(|work| match &names {
            Names::Words(words) => runs(&work.command, words),
            Names::Runner(name) => work.runs.iter().any(|run| {
                let mut known = run.names.split(|c: char| !c.is_alphanumeric() && c != '-');
                known.any(|known| known.eq_ignore_ascii_case(name))
            }),
        })
    })?;
    let changed = recent()
        .take_while(|(e, _)| e.called_at > ran.0.called_at)
        .any(|(_, deed)| !deed.written.is_empty());
    (!changed).then_some(ran.0)
}

/// What was not run, by the clause.
enum Names {
    /// The words of a command, the program first.
    Words(Vec<String>),
    /// A known runner.
    Runner(String),
}

/// The token that names what was not run, and whether that holds for the whole session.
fn denied<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<(&'p Token, bool)> {
    if !matches!(clause.mood, Mood::Asserted | Mood::Observed) {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let not = tokens.iter().position(|t| !t.quoted && t.has(Tags::NEGATION))?;
    if let Some(token) = not_run(prose, clause, tokens, not) {
        return Some((token, false));
    }
    let auxiliary = not.checked_sub(1).and_then(|at| tokens.get(at)).or_else(|| tokens.get(not))?;
    let did = auxiliary.has(Tags::DO) || auxiliary.has(Tags::HAVE);
    let led = tokens.get(..not)?;
    let agent = led.iter().any(|t| t.has(Tags::AGENT))
        || led.iter().all(|t| t.has(Tags::COORDINATE.or(Tags::ADVERB).or(Tags::DO).or(Tags::HAVE)));
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::USER).or(Tags::THIRD);
    if !did || !agent || tokens.iter().any(|t| t.has(doubt)) {
        return None;
    }
    let behind = tokens.get(not + 1..)?;
    let verb = behind.iter().position(|t| t.verb == Some(Action::Of(Family::Run)))?;
    let small = Tags::ADVERB.or(Tags::HAVE).or(Tags::BE);
    let plain = behind.get(..verb)?.iter().all(|t| t.has(small));
    let mut object = behind.get(verb + 1..)?.iter().filter(|t| !t.has(Tags::DETERMINER));
    let token = object.next().filter(|_| plain)?;
    // "on Windows", "with the new image": one run among others.
    let alone = object.all(|t| {
        matches!(t.kind, TokenKind::Symbol(_))
            || prose.is(t, words!["at", "all", "itself", "myself"])
    });
    let sentence = prose.sentences.get(clause.sentence)?.tokens.clone();
    let some = prose.tokens(sentence).iter().any(|t| !t.quoted && prose.is(t, &sets::SOME_RUNS));
    (alone && !some).then_some((token, auxiliary.has(Tags::HAVE)))
}

/// "`terraform plan` was not run": the command, if the clause says nothing else about it.
fn not_run<'p>(
    prose: &'p Prose<'_>,
    clause: &Clause,
    tokens: &'p [Token],
    not: usize,
) -> Option<&'p Token> {
    let mark = |t: &&Token| matches!(t.kind, TokenKind::Symbol(_));
    let mut led = tokens.get(..not)?.iter().filter(|t| !mark(t) && !t.has(Tags::COORDINATE));
    let (code, was) = (led.next()?, led.next()?);
    let mut behind = tokens.get(not + 1..)?.iter().filter(|t| !mark(t));
    let run = behind.next()?;
    let alone = led.next().is_none() && behind.next().is_none();
    let sentence = prose.sentences.get(clause.sentence)?.tokens.clone();
    let some = prose.tokens(sentence).iter().any(|t| !t.quoted && prose.is(t, &sets::SOME_RUNS));
    let said = was.has(Tags::PAST_BE) && prose.is(run, words!["run", "executed", "started"]);
    (code.kind == TokenKind::Code && said && alone && !some).then_some(code)
}

/// What the token names, if that is something that can be run.
fn wanted(prose: &Prose<'_>, token: &Token) -> Option<Names> {
    let word = prose.word(token);
    if token.kind == TokenKind::Code {
        let script = Script::parse(word).ok()?;
        let [command] = script.commands() else { return None };
        command.program()?;
        return Some(Names::Words(command.words()));
    }
    let names = token.kind == TokenKind::Word && word.len() > 2;
    let known = matches!(token.noun, Some(Family::Test | Family::Lint | Family::Build))
        || token.tags.is_empty();
    // "any tests" is no name.
    let common = words!["tests", "test", "lint", "linter", "build", "builds", "suite", "specs"];
    (names && known && !prose.is(token, common)).then(|| Names::Runner(word.to_owned()))
}

/// Whether a command line runs a command that begins with these words, options between them aside.
fn runs(line: &str, words: &[String]) -> bool {
    let Ok(script) = Script::parse(line) else { return false };
    script.commands().iter().any(|command| {
        let own = command.words();
        let mut rest = own.iter();
        let same_program = own.first() == words.first();
        same_program && words.iter().all(|word| rest.any(|own| own == word))
    })
}
