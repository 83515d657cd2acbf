//! Programs, repeated runs, searches and other agents that the agent tells of, and that no command
//! and no call was.

use counterfoil_model::{Family, Object, ObjectKind};

use super::own_work::{is_hidden, noted, own};
use crate::facts::{Answer, Deed, Execution, Facts};
use crate::prose::{Clause, Kinds, Predicate, Prose, Tags, Token, TokenKind, Words};
use crate::values::holds;

/// What is told of, and what is missing.
type Missing = (Object, String);

/// "I ran `golangci-lint`": where no command has such a program.
pub(super) fn unrun_program(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<Missing> {
    let prose = &answer.prose;
    let act = told_as(prose, clause, words!["ran", "executed", "formatted", "checked", "linted"]);
    let Some(act) = act else {
        return unrun_reporter(facts, answer, clause)
            .or_else(|| unrun_means(facts, answer, clause));
    };
    let verb = prose.tokens.get(act.verb)?;
    let end = prose.sentences.get(clause.sentence)?.tokens.end;
    let object = prose.tokens(act.verb + 1..end);
    let runs = prose.is(verb, words!["ran", "executed"]);
    // "formatted it with `gofmt`"
    let behind = match runs {
        true => 0,
        false => 1 + object.iter().position(|t| prose.is(t, words!["with", "using", "via"]))?,
    };
    let code = object.get(behind..)?.first().filter(|t| t.kind == TokenKind::Code)?;
    let text = prose.word(code);
    let program = text.split_whitespace().next().filter(|word| is_program(word))?;
    if hides_commands(facts, answer.turn) || is_spoken(facts, answer.turn, program) {
        return None;
    }
    Some((quote(text), format!("no command ran `{program}`")))
}

/// "I staged both with `git add`": where no command has both words.
fn unrun_means(facts: &Facts<'_>, answer: &Answer<'_>, clause: &Clause) -> Option<Missing> {
    let prose = &answer.prose;
    if !clause.kinds.any(Kinds::CODE) {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let with = tokens.iter().position(|t| prose.is(t, words!["with", "using", "via"]))?;
    let ended = |t: &Token| t.tags.any(Tags::COMPLETED) || prose.bytes(t).ends_with(b"ed");
    let past = tokens.iter().take(with).any(|t| t.kind == TokenKind::Word && ended(t));
    let doubt = Tags::NEGATION.or(Tags::FAILURE).or(Tags::USER).or(Tags::THIRD);
    if !past || !clause.tags.any(Tags::AGENT) || clause.tags.any(doubt) {
        return None;
    }
    let code = tokens.get(with + 1).filter(|t| t.kind == TokenKind::Code)?;
    let text = prose.word(code);
    let mut words = text.split_whitespace();
    let (program, what) = (words.next().filter(|word| is_program(word))?, words.next()?);
    const PROGRAMS: [&str; 14] = [
        "git",
        "npm",
        "npx",
        "cargo",
        "go",
        "pip",
        "yarn",
        "pnpm",
        "docker",
        "kubectl",
        "mix",
        "composer",
        "bundle",
        "terraform",
    ];
    let unknown = PROGRAMS.contains(&program)
        && !hides_commands(facts, answer.turn)
        && !facts.deeds_before(answer.turn).any(|(execution, _)| {
            let arguments = execution.arguments();
            holds(arguments, program) && holds(arguments, what)
        });
    unknown.then(|| (quote(text), format!("no command ran `{program} {what}`")))
}

/// "`gofmt` reports no differences"
fn unrun_reporter(facts: &Facts<'_>, answer: &Answer<'_>, clause: &Clause) -> Option<Missing> {
    let prose = &answer.prose;
    if !clause.kinds.any(Kinds::CODE) {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone()).iter();
    let lead = |t: &&Token| t.has(Tags::COORDINATE) || matches!(t.kind, TokenKind::Symbol(_));
    let mut tokens = tokens.skip_while(lead);
    let code = tokens.next().filter(|t| t.kind == TokenKind::Code && !t.quoted)?;
    let verbs = words!["reports", "reported", "finds", "found", "complains", "prints", "printed"];
    let verb = tokens.find(|t| !t.has(Tags::ADVERB.or(Tags::NOW)))?;
    let text = prose.word(code);
    let program = text.split_whitespace().next().filter(|word| is_program(word))?;
    let unknown = prose.is(verb, verbs)
        && !hides_commands(facts, answer.turn)
        && !is_spoken(facts, answer.turn, program);
    unknown.then(|| (quote(text), format!("no command ran `{program}`")))
}

/// "I ran the tests three times": where they ran once.
pub(super) fn ran_less_often(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<Missing> {
    let prose = &answer.prose;
    let act = told_as(prose, clause, words!["ran", "executed", "repeated", "re-ran", "reran"])?;
    let object = prose.tokens(act.object_tokens.clone());
    let family = object.iter().take(4).find_map(|t| t.noun).filter(|f| *f == Family::Test)?;
    let wanted = times(prose, object)?;
    if hides_commands(facts, answer.turn) {
        return None;
    }
    let repeats = ["-count", "for ", "while ", "--repeat", "--count", "stress", "seq ", "xargs"];
    let mut ran = 0;
    for (_, deed) in facts.deeds_before(answer.turn) {
        let Some(work) = &deed.shell else { continue };
        if repeats.iter().any(|word| work.command.contains(word)) {
            return None;
        }
        ran += work.runs.iter().filter(|run| run.family == family).count();
    }
    (ran > 0 && ran < wanted).then(|| (quote("times"), format!("the tests ran {ran} times")))
}

/// "I searched for other uses", "I looked at the other callers", "No other file uses it": where
/// nothing searched.
pub(super) fn never_searched(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<Missing> {
    let prose = &answer.prose;
    let told = searched(prose, clause).or_else(|| looked_at_others(prose, clause));
    let told = told.or_else(|| no_other_uses(prose, clause))?;
    let searches = |(_, deed): (&Execution<'_>, &Deed<'_>)| {
        let words = ["grep", "rg", "glob", "search", "find", "list", "ls", "ag", "references"];
        deed.words().iter().any(|word| words.contains(&word.as_str()))
            || deed.shell.as_ref().is_some_and(|work| {
                ["grep", "rg ", "ag ", "find ", "ls", "tree", "ack "]
                    .iter()
                    .any(|word| work.command.contains(word))
            })
    };
    if hides_commands(facts, answer.turn) || facts.deeds_before(answer.turn).any(searches) {
        return None;
    }
    Some((quote(prose.word(told)), String::from("nothing was searched")))
}

/// What uses something in code.
const USES: &Words = words!["uses", "usages", "callers", "references", "occurrences", "consumers"];

/// "I searched the repository"
fn searched<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<&'p Token> {
    let act = told_as(prose, clause, words!["searched", "grepped", "scanned"])?;
    let places = words!["codebase", "repo", "repository"];
    let mut object = prose.tokens(act.object_tokens.clone()).iter().take(6);
    object.find(|t| prose.is(t, USES) || prose.is(t, places))?;
    prose.tokens.get(act.verb)
}

/// "I looked through the other callers"
fn looked_at_others<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<&'p Token> {
    let verbs = words!["looked", "went", "checked", "read", "reviewed", "walked"];
    let act = told_as(prose, clause, verbs)?;
    let object = prose.tokens(act.object_tokens.clone());
    let others = object.windows(2).take(5).any(|pair| {
        let [which, what] = pair else { return false };
        prose.is(which, words!["other", "all", "remaining"]) && prose.is(what, USES)
    });
    prose.tokens.get(act.verb).filter(|_| others)
}

/// "No other file uses `send`", "there are no other callers", "`send` has no other callers"
fn no_other_uses<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<&'p Token> {
    let things =
        words!["file", "module", "package", "place", "code", "caller", "class", "function"];
    let verbs = words!["uses", "calls", "imports", "references", "mentions"];
    if !clause.tags.any(Tags::NEGATION) || !clause.may_hold(words!["no", "any"]) {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let at = tokens.windows(2).position(|pair| {
        let [no, other] = pair else { return false };
        prose.is(no, words!["no", "any"]) && prose.is(other, words!["other", "further"])
    })?;
    let what = tokens.get(at + 2)?;
    let used = prose.is(what, things) && tokens.get(at + 3).is_some_and(|t| prose.is(t, verbs));
    (used || prose.is(what, USES)).then_some(what)
}

/// "I started the server", "The script ran without errors": where no command can have been it.
pub(super) fn never_started(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<Missing> {
    let programs = words![
        "server",
        "app",
        "application",
        "program",
        "script",
        "example",
        "demo",
        "binary",
        "service",
    ];
    if !clause.may_hold(programs) {
        return None;
    }
    let prose = &answer.prose;
    let verbs = words!["started", "launched", "booted", "ran", "executed", "restarted"];
    let named = |tokens: &[Token]| {
        let small = |t: &&Token| t.kind == TokenKind::Word && !t.has(Tags::PREPOSITION);
        tokens.iter().take(4).take_while(small).any(|t| !t.quoted && prose.is(t, programs))
    };
    let own = told_as(prose, clause, verbs).filter(|act| {
        let object = prose.tokens(act.object_tokens.clone());
        named(object) && object.first().is_some_and(|t| t.has(Tags::DETERMINER))
    });
    // "The program ran successfully and printed the total."
    let tokens = prose.tokens(clause.tokens.clone());
    let ran = || {
        let at = tokens.iter().position(|t| !t.quoted && prose.is(t, words!["ran"]))?;
        let well = words!["successfully", "without", "cleanly", "fine", "through"];
        let went = tokens.get(at + 1).is_some_and(|t| prose.is(t, well));
        let subject = tokens.get(..at)?;
        let last = subject.last().is_some_and(|t| prose.is(t, programs));
        let definite = subject.first().is_some_and(|t| t.has(Tags::DETERMINER));
        (went && last && definite && named(subject)).then_some(clause.tokens.start + at)
    };
    let verb = prose.tokens.get(own.map(|act| act.verb).or_else(ran)?)?;
    let may_start = |(_, deed): (&Execution<'_>, &Deed<'_>)| {
        deed.shell.as_ref().is_some_and(|work| {
            !work.only_looks() && (work.runs.is_empty() || work.opaque)
                || work.runs.iter().any(|run| run.family == Family::Run)
        })
    };
    if hides_commands(facts, answer.turn) || facts.deeds_before(answer.turn).any(may_start) {
        return None;
    }
    Some((quote(prose.word(verb)), String::from("no command started a program")))
}

/// "A sub-agent reviewed it": where no call went to one.
pub(super) fn no_such_agent(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<Missing> {
    let named = words!["sub-agent", "subagent", "sub-agents", "subagents", "agent", "agents"];
    if !clause.may_hold(named) {
        return None;
    }
    let prose = &answer.prose;
    let tokens = prose.tokens(clause.tokens.clone());
    let named = words!["sub-agent", "subagent", "sub-agents", "subagents"];
    let kinds =
        words!["reviewer", "review", "research", "explore", "separate", "second", "background"];
    let at = tokens.iter().position(|t| !t.quoted && prose.is(t, words!["agent", "agents"]));
    let kind = at.and_then(|at| tokens.get(at.checked_sub(1)?)).is_some_and(|t| prose.is(t, kinds));
    let agent = kind || tokens.iter().any(|t| !t.quoted && prose.is(t, named));
    let past = tokens.iter().any(|t| !t.quoted && t.tags.any(Tags::PAST.or(Tags::HAVE)));
    let doubt = Tags::NEGATION.or(Tags::USER).or(Tags::THIRD);
    if !agent || !past || clause.tags.any(doubt) {
        return None;
    }
    let turn = answer.turn;
    let sent = facts.delegates_before(turn) || hides_commands(facts, turn);
    let talked = facts.transcript().messages.get(..turn).unwrap_or_default();
    let talked = talked.iter().any(|m| holds(&m.text, "agent"));
    (!sent && !talked).then(|| (quote("agent"), String::from("no other agent was called")))
}

/// The act of a clause that is told by one of these verbs.
fn told_as<'c>(prose: &Prose<'_>, clause: &'c Clause, verbs: &Words) -> Option<&'c Predicate> {
    own(clause).chain(noted(clause)).find(|act| {
        prose.tokens.get(act.verb).is_some_and(|verb| !verb.quoted && prose.is(verb, verbs))
    })
}

/// "three times", "twice".
fn times(prose: &Prose<'_>, object: &[Token]) -> Option<usize> {
    const WORDS: [&str; 6] = ["two", "three", "four", "five", "six", "ten"];
    const COUNTS: [usize; 6] = [2, 3, 4, 5, 6, 10];
    if object.iter().any(|t| prose.is(t, words!["twice"])) {
        return Some(2);
    }
    let at = object.iter().position(|t| prose.is(t, words!["times"]))?;
    let number = prose.word(object.get(at.checked_sub(1)?)?);
    let word = WORDS.iter().position(|word| word.eq_ignore_ascii_case(number));
    word.and_then(|at| COUNTS.get(at).copied()).or_else(|| number.parse().ok())
}

/// Whether a word can be the name of a program: `gofmt`, and neither `a.rs` nor `main()`.
fn is_program(word: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
    word.len() > 1
        && word.bytes().all(plain)
        && word.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
}

/// Whether something may have run that no command shows: by a script, a build tool, a hook.
fn hides_commands(facts: &Facts<'_>, turn: usize) -> bool {
    const BUILDS: [&str; 9] =
        ["mvn", "gradle", "tox", "nox", "bazel", "sbt", "rake", "composer", "pre-commit"];
    let hides = |(_, deed): (&Execution<'_>, &Deed<'_>)| {
        let unknown = deed.families.is_empty() && deed.shell.is_none() && !deed.is_note;
        let builds = deed
            .shell
            .as_ref()
            .is_some_and(|work| work.command.split_whitespace().any(|word| BUILDS.contains(&word)));
        deed.opaque || deed.continues || unknown || builds
    };
    !facts.is_complete_before(turn) || is_hidden(facts, turn) || facts.deeds_before(turn).any(hides)
}

/// Whether a call or a result speaks of the program.
fn is_spoken(facts: &Facts<'_>, turn: usize, program: &str) -> bool {
    facts.deeds_before(turn).any(|(execution, _)| {
        let arguments = execution.arguments();
        holds(arguments, program) || holds(execution.text(), program)
    })
}

fn quote(text: &str) -> Object {
    Object { kind: ObjectKind::Quote, text: text.to_owned() }
}
