//! One act that is said not to have been done: "I did not touch `a.py`", "the fix is not committed
//! yet", "the name could not be changed".

use std::ops::Range;

use counterfoil_model::{Family, Object, ObjectKind};

use super::behind_ids::behind_ids;
use super::judge::{LOOK_BACK, args};
use super::left_alone::{KINDS, nothing_inside, without_changing};
use super::objects::{mentions, objects_in};
use super::tie::head;
use crate::facts::{Deed, Execution, Facts, Families};
use crate::prose::{Action, Clause, Lexicon, Mood, Prose, Tags, Token, TokenKind, Words};
use crate::values::{Leaf, Leaves, When, each_moment, holds};

/// An act that is denied, and of what.
#[derive(Debug)]
pub(crate) struct DeniedAct {
    family: Family,
    verb: String,
    /// What is named: files, ids, numbers.
    objects: Vec<Object>,
    /// The nouns.
    things: Vec<String>,
    /// Those of them that say which: "a block for *data*".
    which: Vec<String>,
    /// Nothing tells it from the whole work: "it", "the changes", "anything".
    whole: bool,
    /// Anything of its kind is denied.
    anything: bool,
    /// One noun, and nothing that says which: "any tests".
    bare: bool,
    /// "under `src`": what is named in code is a folder.
    inside: bool,
    /// "any of the tickets": one of them speaks against it.
    any: bool,
    /// "I could not": it is said to have been tried.
    tried: bool,
    /// "I have not": at no time, and not only since the user asked.
    pub(crate) ever: bool,
    /// The days that say which: "the 8 May appointment".
    days: Vec<When>,
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
    if let Some(denied) = none_done(prose, clause)
        .or_else(|| nothing_inside(prose, clause))
        .or_else(|| without_changing(prose, clause))
    {
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
    let tried = able || tokens.get(auxiliary).is_some_and(|t| is_could(prose, t));
    let (things, which) = things(prose, range.clone());
    let mut days = Vec::new();
    each_moment(text_of(prose, range.clone()), |moment| {
        days.extend(matches!(moment.when, When::Day { .. }).then_some(moment.when));
    });
    Some(DeniedAct {
        days,
        tried,
        ever: tokens
            .get(auxiliary)
            .is_some_and(|t| t.has(Tags::HAVE) || (t.has(Tags::BE) && !t.has(Tags::PAST_BE))),
        family,
        verb: prose.word(token).to_ascii_lowercase(),
        objects: objects_in(prose, range.clone()),
        whole: is_whole(prose, range.clone()),
        anything: prose.tokens(range.clone()).iter().any(|t| prose.is(t, words!["anything"])),
        inside: prose.tokens(range.clone()).windows(2).any(|pair| {
            let [under, code] = pair else { return false };
            let within = words!["under", "in", "inside", "within", "below"];
            prose.is(under, within) && code.kind == TokenKind::Code
        }),
        any: prose.tokens(range.clone()).windows(2).any(|pair| {
            let [any, of] = pair else { return false };
            prose.is(any, words!["any", "either", "one"]) && prose.is(of, words!["of"])
        }),
        bare: agent && names_one(prose, range.clone()),
        things,
        which,
    })
}

/// "No appointment has been booked": what is said not to have been done to any of its kind.
fn none_done(prose: &Prose<'_>, clause: &Clause) -> Option<DeniedAct> {
    let tokens = prose.tokens(clause.tokens.clone());
    let no = tokens
        .iter()
        .position(is_word)
        .filter(|at| tokens.get(*at).is_some_and(|t| !t.quoted && prose.is(t, words!["no"])))?;
    let auxiliary = tokens.iter().position(|t| t.has(Tags::HAVE.or(Tags::PAST_BE)))?;
    let been = |t: &Token| t.has(Tags::BE) || t.has(Tags::ADVERB);
    let behind = tokens.get(auxiliary + 1..)?;
    let verb = auxiliary + 1 + behind.iter().position(|t| !been(t))?;
    let token = tokens.get(verb).filter(|t| t.has(Tags::PARTICIPLE))?;
    let Some(Action::Of(family)) = token.verb else { return None };
    let perfect = tokens.get(auxiliary).is_some_and(|t| t.has(Tags::HAVE));
    let passive = !perfect || behind.first().is_some_and(|t| t.has(Tags::BEEN));
    let open = Tags::MODAL.or(Tags::HEDGE).or(Tags::USER).or(Tags::THIRD).or(Tags::PREPOSITION);
    let range = clause.tokens.start + no + 1..clause.tokens.start + auxiliary;
    let led = prose.tokens(range.clone());
    let rest = tokens.get(verb + 1..)?.iter().filter(|t| is_word(t));
    let plain = rest.clone().all(|t| prose.is(t, words!["yet", "so", "far", "for", "you"]));
    let partial = tokens.iter().any(|t| prose.is(t, PARTIAL));
    if !passive || partial || !plain || led.is_empty() || led.iter().any(|t| t.has(open)) {
        return None;
    }
    let (things, _) = things(prose, range);
    let verb = prose.word(token).to_ascii_lowercase();
    Some(DeniedAct { things, ever: perfect, ..DeniedAct::of(family, &verb) })
}

/// The text of some tokens.
fn text_of<'t>(prose: &Prose<'t>, range: Range<usize>) -> &'t str {
    let tokens = prose.tokens(range);
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return "" };
    prose.text.get(first.start as usize..last.end as usize).unwrap_or_default()
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

