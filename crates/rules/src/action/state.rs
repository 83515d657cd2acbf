//! How the record says that things stand, whoever brought it about.

use counterfoil_model::{Family, Object, ObjectKind};
use counterfoil_record::{ValueKind, values};

use super::extract::ActionClaim;
use super::judge::{LOOK_BACK, args};
use super::objects::{Sought, mentions};
use super::tie::head;
use crate::facts::{Facts, Families, words_of};
use crate::prose::{Action, Lexicon, sets};
use crate::values::{AnyCase, Leaf, Leaves};

/// A result that shows the claimed state, whoever brought it about.
pub(super) fn state_of_record(
    facts: &Facts<'_>,
    said: &ActionClaim,
    ids: &[&Object],
) -> Option<usize> {
    let tells = tells_somebody(said);
    let stem = state_stem(said.family);
    // "I've notified the carrier": an order that is shipped says nothing of it.
    let goods = ["sent", "shipped", "dispatched"].contains(&said.verb.as_str());
    let shipped = (said.family == Family::Send && goods && !tells).then_some("shipped");
    // `"status": "shipped"`: the very word.
    let value = format!("\"{}\"", said.verb);
    let words = [stem, shipped, Some(&value)];
    // `"status": "CANCELLED"`
    let finders: Vec<AnyCase<'_>> = words.into_iter().flatten().map(AnyCase::new).collect();
    let shows = |text: &str| finders.iter().any(|f| holds_state(text, f));
    // "I've sent you a text message", where a request is `"sent_to_prescriber"`.
    let heads: Vec<AnyCase<'_>> =
        said.things.iter().map(|thing| AnyCase::new(head(thing))).collect();
    let named: Vec<AnyCase<'_>> = who_was_told(said).map(AnyCase::new).collect();
    let speaks = |text: &str, asked: &str| {
        let holds = |word: &AnyCase<'_>| word.stands_in(text) || word.stands_in(asked);
        let about = !said.is_own() || heads.is_empty() || heads.iter().any(holds);
        about && (named.is_empty() || named.iter().any(holds))
    };
    let sought: Vec<Sought<'_>> = ids.iter().map(|id| Sought::of(id)).collect();
    let count = facts.record().count_before(said.claim.turn);
    (0..count).rev().take(LOOK_BACK).find(|at| {
        facts.deed(*at).is_some_and(|(execution, deed)| {
            let text = execution.text();
            deed.status().succeeded()
                // `"sent"` in what was read is about other mail.
                && (!tells || (deed.changes() && speaks(text, args(execution))))
                && (sought.is_empty() || sought.iter().any(|id| id.stands_in(text)))
                && shows(text)
        })
    })
}

/// "I've faxed Dr. Voss": the names behind the verb.
fn who_was_told(said: &ActionClaim) -> impl Iterator<Item = &str> {
    let behind = said.claim.text.split_once(said.verb.as_str()).map_or("", |(_, rest)| rest);
    let words = behind.split_whitespace().take(3);
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| word.len() > 2 && word.starts_with(char::is_uppercase))
}

