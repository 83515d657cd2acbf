//! Other evidence in the record for an action, if no call of its kind succeeded.

use counterfoil_model::{Family, Object, ObjectKind};
use counterfoil_record::{ValueKind, values};

use super::extract::ActionClaim;
use super::objects::{Sought, mentions};
use super::search::Search;
use super::words::{head, stem};
use crate::facts::{Deed, Execution, Facts, ShellWork, ToolName, of_name, words_of};
use crate::prose::{Action, Lexicon, sets};
use crate::values::{AnyCase, Leaf, Leaves};

/// Whether a successful execution, from index `since` of the record on, indicates that the action
/// was done: its result shows the state, or an id that it created, or the call has the words. The
/// action cannot be called missing then.
pub(super) fn is_indicated(search: &Search<'_, '_>, since: usize) -> bool {
    let claimed = search.claimed;
    let words = states_of(claimed.family).iter().copied().chain([stem(&claimed.verb)]);
    let words: Vec<AnyCase<'_>> = words.map(AnyCase::new).collect();
    let shows = |text: &str| words.iter().any(|word| holds_state(text, word));
    let things: Vec<AnyCase<'_>> =
        claimed.things.iter().map(|thing| AnyCase::new(head(thing))).collect();
    let ids: Vec<Sought<'_>> = search.ids.iter().map(|id| Sought::new(id)).collect();
    let own = claimed.claim.text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "I");
    let (facts, count) = (search.facts, search.count());
    facts.latest_deeds(since..count).any(|(execution, deed)| {
        let (arguments, result) = (execution.arguments(), execution.text());
        let in_either = |word: &AnyCase<'_>| word.occurs_in(arguments) || word.occurs_in(result);
        let of_it =
            ids.is_empty() || ids.iter().any(|id| id.occurs_in(result) || id.occurs_in(arguments));
        let named = things.is_empty() || things.iter().any(in_either);
        deed.status().succeeded()
            && !deed.is_note
            && (gives_out(search, execution, deed)
                || of_it && (!own || deed.changes() && named) && shows(result))
    })
}

/// "Draft AP-9917 created": the result of a change has the id, and its call has not.
fn gives_out(search: &Search<'_, '_>, execution: &Execution<'_>, deed: &Deed<'_>) -> bool {
    let given = |id: &&Object| {
        id.kind == ObjectKind::Id
            && mentions(execution.text(), id)
            && !mentions(execution.arguments(), id)
    };
    let reads = families![Read, Search];
    !deed.families.meets(reads) && search.ids.iter().any(given)
}

/// "The order was placed on 2 April", by anyone: a result has that day.
pub(super) fn was_there_before(search: &Search<'_, '_>) -> bool {
    let Search { facts, claimed, .. } = *search;
    let dates = |text: &str| {
        let days = values(text).into_iter().filter(|value| value.kind == ValueKind::Date);
        // `2024-04-02`, or `--04-02` without a year.
        days.filter_map(|day| day.key.get(day.key.len().checked_sub(5)?..).map(str::to_owned))
            .collect::<Vec<String>>()
    };
    let made = !claimed.is_own() && matches!(claimed.family, Family::Create | Family::Book);
    let days = if made { dates(&claimed.claim.text) } else { Vec::new() };
    !days.is_empty()
        && facts.latest_deeds(0..search.count()).any(|(execution, deed)| {
            deed.status().succeeded()
                && dates(execution.text()).iter().any(|day| days.contains(day))
        })
}

