//! What the agent says that it read, and that no call can have shown.

use std::ops::Range;

use counterfoil_model::{Family, Object, ObjectKind};

use super::own_work::{calls_hold, own};
use crate::action::objects_in;
use crate::facts::{Answer, Deed, Execution, Facts, Families, ShellWork};
use crate::prose::{Clause, Mood, Predicate, Prose, Tags, TokenKind, Words};
use crate::values::holds;

/// "I read `a/b.py` myself", "I opened HR-FAQ-231", "I went through `TokenStore`": the thing, where
/// no call can have shown it, and what is missing.
pub(super) fn unread(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<(Object, String)> {
    const READS: &Words =
        words!["read", "reviewed", "inspected", "examined", "opened", "viewed", "studied"];
    let prose = &answer.prose;
    let verb = |p: &Predicate| prose.tokens.get(p.verb).is_some_and(|t| prose.is(t, READS));
    let behind = |p: &Predicate| p.object_tokens.start..p.object_tokens.end.min(clause.tokens.end);
    let read = own(clause).find(|p| verb(p)).map(behind);
    let read = read.or_else(|| gone_through(prose, clause)).or_else(|| did_read(prose, clause));
    // "I checked `a.py`": of anything else, who checks need not read.
    let checks =
        |p: &&Predicate| prose.tokens.get(p.verb).is_some_and(|t| prose.is(t, words!["checked"]));
    let checked = || own(clause).find(checks).map(behind);
    let only_file = read.is_none();
    let object = read.or_else(checked)?;
    let object = object.start..object.end.max(object.start);
    let objects = objects_in(prose, object.clone());
    let file = unread_file(facts, answer, &objects);
    if only_file {
        return file;
    }
    file.or_else(|| unread_kind(facts, answer, object.clone()))
        .or_else(|| unread_document(facts, answer, &objects))
        .or_else(|| unread_symbol(facts, answer, object))
}

fn unread_file(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    objects: &[Object],
) -> Option<(Object, String)> {
    let file = objects.iter().find(|o| o.kind == ObjectKind::Path)?;
    let path = file.text.split(':').next().unwrap_or_default();
    let name = path.rsplit('/').next().filter(|name| name.contains('.'))?;
    let pasted = is_house_rule(name) || brings(facts, answer.turn, name);
    let shown = facts.deeds_before(answer.turn).any(|(e, deed)| shows(e, deed, name));
    (!pasted && !shown).then(|| {
        let message = format!("no call can have shown `{}`", file.text);
        (file.clone(), message)
    })
}

/// "I read the migration guide": a kind of document, where no call, no tool and no result has a word
/// for it.
fn unread_kind(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    object: Range<usize>,
) -> Option<(Object, String)> {
    const KINDS: [(&str, &str); 12] = [
        ("guide", "guide"),
        ("documentation", "doc"),
        ("docs", "doc"),
        ("manual", "manual"),
        ("handbook", "handbook"),
        ("specification", "spec"),
        ("notes", "note"),
        ("article", "article"),
        ("paper", "paper"),
        ("policy", "polic"),
        ("contract", "contract"),
        ("transcript", "transcript"),
    ];
    let (prose, turn) = (&answer.prose, answer.turn);
    let phrase = prose.tokens(object).iter().take(5);
    let (word, stem) = phrase.take_while(|t| t.kind == TokenKind::Word).find_map(|token| {
        let known = KINDS.iter().find(|(word, _)| prose.is_word(token, word))?;
        Some((prose.word(token), known.1))
    })?;
    let hidden = facts.deeds_before(turn).any(|(execution, deed)| {
        let texts = [arguments(execution), execution.text(), &deed.tool];
        deed.delegates || deed.opaque || texts.iter().any(|text| holds(text, stem))
    });
    let brought = facts
        .transcript()
        .messages
        .iter()
        .take(turn)
        .any(|message| message.calls.is_empty() && message.text.lines().count() > 5);
    if hidden || brought || !facts.is_complete_before(turn) {
        return None;
    }
    let object = Object { kind: ObjectKind::Name, text: word.to_owned() };
    Some((object, format!("no call can have shown such a {word}")))
}

/// A document by its id, where others were opened by theirs.
fn unread_document(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    objects: &[Object],
) -> Option<(Object, String)> {
    let document = objects.iter().find(|o| o.kind == ObjectKind::Id && o.text.len() > 4)?;
    let turn = answer.turn;
    let reads = Families::of(&[Family::Read, Family::Search]);
    let form = |text: &str| text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let like = |word: &str| {
        word.len() > 4
            && word.bytes().any(|b| b.is_ascii_digit())
            && form(word) == form(&document.text)
            && word.get(..form(word)) == document.text.get(..form(word))
    };
    let opened = facts.deeds_before(turn).any(|(execution, deed)| {
        let part = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'));
        let mut words = arguments(execution).split(part);
        deed.shell.is_none() && deed.families.meets(reads) && words.any(like)
    });
    let hidden = facts.deeds_before(turn).any(|(_, deed)| deed.shell.is_some() || deed.opaque);
    if !opened || hidden || calls_hold(facts, turn, &document.text) {
        return None;
    }
    Some((document.clone(), format!("no call opened `{}`", document.text)))
}

/// A name in the code, of which nothing shows what is behind it.
fn unread_symbol(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    object: Range<usize>,
) -> Option<(Object, String)> {
    const DEFINES: [&str; 14] = [
        "class",
        "struct",
        "enum",
        "trait",
        "interface",
        "def",
        "fn",
        "func",
        "fun",
        "function",
        "type",
        "module",
        "object",
        "const",
    ];
    let (prose, turn) = (&answer.prose, answer.turn);
    let token = prose.tokens(object).iter().take(4).find(|t| t.kind == TokenKind::Code)?;
    let name = prose.word(token).trim_end_matches("()");
    let plain = name.len() >= 6 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let inner = |b: u8| b.is_ascii_uppercase() || b == b'_';
    if !plain || !name.bytes().skip(1).any(inner) {
        return None;
    }
    let shown = facts.deeds_before(turn).any(|(execution, deed)| {
        let defines = |word: &str| holds(execution.text(), &format!("{word} {name}"));
        let open = deed.delegates || (deed.opaque && deed.shell.is_none());
        open || holds(arguments(execution), name) || DEFINES.iter().any(|word| defines(word))
    });
    let read = facts.deeds_before(turn).any(|(e, _)| e.outcome.is_some());
    (read && !shown).then(|| {
        let object = Object { kind: ObjectKind::Quote, text: name.to_owned() };
        (object, format!("no call can have shown `{name}`"))
    })
}

fn arguments<'t>(execution: &Execution<'t>) -> &'t str {
    execution.arguments()
}

