//! A call that worked beside one that failed, where the claim speaks of what the failed one was
//! for.

use std::rc::Rc;

use counterfoil_model::Family;

use super::behind_ids::behind_ids;
use super::extract::ActionClaim;
use super::judge::args;
use super::tie::{head, stem};
use crate::facts::{Deed, Execution, Facts, Families};
use crate::prose::Lexicon;
use crate::values::{AnyCase, When, each_moment, holds};

/// So many of the latest executions are looked at.
const LOOK_BACK: usize = 64;
/// Longer arguments are content, and speak of many things.
const LONGEST: usize = 4 * 1024;

/// The call that failed, where the claim, for which the execution at `done` seems to vouch, says
/// what was asked of that call and of none that worked: another day, another amount, another name,
/// or an act that the tool of the failed call is named after.
pub(super) fn failed_instead(
    facts: &Facts<'_>,
    said: &ActionClaim,
    accepted: Families,
    done: usize,
) -> Option<usize> {
    let (_, worked) = facts.deed(done)?;
    if worked.shell.is_some() || worked.opaque || worked.delegates || said.stem.is_some() {
        return None;
    }
    let count = facts.record().count_before(said.claim.turn);
    let ended_badly = |at: usize| {
        facts.deed(at).is_some_and(|(_, deed)| deed.shell.is_none() && !deed.status().succeeded())
    };
    if !(count.saturating_sub(LOOK_BACK)..count).any(ended_badly) {
        return None;
    }
    // "Added: T4 for Mango", with `add_test` that worked each time.
    let act = head(stem(&said.verb));
    let named = |deed: &Deed<'_>| {
        !VAGUE.contains(&act) && deed.words().iter().any(|word| head(word) == act)
    };
    let of_name = || (count.saturating_sub(LOOK_BACK)..count).filter_map(|at| facts.deed(at));
    let mut of_name = of_name().map(|(_, deed)| deed).filter(|deed| named(deed)).peekable();
    if of_name.peek().is_some() && of_name.all(|deed| deed.status().succeeded()) {
        return None;
    }
    let recent = (count.saturating_sub(LOOK_BACK)..count).rev();
    let looks = Families::of(&[Family::Read, Family::Search, Family::Compute]);
    let of_kind = |at: &usize| {
        let known = facts.deed(*at).filter(|(_, deed)| {
            let failed = !deed.status().succeeded() && !deed.families.meets(looks);
            let kind = failed || deed.families.meets(accepted);
            deed.shell.is_none() && !deed.is_note && kind
        });
        known.map(|(execution, deed)| (*at, execution, deed))
    };
    let deeds: Vec<(usize, &Execution<'_>, &Deed<'_>)> =
        recent.filter_map(|at| of_kind(&at)).collect();
    let ended_well = |deed: &Deed<'_>| deed.status().succeeded();
    let details = Details::of(&said.claim.text);
    let things = details.with(&said.things);
    let failed = |(at, execution, deed): &&(usize, &Execution<'_>, &Deed<'_>)| {
        if ended_well(deed) || execution.outcome.is_none() || args(execution).len() > LONGEST {
            return false;
        }
        // "#5118 is locked", "the record was locked": why the call failed.
        if is_reason(said, execution.text()) {
            return false;
        }
        let others =
            || deeds.iter().filter(|(_, e, other)| e.outcome.is_some() && ended_well(other));
        let mut peers = others().filter(|(_, _, other)| other.tool == deed.tool).peekable();
        if peers.peek().is_none() {
            let named = |deed: &Deed<'_>| is_named_after(said, deed);
            return (named(deed) && !others().any(|(_, _, other)| named(other)))
                || is_about(facts, said, &details, execution, deed);
        }
        let details = &things;
        let peers: Vec<(usize, &Execution<'_>)> = peers.map(|(at, e, _)| (*at, *e)).collect();
        // What the ids stand for counts as asked.
        let own = behind_ids(facts, *at, execution);
        let others: Vec<Rc<str>> = peers.iter().map(|(at, e)| behind_ids(facts, *at, e)).collect();
        let here = |detail: usize| {
            details.has(detail, args(execution))
                || (details.is_particular(detail) && details.has(detail, &own))
        };
        let asked = |detail: usize| {
            peers.iter().any(|(_, e)| details.has(detail, args(e)))
                || (details.is_particular(detail)
                    && others.iter().any(|other| details.has(detail, other)))
        };
        let there = |detail: usize| {
            asked(detail) || peers.iter().any(|(_, e)| details.has(detail, e.text()))
        };
        // Small numbers stand in many results.
        let vouches = |detail: usize| {
            details.is_telling(detail)
                && facts.deed(done).is_some_and(|(e, _)| {
                    details.has(detail, args(e)) || details.has(detail, e.text())
                })
        };
        let all = || 0..details.len();
        // "On the 3rd instead of the 2nd" names both.
        *at != done
            && all().any(|detail| here(detail) && !there(detail) && !vouches(detail))
            && !all().any(|detail| asked(detail) && !here(detail))
    };
    deeds.iter().find(failed).map(|(at, ..)| *at)
}

