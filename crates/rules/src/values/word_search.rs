//! Searches for many words in one pass over a text, including overlapping ones.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// The maximum number of words for the fastest automaton. For more, building it costs more than it
/// saves.
const FEW: usize = 500;

/// Words that are prepared for a search.
#[derive(Debug)]
pub(crate) struct WordSearch {
    search: AhoCorasick,
    any_case: bool,
}

impl WordSearch {
    /// Prepares distinct words. `any_case` ignores the case of ASCII letters. `None` if there are
    /// too many.
    pub(crate) fn new(words: &[impl AsRef<str>], any_case: bool) -> Option<Self> {
        let mut builder = AhoCorasick::builder();
        builder.prefilter(false).kind((words.len() <= FEW).then_some(AhoCorasickKind::DFA));
        // A smaller alphabet makes a smaller, faster automaton.
        let search = match any_case {
            true => builder.build(words.iter().map(|word| word.as_ref().to_ascii_lowercase())),
            false => builder.build(words.iter().map(AsRef::as_ref)),
        };
        search.ok().map(|search| Self { search, any_case })
    }

    /// Calls `found` once for each occurrence of each word in a text.
    pub(crate) fn each(&self, text: &str, mut found: impl FnMut(usize)) {
        let text = match self.any_case {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Borrowed(text),
        };
        for hit in self.search.find_overlapping_iter(&*text) {
            found(hit.pattern().as_usize());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str], text: &str) -> Vec<usize> {
        let mut all = Vec::new();
        WordSearch::new(words, true).unwrap().each(text, |word| all.push(word));
        all.sort_unstable();
        all
    }

    #[test]
    fn words_in_each_other() {
        let words = ["ab", "abc", "bcd", "cd", "a"];
        assert_eq!(found(&words, "xABCdx"), [0, 1, 2, 3, 4]);
        assert_eq!(found(&words, "aba"), [0, 4, 4]);
        assert_eq!(found(&words, "ä ab"), [0, 4]);
        assert!(found(&[], "ab").is_empty());
    }

    /// Every occurrence of every word is found.
    #[test]
    fn as_one_by_one() {
        let sets: [&[&str]; 4] =
            [&["a", "ab", "abc"], &["aa", "aaa", "aba"], &["ca", "ab", "cab", "b"], &["bb", "bcb"]];
        let letters = ["a", "b", "c"];
        let mut texts = vec![String::new()];
        for from in 0..364 {
            let text = texts.get(from).cloned().unwrap_or_default();
            texts.extend(letters.iter().map(|letter| format!("{text}{letter}")));
        }
        assert!(texts.iter().any(|text| text == "abcabc"));
        for (words, text) in sets.iter().flat_map(|words| texts.iter().map(move |t| (words, t))) {
            let mut expected = Vec::new();
            for (at, word) in words.iter().enumerate() {
                let places = (0..text.len()).filter_map(|from| text.get(from..));
                expected.extend(places.filter(|rest| rest.starts_with(word)).map(|_| at));
            }
            assert_eq!(found(words, text), expected, "{words:?} {text}");
        }
    }
}