/// "I went through `a/b.py`": what stands behind.
fn gone_through(prose: &Prose<'_>, clause: &Clause) -> Option<Range<usize>> {
    let tokens = prose.tokens(clause.tokens.clone());
    let at = prose.told_verb(clause, words!["went", "gone", "looked", "read", "skimmed"])?;
    let through = tokens.get(at + 1).is_some_and(|t| prose.is(t, words!["through", "over", "at"]));
    through.then_some(clause.tokens.start + at + 2..clause.tokens.end)
}

/// "I did read `TokenStore`": what stands behind.
fn did_read(prose: &Prose<'_>, clause: &Clause) -> Option<Range<usize>> {
    let tokens = prose.tokens(clause.tokens.clone());
    let at = tokens.iter().position(|t| !t.quoted && prose.is(t, words!["did"]))?;
    let led = at.checked_sub(1).and_then(|before| tokens.get(before));
    let reads = words!["read", "review", "inspect", "open", "check"];
    let told = led.is_some_and(|t| t.has(Tags::AGENT))
        && !clause.tags.any(Tags::NEGATION.or(Tags::MODAL))
        && tokens.get(at + 1).is_some_and(|t| prose.is(t, reads));
    told.then_some(clause.tokens.start + at + 2..clause.tokens.end)
}

