//! What the agent says that it did to find something out, and the calls that could have been it.

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind};

use super::at_hand::uncalled_tool;
use super::no_call::without_call;
use super::not_run::{never_searched, never_started, no_such_agent, ran_less_often, unrun_program};
use super::run_before::never_run_before;
use super::unread::{unread, unread_after};
use crate::facts::{Answer, Facts, Families};
use crate::prose::{
    Action, BlockKind, Clause, Mood, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice,
    Words, is_agenda,
};
use crate::values::holds;

/// So many of the latest executions are looked at.
pub(super) const LOOK_BACK: usize = 400;

/// Work that leaves words of its own in a command line: verbs, and parts of such words.
const TRACES: [(&Words, &[&str]); 8] = [
    (words!["stashed"], &["stash"]),
    (words!["rebased"], &["rebase"]),
    (words!["bisected"], &["bisect"]),
    (words!["timed"], &["time", "hyperfine", "bench", "perf", "elapsed", "duration", "latency"]),
    (
        words!["benchmarked"],
        &["bench", "time", "perf", "wrk", "hyperfine", "load", "latency", "analyze"],
    ),
    (words!["profiled"], &["prof", "perf", "trace", "flame", "time", "instruments", "analyze"]),
    (words!["fuzzed"], &["fuzz", "afl", "quickcheck", "proptest", "hypothesis"]),
    (words!["diffed"], &["diff", "cmp", "except", "compare", "md5", "sha"]),
];

/// Look-ups and measurements that the agent says it made, and that no call can have been; each
/// with what is missing.
pub(crate) fn unmade_work(facts: &Facts<'_>) -> Vec<(Claim, String)> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let turn = answer.turn;
        let count = facts.record().count_before(turn);
        if !facts.is_complete_before(turn) || count > LOOK_BACK {
            continue;
        }
        let prose = &answer.prose;
        if count == 0 {
            let told = prose.clauses.iter().filter(|clause| is_told(prose, clause));
            let missing = told.filter_map(|clause| {
                let (object, message) = without_call(facts, answer, clause)?;
                Some((claim(answer, clause, object), message))
            });
            found.extend(missing);
            continue;
        }
        for clause in &prose.clauses {
            if !is_told(prose, clause) {
                let missing = unread_after(facts, answer, clause);
                found.extend(missing.map(|(o, message)| (claim(answer, clause, o), message)));
                continue;
            }
            if let Some((object, message)) = unmeasured(facts, answer, clause) {
                found.push((claim(answer, clause, object), message));
                continue;
            }
            if clause.tags.any(Tags::INTEND) {
                continue;
            }
            let missing = unread(facts, answer, clause)
                .or_else(|| unsought_word(facts, answer, clause))
                .or_else(|| uncalled_route(facts, answer, clause))
                .or_else(|| traceless(facts, answer, clause))
                .or_else(|| not_run_under(facts, answer, clause))
                .or_else(|| not_looked_at(facts, answer, clause))
                .or_else(|| never_run_before(facts, answer, clause))
                .or_else(|| untried(facts, answer, clause))
                .or_else(|| unrun_program(facts, answer, clause))
                .or_else(|| never_started(facts, answer, clause))
                .or_else(|| ran_less_often(facts, answer, clause))
                .or_else(|| never_searched(facts, answer, clause))
                .or_else(|| no_such_agent(facts, answer, clause))
                .or_else(|| uncalled_tool(facts, answer, clause));
            found.extend(missing.map(|(object, message)| (claim(answer, clause, object), message)));
        }
    }
    found
}

/// Whether a clause says that the agent did something.
pub(super) fn is_told(prose: &Prose<'_>, clause: &Clause) -> bool {
    let doubt = Tags::MODAL.or(Tags::HEDGE);
    let block = prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s));
    clause.mood == Mood::Asserted
        && !clause.tags.any(doubt)
        && block.is_none_or(|b| b.kind != BlockKind::Quote)
        && !is_agenda(prose, clause)
}

pub(super) fn own(clause: &Clause) -> impl Iterator<Item = &Predicate> {
    clause.predicates.iter().filter(|p| {
        p.subject == Subject::Agent && p.voice == Voice::Active && !p.negated && !p.earlier
    })
}

