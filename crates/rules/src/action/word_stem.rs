//! What is left of a word without its endings, so that "approved" and "approval" are one.

use std::sync::LazyLock;

use crate::prose::sets;

/// A shorter word is left as it is.
const SHORTEST: usize = 4;

/// An ending, what stands in its place, and how long the rest must be.
type Ending = (&'static str, &'static str, usize);

/// The endings by their last letter, in their order.
static ENDINGS: LazyLock<[Vec<Ending>; 256]> = LazyLock::new(|| {
    let read = |line: &&'static str| {
        let mut parts = line.split(' ');
        let (ending, instead) = (parts.next()?, parts.next()?);
        Some((ending, instead.trim_start_matches('-'), parts.next()?.parse().ok()?))
    };
    let mut endings = [const { Vec::new() }; 256];
    for ending in sets::ENDINGS.list.iter().filter_map(read) {
        let last = ending.0.bytes().next_back().and_then(|last| endings.get_mut(usize::from(last)));
        last.into_iter().for_each(|known: &mut Vec<Ending>| known.push(ending));
    }
    endings
});

/// The stem of a word, in lower case.
pub(super) fn word_stem(word: &str) -> String {
    let mut word = match word.is_ascii() {
        true => word.to_ascii_lowercase(),
        false => word.to_lowercase(),
    };
    if word.ends_with(['s', '\'', '’']) {
        let owned = ["'s", "’s", "'", "’"].iter().find_map(|mark| word.strip_suffix(mark));
        word.truncate(owned.map_or(word.len(), str::len));
    }
    if word.len() <= SHORTEST || word.bytes().any(|b| b.is_ascii_digit()) || !word.is_ascii() {
        if word.len() == SHORTEST && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
        return word;
    }
    let last = word.bytes().next_back().and_then(|last| ENDINGS.get(usize::from(last)));
    let ended = last.into_iter().flatten().find_map(|(ending, instead, least)| {
        let rest = word.strip_suffix(ending).filter(|rest| rest.len() >= *least)?;
        Some((rest.len(), *instead))
    });
    let mut word = match ended {
        Some((rest, instead)) => {
            word.truncate(rest);
            word.push_str(instead);
            word
        }
        None => plural(word),
    };
    while word.len() > 3 && (word.ends_with('e') || is_doubled(&word)) {
        word.pop();
    }
    word
}

fn plural(mut word: String) -> String {
    let sibilant = ["sses", "shes", "ches", "xes", "zes"].iter().any(|end| word.ends_with(end));
    if sibilant {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") {
        word.pop();
    }
    word
}

fn is_doubled(word: &str) -> bool {
    let bytes = word.as_bytes();
    match bytes {
        [.., a, b] => a == b && !matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b's'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::word_stem;

    #[test]
    fn forms_of_one_word() {
        for group in [
            &["approve", "approved", "approval", "approvals"][..],
            &["validation", "validated", "validate", "validates"],
            &["confirm", "confirmed", "confirmation"],
            &["notify", "notified", "notification", "notifications"],
            &["cancel", "cancelled", "cancellation"],
            &["reservation", "reserve", "reserved"],
            &["ship", "shipped", "shipment", "shipments"],
            &["label", "labels", "label's"],
            &["entry", "entries"],
            &["box", "boxes"],
            &["remark", "remarks"],
        ] {
            let stems: Vec<String> = group.iter().map(|word| word_stem(word)).collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{group:?}: {stems:?}");
        }
        for (one, other) in [("status", "stat"), ("note", "not"), ("address", "add")] {
            assert_ne!(word_stem(one), word_stem(other));
        }
    }
}
