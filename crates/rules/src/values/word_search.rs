//! Many words looked for in one pass over a text, overlapping ones included.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// For more words the fastest automaton costs more than it gains.
const FEW: usize = 500;

/// Some words, ready to be looked for.
#[derive(Debug)]
pub(crate) struct WordSearch {
    search: AhoCorasick,
    any_case: bool,
}

impl WordSearch {
    /// Words without repetition; `any_case` also finds them in other cases of their ASCII letters.
    /// `None` where there is too much to look for.
    pub(crate) fn of(words: &[impl AsRef<str>], any_case: bool) -> Option<Self> {
        let mut builder = AhoCorasick::builder();
        builder.prefilter(false).kind((words.len() <= FEW).then_some(AhoCorasickKind::DFA));
        // Fewer letters make a smaller automaton, which is the faster one.
        let search = match any_case {
            true => builder.build(words.iter().map(|word| word.as_ref().to_ascii_lowercase())),
            false => builder.build(words.iter().map(AsRef::as_ref)),
        };
        search.ok().map(|search| Self { search, any_case })
    }

    /// Gives each word as often as it stands in a text.
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
        WordSearch::of(words, true).unwrap().each(text, |word| all.push(word));
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

    /// Every word is found at every place where it stands.
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
