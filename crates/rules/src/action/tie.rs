//! Whether a deed that may have been what is claimed has anything to do with it.

use counterfoil_model::Family;
use memchr::memmem::Finder;

use super::extract::ActionClaim;
use super::judge::args;
use crate::facts::{Deed, Execution, Facts, Families};
use crate::prose::Lexicon;
use crate::values::{AnyCase, holds};

/// So many letters of a word tell it from others.
const LETTERS: usize = 5;
/// So many bytes of what the agent was given are searched for what an id stands for.
const REACH: usize = 32 * 1024;
/// How the words for what stands in a calendar begin.
const PLANNED: [&str; 5] = ["meeti", "event", "appoi", "calen", "sched"];
/// How titles begin, and how they are shortened.
const TITLES: [(&str, &str); 2] = [("docto", "dr. "), ("profe", "prof. ")];
/// And so many texts.
const TEXTS: usize = 64;
/// Shorter words of arguments stand everywhere.
const SHORTEST_ID: usize = 4;

/// What a claim has to have in common with a deed that may have been what it tells.
#[derive(Debug)]
pub(super) struct Tie<'s> {
    said: &'s ActionClaim,
    /// It is told of as one more: what names it, of which a call made for it speaks.
    additional: Option<Vec<AnyCase<'s>>>,
    /// How the things, the verb, and all words of the claim begin.
    things: Vec<&'s str>,
    verb: &'s str,
    words: Vec<AnyCase<'s>>,
}

impl<'s> Tie<'s> {
    pub(super) fn of(said: &'s ActionClaim) -> Self {
        let things: Vec<&str> = said.things.iter().map(|thing| head(thing)).collect();
        let verb = head(stem(&said.verb));
        // Members of every service's answers are called so.
        let common =
            |word: &str| ["message", "status", "detail", "result", "error"].contains(&word);
        // "reassigned" with an `assignee`
        let again = stem(&said.verb).strip_prefix("re").filter(|rest| rest.len() >= LETTERS);
        let all = said.things.iter().map(String::as_str).chain([stem(&said.verb)]).chain(again);
        let mut words: Vec<&str> =
            all.chain(content(&said.claim.text)).filter(|word| !common(word)).map(head).collect();
        // "your doctor", with a message to "Dr. Rao"
        words.extend(TITLES.iter().filter(|(title, _)| things.contains(title)).map(|(_, dr)| *dr));
        words.sort_unstable();
        words.dedup();
        let words = words.into_iter().map(AnyCase::new).collect();
        let additional = is_additional(&said.claim.text).then(|| {
            let mut named = things.clone();
            if named.is_empty() {
                let words = content(&said.claim.text);
                named.extend(words.filter(|word| !word.starts_with(&said.verb)).map(head));
            }
            named.sort_unstable();
            named.dedup();
            named.into_iter().map(AnyCase::new).collect()
        });
        Self { said, additional, things, verb, words }
    }

    /// Whether a deed has anything in common with what is claimed: its tool, what it was given, and
    /// what it answered speak of the thing or of the act, or it was given an id of which something
    /// read before says that it is the thing.
    pub(super) fn binds(
        &self,
        facts: &Facts<'_>,
        execution: &Execution<'_>,
        deed: &Deed<'_>,
    ) -> bool {
        let said = self.said;
        let known = deed.shell.is_none()
            && !deed.opaque
            && !deed.delegates
            && deed.written.is_empty()
            && !deed.edits_files();
        let nameless = said.things.is_empty() && self.additional.is_none();
        if !known || nameless || is_kin(said.family, deed.families) || !deed.is_named_in_english() {
            return true;
        }
        let tool = facts.transcript().catalog.get(execution.tool());
        let about = tool.map_or("", |tool| tool.description.as_str());
        let texts = [deed.tool.as_ref(), args(execution), about, execution.text()];
        // "I've also …": a second act has a call of its own, that is made for it.
        if let Some(named) = &self.additional {
            let does = deed.words().iter().any(|word| head(word).starts_with(self.verb));
            let call = texts.get(..3).unwrap_or_default();
            let in_call = |word: &AnyCase<'_>| call.iter().any(|text| word.stands_in(text));
            return does || named.is_empty() || named.iter().any(in_call);
        }
        let object = |text: &str| {
            let text = text.trim_start_matches(['#', '$', '€', '£']);
            text.len() > 1 && texts.iter().any(|known| holds(known, text))
        };
        // What the user calls a meeting, a calendar calls an event.
        let changed = Families::of(&[Family::Update, Family::Move, Family::Delete, Family::Cancel]);
        let planned = || {
            deed.families.meets(changed) && self.things.iter().any(|thing| PLANNED.contains(thing))
        };
        let plans = || PLANNED.iter().any(|word| texts.iter().any(|text| holds(text, word)));
        self.words.iter().any(|word| texts.iter().any(|text| word.stands_in(text)))
            || (planned() && plans())
            || said.claim.objects.iter().any(|known| object(&known.text))
            || stands_for(facts, execution, &self.things)
    }
}

/// How a word begins, which tells it from others, whatever its ending.
pub(super) fn head(word: &str) -> &str {
    word.get(..word.floor_char_boundary(LETTERS)).unwrap_or(word)
}

/// A verb without its ending: enough to find it in arguments.
pub(super) fn stem(verb: &str) -> &str {
    if let Some(base) = Lexicon::english().base_of(verb) {
        return base;
    }
    let cut = verb.strip_suffix("ed").or_else(|| verb.strip_suffix('d')).unwrap_or(verb);
    // "plotted", "dropped"
    let doubled = match cut.as_bytes() {
        [.., a, b] => a == b && b"bdgmnprt".contains(b),
        _ => false,
    };
    let short = doubled && cut.len() <= LETTERS;
    let cut = cut.get(..cut.len() - usize::from(short)).unwrap_or(cut);
    if cut.len() >= 4 { cut } else { verb }
}

/// Whether an act is told of as one more.
fn is_additional(text: &str) -> bool {
    let mut before = "";
    text.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let as_well = std::mem::replace(&mut before, word) == "as" && word == "well";
        as_well || matches!(word, "also" | "Also" | "too" | "additionally")
    })
}

/// Whether services call the one act by the name of the other.
fn is_kin(claimed: Family, done: Families) -> bool {
    use Family as F;
    done.meets(Families::of(match claimed {
        F::Cancel => &[F::Delete],
        F::Delete => &[F::Cancel],
        F::Book => &[F::Create],
        F::Refund => &[F::Return, F::Cancel],
        F::Return => &[F::Refund],
        _ => return false,
    }))
}

/// Whether an id among the arguments stands in something read before that speaks of the thing.
fn stands_for(facts: &Facts<'_>, execution: &Execution<'_>, heads: &[&str]) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#');
    let ids: Vec<Finder<'_>> = args(execution)
        .split(|c: char| !part(c))
        .filter(|word| word.len() >= SHORTEST_ID && word.bytes().any(|b| b.is_ascii_digit()))
        .map(Finder::new)
        .collect();
    !ids.is_empty()
        && !heads.is_empty()
        && facts.given().near(execution.called_at, REACH).take(TEXTS).any(|given| {
            ids.iter().any(|id| id.find(given.text.as_bytes()).is_some())
                && heads.iter().any(|head| holds(given.text, head))
        })
}

/// The words of a claim that name things rather than join words.
fn content(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    words.filter(|word| {
        Lexicon::english()
            .get(word)
            .is_none_or(|entry| entry.tags.is_empty() || entry.noun.is_some())
    })
}
