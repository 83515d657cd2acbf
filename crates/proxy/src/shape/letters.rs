//! Detects words that a person can read but rules cannot: with letters of another script that look
//! like Latin ones, or with invisible characters between the letters.

use super::unreadable::{Read, Unreadable};
use counterfoil_serve::is_unseen;

/// Characters that turn the direction of the text after them, so that a person reads other words.
const TURNS: [char; 2] = ['\u{202d}', '\u{202e}'];

/// The state while reading a text in pieces.
#[derive(Debug, Default)]
pub(super) struct Letters {
    last: char,
    /// Whether there were invisible characters since then.
    hidden: bool,
    escape: Escape,
}

/// The position in a control sequence of a terminal, which is invisible as a whole.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    /// `ESC [`, up to a letter.
    Control,
    /// `ESC ]`, up to a bell or an escape.
    Command,
}

impl Letters {
    pub(super) fn read(&mut self, text: &str) -> Read {
        for c in text.chars() {
            if TURNS.contains(&c) {
                return Err(Unreadable::Letters);
            }
            if self.escapes(c) || is_unseen(c) {
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

    /// Whether a character belongs to a control sequence.
    fn escapes(&mut self, c: char) -> bool {
        let before = self.escape;
        self.escape = match (before, c) {
            (_, '\u{1b}') => Escape::Begun,
            (_, '\u{9b}') | (Escape::Begun, '[') => Escape::Control,
            (Escape::Begun, ']') => Escape::Command,
            (Escape::Control, '@'..='~') | (Escape::Command, '\u{7}') => Escape::None,
            (Escape::Begun | Escape::None, _) => Escape::None,
            (open, _) => open,
        };
        before != Escape::None || self.escape != Escape::None
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
            ("I s\u{1b}[0ment it.", true),
            ("I s\u{1b}]0;x\u{7}ent it.", true),
            ("I \u{1b}[1msent\u{1b}[0m it.", false),
            ("\u{202e}.ti tnes I\u{202c}", true),
            ("\u{2067}שלום\u{2069} ok", false),
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
