use memchr::memmem::{self, Finder};

/// A word that is looked for in many texts, whatever the case of its ASCII letters.
#[derive(Debug)]
pub(crate) struct AnyCase<'w> {
    word: &'w [u8],
    /// The longest part that has no case, and where in the word it begins.
    anchor: Option<(usize, Finder<'w>)>,
}

impl<'w> AnyCase<'w> {
    pub(crate) fn new(word: &'w str) -> Self {
        let word = word.as_bytes();
        let (mut from, mut len, mut run) = (0, 0, 0);
        for (at, byte) in word.iter().enumerate() {
            run = if byte.is_ascii_alphabetic() { 0 } else { run + 1 };
            if run > len {
                (from, len) = (at + 1 - run, run);
            }
        }
        let part = word.get(from..from + len).filter(|part| !part.is_empty());
        Self { word, anchor: part.map(|part| (from, Finder::new(part))) }
    }

    /// Whether a text holds the word.
    pub(crate) fn stands_in(&self, text: &str) -> bool {
        self.find(text, 0).is_some()
    }

    /// Where the word first stands in a text, from a place on.
    pub(crate) fn find(&self, text: &str, from: usize) -> Option<usize> {
        let text = text.as_bytes();
        let Some(first) = self.word.first() else { return Some(from) };
        let matches = |start: &usize| {
            let found = text.get(*start..*start + self.word.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(self.word))
        };
        match &self.anchor {
            Some((offset, anchor)) => {
                let behind = from + offset;
                let hits = anchor.find_iter(text.get(behind..)?);
                hits.map(|at| from + at).find(matches)
            }
            None => {
                let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
                let hits = memchr::memchr2_iter(lower, upper, text.get(from..)?);
                hits.map(|at| from + at).find(matches)
            }
        }
    }
}

/// Whether a text holds a word, in any case of its ASCII letters.
pub(crate) fn holds(text: &str, word: &str) -> bool {
    memmem::find(text.as_bytes(), word.as_bytes()).is_some() || AnyCase::new(word).stands_in(text)
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn words_in_any_case() {
        for (text, word, expected) in [
            ("order #W123 ok", "w123", true),
            ("ORDER-A", "order-a", true),
            ("readme.md", "README.md", true),
            ("12", "123", false),
            ("12", "12", true),
            ("abc", "ABCD", false),
            ("x", "", true),
            ("aXb", "axB", true),
            ("W124", "w123", false),
        ] {
            assert_eq!(holds(text, word), expected, "{text} {word}");
        }
    }
}