/// "any tests", "any test file": one noun, and nothing that says which.
fn names_one(prose: &Prose<'_>, range: Range<usize>) -> bool {
    let file = |t: &Token| prose.is(t, words!["file", "files"]);
    prose.tokens(range).iter().filter(|t| is_word(t) && !file(t)).count() <= 2
}

/// The nouns, and those of them that say which: "a block for *data*".
fn things(prose: &Prose<'_>, range: Range<usize>) -> (Vec<String>, Vec<String>) {
    // Behind an article a verb is a noun: "a note".
    let small = Tags::DETERMINER
        .or(Tags::THING)
        .or(Tags::ADVERB)
        .or(Tags::NEGATION)
        .or(Tags::USER_OWN)
        .or(Tags::AGENT_OWN)
        .or(Tags::NOW);
    let tokens = prose.tokens(range);
    let nouns = |tokens: &[Token]| -> Vec<String> {
        let named = |t: &&Token| {
            let plain = !t.has(small.or(Tags::PREPOSITION)) || t.noun.is_some();
            t.kind == TokenKind::Word && !t.quoted && plain
        };
        let words = tokens.iter().filter(named).map(|t| prose.word(t).to_ascii_lowercase());
        words.filter(|word| word.len() > 3).collect()
    };
    let behind = tokens.iter().position(|t| t.has(Tags::PREPOSITION)).unwrap_or(tokens.len());
    (nouns(tokens), nouns(tokens.get(behind..).unwrap_or_default()))
}

impl DeniedAct {
    /// The denial that files were changed, or that anything below them was.
    pub(super) fn of_files(objects: Vec<Object>, inside: bool) -> Self {
        Self { objects, inside, ..Self::of(Family::Update, "changed") }
    }

    /// The denial that files of a kind were changed.
    pub(super) fn of_kind(kind: String) -> Self {
        Self { things: vec![kind], bare: true, ..Self::of(Family::Update, "changed") }
    }

    /// The denial of an act, of nothing in particular.
    fn of(family: Family, verb: &str) -> Self {
        Self {
            family,
            verb: verb.to_owned(),
            objects: Vec::new(),
            things: Vec::new(),
            which: Vec::new(),
            whole: false,
            anything: false,
            bare: false,
            any: false,
            inside: false,
            tried: false,
            days: Vec::new(),
            ever: false,
        }
    }