/// A result that marks the act as done, of "the supplier has been told": `"supplier_notified": true`.
pub(super) fn marked_in_record(
    facts: &Facts<'_>,
    said: &ActionClaim,
    ids: &[&Object],
) -> Option<usize> {
    if said.is_own() {
        return None;
    }
    const BE: [&str; 5] = ["is", "was", "has", "been", "be"];
    let lexicon = Lexicon::english();
    let family = |word: &str| lexicon.get(word).and_then(|entry| entry.verb);
    let in_claim = |word: &str| {
        let mut words = said.claim.text.split(|c: char| !c.is_alphanumeric());
        words.any(|said| head(&said.to_ascii_lowercase()) == head(word))
    };
    let marks = |name: &str| {
        let (mut is_act, mut is_of_it) = (false, true);
        for word in words_of(name).iter().filter(|word| !BE.contains(&word.as_str())) {
            match family(word) == Some(Action::Of(said.family)) {
                true => is_act = true,
                false => is_of_it &= in_claim(word),
            }
        }
        is_act && is_of_it
    };
    let count = facts.record().count_before(said.claim.turn);
    let sought: Vec<Sought<'_>> = ids.iter().map(|id| Sought::of(id)).collect();
    (0..count).rev().take(LOOK_BACK).find(|at| {
        facts.deed(*at).is_some_and(|(execution, deed)| {
            let text = execution.text();
            let of_it = sought.is_empty() || sought.iter().any(|id| id.stands_in(text));
            let succeeded = of_it && deed.status().succeeded() && text.contains("true");
            let leaves = succeeded.then(|| Leaves::of(text)).flatten();
            leaves.is_some_and(|leaves| {
                let mut nodes = leaves.nodes().iter();
                nodes.any(|node| node.leaf == Leaf::Flag(true) && marks(node.name))
            })
        })
    })
}

/// Whether a message is what was sent: "notified them", "sent a confirmation".
fn tells_somebody(said: &ActionClaim) -> bool {
    let goods = ["sent", "shipped", "dispatched", "forwarded"].contains(&said.verb.as_str());
    let written =
        said.things.iter().any(|thing| sets::WRITTEN_THINGS.list.contains(&thing.as_str()));
    said.family == Family::Send && (!goods || written)
}

/// What a record of things brought about by such actions calls them.
pub(super) fn records(said: &ActionClaim) -> &'static [&'static str] {
    let ordered = ["ordered", "placed", "purchased", "bought"].contains(&said.verb.as_str());
    match said.family {
        Family::Book if ordered => &["order_id", "purchase", "reservation", "booking"],
        Family::Book => &["reservation", "booking", "appointment", "event_", "meeting"],
        Family::Pay => &["payment", "paid", "payee", "transaction"],
        Family::Push | Family::Deploy => &["origin/", "deploy", "shipped", "delivered"],
        _ => &[],
    }
}

/// What a result says of a thing after an action of this family.
pub(super) fn state_stem(family: Family) -> Option<&'static str> {
    Some(match family {
        Family::Cancel => "cancel",
        Family::Refund => "refund",
        Family::Return => "return",
        Family::Exchange => "exchange",
        Family::Send => "sent",
        Family::Delete => "deleted",
        Family::Book => "booked",
        Family::Pay => "paid",
        Family::Deploy => "deployed",
        _ => return None,
    })
}

/// "| March | 118.65 | paid |": a lone word that a result has, too, is how that puts it.
///
/// So is what something "has been updated to", between quotation marks, whoever did it.
pub(super) fn is_word_of_record(facts: &Facts<'_>, said: &ActionClaim) -> bool {
    let text = &said.claim.text;
    let goal = [(" to '", '\''), (" to \"", '"'), (" to “", '”')];
    let goal = goal.iter().find_map(|(opens, closes)| {
        text.split_once(opens).and_then(|(_, rest)| rest.split_once(*closes)).map(|(goal, _)| goal)
    });
    let before = text.split(" to ").next().unwrap_or_default();
    let own = before.split_whitespace().any(|word| matches!(word, "I" | "I've" | "we" | "We"));
    if let Some(goal) = goal.filter(|goal| goal.len() > 2 && !own && said.family == Family::Update)
    {
        let goal = AnyCase::new(goal);
        let mut done = facts.deeds_before(said.claim.turn).take(LOOK_BACK);
        return done.any(|(e, deed)| deed.status().succeeded() && goal.stands_in(e.text()));
    }
    let lone = said.claim.text.eq_ignore_ascii_case(&said.verb);
    let word = AnyCase::new(&said.verb);
    let read = || facts.deeds_before(said.claim.turn).take(LOOK_BACK);
    lone && read().any(|(execution, deed)| {
        let reads = Families::of(&[Family::Read, Family::Search]);
        deed.families.meets(reads)
            && deed.status().succeeded()
            && holds_state(execution.text(), &word)
    })
}

