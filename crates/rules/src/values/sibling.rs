use memchr::memmem::Finder;

use super::given::{Given, Text};

/// So many bytes before a message are searched for values like one that stands nowhere.
const REACH: usize = 64 * 1024;
/// The same, where only values that differ little are looked for.
const NEAR: usize = 32 * 1024;

/// A value that the agent was given and that looks like one that it was not given.
#[derive(Debug)]
pub(crate) struct Sibling<'g, 't> {
    /// As given.
    pub(crate) text: &'t str,
    /// Where.
    pub(crate) source: &'g Text<'t>,
    /// How many letters differ.
    pub(crate) distance: usize,
}

/// The given value of the same form that is most like the id.
pub(crate) fn sibling<'g, 't>(
    given: &'g Given<'t>,
    id: &str,
    turn: usize,
) -> Option<Sibling<'g, 't>> {
    let wanted = form(id);
    let symbol = |c: char| c == '_' || c == '-';
    let mut best: Option<Sibling<'g, 't>> = None;
    for source in given.near(turn, REACH) {
        for text in source.text.split(|c: char| !c.is_ascii_alphanumeric() && !symbol(c)) {
            if text.len() != id.len() || !form(text).eq(wanted.clone()) {
                continue;
            }
            let distance = distance(text, id);
            if best.as_ref().is_none_or(|best| distance < best.distance) {
                best = Some(Sibling { text, source, distance });
            }
        }
    }
    best
}

/// A given value that differs from the id in one or two letters. Faster than [`sibling`], because
/// one third of the id must stand there as it is.
pub(crate) fn misquoted<'g, 't>(
    given: &'g Given<'t>,
    id: &str,
    turn: usize,
) -> Option<Sibling<'g, 't>> {
    let third = id.len() / 3;
    let parts = [(0, third), (third, 2 * third), (2 * third, id.len())];
    let parts: Vec<(usize, Finder<'_>)> = parts
        .iter()
        .filter_map(|(from, to)| Some((*from, Finder::new(id.get(*from..*to)?))))
        .collect();
    let symbol = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    for source in given.near(turn, NEAR) {
        let bytes = source.text.as_bytes();
        for (from, part) in &parts {
            for hit in part.find_iter(bytes) {
                let Some(start) = hit.checked_sub(*from) else { continue };
                let end = start + id.len();
                let Some(text) = source.text.get(start..end) else { continue };
                let whole = !symbol(start.checked_sub(1).and_then(|at| bytes.get(at)))
                    && !symbol(bytes.get(end));
                let distance = distance(text, id);
                if whole && (1..=2).contains(&distance) && form(text).eq(form(id)) {
                    return Some(Sibling { text, source, distance });
                }
            }
        }
    }
    None
}

fn distance(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).filter(|(a, b)| a != b).count()
}

/// The form of an id: small letters, and what may be a capital or a digit.
fn form(id: &str) -> impl Iterator<Item = u8> + Clone {
    id.bytes().map(|b| match b {
        b if b.is_ascii_uppercase() || b.is_ascii_digit() => b'X',
        b if b.is_ascii_lowercase() => b'x',
        b => b,
    })
}
