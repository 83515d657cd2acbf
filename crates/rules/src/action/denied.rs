//! An action that the agent says it did not do: "I did not touch `a.py`", "the fix is not committed
//! yet", "the name could not be changed".

use std::ops::Range;

use counterfoil_model::{Family, Object, ObjectKind};

use super::objects::{mentions, objects_in};
use super::search::LOOK_BACK;
use crate::facts::{Deed, Execution, Facts, Families};
use crate::prose::{Action, Clause, Mood, Prose, Tags, Token, TokenKind, Words, sets};

/// A denied action and its objects.
#[derive(Debug)]
pub(crate) struct DeniedAct {
    family: Family,
    /// The files or commands that the clause names.
    files: Vec<Object>,
    /// Whether the denial covers the whole session ("I have not"), and not only the time since the
    /// user's request.
    pub(crate) ever: bool,
}

/// Words of denial that the lexicon does not have.
const DENIALS: &Words = words!["no", "nothing", "without"];

/// Finds the denied action in an English clause.
pub(crate) fn denied_act(prose: &Prose<'_>, clause: &Clause) -> Option<DeniedAct> {
    if !matches!(clause.mood, Mood::Asserted | Mood::Observed) {
        return None;
    }
    if !clause.tags.any(Tags::NEGATION) && !clause.may_hold(DENIALS) {
        return None;
    }

    let tokens = prose.tokens(clause.tokens.clone());
    let verb = DeniedVerb::find(prose, tokens)?;
    let own = verb.object(prose, tokens)?;
    let range = clause.tokens.start + own.start..clause.tokens.start + own.end;
    let partly = |t: &Token| prose.is(t, &sets::PARTLY_DENIED);
    if tokens.iter().chain(prose.tokens(range.clone())).any(partly) {
        return None;
    }
    let family = verb.family;
    let mut files = objects_in(prose, range.clone());
    files.retain(|object| object.kind == ObjectKind::Path);
    let edits = matches!(family, Family::Update | Family::Create | Family::Delete);
    let named = !files.is_empty() && edits && !is_in_a_folder(prose, range.clone());
    let whole = files.is_empty() && is_whole(prose, range.clone());
    let command = family == Family::Run;
    let commands = objects_in(prose, range.clone());
    let commands = commands.into_iter().filter(|o| command && o.kind == ObjectKind::Quote);
    let commands: Vec<Object> = commands.collect();
    let narrows = |t: &Token| t.kind == TokenKind::Word && !t.has(Tags::DETERMINER);
    let runs = !commands.is_empty() && !prose.tokens(range).iter().any(narrows);
    if runs {
        files = commands;
    }
    let saves = matches!(family, Family::Commit | Family::Push);
    let ever = tokens
        .get(verb.auxiliary)
        .is_some_and(|t| t.has(Tags::HAVE) || (t.has(Tags::BE) && !t.has(Tags::PAST_BE)));
    (named || runs || whole && saves).then_some(DeniedAct { family, files, ever })
}

/// "I left `a.md` untouched", "`a.md` is unchanged": finds whole files that the clause says are
/// unchanged.
pub(crate) fn left_alone(prose: &Prose<'_>, clause: &Clause) -> Option<DeniedAct> {
    const SO: &Words = words!["untouched", "unchanged", "unmodified", "unedited", "alone"];
    const LEFT: &Words = words!["left", "kept", "stays", "remains", "file", "files"];
    let tokens = prose.tokens(clause.tokens.clone());
    let asserted = matches!(clause.mood, Mood::Asserted | Mood::Observed);
    if !asserted || !tokens.iter().any(|t| !t.quoted && prose.is(t, SO)) {
        return None;
    }
    let files = objects_in(prose, clause.tokens.clone());
    let small = Tags::DETERMINER.or(Tags::COORDINATE).or(Tags::AGENT).or(Tags::BE).or(Tags::HAVE);
    let small = small.or(Tags::NOW).or(Tags::ADVERB).or(Tags::PREPOSITION);
    let plain = |t: &Token| {
        t.kind != TokenKind::Word || t.has(small) || prose.is(t, SO) || prose.is(t, LEFT)
    };
    let only_files = files.iter().all(|o| o.kind == ObjectKind::Path) && tokens.iter().all(plain);
    let found = !files.is_empty() && only_files && !clause.tags.any(Tags::NEGATION);
    found.then_some(DeniedAct { family: Family::Update, files, ever: false })
}

/// The verb of a denial, by its position among the tokens of the clause.
struct DeniedVerb {
    at: usize,
    auxiliary: usize,
    family: Family,
    /// Whether the form is "I was not able to create it".
    able: bool,
}

impl DeniedVerb {
    fn find(prose: &Prose<'_>, tokens: &[Token]) -> Option<Self> {
        let not = tokens.iter().position(|t| !t.quoted && t.has(Tags::NEGATION))?;
        let before = tokens.get(..not)?;
        let behind = tokens.get(not + 1..)?;
        let small = Tags::ADVERB.or(Tags::BE).or(Tags::HAVE).or(Tags::NOW);
        let full = |t: &Token| !t.has(small) && !prose.is(t, words!["been", "be"]);
        let next = not + 1 + behind.iter().position(full)?;
        // "I was not able to create it", "I was unable to create it"
        let to = |at: usize| tokens.get(at).is_some_and(|t| prose.is(t, words!["to"]));
        let (at, able) = match tokens.get(not).zip(tokens.get(next)) {
            Some((_, able)) if prose.is(able, words!["able"]) && to(next + 1) => (next + 2, true),
            Some((unable, _)) if prose.is(unable, words!["unable"]) && to(next) => (next + 1, true),
            _ => (next, false),
        };
        let family = denied_family(prose, tokens, at, behind)?;
        let is_auxiliary =
            |t: &Token| t.has(Tags::DO.or(Tags::HAVE).or(Tags::BE).or(Tags::PAST_BE));
        let auxiliary = before.iter().rposition(is_auxiliary)?;
        Some(Self { at, auxiliary, family, able })
    }

