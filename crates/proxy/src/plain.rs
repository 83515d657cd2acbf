//! A text as its readers see it, without inline markup. A claim may be split by markup
//! (`can<b>celled</b>`), and is judged by what it shows.

use std::sync::LazyLock;

/// The maximum length of markup, in bytes. Longer markup counts as text, so that reading takes
/// linear time.
const LONGEST: usize = 2000;

/// A text without markup, with the positions of its bytes in the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) text: String,
    /// The position in the original of each byte of `text`, and of its end.
    from: Vec<usize>,
}

/// Tags and entities, from the table.
#[derive(Default)]
struct Markup {
    tags: Vec<&'static str>,
    entities: Vec<(&'static str, &'static str)>,
}

/// The lines of the table that begin with this word.
pub(crate) fn rows(kind: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = include_str!("markup.txt").lines();
    lines.filter_map(move |line| line.strip_prefix(kind)?.strip_prefix(' '))
}

fn markup() -> &'static Markup {
    static MARKUP: LazyLock<Markup> = LazyLock::new(|| Markup {
        tags: rows("tag").collect(),
        entities: rows("entity").map(|row| row.split_once(' ').unwrap_or((row, ""))).collect(),
    });
    &MARKUP
}

impl Plain {
    /// The text without markup; `None` if it has none.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut plain = Self { text: String::new(), from: Vec::new() };
        let mut rest = text;
        let mut found = false;
        while let Some(c) = rest.chars().next() {
            let at = text.len() - rest.len();
            let near = beginning(rest);
            let (length, said) = match c {
                '`' => (code(near), None),
                '<' => tag(near).map_or((1, None), |length| (length, Some(String::new()))),
                '&' => entity(near).map_or((1, None), |(length, said)| (length, Some(said))),
                '[' if !plain.text.ends_with('!') => match link(near) {
                    // The words of a link are kept, its address is not.
                    Some(words) => {
                        let inner = rest.get(1..=words).unwrap_or_default();
                        plain.push_words(inner, at + 1);
                        let length = rest.find(')').map_or(1, |end| end + 1);
                        (length.max(words + 2), Some(String::new()))
                    }
                    None => (1, None),
                },
                '*' if within_word(&plain.text, rest) => {
                    (rest.len() - rest.trim_start_matches('*').len(), Some(String::new()))
                }
                c => (c.len_utf8(), None),
            };
            let (written, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            match said {
                None => plain.push(written, at),
                Some(said) => {
                    found = true;
                    plain.text.push_str(&said);
                    plain.from.extend(std::iter::repeat_n(at, said.len()));
                }
            }
            rest = after;
        }
        plain.from.push(text.len());
        found.then_some(plain)
    }

    /// Adds words that may have markup of their own.
    fn push_words(&mut self, text: &str, at: usize) {
        match Self::of(text) {
            None => self.push(text, at),
            Some(plain) => {
                self.text.push_str(&plain.text);
                let places = plain.from.iter().take(plain.text.len());
                self.from.extend(places.map(|place| at + place));
            }
        }
    }

    fn push(&mut self, text: &str, at: usize) {
        self.text.push_str(text);
        self.from.extend(at..at + text.len());
    }

    /// The position in the original of a byte of the text.
    pub(crate) fn source(&self, at: usize) -> usize {
        self.from.get(at).or(self.from.last()).copied().unwrap_or_default()
    }
}

/// The first bytes of a text.
fn beginning(text: &str) -> &str {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// The length of the code at the start of a text; only the backticks if it is not closed.
fn code(text: &str) -> usize {
    let fence = text.len() - text.trim_start_matches('`').len();
    let (open, inside) = text.split_at_checked(fence).unwrap_or_default();
    inside.find(open).map_or(fence, |end| fence + end + fence)
}

/// The length of the tag or comment at the start of a text.
fn tag(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|end| end + 3);
    }
    let inside = text.strip_prefix("</").or_else(|| text.strip_prefix('<'))?;
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric())?;
    let (name, rest) = inside.split_at_checked(end)?;
    let close = rest
        .find(['<', '>', '\n'])
        .filter(|at| rest.get(*at..).is_some_and(|rest| rest.starts_with('>')))?;
    let known = markup().tags.iter().any(|tag| tag.eq_ignore_ascii_case(name));
    known.then_some(text.len() - rest.len() + close + 1)
}

/// The length of the entity at the start of a text, and its character.
fn entity(text: &str) -> Option<(usize, String)> {
    /// The maximum length of an entity's name, in bytes.
    const LONGEST: usize = 10;
    let end = text.bytes().take(LONGEST + 2).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let number = name.strip_prefix('#').map(|number| match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    });
    let said = match number {
        Some(number) => char::from_u32(number.ok()?)?.to_string(),
        None => {
            let (_, said) = markup().entities.iter().find(|(known, _)| *known == name)?;
            if name == "nbsp" { " ".to_owned() } else { (*said).to_owned() }
        }
    };
    Some((name.len() + 2, said))
}

/// The length of the words of the link at the start of a text: `[words](address)`.
fn link(text: &str) -> Option<usize> {
    let end = text.find("](")?;
    let words = text.get(1..end).filter(|words| !words.contains(['[', '\n']))?;
    let address = text.get(end + 2..)?;
    let close = address
        .find([')', '\n'])
        .filter(|at| address.get(*at..).is_some_and(|rest| rest.starts_with(')')))?;
    (!address.get(..close)?.contains(char::is_whitespace)).then_some(words.len())
}

/// Whether emphasis begins or ends between two letters.
fn within_word(before: &str, rest: &str) -> bool {
    let letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
    letter(before.chars().next_back()) && letter(rest.trim_start_matches('*').chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_without_their_markup() {
        for (text, expected) in [
            ("**all** 42 <b>tests</b> pass", Some("**all** 42 tests pass")),
            ("can<b>celled</b> order 7", Some("cancelled order 7")),
            ("**can**celled order 7", Some("**cancelled order 7")),
            ("[cancelled](https://example.com/a) order 7", Some("cancelled order 7")),
            ("[can<b>celled</b>](https://example.com/a) order 7", Some("cancelled order 7")),
            ("cancel<!-- x -->led", Some("cancelled")),
            ("<span class=\"x\">done</span>", Some("done")),
            ("&#99;ancelled &#x41;&amp;B&nbsp;c", Some("cancelled A&B c")),
            ("canc&shy;elled", Some("cancelled")),
            ("`<b>x</b>` and 2*3*4 and a < b > c", None),
            ("```\n<b>x</b>\n```", None),
            ("![a](b.png) [x] (y) Vec<u8>", None),
            ("nothing", None),
        ] {
            assert_eq!(Plain::of(text).map(|plain| plain.text).as_deref(), expected, "{text}");
        }
        for part in ["[", "<", "<!--", "&", "`", "``` ", "[a](", "*"] {
            let _plain = Plain::of(&part.repeat(100_000 / part.len()));
        }
        let text = "I <b>can</b>celled";
        let plain = Plain::of(text).unwrap();
        assert_eq!((plain.source(2), plain.source(11)), (5, text.len()));
    }
}
