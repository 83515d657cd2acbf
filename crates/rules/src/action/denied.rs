//! One act that is said not to have been done: "I did not touch `a.py`", "the fix is not committed
//! yet", "the name could not be changed".

use std::ops::Range;

use counterfoil_model::{Family, Object, ObjectKind};

use super::judge::LOOK_BACK;
use super::left_alone::without_changing;
use super::objects::{mentions, objects_in};
use crate::facts::{Deed, Execution, Facts, Families};
use crate::prose::{Action, Clause, Mood, Prose, Tags, Token, TokenKind, Words};

/// An act that is denied, and of what.
#[derive(Debug)]
pub(crate) struct DeniedAct {
    family: Family,
    /// The files that are named.
    files: Vec<Object>,
    /// "I have not": at no time, and not only since the user asked.
    pub(crate) ever: bool,
}

/// Words with which it is denied, beside those that the lexicon has for it.
const DENIALS: &Words = words!["no", "nothing", "without"];

/// The denial in a clause, in English.
pub(crate) fn denied_act(prose: &Prose<'_>, clause: &Clause) -> Option<DeniedAct> {
    if !matches!(clause.mood, Mood::Asserted | Mood::Observed) {
        return None;
    }
    if !clause.tags.any(Tags::NEGATION) && !clause.may_hold(DENIALS) {
        return None;
    }
    if let Some(denied) = without_changing(prose, clause) {
        return Some(denied);
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let of = |at: usize| clause.tokens.start + at;
    let not = tokens.iter().position(|t| !t.quoted && t.has(Tags::NEGATION))?;
    let before = tokens.get(..not)?;
    let small = Tags::ADVERB.or(Tags::BE).or(Tags::HAVE).or(Tags::NOW);
    let behind = tokens.get(not + 1..)?;
    let next = not
        + 1
        + behind.iter().position(|t| !t.has(small) && !prose.is(t, words!["been", "be"]))?;
    // "I was not able to create it", "I was unable to create it"
    let to = |at: usize| tokens.get(at).is_some_and(|t| prose.is(t, words!["to"]));
    let (verb, able) = match tokens.get(not).zip(tokens.get(next)) {
        Some((_, able)) if prose.is(able, words!["able"]) && to(next + 1) => (next + 2, true),
        Some((unable, _)) if prose.is(unable, words!["unable"]) && to(next) => (next + 1, true),
        _ => (next, false),
    };
    let token = tokens.get(verb)?;
    let made = prose.is(token, words!["made", "make", "making"]);
    let family = match token.verb {
        // "I haven't made any changes to `a.ts`"
        _ if made
            && behind.iter().any(|t| prose.is(t, words!["changes", "edits", "modifications"])) =>
        {
            Family::Update
        }
        Some(Action::Of(family)) => family,
        // "I haven't submitted the reading"
        Some(Action::Any) => Family::Update,
        // "I haven't done anything yet"
        Some(Action::Generic) if prose.is(token, words!["done", "do"]) => {
            let first = tokens.get(verb + 1).filter(|t| prose.is(t, words!["anything"]));
            first.map(|_| Family::Update)?
        }
        _ => return None,
    };
    let auxiliary = before.iter().rposition(|t| {
        t.has(Tags::DO.or(Tags::HAVE).or(Tags::BE).or(Tags::PAST_BE)) || is_could(prose, t)
    })?;
    let led = tokens.get(..auxiliary)?;
    if led.iter().any(|t| t.has(Tags::USER.or(Tags::THIRD).or(Tags::PURPOSE).or(Tags::INTEND))) {
        return None;
    }
    // "but did not push it": who did the rest.
    let agent = led.iter().any(|t| t.has(Tags::AGENT))
        || led.iter().all(|t| t.has(Tags::COORDINATE.or(Tags::ADVERB)));
    let did = (able
        || tokens.get(auxiliary).is_some_and(|t| t.has(Tags::DO) || is_could(prose, t)))
        && token.has(Tags::BASE);
    let been = |t: &Token| prose.is(t, words!["been", "be"]);
    let passive = !able
        && (tokens.get(auxiliary + 1..verb)?.iter().any(been)
            || tokens.get(auxiliary).is_some_and(|t| t.has(Tags::BE.or(Tags::PAST_BE))));
    let completed = token.tags.any(Tags::COMPLETED);
    // "`a.ex` isn't formatted", "the query is not optimised": what it is like, whoever changed it.
    let quality =
        words!["formatted", "aligned", "optimised", "optimized", "normalised", "normalized"];
    if passive && prose.is(token, quality) {
        return None;
    }
    let range = match (agent, passive && completed) {
        (true, false) if did || completed => {
            let rest = tokens.get(verb + 1..)?;
            let end = rest.iter().position(ends_phrase).unwrap_or(rest.len());
            of(verb + 1)..of(verb + 1 + end)
        }
        (false, true) => of(led.iter().take_while(|t| !is_word(t)).count())..of(auxiliary),
        _ => return None,
    };
    let all = || tokens.iter().chain(prose.tokens(range.clone()));
    if all().any(|t| prose.is(t, PARTIAL)) {
        return None;
    }
    // "under `src`": what is named is a folder.
    let inside = prose.tokens(range.clone()).windows(2).any(|pair| {
        let [under, code] = pair else { return false };
        let within = words!["under", "in", "inside", "within", "below"];
        prose.is(under, within) && code.kind == TokenKind::Code
    });
    let mut files = objects_in(prose, range.clone());
    files.retain(|object| object.kind == ObjectKind::Path);
    let edits = matches!(family, Family::Update | Family::Create | Family::Delete);
    let named = !files.is_empty() && edits && !inside;
    let whole = files.is_empty() && is_whole(prose, range);
    let saves = matches!(family, Family::Commit | Family::Push);
    let ever = tokens
        .get(auxiliary)
        .is_some_and(|t| t.has(Tags::HAVE) || (t.has(Tags::BE) && !t.has(Tags::PAST_BE)));
    (named || whole && saves).then_some(DeniedAct { family, files, ever })
}

/// Words by which only a part is denied.
pub(super) const PARTIAL: &Words = words![
    "other",
    "else",
    "further",
    "more",
    "additional",
    "beyond",
    "besides",
    "again",
    "outside",
    "except",
    "only",
    "rest",
    "apart",
    "anymore",
    "manually",
    "directly",
    "separately",
    "just",
    "second",
    "third",
    "another",
    "extra",
];

fn is_could(prose: &Prose<'_>, token: &Token) -> bool {
    prose.is(token, words!["could", "couldn't"])
}

pub(super) fn is_word(token: &Token) -> bool {
    !matches!(token.kind, TokenKind::Symbol(_))
}

fn ends_phrase(token: &Token) -> bool {
    !is_word(token) || token.has(Tags::SUBORDINATE.or(Tags::COORDINATE).or(Tags::RELATIVE))
}

/// "it", "the changes", "anything yet": whatever was worked on.
fn is_whole(prose: &Prose<'_>, range: Range<usize>) -> bool {
    const WORK: &Words = words![
        "branch",
        "commit",
        "anything",
        "nothing",
        "yet",
        "change",
        "changes",
        "fix",
        "fixes",
        "work",
        "edits",
        "code",
        "everything",
        "them",
    ];
    let small = Tags::DETERMINER.or(Tags::THING).or(Tags::ADVERB).or(Tags::NEGATION);
    prose.tokens(range).iter().filter(|t| is_word(t)).all(|t| t.has(small) || prose.is(t, WORK))
}

impl DeniedAct {
    /// The denial that files were changed.
    pub(super) fn of_files(files: Vec<Object>) -> Self {
        Self { family: Family::Update, files, ever: false }
    }

    /// The deed since message `since` that shows that it was done.
    pub(crate) fn contrary<'f, 't>(
        &self,
        facts: &'f Facts<'t>,
        turn: usize,
        since: usize,
    ) -> Option<(&'f Execution<'t>, &'f Deed<'t>)> {
        let deeds = facts.deeds_before(turn).take(LOOK_BACK);
        let deeds = deeds.take_while(|(e, _)| e.called_at >= since);
        let mut deeds =
            deeds.filter(|(execution, deed)| execution.outcome.is_some() && !deed.is_note);
        if !self.files.is_empty() {
            let wrote = |deed: &Deed<'_>| {
                let is_named = |path: &String| self.files.iter().any(|file| mentions(path, file));
                deed.written.iter().any(is_named)
            };
            let restores = |deed: &Deed<'_>| deed.shell.as_ref().is_some_and(|work| work.restores);
            let latest = deeds.find(|(_, deed)| wrote(deed) || restores(deed));
            return latest.filter(|(_, deed)| wrote(deed) && deed.status().succeeded());
        }
        // What was changed since is not in it.
        let newer = |deed: &Deed<'_>| match self.family {
            Family::Push => deed.families.has(Family::Commit),
            _ => !deed.written.is_empty(),
        };
        let did = |deed: &Deed<'_>| {
            let wanted = Families::of(&[self.family]);
            deed.families.meets(wanted) && deed.status_for(wanted).succeeded()
        };
        let latest = deeds.find(|(_, deed)| did(deed) || newer(deed));
        latest.filter(|(_, deed)| did(deed))
    }
}
