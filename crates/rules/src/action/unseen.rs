//! Finds claimed actions on things that the record mentions nowhere.

use std::collections::BTreeSet;

use counterfoil_model::{Family, Object, ObjectKind, Role};

use super::extract::ActionClaim;
use super::objects::without_lines;
use crate::facts::{Deed, Execution, Facts, Run};
use crate::prose::has_file_extension;
use crate::values::{AnyCase, Leaf, Leaves, each_figure};

/// The file, id or address that the agent says it acted on, if a record of all its work does not
/// mention it.
pub(crate) fn unseen_object<'s>(facts: &Facts<'_>, said: &'s ActionClaim) -> Option<&'s Object> {
    let turn = said.claim.turn;
    let acts = !matches!(said.family, Family::Read | Family::Search | Family::Compute);
    let unseen = |object: &&Object| match object.kind {
        ObjectKind::Money => is_other_amount(facts, said, object),
        _ => is_unseen(facts, object, turn),
    };
    let mut objects = said.claim.objects.iter();
    let object = objects.find(|object| acts && unseen(object))?;
    if object.kind == ObjectKind::Path && was_generated(facts, &object.text, turn) {
        return None;
    }
    let whole = said.direct
        && facts.shows_all_before(turn)
        && facts.record().count_before(turn) > 0
        && !facts.delegates_before(turn)
        && !facts.called_unknown_tool_before(turn);
    whole.then_some(object)
}

/// "I refunded $25", where the only refund was of 10: whether no number of the record is the amount,
/// nor the sum or the difference of two of them.
fn is_other_amount(facts: &Facts<'_>, said: &ActionClaim, amount: &Object) -> bool {
    /// With more numbers, some two of them add up to anything.
    const MOST: usize = 100;
    let turn = said.claim.turn;
    let own = |(_, deed): &(&Execution<'_>, &Deed<'_>)| {
        deed.families.has(said.family) && deed.is_plain_call()
    };
    let mut deeds = facts.deeds_before(turn).filter(own);
    let (Some((execution, deed)), None) = (deeds.next(), deeds.next()) else { return false };
    let states =
        |leaves: Leaves<'_>| leaves.nodes().iter().any(|node| matches!(node.leaf, Leaf::Number(_)));
    let stated = Leaves::parse(execution.arguments()).is_some_and(states);
    if !stated || !deed.status().succeeded() || !said.patients.contains(amount) {
        return false;
    }
    let mut known = BTreeSet::new();
    for text in texts_before(facts, turn) {
        each_figure(text, |figure| {
            known.insert(figure.0);
        });
    }
    let mut told = None;
    each_figure(&amount.text, |figure| told = Some(figure.0));
    let Some(told) = told.filter(|_| known.len() <= MOST) else { return false };
    let adds_up = |one: &i64| known.contains(&(told - one)) || known.contains(&(told + one));
    // In cents, too.
    !known.contains(&told) && !known.contains(&(told * 100)) && !known.iter().any(adds_up)
}

/// Whether a command may have written the file without naming it: a package manager, a build, a
/// formatter, a merge, a script of the project, or a run of tests, which writes lock files and
/// snapshots.
fn was_generated(facts: &Facts<'_>, path: &str, turn: usize) -> bool {
    let writes = families![Install, Build, Deploy, Update, Create, Run];
    let of_tests = path.ends_with(".lock") || path.ends_with(".snap");
    facts.deeds_before(turn).any(|(_, deed)| {
        deed.shell.as_ref().is_some_and(|work| {
            let script = |word: &str| word.starts_with("./") || word.ends_with(".sh");
            let merges = |run: &Run<'_>| run.family == Family::Commit && run.names != "git commit";
            let unnamed = |run: &Run<'_>| writes.has(run.family) || merges(run);
            work.writes_unnamed
                || work.restores
                || work.runs.iter().any(unnamed)
                || work.command.split_whitespace().any(script)
                || of_tests && work.runs.iter().any(|run| run.family == Family::Test)
        })
    })
}

/// Whether no call, result or instruction before a message mentions the object in any spelling. Of
/// ids, one of the same kind has to occur: others may be known from elsewhere, such as `RFC-7519`.
fn is_unseen(facts: &Facts<'_>, object: &Object, turn: usize) -> bool {
    let names = spellings(object);
    if names.is_empty() || facts.source_of(&object.text, turn, true).is_some() {
        return false;
    }
    let names: Vec<AnyCase<'_>> = names.iter().map(|name| AnyCase::new(name)).collect();
    let mentions = |text: &str| names.iter().any(|name| name.stands_in(text));
    let kind = object.text.trim_end_matches(|c: char| c.is_ascii_digit());
    let known_kind = object.kind != ObjectKind::Id
        || is_hash(&object.text)
        || texts_before(facts, turn).any(|text| has_kind(text, kind));
    known_kind && !texts_before(facts, turn).any(mentions)
}

/// Every call, result and instruction before a message.
fn texts_before<'f>(facts: &'f Facts<'_>, turn: usize) -> impl Iterator<Item = &'f str> {
    let record = facts.record();
    let calls = record.executions().iter().take(record.count_before(turn));
    let messages = facts.transcript().messages.iter().take(turn);
    let told = messages.filter(|message| message.role != Role::Assistant);
    let told = told.map(|message| message.text.as_str());
    calls.flat_map(|call| [call.arguments(), call.text()]).chain(told)
}

/// Whether a text contains the beginning of an id with a digit after it.
fn has_kind(text: &str, kind: &str) -> bool {
    let digit = |(at, _): (usize, &str)| text.as_bytes().get(at + kind.len());
    text.match_indices(kind).filter_map(digit).any(u8::is_ascii_digit)
}

/// The texts of which one has to occur wherever the object is mentioned: the name of a file without
/// its extension, an address, an id with and without its separators. Empty if other words may mean
/// the same thing.
fn spellings(object: &Object) -> Vec<String> {
    /// Shorter names occur within other words.
    const SHORTEST: usize = 3;
    let spelled = match object.kind {
        ObjectKind::Path => {
            let path = without_lines(&object.text);
            let name = path.rsplit('/').next().unwrap_or(path);
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            if has_file_extension(path) { vec![stem.to_owned()] } else { Vec::new() }
        }
        ObjectKind::Email => vec![object.text.clone()],
        ObjectKind::Id if is_id(&object.text) => {
            let id = object.text.trim_start_matches('#');
            ["-", "", " ", "_"].iter().map(|by| id.replace(['-', '_'], by)).collect()
        }
        _ => Vec::new(),
    };
    if spelled.iter().any(|name| name.len() < SHORTEST) { Vec::new() } else { spelled }
}

/// `TSK-9038`, `#8810`, `a1b2c3d`: whether it is an id, and no version or amount.
fn is_id(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"#-_".contains(&b));
    let labelled = text.starts_with(|c: char| c.is_ascii_uppercase() || c == '#')
        && text.contains(['#', '-', '_']);
    plain && digits >= 2 && (labelled || is_hash(text))
}

/// `a1b2c3d`: whether it may be the hash of a commit.
fn is_hash(text: &str) -> bool {
    const SHORTEST: usize = 7;
    let hexadecimal = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let mixed = |of: fn(&u8) -> bool| text.bytes().any(|b| of(&b));
    text.len() >= SHORTEST
        && text.bytes().all(hexadecimal)
        && mixed(u8::is_ascii_digit)
        && mixed(u8::is_ascii_alphabetic)
}
