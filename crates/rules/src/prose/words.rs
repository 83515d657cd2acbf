//! Word sets that are defined in code, with the marks that exclude most tokens without comparing
//! letters.

/// A set of words, compared without regard to case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// The words.
    pub(crate) list: &'static [&'static str],
    marks: Marks,
}

/// `words!["on", "under"]`: a [`Words`], prepared at compile time.
macro_rules! words {
    ($($word:literal),* $(,)?) => {
        const { &$crate::prose::Words::new(&[$($word),*]) }
    };
}

impl Words {
    /// Prepares the words; use `words!`.
    pub(crate) const fn new(list: &'static [&'static str]) -> Self {
        let mut marks = Marks([0; 2]);
        let mut rest = list;
        while let [word, more @ ..] = rest {
            marks = marks.and(Mark::new(word.as_bytes()));
            rest = more;
        }
        Self { list, marks }
    }

    /// Whether a word with this mark may be in the set.
    #[inline]
    pub(crate) fn may_hold(&self, mark: Mark) -> bool {
        self.marks.hold(mark)
    }

    /// Whether words with these marks may include one of the set.
    #[inline]
    pub(crate) const fn may_meet(&self, marks: Marks) -> bool {
        let (Marks([a, b]), Marks([c, d])) = (self.marks, marks);
        a & c | b & d != 0
    }

    /// Whether the word is in the set, ignoring case.
    pub(crate) fn hold(&self, word: &[u8]) -> bool {
        self.list.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word))
    }
}

/// A number below 128 that is computed from a word's length and its first and last letter, ignoring
/// case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(u8);

impl Mark {
    /// The mark of a word.
    #[inline]
    pub(crate) const fn new(word: &[u8]) -> Self {
        let (Some(&first), Some(&last)) = (word.first(), word.last()) else { return Self(0) };
        // An upper-case letter differs from its lower-case form in one bit.
        let ends = (first | 0x20).wrapping_mul(7) ^ (last | 0x20).wrapping_mul(21);
        #[expect(clippy::cast_possible_truncation, reason = "seven bits of it count")]
        let length = (word.len() as u8).wrapping_mul(11);
        Self(ends.wrapping_add(length) & 127)
    }
}

/// A set of marks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Marks([u64; 2]);

impl Marks {
    /// Adds a mark.
    #[inline]
    pub(crate) const fn and(self, mark: Mark) -> Self {
        let (Self([low, high]), bit) = (self, 1 << (mark.0 & 63));
        if mark.0 < 64 { Self([low | bit, high]) } else { Self([low, high | bit]) }
    }

    /// Whether a mark is in the set.
    #[inline]
    fn hold(self, mark: Mark) -> bool {
        let half = self.0.get(usize::from(mark.0 >> 6) & 1);
        half.is_some_and(|half| half >> (mark.0 & 63) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_any_case() {
        let words = words!["on", "Under", "reproduced", "don't"];
        for word in ["on", "ON", "under", "UNDER", "Reproduced", "DON'T"] {
            assert!(words.may_hold(Mark::new(word.as_bytes())), "{word}");
            assert!(words.hold(word.as_bytes()), "{word}");
        }
        assert!(!words.hold(b"in"));
        assert!(!words.hold(b""));
    }

    #[test]
    fn most_words_are_passed_over_by_their_mark() {
        let words = words!["browser", "simulator", "emulator", "device"];
        let text = "the build is green and all of the tests that were red before now pass again";
        let passed = text.split(' ').filter(|w| !words.may_hold(Mark::new(w.as_bytes()))).count();
        assert!(passed >= 14, "{passed}");
    }
}
