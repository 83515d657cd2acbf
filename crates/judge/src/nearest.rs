//! Finds the recorded value most similar to one that an answer made up.

use counterfoil_record::{Facts, Label, LineKind, ValueKind, values};

/// The most similar value in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The value in the answer.
    pub stated: String,
    /// The value in the record.
    pub recorded: String,
    /// The line that contains it.
    pub label: Label,
}

/// Minimum similarity of two values, from 0 to 1.
const ALIKE: f64 = 0.6;
/// Maximum number of values compared, and maximum length of a value.
const MOST: usize = 20_000;
const LONGEST: usize = 200;

/// For the first path, URL, address, id or name in these words that is not in the record, the most
/// similar value in a call or result. Values without a similar one are passed over.
pub(crate) fn nearest(facts: Facts<'_>, says: &str) -> Option<Nearest> {
    const KINDS: [ValueKind; 5] =
        [ValueKind::Path, ValueKind::Url, ValueKind::Email, ValueKind::Id, ValueKind::Name];
    let all = values(says);
    let mut made_up = all.iter().filter(|value| {
        KINDS.contains(&value.kind)
            && value.key.len() <= LONGEST
            && facts.places_of(value.kind, &value.key).next().is_none()
    });
    made_up.find_map(|value| {
        let own = |label: Label| matches!(label.kind, LineKind::Call | LineKind::Result);
        let mut last = "";
        let known = facts.values_of(value.kind).filter(|(line, _)| own(line.label));
        // Equal values are adjacent.
        let distinct = known.filter(|(_, text)| std::mem::replace(&mut last, text) != *text);
        let fits = |text: &str| {
            let (a, b) = (text.len(), value.key.len());
            a <= LONGEST && a.min(b) * 2 >= a.max(b)
        };
        let close =
            distinct.take(MOST).filter(|(_, text)| fits(text)).filter_map(|(line, text)| {
                let like = strsim::normalized_damerau_levenshtein(&text.to_lowercase(), &value.key);
                (like >= ALIKE).then_some((like, line, text))
            });
        let best = close.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let stated = says.get(value.start..value.end).unwrap_or_default();
        best.map(|(_, line, text)| Nearest {
            stated: stated.to_owned(),
            recorded: text.to_owned(),
            label: line.label,
        })
    })
}