    /// The tokens of the object of the denied action; `None` if the action is not the speaker's.
    fn object(&self, prose: &Prose<'_>, tokens: &[Token]) -> Option<Range<usize>> {
        let (token, auxiliary) = (tokens.get(self.at)?, tokens.get(self.auxiliary)?);
        let led = tokens.get(..self.auxiliary)?;
        let others = Tags::USER.or(Tags::THIRD).or(Tags::PURPOSE).or(Tags::INTEND);
        if led.iter().any(|t| t.has(others)) {
            return None;
        }
        // "but did not push it": the subject is in the clause before.
        let agent = led.iter().any(|t| t.has(Tags::AGENT))
            || led.iter().all(|t| t.has(Tags::COORDINATE.or(Tags::ADVERB)));
        let did = (self.able || auxiliary.has(Tags::DO)) && token.has(Tags::BASE);
        let been = |t: &Token| prose.is(t, words!["been", "be"]);
        let passive = !self.able
            && (tokens.get(self.auxiliary + 1..self.at)?.iter().any(been)
                || auxiliary.has(Tags::BE.or(Tags::PAST_BE)));
        let completed = token.tags.any(Tags::COMPLETED);
        // "`a.ex` isn't formatted", "the query is not optimised": a quality of the thing, which
        // someone else may have changed.
        if passive && prose.is(token, &sets::QUALITIES) {
            return None;
        }
        match (agent, passive && completed) {
            (true, false) if did || completed => {
                let rest = tokens.get(self.at + 1..)?;
                let end = rest.iter().position(ends_phrase).unwrap_or(rest.len());
                Some(self.at + 1..self.at + 1 + end)
            }
            (false, true) => Some(led.iter().take_while(|t| !is_word(t)).count()..self.auxiliary),
            _ => None,
        }
    }
}

/// The family of the denied action; `behind` is the text after the negation.
fn denied_family(
    prose: &Prose<'_>,
    tokens: &[Token],
    verb: usize,
    behind: &[Token],
) -> Option<Family> {
    let token = tokens.get(verb)?;
    let made = prose.is(token, words!["made", "make", "making"]);
    let changes = |t: &Token| prose.is(t, words!["changes", "edits", "modifications"]);
    match token.verb {
        // "I haven't made any changes to `a.ts`"
        _ if made && behind.iter().any(changes) => Some(Family::Update),
        Some(Action::Of(family)) => Some(family),
        // "I haven't submitted the reading"
        Some(Action::Any) => Some(Family::Update),
        // "I haven't done anything yet"
        Some(Action::Generic) if prose.is(token, words!["done", "do"]) => {
            let first = tokens.get(verb + 1).filter(|t| prose.is(t, words!["anything"]));
            first.map(|_| Family::Update)
        }
        _ => None,
    }
}

/// "under `src`": the named path is a folder.
fn is_in_a_folder(prose: &Prose<'_>, range: Range<usize>) -> bool {
    prose.tokens(range).windows(2).any(|pair| {
        let [under, code] = pair else { return false };
        let within = words!["under", "in", "inside", "within", "below"];
        prose.is(under, within) && code.kind == TokenKind::Code
    })
}

fn is_word(token: &Token) -> bool {
    !matches!(token.kind, TokenKind::Symbol(_))
}

fn ends_phrase(token: &Token) -> bool {
    !is_word(token) || token.has(Tags::SUBORDINATE.or(Tags::COORDINATE).or(Tags::RELATIVE))
}

/// "it", "the changes", "anything yet": the object is all of the work.
fn is_whole(prose: &Prose<'_>, range: Range<usize>) -> bool {
    let small = Tags::DETERMINER.or(Tags::THING).or(Tags::ADVERB).or(Tags::NEGATION);
    prose
        .tokens(range)
        .iter()
        .filter(|t| is_word(t))
        .all(|t| t.has(small) || prose.is(t, &sets::WHOLE_WORK))
}

impl DeniedAct {
    /// Finds a deed since message `since` that contradicts the denial.
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
        if self.family == Family::Run {
            let runs = |deed: &Deed<'_>| {
                let line = deed.shell.as_ref().map_or("", |work| work.command.as_str());
                self.files.iter().any(|command| line.contains(&command.text))
            };
            return deeds.find(|(_, deed)| runs(deed));
        }
        if !self.files.is_empty() {
            let wrote = |deed: &Deed<'_>| {
                let is_named = |path: &String| self.files.iter().any(|file| mentions(path, file));
                deed.written.iter().any(is_named)
            };
            let restores = |deed: &Deed<'_>| deed.shell.as_ref().is_some_and(|work| work.restores);
            let latest = deeds.find(|(_, deed)| wrote(deed) || restores(deed));
            return latest.filter(|(_, deed)| wrote(deed) && deed.status().succeeded());
        }
        // An earlier deed cannot include what was changed later.
        let newer = |deed: &Deed<'_>| match self.family {
            Family::Push => deed.families.has(Family::Commit),
            _ => !deed.written.is_empty(),
        };
        let did = |deed: &Deed<'_>| {
            let wanted = Families::new(&[self.family]);
            deed.families.meets(wanted) && deed.status_for(wanted).succeeded()
        };
        let latest = deeds.find(|(_, deed)| did(deed) || newer(deed));
        latest.filter(|(_, deed)| did(deed))
    }
}