/// "It was placed on April 2nd", beside `"created": "2024-04-02"`: the result that has the day of
/// the claim as the one on which something came about.
pub(super) fn dated_in_record(facts: &Facts<'_>, said: &ActionClaim) -> Option<usize> {
    let days = days_in(&said.claim.text);
    if said.is_own() || days.is_empty() {
        return None;
    }
    let dates = |text: &str, key: &AnyCase<'_>| {
        let mut from = 0;
        while let Some(at) = key.find(text, from) {
            from = at + 1;
            let field: String = text.get(at..).unwrap_or_default().chars().take(60).collect();
            let first = days_in(&field).into_iter().next();
            if first.is_some_and(|first| days.iter().any(|day| is_same_day(day, &first))) {
                return true;
            }
        }
        false
    };
    let members = sets::DATED_MEMBERS.list.iter().map(|word| format!("\"{word}"));
    let members: Vec<String> = members.collect();
    let keys: Vec<AnyCase<'_>> = members.iter().map(|member| AnyCase::new(member)).collect();
    let count = facts.record().count_before(said.claim.turn);
    (0..count).rev().take(LOOK_BACK).find(|at| {
        facts.deed(*at).is_some_and(|(execution, deed)| {
            let text = execution.text();
            deed.status().succeeded() && keys.iter().any(|key| dates(text, key))
        })
    })
}

/// The days of a text, in their normal form: `2024-04-02`, or `--04-02` without a year.
fn days_in(text: &str) -> Vec<String> {
    let days = values(text).into_iter().filter(|value| value.kind == ValueKind::Date);
    days.map(|value| value.key).collect()
}

/// Whether both may be the same day.
fn is_same_day(one: &str, other: &str) -> bool {
    let yearless = |day: &str| day.starts_with("--");
    let day = |day: &str| day.get(day.len().saturating_sub(5)..).map(str::to_owned);
    one == other || ((yearless(one) || yearless(other)) && day(one) == day(other))
}

/// "Draft AP-9917 created": the call that gave out the id, when it changed something and was not
/// given it.
pub(super) fn made_by(facts: &Facts<'_>, said: &ActionClaim, ids: &[&Object]) -> Option<usize> {
    if said.family == Family::Commit {
        return None;
    }
    // "I raised PO-20417", "opened", "placed": also words for making it.
    let makes = matches!(said.family, Family::Create | Family::Book)
        || sets::MADE_WITH_AN_ID.list.contains(&said.verb.as_str());
    let id = ids.iter().find(|o| o.kind == ObjectKind::Id && makes)?;
    let count = facts.record().count_before(said.claim.turn);
    let reads = Families::of(&[Family::Read, Family::Search]);
    // Newest first: the last one found is the first to speak of it.
    let speaking = (0..count).rev().take(LOOK_BACK).filter(|at| {
        facts.deed(*at).is_some_and(|(e, _)| mentions(e.text(), id) || mentions(args(e), id))
    });
    let first = speaking.last()?;
    let (execution, deed) = facts.deed(first)?;
    let gave = !mentions(args(execution), id) && !deed.families.meets(reads);
    (gave && deed.status().succeeded()).then_some(first)
}

/// Whether a text holds a word that begins so, other than as the name of something that is not so:
/// `"cancelled_at": null`.
pub(super) fn holds_state(text: &str, word: &AnyCase<'_>) -> bool {
    let first = word.find(text, 0);
    std::iter::successors(first, |at| word.find(text, at + 1)).any(|at| {
        // Neither "absent" nor "unpaid".
        let inside = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        if inside.is_some_and(u8::is_ascii_alphabetic) {
            return false;
        }
        let rest = text.get(at..).unwrap_or_default();
        let name = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '"');
        let Some(value) = name.strip_prefix(':').map(str::trim_start) else { return true };
        let void = ["null", "false", "\"\"", "[]", "{}", "None", "0,", "0}"];
        !void.iter().any(|nothing| value.starts_with(nothing))
    })
}
