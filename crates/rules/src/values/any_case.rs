use memchr::memmem::Finder;

/// The rank of each letter by frequency in texts and names, rarest first.
const RANKS: [u8; 26] = ranks(b"zqjxkvbwygpfmuhlcdrsnaoite");

const fn ranks(rare: &[u8; 26]) -> [u8; 26] {
    let mut ranks = [0; 26];
    let mut rank = 0;
    while rank < 26 {
        #[expect(clippy::cast_possible_truncation, reason = "below 26")]
        #[expect(clippy::indexing_slicing, reason = "letters, when the code is compiled")]
        {
            ranks[(rare[rank] - b'a') as usize] = rank as u8;
        }
        rank += 1;
    }
    ranks
}

/// A word that is searched for in many texts, ignoring the case of ASCII letters.
#[derive(Debug)]
pub(crate) struct AnyCase<'w> {
    word: &'w [u8],
    anchor: Anchor<'w>,
}

/// The part of a word that is searched for first, with its position in the word.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "usually made on the stack, for one search")]
enum Anchor<'w> {
    /// The longest part without letters.
    Part(usize, Finder<'w>),
    /// The rarest letter, in both cases.
    Letter(usize, u8, u8),
}

impl<'w> AnyCase<'w> {
    pub(crate) fn new(word: &'w str) -> Self {
        let word = word.as_bytes();
        let (mut from, mut len, mut run) = (0, 0, 0);
        let mut rarest: Option<(u8, usize)> = None;
        for (at, byte) in word.iter().enumerate() {
            let letter = (byte | 0x20).checked_sub(b'a');
            let letter = letter.and_then(|letter| RANKS.get(usize::from(letter)).copied());
            run = if letter.is_some() { 0 } else { run + 1 };
            if run > len {
                (from, len) = (at + 1 - run, run);
            }
            if let Some(rank) = letter
                && rarest.is_none_or(|(known, _)| rank < known)
            {
                rarest = Some((rank, at));
            }
        }
        // A single mark is too common in names.
        let part = word.get(from..from + len).filter(|_| len > 1 || rarest.is_none());
        let letter = rarest.and_then(|(_, at)| Some((at, *word.get(at)?)));
        let anchor = match (part, letter) {
            (None, Some((at, letter))) => {
                Anchor::Letter(at, letter.to_ascii_lowercase(), letter.to_ascii_uppercase())
            }
            (part, _) => Anchor::Part(from, Finder::new(part.unwrap_or_default())),
        };
        Self { word, anchor }
    }

    /// Whether a text contains the word.
    pub(crate) fn occurs_in(&self, text: &str) -> bool {
        self.find(text, 0).is_some()
    }

    /// The position of the first occurrence of the word in a text, starting at `from`.
    pub(crate) fn find(&self, text: &str, from: usize) -> Option<usize> {
        let text = text.as_bytes();
        let matches = |start: &usize| {
            let found = text.get(*start..*start + self.word.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(self.word))
        };
        let tail = |offset: &usize| text.get(from + offset..);
        match &self.anchor {
            Anchor::Part(offset, part) => {
                part.find_iter(tail(offset)?).map(|at| from + at).find(matches)
            }
            Anchor::Letter(offset, lower, upper) => {
                let hits = memchr::memchr2_iter(*lower, *upper, tail(offset)?);
                hits.map(|at| from + at).find(matches)
            }
        }
    }
}

/// Whether a text contains a word, ignoring the case of ASCII letters.
pub(crate) fn holds(text: &str, word: &str) -> bool {
    text.len() >= word.len() && AnyCase::new(word).occurs_in(text)
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
            ("get_Order_by", "order_b", true),
            ("a-b", "-", true),
            ("zebra", "Z", true),
            ("é_Zoé", "_zoé", true),
        ] {
            assert_eq!(holds(text, word), expected, "{text} {word}");
        }
    }
}
