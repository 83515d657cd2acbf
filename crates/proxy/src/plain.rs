//! A text as its readers see it, without inline markup. A claim may be split by markup
//! (`can<b>celled</b>`), and is judged by what it shows.

use std::sync::LazyLock;

use counterfoil_serve::is_unseen;
use unicode_normalization::UnicodeNormalization as _;

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
    /// The tags that end a paragraph. All other tags are within a line.
    blocks: Vec<&'static str>,
    entities: Vec<(&'static str, &'static str)>,
}

/// The lines of the table that begin with this word.
pub(crate) fn rows(kind: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = include_str!("markup.txt").lines();
    lines.filter_map(move |line| line.strip_prefix(kind)?.strip_prefix(' '))
}

fn markup() -> &'static Markup {
    static MARKUP: LazyLock<Markup> = LazyLock::new(|| Markup {
        blocks: rows("block").collect(),
        entities: rows("entity").map(|row| row.split_once(' ').unwrap_or((row, ""))).collect(),
    });
    &MARKUP
}

impl Plain {
    /// The text without markup; `None` if it has none.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut plain = Self { text: String::new(), from: Vec::new() };
        let mut rest = text;
        let mut found = false;
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let (length, replacement) = match ordinary(rest) {
                0 => plain.next(rest, at),
                length => (length, None),
            };
            let (written, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            match replacement {
                None => plain.push(written, at),
                Some(replacement) => {
                    found = true;
                    plain.text.push_str(&replacement);
                    plain.from.extend(std::iter::repeat_n(at, replacement.len()));
                }
            }
            rest = after;
        }
        plain.from.push(text.len());
        found.then_some(plain)
    }

    /// The length of the markup or the character at the start of a text, and what markup says.
    fn next(&mut self, rest: &str, at: usize) -> (usize, Option<String>) {
        let near = beginning(rest);
        let Some(c) = rest.chars().next() else { return (0, None) };
        let marked = match c {
            '`' => return (code(near), None),
            '<' => tag(near),
            '&' => entity(near),
            '\u{1b}' | '\u{9b}' => Some((escape(near), String::new())),
            // The words of a link are kept, its address is not.
            '[' if !self.text.ends_with('!') => link(near).map(|words| {
                self.push_words(rest.get(1..=words).unwrap_or_default(), at + 1);
                let length = rest.find(')').map_or(1, |end| end + 1);
                (length.max(words + 2), String::new())
            }),
            '*' | '_' => {
                let run = rest.len() - rest.trim_start_matches(c).len();
                let after = rest.get(run..).unwrap_or_default();
                let replacement = is_emphasis(&self.text, after, c).then(String::new);
                return (run, replacement);
            }
            c => folded(c).map(|replacement| (c.len_utf8(), replacement)),
        };
        marked.map_or((c.len_utf8(), None), |(length, replacement)| (length, Some(replacement)))
    }

    /// Adds words that may have markup of their own.
    fn push_words(&mut self, text: &str, at: usize) {
        match Self::from_text(text) {
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

/// The length of the beginning without any markup or letter that reads as another.
fn ordinary(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii() && !b"`<&\x1b[*_".contains(b)).count()
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

/// The length of the tag or comment at the start of a text, and what it says: the end of a paragraph
/// if it is a block.
fn tag(text: &str) -> Option<(usize, String)> {
    let until = |end: &str| text.find(end).map(|at| (at + end.len(), String::new()));
    if text.starts_with("<!--") {
        return until("-->");
    }
    if text.starts_with("<!") || text.starts_with("<?") {
        return until(">");
    }
    let inside = text.strip_prefix("</").or_else(|| text.strip_prefix('<'))?;
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c))?;
    let (name, rest) = inside.split_at_checked(end)?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '/' | '>'));
    let close = close(rest).filter(|_| is_name)?;
    let is_block = markup().blocks.iter().any(|block| block.eq_ignore_ascii_case(name));
    let replacement = if is_block { "\n\n" } else { "" };
    Some((text.len() - rest.len() + close + 1, replacement.to_owned()))
}

/// The end of a tag, after its attributes.
fn close(rest: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in rest.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '<') => return None,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

/// The length of the entity at the start of a text, and its character, unless it is invisible.
fn entity(text: &str) -> Option<(usize, String)> {
    /// The maximum length of an entity's name, in bytes.
    const LONGEST: usize = 30;
    let end = text.bytes().take(LONGEST + 2).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let number = name.strip_prefix('#').map(|number| match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    });
    let replacement = match number {
        Some(number) => shown(char::from_u32(number.ok()?)?),
        None => {
            let known = markup().entities.iter().find(|(known, _)| *known == name);
            let letter = || LETTERS.iter().find_map(|end| name.strip_suffix(end));
            match known {
                Some(_) if name == "nbsp" => " ".to_owned(),
                Some((_, replacement)) => (*replacement).to_owned(),
                None => letter().filter(|letter| letter.len() == 1)?.to_owned(),
            }
        }
    };
    Some((name.len() + 2, replacement))
}