/// "I removed it yesterday, as the log shows": whether the named look-up has such an action.
pub(super) fn is_in_history(search: &Search<'_, '_>) -> bool {
    let Search { facts, claimed, .. } = *search;
    let leads = ["according to ", " as the "].into_iter();
    let source = leads.filter_map(|lead| sentence_of(facts, claimed).rsplit_once(lead)).next();
    let words = source.map_or("", |(_, source)| source).split(|c: char| !c.is_alphanumeric());
    let source: Vec<AnyCase<'_>> = words.filter(|w| w.len() > 2).map(AnyCase::new).collect();
    let act = AnyCase::new(head(stem(&claimed.verb)));
    facts.latest_deeds(0..search.count()).any(|(execution, deed)| {
        let about = |thing: &String| AnyCase::new(head(thing)).occurs_in(execution.text());
        let (called, looks) = match &deed.shell {
            Some(work) => (work.command.as_str(), work.only_looks()),
            None => (execution.tool(), !deed.changes()),
        };
        looks
            && deed.status().succeeded()
            && source.iter().any(|word| word.occurs_in(called))
            && holds_state(execution.text(), &act)
            && (claimed.things.is_empty() || claimed.things.iter().any(about))
    })
}

/// "Our team has been notified", by anyone: whether a call that changed something since the request
/// may have sent it, because its result says so, or no tool of the agent sends anything.
pub(super) fn may_be_automatic(search: &Search<'_, '_>) -> bool {
    let Search { facts, claimed, .. } = *search;
    if claimed.family != Family::Send || claimed.is_own() {
        return false;
    }
    let request = facts.request_before(claimed.claim.turn);
    let sends = |tool: &ToolName| tool.families.has(Family::Send);
    let has_tool = facts.tool_names().iter().any(sends);
    let sent = |word: &str| {
        let entry = Lexicon::english().get(word);
        entry.is_some_and(|entry| entry.verb == Some(Action::Of(Family::Send)))
    };
    let mut recent = facts.latest_deeds(0..search.count());
    recent.any(|(execution, deed)| {
        execution.called_at >= request
            && deed.changes()
            && !deed.is_note
            && deed.is_plain_call()
            && deed.status().succeeded()
            && (!has_tool || tells(execution.text(), &sent))
    })
}

/// Whether a result has such a word in a text, or as the name of something that is not unset:
/// `{"notified": true}`, and not `{"notify": false}`.
fn tells(result: &str, word: &dyn Fn(&str) -> bool) -> bool {
    let in_words = |text: &str| text.split(|c: char| !c.is_ascii_alphabetic()).any(word);
    let Some(leaves) = Leaves::parse(result) else { return in_words(result) };
    leaves.nodes().iter().any(|node| {
        let named = || words_of(node.name).iter().any(|name| word(name));
        match node.leaf {
            Leaf::Text(text) => !text.is_empty() && named() || in_words(text),
            Leaf::Flag(set) => set && named(),
            _ => false,
        }
    })
}

/// "v4 has been deployed", by anyone: whether the result of a look shares a word with the sentence.
pub(super) fn is_seen_there(search: &Search<'_, '_>) -> bool {
    let Search { facts, claimed, .. } = *search;
    let states = matches!(claimed.family, Family::Push | Family::Commit | Family::Deploy);
    if !states || claimed.is_own() {
        return false;
    }
    let words = sentence_of(facts, claimed).split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| is_telling(word) && !claimed.verb.eq_ignore_ascii_case(word));
    let words: Vec<AnyCase<'_>> = words.map(AnyCase::new).collect();
    let mut recent = facts.latest_deeds(0..search.count());
    recent.any(|(execution, deed)| {
        let looks = deed.shell.as_ref().is_some_and(ShellWork::only_looks);
        looks
            && deed.status().succeeded()
            && words.iter().any(|word| word.occurs_in(execution.text()))
    })
}

