//! The texts before a message, joined so that they can be searched in one pass.

use memchr::memmem::Finder;

/// Several texts, one after another.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    text: String,
    /// The texts with ASCII letters in lower case.
    lower: String,
    /// The end of each text.
    ends: Vec<usize>,
}

impl Stretch {
    pub(super) fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut stretch = Self::default();
        for text in texts {
            stretch.text.push_str(text);
            stretch.ends.push(stretch.text.len());
            // No word may extend over the end of a text.
            stretch.text.push('\0');
        }
        stretch.lower = stretch.text.to_ascii_lowercase();
        stretch
    }

    /// The first admitted text that contains the word; if none contains it exactly, the first that
    /// contains it in another case.
    pub(super) fn find(&self, word: &str, admitted: impl Fn(usize) -> bool) -> Option<usize> {
        let place = |at: usize| self.ends.partition_point(|end| *end < at + word.len());
        let is_exact =
            |at: usize| self.text.as_bytes().get(at..at + word.len()) == Some(word.as_bytes());
        let lower = word.to_ascii_lowercase();
        let finder = Finder::new(lower.as_bytes());
        let mut alike = None;
        for at in finder.find_iter(self.lower.as_bytes()) {
            if admitted(place(at)) {
                if is_exact(at) {
                    return Some(place(at));
                }
                alike = alike.or(Some(place(at)));
            }
        }
        alike
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_text_with_a_word() {
        let texts = ["order W1", "", "w12 and ORDER", "order w12"];
        let stretch = Stretch::new(texts.into_iter());
        for (word, not, expected) in [
            ("order", 9, Some(0)),
            ("order", 0, Some(3)),
            ("w12", 9, Some(2)),
            ("W12", 9, Some(2)),
            ("Order", 9, Some(0)),
            ("Order", 0, Some(2)),
            ("W1w12", 9, None),
            ("", 0, Some(1)),
        ] {
            assert_eq!(stretch.find(word, |nth| nth != not), expected, "{word} {not}");
        }
    }
}
