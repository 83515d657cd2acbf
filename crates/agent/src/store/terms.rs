//! The terms of a query, quoted so that FTS5 reads no syntax in them.

use std::collections::BTreeSet;

/// More terms make a search slower, not better.
const MOST: usize = 64;

/// What a trigram index can find at least.
const SHORTEST: usize = 3;

/// What a query asks for, in its order, each once.
pub(super) fn terms(query: &str) -> Vec<String> {
    let terms = query.split(separates).map(|term| term.trim_matches(surrounds));
    distinct(terms.filter(|term| !term.is_empty()).map(str::to_owned))
}

/// The terms of at least three characters, for the index of trigrams.
///
/// Scripts that do not part words make a whole sentence one term; it is found by any of its
/// pieces, too.
pub(super) fn trigrams(terms: &[String]) -> Vec<String> {
    let long = terms.iter().filter(|term| term.chars().count() >= SHORTEST);
    distinct(long.cloned().chain(terms.iter().flat_map(|term| pieces(term))))
}

fn distinct(terms: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    // Case is for SQLite to fold: it knows one form of every letter, the final sigma included.
    terms.filter(|term| seen.insert(term.to_lowercase())).take(MOST).collect()
}

/// What separates terms: white space, characters that do not print, and the punctuation of
/// scripts that write without spaces.
fn separates(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}')
        || matches!(c, '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
        || matches!(c, '\u{ff3b}'..='\u{ff40}' | '\u{ff5b}'..='\u{ff65}')
}

/// What surrounds a term and is no part of it.
fn surrounds(c: char) -> bool {
    c.is_ascii_punctuation() || matches!(c, '\u{2010}'..='\u{205e}' | '«' | '»' | '¿' | '¡')
}

/// Every three characters in a row of a script that does not part words.
fn pieces(term: &str) -> Vec<String> {
    let characters: Vec<char> = term.chars().collect();
    let whole = |piece: &&[char]| piece.iter().copied().all(runs_on);
    characters.windows(SHORTEST).filter(whole).map(|piece| piece.iter().collect()).collect()
}

/// Han, kana, Thai, Lao, Burmese, Khmer.
fn runs_on(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        || matches!(c, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}')
        || matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        || matches!(c, '\u{20000}'..='\u{3ffff}')
}

/// Each term in quotes: a phrase, whatever is in it. `None` where there is none.
pub(super) fn any_of(terms: &[String]) -> Option<String> {
    let quoted: Vec<String> =
        terms.iter().map(|term| format!("\"{}\"", term.replace('"', "\"\""))).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_query_is_cut() {
        let query: String = (0..10_000).map(|number| format!("word{number} ")).collect();
        assert_eq!(terms(&query).len(), MOST);
        assert_eq!(trigrams(&terms(&"烤".repeat(100))).len(), 2);
    }
}