/// Whether a failure says in the claim's words how something stands.
pub(super) fn is_reason(said: &ActionClaim, failure: &str) -> bool {
    let told = || {
        let been = ["was", "were", "been", "is", "already"];
        been.iter().any(|been| holds(failure, &format!("{been} {}", said.verb)))
    };
    // "You're now booked on it" is no reason.
    let to_user = said.claim.text.split(|c: char| !c.is_alphabetic()).next() == Some("You");
    !said.is_own() && !to_user && (told() || (said.state && holds(failure, &said.verb)))
}

/// The edit that worked before the one that failed, where the claim names no file, and the things
/// that it names stand in the former only: "version bumped", beside a README that could not be
/// edited.
pub(super) fn done_beside(facts: &Facts<'_>, said: &ActionClaim, failed: usize) -> Option<usize> {
    let edits = |deed: &Deed<'_>| deed.shell.is_none() && !deed.written.is_empty();
    let about = |execution: &Execution<'_>, thing: &str| {
        let end = args(execution).floor_char_boundary(LONGEST);
        holds(args(execution).get(..end).unwrap_or_default(), thing)
    };
    let (wrong, deed) = facts.deed(failed).filter(|(_, deed)| edits(deed))?;
    let things = || said.things.iter().map(String::as_str).filter(|thing| thing.len() > 3);
    if said.names_file() || deed.opaque || things().any(|thing| about(wrong, thing)) {
        return None;
    }
    (failed.saturating_sub(LOOK_BACK)..failed).rev().find(|at| {
        facts.deed(*at).is_some_and(|(execution, deed)| {
            edits(deed)
                && deed.status().succeeded()
                && things().any(|thing| about(execution, thing))
        })
    })
}

/// Whether the claim tells of what the tool of a deed is named after: an act of its kind, and the
/// thing.
fn is_named_after(said: &ActionClaim, deed: &Deed<'_>) -> bool {
    let things = |word: &String| {
        let bare = word.trim_end_matches('s');
        bare.len() > 3 && said.things.iter().any(|thing| thing == bare)
    };
    let words = deed.words();
    deed.families.has(said.family) && words.iter().any(things)
}

/// Whether a call that failed is the only one that was about what the claim names: a thing or a
/// number that it was given, or that its tool is named after, and that no call which worked was
/// given or gave.
fn is_about(
    facts: &Facts<'_>,
    said: &ActionClaim,
    details: &Details,
    execution: &Execution<'_>,
    deed: &Deed<'_>,
) -> bool {
    // A message may speak of all that was done, and a file of anything.
    let message = deed.families.has(Family::Send) && said.family != Family::Send;
    if deed.delegates || said.state || message || !deed.written.is_empty() {
        return false;
    }
    let of_tool = |deed: &Deed<'_>, thing: &str| deed.words().iter().any(|w| w.starts_with(thing));
    let given = |e: &Execution<'_>, d: &Deed<'_>, thing: &str| {
        of_tool(d, thing) || begins_word(args(e), thing)
    };
    let count = facts.record().count_before(said.claim.turn);
    let recent = || (count.saturating_sub(LOOK_BACK)..count).filter_map(|at| facts.deed(at));
    let looks = Families::of(&[Family::Read, Family::Search, Family::Compute]);
    let acts = || {
        recent().filter(|(e, d)| {
            e.outcome.is_some() && d.status().succeeded() && !d.families.meets(looks)
        })
    };
    let there = |(e, d): (&Execution<'_>, &Deed<'_>), thing: &str| {
        given(e, d, thing) || begins_word(e.text(), thing)
    };
    let vague = |thing: &str| ["one", "next", "last", "new", "all", "rest"].contains(&thing);
    let things = || {
        let all = said.things.iter().map(String::as_str);
        all.filter(|thing| thing.len() >= 3 && !vague(thing))
    };
    let number = |detail: usize| {
        details.has(detail, args(execution))
            && !acts().any(|(e, _)| details.has(detail, args(e)) || details.has(detail, e.text()))
    };
    let of_others = |detail: usize| {
        acts().any(|(e, _)| details.has(detail, args(e))) && !details.has(detail, args(execution))
    };
    let own =
        things().any(|thing| given(execution, deed, thing) && !acts().any(|act| there(act, thing)));
    let other = things()
        .any(|thing| acts().any(|(e, d)| given(e, d, thing)) && !given(execution, deed, thing));
    does_alone(said, deed, acts().map(|(_, deed)| deed))
        || (own || (0..details.len()).any(number)) && !other && !(0..details.len()).any(of_others)
}

