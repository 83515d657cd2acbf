use std::borrow::Cow;

use serde::Serialize;

/// Makes a text safe for a terminal or a log: control characters (including line breaks and tabs),
/// marks that change the writing direction, and zero-width characters become visible.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(|c| visible_char(c) != c) {
        Cow::Owned(text.chars().map(visible_char).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// [`visible`] for a text with several lines: keeps its line feeds.
pub(crate) fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// [`visible`] for the output of a tool: keeps its line feeds and tabs.
#[must_use]
pub fn visible_output(text: &str) -> Cow<'_, str> {
    let stays = |c: char| matches!(c, '\n' | '\t') || visible_char(c) == c;
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if stays(c) { c } else { visible_char(c) }).collect())
}

/// A text for a pipe: characters that a terminal obeys, or that turn the direction of others, are
/// shown; line feeds and tabs stay, and so do joiners and selectors, of which signs are made.
#[must_use]
pub fn visible_piped(text: &str) -> Cow<'_, str> {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || turns(c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if obeyed(c) { visible_char(c) } else { c }).collect())
}

/// The visible stand-in for one character; white space becomes a blank.
pub(crate) fn visible_char(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' | '\u{85}' => ' ',
        '\u{1b}' => '\u{241b}',
        c if c.is_control() => '\u{fffd}',
        c if is_unseen(c) => '\u{fffd}',
        c => c,
    }
}

/// Whether a character has no visible form of its own: direction marks, zero-width characters,
/// fillers, tags, and noncharacters (XML rejects some). These are Unicode's default-ignorable
/// characters, except the selectors that choose a variant of the preceding character.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
        || u32::from(c) & 0xfffe == 0xfffe
        || matches!(c, '\u{fdd0}'..='\u{fdef}')
}

/// Whether two texts that differ only in this character may look the same: unseen characters,
/// variation selectors, and blanks other than the space.
fn may_look_like_another(c: char) -> bool {
    ('\u{7f}'..='\u{9f}').contains(&c)
        || is_unseen(c)
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{2800}')
        || (c.is_whitespace() && !c.is_ascii())
}

/// Serialises a value as one line of JSON that is safe to show on a terminal. Characters that JSON
/// allows but people cannot see (U+007F to U+009F, direction marks, zero-width characters, blanks
/// other than a space) are escaped; the JSON value stays the same.
///
/// Returns an empty text if the value cannot be serialised (a map whose keys are not strings).
#[must_use]
pub fn json_line(value: &impl Serialize) -> String {
    escaped(serde_json::to_string(value).unwrap_or_default())
}

/// [`json_line`], pretty-printed over several lines.
#[must_use]
pub fn json_pretty(value: &impl Serialize) -> String {
    escaped(serde_json::to_string_pretty(value).unwrap_or_default())
}

/// Escapes these characters, which JSON contains only within strings.
fn escaped(text: String) -> String {
    if text.is_ascii() || !text.contains(may_look_like_another) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if may_look_like_another(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out += &format!("\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Shortens a text to at most `limit` characters, the last of which marks the cut.
#[must_use]
pub fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
            short.truncate(short.trim_end().len());
            short.push('…');
            Cow::Owned(short)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_a_pipe_that_a_terminal_obeys() {
        for (text, seen) in [
            ("plain\n\tä 👩\u{200d}🚀", "plain\n\tä 👩\u{200d}🚀"),
            ("\u{1b}]52;c;x\u{7}", "\u{241b}]52;c;x\u{fffd}"),
            ("\u{9b}2J\u{8}\r\u{7f}", "\u{fffd}2J\u{fffd} \u{fffd}"),
            ("a\u{202e}b\u{2066}", "a\u{fffd}b\u{fffd}"),
        ] {
            assert_eq!(visible_piped(text), seen);
        }
    }

    #[test]
    fn nothing_reaches_the_terminal_that_could_move_its_cursor() {
        for (text, seen) in [
            ("plain", "plain"),
            ("a\nb\tc", "a b c"),
            ("\u{1b}[31mred\u{7}", "\u{241b}[31mred\u{fffd}"),
            ("\u{9b}2J", "\u{fffd}2J"),
            ("pay \u{202e}001", "pay \u{fffd}001"),
            ("pa\u{200b}y\u{feff}", "pa\u{fffd}y\u{fffd}"),
            ("a\u{ad}b\u{3164}\u{115f}", "a\u{fffd}b\u{fffd}\u{fffd}"),
            ("sent \u{2714}\u{fe0f}", "sent \u{2714}\u{fe0f}"),
            ("\u{61c}x\u{e0041}", "\u{fffd}x\u{fffd}"),
            ("\u{fffe}\u{ffff}\u{1fffe}", "\u{fffd}\u{fffd}\u{fffd}"),
            ("größer, 日本, 🙂", "größer, 日本, 🙂"),
        ] {
            assert_eq!(visible(text), seen);
        }
    }

    #[test]
    fn json_hides_nothing_and_says_the_same() {
        for (text, shown) in [
            ("pay\u{ad}ee \u{a0}\u{3000}\u{2009}", r#""pay\u00adee \u00a0\u3000\u2009""#),
            ("\u{115f}\u{3164}\u{2800}\u{fe0f}\u{9b}", r#""\u115f\u3164\u2800\ufe0f\u009b""#),
            ("a\u{e0041}b\u{e0100}", r#""a\udb40\udc41b\udb40\udd00""#),
            ("\u{202e}x\u{2028}", r#""\u202ex\u2028""#),
            ("größer, 日本, 🙂", r#""größer, 日本, 🙂""#),
        ] {
            assert_eq!(json_line(&text), shown);
            assert_eq!(serde_json::from_str::<String>(shown).unwrap(), text);
        }
    }

    #[test]
    fn shortens_on_characters() {
        assert_eq!(shorten("grüße", 5), "grüße");
        assert_eq!(shorten("grüße an alle", 6), "grüße…");
    }
}
