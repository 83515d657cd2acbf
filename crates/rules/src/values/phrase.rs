//! A number in words that a result has, too, beside another number.

use std::collections::BTreeSet;

use memchr::memmem::Finder;

use super::given::{Source, Text};
use super::tally::whole;

/// The words beside a number: "from **96** lines to".
#[derive(Debug)]
pub(crate) struct Phrase<'t> {
    before: &'t str,
    number: u64,
    behind: &'t str,
}

impl<'t> Phrase<'t> {
    /// The word before a number that stands from one place of a text to another, and two words
    /// behind it, on the same line.
    pub(crate) fn around(text: &'t str, start: usize, end: usize) -> Option<Self> {
        let number = whole(text.get(start..end)?)?;
        let before = text.get(..start)?.strip_suffix(' ')?;
        let from = before.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        let before = before.get(from..).filter(|word| word.len() >= 2)?;
        let behind = text.get(end..)?;
        let mut words = behind.strip_prefix(' ')?.splitn(3, ' ');
        let (one, two) = (words.next()?, words.next()?);
        let plain = |word: &str| word.bytes().all(|b| b.is_ascii_lowercase());
        let two = two.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let fits = plain(one) && plain(two) && one.len() >= 3 && two.len() >= 2;
        let behind = behind.get(..one.len() + two.len() + 2)?;
        fits.then_some(Self { before, number, behind })
    }

    /// The number that results have between the same words, where none has this one there.
    pub(crate) fn otherwise<'g>(
        &self,
        texts: impl Iterator<Item = &'g Text<'t>>,
    ) -> Option<(&'g Text<'t>, u64)>
    where
        't: 'g,
    {
        let finder = Finder::new(self.behind.as_bytes());
        let (mut found, mut numbers) = (None, BTreeSet::new());
        for given in texts {
            for hit in finder.find_iter(given.text.as_bytes()) {
                let Some((before, number)) = number_before(given.text, hit) else { continue };
                if number == self.number {
                    return None;
                }
                let word = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next();
                let same = word.is_some_and(|word| word.eq_ignore_ascii_case(self.before));
                if same && matches!(given.source, Source::Result(_)) {
                    numbers.insert(number);
                    found = found.or(Some((given, number)));
                }
            }
        }
        let sum = numbers.iter().fold(0_u64, |sum, number| sum.saturating_add(*number));
        found.filter(|_| numbers.len() <= 2 && sum != self.number)
    }
}

/// The number that ends at a place, and the text before the space in front of it.
fn number_before(text: &str, end: usize) -> Option<(&str, u64)> {
    let head = text.get(..end)?;
    let from = head.rfind(|c: char| !c.is_ascii_digit() && c != ',').map_or(0, |at| at + 1);
    let number = whole(head.get(from..)?)?;
    Some((head.get(..from)?.strip_suffix(' ')?, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_beside_another_number() {
        let check = |said: &str, given: &str, expected: Option<u64>| {
            let start = said.find(|c: char| c.is_ascii_digit()).unwrap();
            let len = said.bytes().skip(start).take_while(u8::is_ascii_digit).count();
            let text = Text { turn: 0, text: given, source: Source::Result(0) };
            let texts = [text];
            let phrase = Phrase::around(said, start, start + len);
            let found = phrase.and_then(|phrase| phrase.otherwise(texts.iter()).map(|(_, n)| n));
            assert_eq!(found, expected, "{said} / {given}");
        };
        check("cut from 96 lines to 10.", "It went from 69 lines to 10 lines.", Some(69));
        check("cut from 96 lines to 10.", "from 96 lines to 10; from 69 lines to 5", None);
        check("Found 12 problems in it", "found 21 problems in a.rs", Some(21));
        check("Found 5 problems in all", "found 2 problems in a\nfound 3 problems in b", None);
        check("12 problems in it", "found 21 problems in a.rs", None);
        check("Found 12 problems", "found 21 problems in a.rs", None);
        check("Found 12 problems in it", "it has 21 problems in a.rs", None);
    }
}
