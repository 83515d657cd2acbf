use memchr::memmem::Finder;

use super::given::{Given, Text};
use crate::action::shape;

/// The number of bytes before a message that are searched for values similar to one that does not
/// occur.
const REACH: usize = 64 * 1024;

/// The given value that is most similar to the id, with one or two different characters, and the
/// text that contains it. A third of the id must occur there unchanged.
pub(crate) fn misquoted<'g, 't>(
    given: &'g Given<'t>,
    id: &str,
    turn: usize,
) -> Option<(&'t str, &'g Text<'t>)> {
    let third = id.len() / 3;
    let parts = [(0, third), (third, 2 * third), (2 * third, id.len())];
    let parts: Vec<(usize, Finder<'_>)> = parts
        .iter()
        .filter_map(|(from, to)| Some((*from, Finder::new(id.get(*from..*to)?))))
        .collect();
    let mut best: Option<(usize, &'t str, &'g Text<'t>)> = None;
    let symbol = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    for source in given.near(turn, REACH) {
        let bytes = source.text.as_bytes();
        for (from, part) in &parts {
            for hit in part.find_iter(bytes) {
                let Some(start) = hit.checked_sub(*from) else { continue };
                let end = start + id.len();
                let Some(text) = source.text.get(start..end) else { continue };
                let whole = !symbol(start.checked_sub(1).and_then(|at| bytes.get(at)))
                    && !symbol(bytes.get(end));
                let distance = text.bytes().zip(id.bytes()).filter(|(a, b)| a != b).count();
                let like = whole && (1..=2).contains(&distance) && shape(text) == shape(id);
                if like && best.is_none_or(|(least, ..)| distance < least) {
                    best = Some((distance, text, source));
                }
            }
        }
    }
    best.map(|(_, text, source)| (text, source))
}