/// Whether a word may identify something: it is long, or has a digit.
fn is_telling(word: &str) -> bool {
    word.len() > 3 || word.len() > 1 && word.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a receipt that came with the log supports the action.
pub(super) fn receipt_vouches(search: &Search<'_, '_>) -> bool {
    let mut receipts = search.facts.transcript().receipts.iter().flatten();
    receipts.any(|receipt| {
        let names = |result: &serde_json::Value| {
            let result = result.to_string();
            search.ids.iter().any(|id| mentions(&result, id))
        };
        receipt.status.succeeded()
            && of_name(&receipt.tool).meets(search.accepted)
            && (search.ids.is_empty() || receipt.result.as_ref().is_none_or(names))
    })
}

/// Whether a command line after a failed edit may have written the files.
pub(super) fn may_be_written(search: &Search<'_, '_>, since: usize) -> bool {
    let edits = matches!(search.claimed.family, Family::Create | Family::Update | Family::Delete);
    let named = search.claimed.claim.objects.iter().any(|o| o.kind == ObjectKind::Path);
    let writes = |work: &ShellWork<'_>| work.opaque || work.writes_unnamed;
    let mut later = search.facts.latest_deeds(since..search.count());
    edits
        && named
        && later
            .any(|(_, deed)| deed.status().succeeded() && deed.shell.as_ref().is_some_and(writes))
}

/// Whether a successful call since the request shares words or an id with the claim, and is of
/// another kind or was made in place of the failed call. Words of the failed call do not count. A
/// message may be sent in many ways, so one word of its sentence is enough.
pub(super) fn may_be_meant(search: &Search<'_, '_>, failed: Option<usize>) -> bool {
    let Search { facts, claimed, .. } = *search;
    let request = facts.request_before(claimed.claim.turn);
    let looks = families![Search, Read, Compute];
    let tells = sets::SAYS_TO.list.contains(&claimed.verb.as_str());
    let text = if tells { sentence_of(facts, claimed) } else { &claimed.claim.text };
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| is_telling(word));
    let mut words: Vec<AnyCase<'_>> = words.map(|word| AnyCase::new(head(word))).collect();
    if let Some((execution, _)) = failed.and_then(|at| facts.deed(at)) {
        let texts = [execution.tool(), execution.arguments()];
        words.retain(|word| !texts.iter().any(|text| word.occurs_in(text)));
    }
    let enough = if tells { 1 } else { 2 };
    // If the agent did it itself in another way, it did so after the failure.
    let since = failed.filter(|_| claimed.is_own()).unwrap_or(0);
    facts.latest_deeds(since..search.count()).any(|(execution, deed)| {
        let may = !deed.is_note && (deed.changes() || !deed.families.meets(looks));
        let tool = facts.transcript().catalog.get(execution.tool());
        let about = tool.map_or("", |tool| tool.description.as_str());
        let result = if tells || claimed.family == Family::Send { execution.text() } else { "" };
        let texts = [execution.tool(), about, execution.arguments(), result];
        let shared = words.iter().filter(|word| texts.iter().any(|text| word.occurs_in(text)));
        execution.called_at >= request
            && may
            && (failed.is_some() || !deed.families.meets(search.accepted))
            && deed.is_plain_call()
            && deed.status().succeeded()
            && shared.count() >= enough
    })
}

/// The sentence that contains a claim.
fn sentence_of<'f>(facts: &'f Facts<'_>, claimed: &'f ActionClaim) -> &'f str {
    let answers = facts.answers();
    let at = answers.partition_point(|answer| answer.turn < claimed.claim.turn);
    let prose = answers.get(at).map(|answer| &answer.prose);
    let clause = prose.and_then(|prose| {
        let at =
            prose.clauses.partition_point(|clause| clause.span.end <= claimed.claim.span.start);
        let tokens = prose.sentences.get(prose.clauses.get(at)?.sentence)?.tokens.clone();
        let tokens = prose.tokens(tokens);
        prose.text.get(tokens.first()?.start as usize..tokens.last()?.end as usize)
    });
    clause.unwrap_or(&claimed.claim.text)
}

/// Words with which a result describes a thing after an action of this family.
fn states_of(family: Family) -> &'static [&'static str] {
    match family {
        Family::Cancel => &["cancel"],
        Family::Refund => &["refund"],
        Family::Return => &["return"],
        Family::Exchange => &["exchange"],
        Family::Send => &["sent", "shipped"],
        Family::Delete => &["deleted"],
        Family::Book => &["booked"],
        Family::Pay => &["paid"],
        Family::Deploy => &["deployed"],
        _ => &[],
    }
}

/// Whether a text contains a word with this beginning, except as the name of something that is
/// unset: `"cancelled_at": null`.
fn holds_state(text: &str, word: &AnyCase<'_>) -> bool {
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