    /// The deed since message `since` that shows that it was done, and whether it proves it.
    pub(crate) fn contrary<'f, 't>(
        &self,
        facts: &'f Facts<'t>,
        turn: usize,
        since: usize,
    ) -> Option<(&'f Execution<'t>, &'f Deed<'t>, bool)> {
        let deeds = || {
            let recent = facts.deeds_before(turn).take(LOOK_BACK);
            let recent = recent.take_while(|(e, _)| e.called_at >= since);
            recent.filter(|(execution, deed)| execution.outcome.is_some() && !deed.is_note)
        };
        // "anything under `src`"
        let edits = matches!(self.family, Family::Update | Family::Create | Family::Delete);
        let folder = |o: &Object| {
            edits
                && self.inside
                && o.kind == ObjectKind::Quote
                && !o.text.is_empty()
                && o.text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        };
        let paths: Vec<&Object> = self
            .objects
            .iter()
            .filter(|object| object.kind == ObjectKind::Path || folder(object))
            .collect();
        let lies_in = |path: &str, known: &Object| {
            let mut folders = path.rsplit(['/', '\\']).skip(1);
            if folder(known) {
                folders.any(|part| part == known.text)
            } else {
                mentions(path, known)
            }
        };
        if !paths.is_empty() {
            let wrote = |deed: &Deed<'_>| {
                deed.written.iter().any(|path| paths.iter().any(|known| lies_in(path, known)))
            };
            let restores = |deed: &Deed<'_>| deed.shell.as_ref().is_some_and(|work| work.restores);
            let latest = deeds().find(|(_, deed)| wrote(deed) || restores(deed));
            return latest
                .filter(|(_, deed)| edits && wrote(deed) && deed.status().succeeded())
                .map(|(execution, deed)| (execution, deed, !self.inside));
        }
        if self.whole && matches!(self.family, Family::Commit | Family::Push) {
            // What was changed since is not in it.
            let newer = |deed: &Deed<'_>| match self.family {
                Family::Push => deed.families.has(Family::Commit),
                _ => !deed.written.is_empty(),
            };
            let did = |deed: &Deed<'_>| {
                let wanted = Families::of(&[self.family]);
                deed.families.meets(wanted) && deed.status_for(wanted).succeeded()
            };
            let latest = deeds().find(|(_, deed)| did(deed) || newer(deed));
            return latest.filter(|(_, deed)| did(deed)).map(|(e, deed)| (e, deed, true));
        }
        // "I didn't send anything", "I haven't done anything yet"
        if self.whole && self.anything && self.objects.is_empty() {
            let wanted = Families::of(&[self.family]);
            let plain = !edits && self.family.changes_state();
            let did = |deed: &Deed<'_>| match self.verb.as_str() {
                "done" | "do" => deed.changes(),
                _ => plain && deed.families == wanted,
            };
            let did = deeds()
                .find(|(_, deed)| deed.shell.is_none() && deed.status().succeeded() && did(deed));
            if let Some((execution, deed)) = did.filter(|_| !self.tried) {
                return Some((execution, deed, false));
            }
        }
        self.wrote_kind(deeds()).or_else(|| self.done_by_name(facts, deeds()))
    }

    /// "I did not touch any test": a file that lies among such, or is named so, and was written.
    fn wrote_kind<'f, 't: 'f>(
        &self,
        mut deeds: impl Iterator<Item = (&'f Execution<'t>, &'f Deed<'t>)>,
    ) -> Option<(&'f Execution<'t>, &'f Deed<'t>, bool)> {
        let thing = self.things.first().map(|thing| thing.trim_end_matches('s'))?;
        let changes = Lexicon::english().get(&self.verb).and_then(|entry| entry.verb);
        let changes = changes == Some(Action::Of(Family::Update));
        if !self.bare || !changes || thing.len() <= 3 {
            return None;
        }
        // A folder `models` holds what describes them, too.
        let describes = |path: &str| {
            [".yml", ".yaml", ".json", ".md", ".toml"].iter().any(|end| path.ends_with(end))
        };
        let is_such = |path: &String| {
            let named = match describes(path) {
                true => path.rsplit('/').next().unwrap_or(path),
                false => path,
            };
            let mut parts = named.split(|c: char| !c.is_alphanumeric());
            // `config/` for "the configuration"
            let short = |part: &str| part.len() >= 4 && thing.starts_with(part);
            parts.any(|part| {
                part.trim_end_matches('s').eq_ignore_ascii_case(thing)
                    || (KINDS.hold(thing.as_bytes()) && short(part))
            })
        };
        let wrote = |deed: &Deed<'_>| deed.status().succeeded() && deed.written.iter().any(is_such);
        let (execution, deed) = deeds.find(|(_, deed)| wrote(deed))?;
        Some((execution, deed, false))
    }

    /// Whether an object is a part of a day, and something read before says of what the call was
    /// made for that it is on that day.
    fn is_dated(&self, facts: &Facts<'_>, execution: &Execution<'_>, object: &Object) -> bool {
        let dates = matches!(object.kind, ObjectKind::Number | ObjectKind::Date);
        let executions = facts.record().executions();
        let same = |known: &Execution<'_>| std::ptr::eq(known, execution);
        let Some(at) = executions.iter().position(same).filter(|_| dates) else { return false };
        let mut found = false;
        each_moment(&behind_ids(facts, at, execution), |moment| {
            found |= self.days.iter().any(|day| day.agrees(moment.when));
        });
        found
    }

    /// The call of a tool that is named after the act and the thing, which worked, and of which
    /// none failed.
    fn done_by_name<'f, 't: 'f>(
        &self,
        facts: &Facts<'t>,
        deeds: impl Iterator<Item = (&'f Execution<'t>, &'f Deed<'t>)>,
    ) -> Option<(&'f Execution<'t>, &'f Deed<'t>, bool)> {
        let verb = head(match Lexicon::english().base_of(&self.verb) {
            Some(base) => base,
            None if self.verb.len() > 4 => self.verb.trim_end_matches('d').trim_end_matches('e'),
            None => &self.verb,
        });
        let does =
            |word: &str| word.len() > 2 && (verb.starts_with(word) || word.starts_with(verb));
        // `submit_read` for a reading, `sub_pause` for a subscription.
        let about = |word: &str| {
            let begins = |thing: &String| word.len() >= 3 && thing.starts_with(word);
            // "e-mail", with `send_email`
            let joined = |thing: &String| thing.contains('-') && thing.replace('-', "") == word;
            let same = |thing: &String| head(thing) == head(word) || joined(thing);
            self.things.iter().any(|thing| same(thing) || begins(thing))
        };
        // "I haven't ordered the sandwiches", with `catering.order` for a "sandwich platter".
        let refuses = |text: &str| {
            ["not_", "not "].iter().any(|not| holds(text, &format!("{not}{}", self.verb)))
        };
        let given = |execution: &Execution<'_>, deed: &Deed<'_>| {
            deed.changes()
                && !refuses(execution.text())
                && self.things.iter().any(|thing| holds(args(execution), head(thing)))
        };
        let named = |execution: &Execution<'_>, deed: &Deed<'_>| {
            deed.shell.is_none()
                && deed.words().iter().any(|word| does(head(word)))
                && (deed.words().iter().any(|word| about(word)) || given(execution, deed))
        };
        let mut of_name: Vec<_> = deeds.filter(|(e, deed)| named(e, deed)).collect();
        if self.any {
            of_name.retain(|(_, deed)| deed.status().succeeded());
        }
        // "I could not create the task": it may have been created at the second attempt.
        let latest = of_name.first().map(|(execution, _)| *execution);
        let made_good = |failed: &Execution<'_>| {
            latest.is_some_and(|latest| shares_a_text(args(failed), args(latest)))
        };
        let worked = of_name.first().is_some_and(|(_, deed)| deed.status().succeeded());
        let retried = self.tried && self.bare && worked;
        of_name.retain(|(e, deed)| deed.status().succeeded() || !(retried && made_good(e)));
        if of_name.iter().any(|(_, deed)| !deed.status().succeeded()) {
            return None;
        }
        let particular = |execution: &Execution<'_>, deed: &Deed<'_>| {
            let texts = [args(execution), execution.text(), deed.tool.as_ref()];
            let speaks = |thing: &String| texts.iter().any(|text| holds(text, head(thing)));
            self.objects.iter().all(|o| {
                mentions(args(execution), o)
                    || mentions(execution.text(), o)
                    || holds_number(args(execution), o)
                    || self.is_dated(facts, execution, o)
            }) && (!self.tried || self.things.iter().all(speaks))
                && (self.which.is_empty() || self.which.iter().any(speaks))
        };
        of_name.retain(|(execution, deed)| particular(execution, deed));
        of_name.first().map(|(execution, deed)| (*execution, *deed, false))
    }
}

/// Whether arguments hold a number, however its digits are set apart.
fn holds_number(arguments: &str, object: &Object) -> bool {
    let bare = object.text.replace(',', "");
    object.kind == ObjectKind::Number && bare.len() > 2 && holds(arguments, &bare)
}

/// Whether two calls were given a text in common, longer than a word of a setting.
fn shares_a_text(one: &str, other: &str) -> bool {
    const LONG: usize = 8;
    let texts = |arguments: &str| -> Vec<String> {
        let leaves = Leaves::of(arguments);
        let nodes = leaves.iter().flat_map(Leaves::nodes);
        let text = |leaf| if let Leaf::Text(text) = leaf { text } else { "" };
        nodes.map(|node| text(node.leaf).to_owned()).filter(|text| text.len() >= LONG).collect()
    };
    let known = texts(one);
    texts(other).iter().any(|text| known.contains(text))
}
