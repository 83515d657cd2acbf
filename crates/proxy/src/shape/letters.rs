//! Detects words that a person can read but rules cannot: with letters of another script that look
//! like Latin ones, or with invisible characters between the letters.

use super::{Read, Unreadable};
use counterfoil_serve::is_unseen;

/// The state while reading a text in pieces.
#[derive(Debug, Default)]
pub(super) struct Letters {
    last: char,
    /// Whether there were invisible characters since then.
    hidden: bool,
}

impl Letters {
    pub(super) fn read(&mut self, text: &str) -> Read {
        for c in text.chars() {
            if is_unseen(c) {
                self.hidden = true;
                continue;
            }
            let within = self.last.is_ascii_alphabetic() && c.is_ascii_alphabetic();
            let mixed = self.last.is_ascii_alphabetic() && looks_latin(c)
                || looks_latin(self.last) && c.is_ascii_alphabetic();
            if self.hidden && within || mixed {
                return Err(Unreadable::Letters);
            }
            (self.last, self.hidden) = (c, false);
        }
        Ok(())
    }
}

/// Whether a letter looks like a Latin one: Cyrillic, Greek, Armenian, full-width and mathematical
/// letters.
fn looks_latin(c: char) -> bool {
    const LIKE: &str = "АВЕЅІЈКМНОРСТУХаеѕіјорсухѵԁԛԝһӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧοναօսոհ";
    LIKE.contains(c)
        || ('\u{ff21}'..='\u{ff5a}').contains(&c)
        || ('\u{1d400}'..='\u{1d6a3}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_not_what_they_look_like_are_found() {
        for (text, odd) in [
            ("I have cancelled order 7.", false),
            ("I have can\u{200b}celled it.", true),
            ("I have can\u{ad}celled it.", true),
            ("I have c\u{430}ncelled it.", true),
            ("I have \u{1d41c}ancelled it.", true),
            ("Я отменил заказ 7, order 7.", false),
            ("Δt, µs, 50 Ω, β-carotene, naïve café", false),
            ("می\u{200c}خواهم", false),
            ("👩\u{200d}🚀 ok", false),
            ("ＯＫ です", false),
        ] {
            // In pieces of any size.
            for size in [1, 3, 100] {
                let (mut letters, mut read) = (Letters::default(), Ok(()));
                let all: Vec<char> = text.chars().collect();
                for piece in all.chunks(size) {
                    read = read.and(letters.read(&piece.iter().collect::<String>()));
                }
                assert_eq!(read.is_err(), odd, "{text:?} in {size}");
            }
        }
    }
}