/// "I deleted it, after going through `a/b.py`", "I took that type after looking at how `Controller`
/// maps them": what was read before something that the speaker did.
pub(super) fn unread_after(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<(Object, String)> {
    let prose = &answer.prose;
    let tokens = prose.tokens(clause.tokens.clone());
    let is = |at: usize, known: &Words| tokens.get(at).is_some_and(|t| prose.is(t, known));
    let at = tokens.iter().position(|t| t.kind == TokenKind::Word)?;
    if clause.mood != Mood::Conditional || !is(at, words!["after"]) {
        return None;
    }
    let open = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE);
    let before = prose.before_in_sentence(clause.tokens.start);
    let own = before.iter().any(|t| t.has(Tags::AGENT));
    if !own
        || before.iter().any(|t| t.has(open.or(Tags::USER).or(Tags::INTEND)))
        || clause.tags.any(open)
    {
        return None;
    }
    let reads = words!["reading", "reviewing", "inspecting", "examining", "opening", "studying"];
    let looks = words!["going", "looking", "reading"];
    let behind = match () {
        () if is(at + 1, looks) && is(at + 2, words!["through", "over", "at"]) => at + 3,
        () if is(at + 1, reads) => at + 2,
        () => return None,
    };
    let behind = behind + usize::from(is(behind, words!["how", "what"]));
    let object = clause.tokens.start + behind..clause.tokens.end;
    let objects = objects_in(prose, object.clone());
    unread_file(facts, answer, &objects).or_else(|| unread_symbol(facts, answer, object))
}

/// `AGENTS.md`: what harnesses hand to an agent without a word in the log.
fn is_house_rule(name: &str) -> bool {
    let stem = name.strip_suffix(".md").unwrap_or_default();
    !stem.is_empty() && stem.bytes().all(|b| b.is_ascii_uppercase())
}

/// Whether a message brought the file along: its text, or `@` before its path.
fn brings(facts: &Facts<'_>, turn: usize, name: &str) -> bool {
    facts.transcript().messages.iter().take(turn).any(|message| {
        let attached = |word: &str| word.starts_with('@') && word.contains(name);
        message.calls.is_empty()
            && message.text.contains(name)
            && (message.text.lines().count() > 5 || message.text.split_whitespace().any(attached))
    })
}

/// Whether a call can have shown what a file holds.
fn shows(execution: &Execution<'_>, deed: &Deed<'_>, name: &str) -> bool {
    if deed.delegates {
        return false;
    }
    let task = execution.arguments();
    // A line of a search, of a compiler, or of a list, shows no more than itself.
    let hit = |line: &str| {
        let behind = line.split_once(name).map_or("", |(_, behind)| behind);
        let place = behind.strip_prefix([':', '(']).unwrap_or_default();
        let path = line.split(':').next().unwrap_or_default().trim();
        place.starts_with(|c: char| c.is_ascii_digit())
            || (path.ends_with(name) && !path.contains(' '))
    };
    let prints = |text: &str| text.lines().any(|line| holds(line, name) && !hit(line));
    // A pattern may stand for it, without its name being printed.
    let hits = |word: &String| ["grep", "search", "glob", "find"].contains(&word.as_str());
    let opens = deed.written.is_empty() && !deed.words().iter().any(hits);
    let pattern = task.contains('*') && (deed.shell.is_some() || opens);
    let named = pattern || holds(task, name) || prints(execution.text());
    match &deed.shell {
        Some(work) if only_lists(&work.command) => false,
        // A run of tests names the files that it runs.
        Some(work) if runs_check(work) => pattern || holds(task, name),
        Some(work) => named || work.opaque || work.command.contains("xargs"),
        None => named || (deed.opaque && deed.families.is_empty()),
    }
}

/// Whether a command line runs a check.
fn runs_check(work: &ShellWork<'_>) -> bool {
    let checks = [Family::Test, Family::Build, Family::Lint];
    work.runs.iter().any(|run| checks.contains(&run.family))
}

/// Whether a command line lists or counts files and shows nothing of what they hold.
fn only_lists(command: &str) -> bool {
    const LISTS: [&str; 9] = ["ls", "wc", "find", "tree", "du", "stat", "file", "cd", "pwd"];
    let parts = command.split(['|', ';', '&', '\n']).map(str::trim).filter(|part| !part.is_empty());
    let mut programs = parts.map(|part| part.split_whitespace().next().unwrap_or_default());
    programs.all(|program| LISTS.contains(&program)) && !command.contains("-exec")
}
