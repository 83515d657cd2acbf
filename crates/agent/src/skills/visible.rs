//! Foreign texts that may stand in a message.

/// The most characters of a foreign text that a message quotes.
const MOST: usize = 120;

/// A text on one line, without characters that could play tricks on a terminal, and not too long.
pub(super) fn visible(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST).map(visible_char).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

fn visible_char(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' | '\u{85}' => ' ',
        c if c.is_control() || is_unseen(c) => '\u{fffd}',
        c => c,
    }
}

/// Whether a character shows nothing by itself: zero width, marks of direction, tags, selectors.
pub(super) fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        for (text, seen) in [
            ("plain", "plain"),
            ("a\nb\tc", "a b c"),
            ("\u{1b}[31mred", "\u{fffd}[31mred"),
            ("pay \u{202e}001\u{200b}", "pay \u{fffd}001\u{fffd}"),
        ] {
            assert_eq!(visible(text), seen);
        }
        assert_eq!(visible(&"x".repeat(500)).chars().count(), MOST + 1);
    }
}