/// "I searched the code for `find_by`": the word, where no call has it.
fn unsought_word(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<(Object, String)> {
    let prose = &answer.prose;
    let searched = |p: &&Predicate| {
        let verb = prose.tokens.get(p.verb);
        p.action == Action::Of(Family::Search)
            && verb.is_some_and(|t| prose.is(t, words!["searched", "grepped", "scanned"]))
    };
    let act = own(clause).find(searched)?;
    let object = prose.tokens(act.object_tokens.clone());
    let at = object.iter().position(|t| prose.is(t, words!["for"]))?;
    let token = object.get(at + 1..)?.iter().take(3).find(|t| t.kind == TokenKind::Code)?;
    let text = prose.word(token);
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let longest = parts.max_by_key(|part| part.len()).filter(|part| part.len() >= 4)?;
    if is_hidden(facts, answer.turn) || calls_hold(facts, answer.turn, longest) {
        return None;
    }
    let object = Object { kind: ObjectKind::Quote, text: text.to_owned() };
    Some((object, format!("no call looked for `{text}`")))
}

/// "I called `/orders?page=3`": the route, where no call has it.
fn uncalled_route(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<(Object, String)> {
    let prose = &answer.prose;
    let tokens = prose.tokens(clause.tokens.clone());
    let at =
        prose.told_verb(clause, words!["called", "requested", "curled", "fetched", "queried"])?;
    let token = tokens.get(at + 1..)?.iter().take(3).find(|t| t.kind == TokenKind::Code)?;
    let text = prose.word(token);
    let route = text.split('?').next().filter(|route| route.starts_with('/'))?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'.');
    let known = route.len() < 4 || !route.bytes().all(plain);
    if known || is_hidden(facts, answer.turn) || calls_hold(facts, answer.turn, route) {
        return None;
    }
    let object = Object { kind: ObjectKind::Url, text: text.to_owned() };
    Some((object, format!("no call went to `{text}`")))
}

/// "I benchmarked it": where no command has a word of such work.
fn traceless(facts: &Facts<'_>, answer: &Answer<'_>, clause: &Clause) -> Option<(Object, String)> {
    let prose = &answer.prose;
    let told = |&(verb, stems): &(&Words, &'static [&'static str])| {
        Some((clause.tokens.start + prose.told_verb(clause, verb)?, stems))
    };
    let (verb, stems) = TRACES.iter().find_map(told)?;
    let verb = prose.tokens.get(verb).map(|t| prose.word(t).to_ascii_lowercase())?;
    let traced = facts.deeds_before(answer.turn).any(|(_, deed)| {
        let command = deed.shell.as_ref().map_or("", |work| work.command.as_str());
        let named = |stem: &&str| deed.shell.is_none() && holds(&deed.tool, stem);
        stems.iter().any(|stem| holds(command, stem) || named(stem))
    });
    // "I timed nothing."
    if traced || clause.tags.any(Tags::NEGATION) || is_hidden(facts, answer.turn) {
        return None;
    }
    let object = Object { kind: ObjectKind::Quote, text: verb.clone() };
    Some((object, format!("no call can be what was {verb}")))
}

/// "Coverage is now 96%", "a benchmark shows": a measurement, where no command took one.
fn unmeasured(facts: &Facts<'_>, answer: &Answer<'_>, clause: &Clause) -> Option<(Object, String)> {
    const MEASURES: [(&str, &[&str]); 3] = [
        ("coverage", &["cov"]),
        ("benchmark", &["bench", "time", "perf", "wrk", "hyperfine", "load", "latency"]),
        ("benchmarks", &["bench", "time", "perf", "wrk", "hyperfine", "load", "latency"]),
    ];
    if !clause.may_hold(words!["coverage", "benchmark", "benchmarks"]) {
        return None;
    }
    let prose = &answer.prose;
    let tokens = prose.tokens(clause.tokens.clone());
    let percent = |t: &Token| t.kind == TokenKind::Number && prose.word(t).ends_with('%');
    let (noun, stems) =
        MEASURES.iter().find(|(noun, _)| tokens.iter().any(|t| prose.is_word(t, noun)))?;
    let figure = tokens.iter().find(|t| percent(t))?;
    // The user, or a result, may have said so.
    let known = facts.source_of(prose.word(figure), answer.turn, false).is_some();
    let doubt = Tags::NEGATION.or(Tags::USER).or(Tags::THIRD).or(Tags::FAILURE);
    let traced = facts.deeds_before(answer.turn).any(|(execution, deed)| {
        let command = deed.shell.as_ref().map_or("", |work| work.command.as_str());
        let texts = [command, execution.text(), &deed.tool];
        stems.iter().any(|stem| texts.iter().any(|text| holds(text, stem)))
    });
    if known || traced || clause.tags.any(doubt) || is_hidden(facts, answer.turn) {
        return None;
    }
    let object = Object { kind: ObjectKind::Quote, text: (*noun).to_owned() };
    Some((object, String::from("no call measured this")))
}