/// Suffixes of the names of mathematical letters.
const LETTERS: [&str; 3] = ["scr", "fr", "opf"];

/// A character of an entity as it is seen. Those that turn the direction of a text are kept, so that
/// they are found.
fn shown(c: char) -> String {
    match c {
        '\u{202d}' | '\u{202e}' => c.to_string(),
        c if is_unseen(c) => String::new(),
        c => folded(c).unwrap_or_else(|| c.to_string()),
    }
}

/// The Latin letters that a letter in another form stands for: full-width and mathematical letters,
/// ligatures.
fn folded(c: char) -> Option<String> {
    if c.is_ascii() {
        return None;
    }
    let folded: String = std::iter::once(c).nfkc().collect();
    let digits = matches!(c, '\u{ff10}'..='\u{ff19}' | '\u{1d7ce}'..='\u{1d7ff}');
    let letters = !folded.is_empty() && folded.bytes().all(|byte| byte.is_ascii_alphabetic());
    (digits || letters).then_some(folded)
}

/// The length of the control sequence of a terminal at the start of a text.
fn escape(text: &str) -> usize {
    let end = |from: usize, ends: &dyn Fn(char) -> bool| {
        let found = text.char_indices().skip(from).find(|(_, c)| ends(*c));
        found.map_or(text.len(), |(at, c)| at + c.len_utf8())
    };
    match (text.chars().next(), text.chars().nth(1)) {
        (Some('\u{9b}'), _) => end(1, &|c| matches!(c, '@'..='~')),
        (_, Some('[')) => end(2, &|c| matches!(c, '@'..='~')),
        (_, Some(']')) => title(text),
        _ => text.chars().take(2).map(char::len_utf8).sum(),
    }
}

/// The length of the sequence at the start of a text that sets a terminal's title: up to a bell, or
/// to the next escape or line; without any, only its two first characters are hidden.
fn title(text: &str) -> usize {
    let mut following = text.char_indices().skip(2);
    match following.find(|(_, c)| matches!(c, '\u{7}' | '\u{1b}' | '\n')) {
        Some((at, '\u{7}')) => at + 1,
        Some((at, _)) => at,
        None => text.chars().take(2).map(char::len_utf8).sum(),
    }
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

/// Whether emphasis begins or ends here: with asterisks between two letters, or with underscores at
/// the edge of a word. Other asterisks are read by the rules.
fn is_emphasis(before: &str, after: &str, mark: char) -> bool {
    let (before, after) = (before.chars().next_back(), after.chars().next());
    if mark == '*' {
        let letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        return letter(before) && letter(after);
    }
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let solid = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
    !word(before) && solid(after) || solid(before) && !word(after)
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
            ("![a](b.png) [x] (y) <https://example.com> <a@example.com>", None),
            ("Vec<u8>", Some("Vec")),
            (
                "_I sent_ it, __all__ of (_it_), not_this_one",
                Some("I sent it, all of (it), not_this_one"),
            ),
            ("<p>I sent it.</p><p>All.</p>", Some("\n\nI sent it.\n\n\n\nAll.\n\n")),
            ("can<x-y\n a='>'>celled</x-y>", Some("cancelled")),
            ("s&#8203;ent &#x0000073;ent &sfr;&escr;nt &#8238;x", Some("sent sent sent \u{202e}x")),
            (
                "\u{ff53}\u{ff45}nt \u{1d42c}\u{1d41e}\u{1d427}\u{1d42d} \u{fb01}x ½ 10²",
                Some("sent sent fix ½ 10²"),
            ),
            ("I \u{1b}[1;31msent\u{1b}[0m it", Some("I sent it")),
            ("\u{1b}]0;x\u{1b}\\I <b>s</b>ent it", Some("I sent it")),
            ("\u{1b}]I <b>s</b>ent it", Some("I sent it")),
            ("nothing", None),
        ] {
            assert_eq!(
                Plain::from_text(text).map(|plain| plain.text).as_deref(),
                expected,
                "{text}"
            );
        }
        for part in
            ["[", "<", "<!--", "<a \"", "&", "`", "``` ", "[a](", "*", "_", "_a ", "\u{1b}]"]
        {
            let _plain = Plain::from_text(&part.repeat(100_000 / part.len()));
        }
        let text = "I <b>can</b>celled";
        let plain = Plain::from_text(text).unwrap();
        assert_eq!((plain.source(2), plain.source(11)), (5, text.len()));
    }
}
