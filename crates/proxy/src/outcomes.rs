use std::collections::BTreeMap;

use counterfoil_model::{Message, Outcome};

/// All results, keyed by call id and by how often that id occurred before, because some clients
/// reuse ids.
pub(crate) fn outcomes(messages: &[Message]) -> Vec<(String, &Outcome)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let all = messages.iter().flat_map(|message| &message.outcomes);
    all.filter(|outcome| !outcome.call_id.is_empty())
        .map(|outcome| {
            let count = counts.entry(&outcome.call_id).or_default();
            *count += 1;
            (key_of(&outcome.call_id, *count - 1), outcome)
        })
        .collect()
}

pub(crate) fn key_of(call_id: &str, before: usize) -> String {
    format!("{before} {call_id}")
}

pub(crate) fn id_of(key: &str) -> String {
    key.split_once(' ').map_or(key, |(_, id)| id).to_owned()
}