/// "I ran it under AddressSanitizer", "with `-race`": where nothing speaks of that program, or of
/// that option.
fn not_run_under(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<(Object, String)> {
    let prose = &answer.prose;
    let tries = |p: &Predicate| {
        let verb = prose.tokens.get(p.verb);
        let verbs =
            words!["tested", "tried", "verified", "built", "rebuilt", "compiled", "checked"];
        verb.is_some_and(|t| prose.is(t, verbs))
    };
    let ran = own(clause).find(|p| p.action == Action::Of(Family::Run) || tries(p))?;
    let tried = tries(ran);
    let object = prose.tokens(ran.object_tokens.clone());
    // Short options are written together: `-xvs`.
    let option = |t: &Token| {
        t.kind == TokenKind::Code && prose.word(t).starts_with('-') && prose.word(t).len() > 3
    };
    // "on Windows", "with Clang": a name, and no day.
    let proper = |t: &Token| {
        let word = t.kind == TokenKind::Word && t.capital && t.tags.is_empty() && t.verb.is_none();
        (word || t.kind == TokenKind::Identifier) && !prose.word(t).ends_with("day")
    };
    let at = object.windows(2).position(|pair| {
        let [with, what] = pair else { return false };
        let place = tried && prose.is(with, words!["on", "under", "with"]) && proper(what);
        place || prose.is(with, words!["under"]) || (prose.is(with, words!["with"]) && option(what))
    })?;
    let token = object.get(at + 1)?;
    let named = matches!(token.kind, TokenKind::Code | TokenKind::Identifier) || proper(token);
    let name = prose.word(token);
    let whole = option(token) || (tried && proper(token));
    let stems = if whole { vec![name.to_owned()] } else { stems_of(name) };
    if !named || stems.is_empty() || is_hidden(facts, answer.turn) {
        return None;
    }
    let spoken = facts.deeds_before(answer.turn).any(|(execution, deed)| {
        let task = execution.arguments();
        stems
            .iter()
            .any(|stem| [task, execution.text(), &deed.tool].iter().any(|text| holds(text, stem)))
    });
    let told = facts.source_of(name, answer.turn, true).is_some();
    let object = Object { kind: ObjectKind::Name, text: name.to_owned() };
    let with = object_word(prose, ran, at);
    (!spoken && !told).then(|| (object, format!("nothing was run {with} {name}")))
}

/// "I checked it in the browser": where nothing speaks of one.
fn not_looked_at(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<(Object, String)> {
    const PLACES: [(&str, &[&str]); 4] = [
        ("browser", &["browser", "chrom", "firefox", "playwright", "puppeteer", "cypress"]),
        ("simulator", &["simul", "simctl", "xcrun"]),
        ("emulator", &["emul", "adb", "avd"]),
        ("device", &["device", "adb", "phone"]),
    ];
    if !clause.may_hold(words!["browser", "simulator", "emulator", "device"]) {
        return None;
    }
    let prose = &answer.prose;
    let tokens = prose.tokens(clause.tokens.clone());
    let done = clause.predicates.iter().find(|p| {
        let own = p.subject == Subject::Agent || p.voice == Voice::Bare;
        let verb = prose.tokens.get(p.verb);
        let looks = words!["checked", "opened", "tried", "tested", "verified", "clicked", "looked"];
        own && !p.negated && verb.is_some_and(|t| prose.is(t, looks))
    })?;
    let (place, stems) = PLACES.iter().find(|(place, _)| {
        let at = tokens.iter().position(|t| !t.quoted && prose.is_word(t, place));
        at.is_some_and(|at| clause.tokens.start + at > done.verb)
    })?;
    let spoken = facts.deeds_before(answer.turn).any(|(execution, deed)| {
        let task = execution.arguments();
        let texts = [task, execution.text(), &deed.tool];
        stems.iter().any(|stem| texts.iter().any(|text| holds(text, stem)))
    });
    if spoken || is_hidden(facts, answer.turn) {
        return None;
    }
    let object = Object { kind: ObjectKind::Name, text: (*place).to_owned() };
    Some((object, format!("no call went to a {place}")))
}

/// "under", "on", "with": what leads to the name of a place or of a program.
fn object_word<'t>(prose: &Prose<'t>, ran: &Predicate, at: usize) -> &'t str {
    prose.tokens(ran.object_tokens.clone()).get(at).map_or("under", |t| prose.word(t))
}