/// "…, and approved it": whether the tool of the failed call is named after the act, and that of no
/// call which worked.
fn does_alone<'d, 't: 'd>(
    said: &ActionClaim,
    failed: &Deed<'_>,
    mut worked: impl Iterator<Item = &'d Deed<'t>>,
) -> bool {
    let act = head(stem(&said.verb));
    let does = |deed: &Deed<'_>| deed.words().iter().any(|word| head(word) == act);
    let told = said.family == Family::Update && act.len() > 4 && said.direct;
    told && !VAGUE.contains(&act) && does(failed) && !worked.any(does)
}

/// How verbs begin that tools of all kinds are named after.
const VAGUE: [&str; 8] = ["updat", "chang", "modif", "creat", "adjus", "apply", "handl", "proce"];

/// Whether a word of a text begins so, in any case.
fn begins_word(text: &str, start: &str) -> bool {
    let search = AnyCase::new(start);
    let mut from = 0;
    while let Some(at) = search.find(text, from) {
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        if !before.is_some_and(u8::is_ascii_alphabetic) {
            return true;
        }
        from = at + 1;
    }
    false
}

/// The particulars of a claim: days and times, numbers, names.
#[derive(Debug)]
struct Details {
    moments: Vec<When>,
    words: Vec<String>,
}

impl Details {
    fn of(text: &str) -> Self {
        let mut moments = Vec::new();
        let mut plain = String::with_capacity(text.len());
        let mut until = 0;
        each_moment(text, |moment| {
            plain.push_str(text.get(until..moment.start).unwrap_or_default());
            plain.push(' ');
            until = moment.end;
            moments.push(moment.when);
        });
        plain.push_str(text.get(until..).unwrap_or_default());
        let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '#');
        let words = plain
            .split(|c: char| !part(c))
            .map(|word| word.trim_matches(['.', '-', '_']))
            .enumerate()
            .filter(|(at, word)| tells(word, *at == 0))
            .map(|(_, word)| word.to_owned())
            .collect();
        Self { moments, words }
    }

    /// The same, and the words for what was acted on: "the back door".
    fn with(&self, things: &[String]) -> Self {
        let new = things.iter().filter(|thing| thing.len() > 3 && !self.words.contains(thing));
        let words = self.words.iter().chain(new).cloned().collect();
        Self { moments: self.moments.clone(), words }
    }

    fn len(&self) -> usize {
        self.moments.len() + self.words.len()
    }

    /// Whether one of them is more than a number: a day, a name, `3B`.
    fn is_telling(&self, detail: usize) -> bool {
        let word = self.words.get(detail.wrapping_sub(self.moments.len()));
        word.is_none_or(|word| word.bytes().any(|b| b.is_ascii_alphabetic()))
    }

    /// Whether one of them hardly stands anywhere by chance: a day, a name, no small number.
    fn is_particular(&self, detail: usize) -> bool {
        let word = self.words.get(detail.wrapping_sub(self.moments.len()));
        word.is_none_or(|word| word.len() >= 3)
    }

    /// Whether a text has one of them.
    fn has(&self, detail: usize, text: &str) -> bool {
        match (self.moments.get(detail), self.words.get(detail.wrapping_sub(self.moments.len()))) {
            (Some(wanted), _) => {
                let mut found = false;
                each_moment(text, |moment| found |= moment.when.agrees(*wanted));
                found
            }
            (None, Some(word)) => stands_alone(text, word),
            _ => false,
        }
    }
}

/// A number, or a name: a word with a capital that is not just the first, or behind a mark.
fn tells(word: &str, first: bool) -> bool {
    let number = word.bytes().any(|b| b.is_ascii_digit());
    let marked = word.starts_with(['#', '@']) && word.len() > 2;
    let capital = word.starts_with(|c: char| c.is_uppercase());
    let name = !first && capital && word.len() > 2 && Lexicon::english().get(word).is_none();
    number || marked || name
}

/// Whether a text holds a word that is no part of another, in any case.
fn stands_alone(text: &str, word: &str) -> bool {
    if !holds(text, word) {
        return false;
    }
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    let digit = word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.match_indices(&word).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let behind = text.get(at + word.len()..).and_then(|t| t.chars().next());
        let joins = |c: char| match digit {
            true => c.is_ascii_digit(),
            false => c.is_alphabetic() || matches!(c, '-' | '_'),
        };
        let apart = |c: Option<char>| !c.is_some_and(joins);
        apart(before) && apart(behind)
    })
}