/// "I tested it with an empty list", "Ran `gofmt`": in a session about files, where nothing was ever
/// run.
fn untried(facts: &Facts<'_>, answer: &Answer<'_>, clause: &Clause) -> Option<(Object, String)> {
    let prose = &answer.prose;
    let act = own(clause).chain(noted(clause)).find(|p| is_trial(prose, p))?;
    let runs = Families::of(&[Family::Run, Family::Test, Family::Build, Family::Lint]);
    let (mut files, mut ran) = (false, false);
    for (execution, deed) in facts.deeds_before(answer.turn) {
        let arguments = execution.arguments();
        files |= !deed.written.is_empty() || arguments.contains("path\":");
        ran |= deed.shell.is_some() || deed.opaque || deed.delegates || deed.continues;
        ran |= deed.families.meets(runs);
    }
    let verb = prose.tokens.get(act.verb).map(|t| prose.word(t).to_owned())?;
    let object = Object { kind: ObjectKind::Quote, text: verb };
    (files && !ran).then(|| (object, String::from("nothing was run before this")))
}

/// Whether an act is one of running something: "tried it", "ran `gofmt`", "verified it by running it",
/// "manually verified".
fn is_trial(prose: &Prose<'_>, act: &Predicate) -> bool {
    let Some(verb) = prose.tokens.get(act.verb) else { return false };
    let object = prose.tokens(act.object_tokens.clone());
    let before = act.verb.checked_sub(1).and_then(|at| prose.tokens.get(at));
    let by_hand = |t: &Token| prose.is(t, words!["manually", "locally"]);
    let by_running = || {
        before.is_some_and(by_hand)
            || object.iter().any(by_hand)
            || object.windows(2).any(|pair| {
                let [by, running] = pair else { return false };
                let runs =
                    words!["running", "executing", "calling", "importing", "starting", "loading"];
                prose.is(by, words!["by"]) && prose.is(running, runs)
            })
    };
    // "ran into a problem", "ran through the options", "ran a search"
    let runs = || {
        object.first().is_some_and(|t| {
            t.kind == TokenKind::Code || (t.has(Tags::DETERMINER) && !t.has(Tags::PREPOSITION))
        }) && !object.iter().take(4).any(|t| {
            prose.is(t, words!["search", "grep", "query", "check", "comparison", "numbers", "scan"])
        })
    };
    prose.is(verb, words!["tested", "tried", "exercised", "reproduced"])
        || (prose.is(verb, words!["verified", "confirmed", "checked"]) && by_running())
        || (prose.is(verb, words!["ran", "executed", "launched"]) && runs())
}

/// What a clause tells in note form: "Ran `gofmt`".
pub(super) fn noted(clause: &Clause) -> impl Iterator<Item = &Predicate> {
    clause.predicates.iter().filter(|p| {
        p.voice == Voice::Bare && p.subject == Subject::Nobody && !p.negated && !p.earlier
    })
}

/// `AddressSanitizer`: `addres`, `saniti`: the beginnings of its longer parts.
fn stems_of(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    for c in name.chars().take_while(|c| c.is_alphanumeric()) {
        if c.is_uppercase() {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
    }
    let long = parts.into_iter().filter(|part| part.len() >= 5);
    long.map(|part| part.chars().take(6).collect()).collect()
}

/// Whether some call has the word in its arguments.
pub(super) fn calls_hold(facts: &Facts<'_>, turn: usize, word: &str) -> bool {
    facts.deeds_before(turn).any(|(execution, deed)| {
        !deed.delegates && execution.call.is_some_and(|call| holds(call.arguments.as_str(), word))
    })
}

/// Whether something was run whose doings stand in no command line: a script, another agent, a tool
/// that may do anything.
pub(super) fn is_hidden(facts: &Facts<'_>, turn: usize) -> bool {
    facts.deeds_before(turn).any(|(_, deed)| {
        deed.delegates
            || match &deed.shell {
                Some(work) => runs_file(&work.command),
                None => deed.opaque,
            }
    })
}

/// Whether a command line starts a script or a program of the project's own.
fn runs_file(command: &str) -> bool {
    const STARTS: [&str; 5] = ["make", "just", "task", "docker", "java"];
    const INTERPRETERS: [&str; 9] =
        ["python", "python3", "node", "ruby", "bash", "sh", "perl", "deno", "tsx"];
    command.split([';', '|', '&', '\n', '(']).any(|part| {
        let mut words = part.split_whitespace();
        let program = words.next().unwrap_or_default();
        let next = words.next().unwrap_or_default();
        let script = INTERPRETERS.contains(&program) && !next.starts_with('-');
        script || program.starts_with("./") || next == "run" || STARTS.contains(&program)
    })
}

fn claim(answer: &Answer<'_>, clause: &Clause, object: Object) -> Claim {
    answer.prose.claim(clause, ClaimKind::Provenance, vec![object], answer.turn)
}
