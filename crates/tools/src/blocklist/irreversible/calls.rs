//! Finds calls and literals in code of any language, without parsing it.

use super::tables::Tables;
use crate::blocklist::text::quoted;

/// Whether the parts of a phrase occur one after the other: `boto3 ... .delete`.
pub(super) fn has_phrase(text: &str, phrase: &str) -> bool {
    let mut rest = text;
    phrase.split(" ... ").all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// The text after each call of a function; a trailing `*` in the name matches any ending.
pub(super) fn calls<'c>(code: &'c str, name: &str) -> impl Iterator<Item = &'c str> {
    let (name, open) = match name.strip_suffix('*') {
        Some(name) => (name.to_owned(), true),
        None => (name.to_owned(), false),
    };
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let found: Vec<usize> = code.match_indices(&name).map(|(at, _)| at).collect();
    found.into_iter().filter_map(move |at| {
        let (before, rest) = code.split_at_checked(at)?;
        let after = rest.get(name.len()..)?;
        let begins = !(name.starts_with(part) && before.ends_with(part));
        let after = if open { after.trim_start_matches(part) } else { after };
        (begins && !(name.ends_with(part) && after.starts_with(part))).then_some(after)
    })
}

/// The text of a call's arguments: up to the closing bracket, or to the end of the line.
pub(super) fn argument(after: &str) -> &str {
    let mut depth = 0_i32;
    let end = after.char_indices().find(|(_, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth < 0 || *c == ')' && depth == 0 || depth == 0 && matches!(c, '\n' | ';')
    });
    end.and_then(|(end, _)| after.get(..end)).unwrap_or(after)
}

/// The literal arguments of a call.
pub(super) struct Arguments<'c> {
    words: Vec<String>,
    /// Whether all arguments are literals.
    whole: bool,
    /// The text after them.
    rest: &'c str,
}

impl Arguments<'_> {
    /// The command line, and whether it is fully known; `None` if nothing is. What is concatenated
    /// to a literal becomes a variable.
    pub(super) fn script(self) -> Option<(String, bool)> {
        let joined = |text: &str| !self.whole && text.ends_with(' ') && !self.rest.starts_with(',');
        match self.words.as_slice() {
            [] => None,
            [only] if joined(only) => {
                let home = is_home(self.rest.split(['\n', ';']).next().unwrap_or_default());
                let added = if home { "\"$HOME/x\"" } else { "\"$input\"" };
                Some((format!("{only}{added}"), false))
            }
            [only] => Some((only.clone(), self.whole)),
            words => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                Some((words.join(" "), self.whole))
            }
        }
    }
}

/// Whether code refers to the home folder.
pub(super) fn is_home(text: &str) -> bool {
    Tables::own().words("code for the home").iter().any(|mark| text.contains(mark.as_str()))
}

/// The text between a delimiter and the matching one: `%x(ls)`, `qx{ls}`.
pub(super) fn between(after: &str) -> Option<(String, bool)> {
    let open = after.chars().next()?;
    let close = match open {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        other => other,
    };
    let inside = after.get(open.len_utf8()..)?.split(close).next()?;
    Some((inside.to_owned(), false))
}

/// The literals in a list of arguments: `('rm', ['-rf', x])`. A variable is replaced by the first
/// literal that the code assigns to it.
pub(super) fn arguments<'c>(after: &'c str, code: &str) -> Arguments<'c> {
    let mut words = Vec::new();
    let mut rest = after;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "([{,".contains(c));
        let prefixed = rest.strip_prefix(['r', 'b', 'f', 'u']).filter(|rest| is_quote(rest));
        let quote = prefixed.unwrap_or(rest);
        let Some((text, after)) = literal(quote) else { break };
        words.push(text);
        rest = after;
    }
    if words.is_empty()
        && let Some(value) = value_of(rest, code)
    {
        return Arguments { words: vec![value], whole: false, rest: "," };
    }
    let whole = rest.starts_with([')', ']', '}', ';', '\n']) || rest.is_empty();
    Arguments { words, whole, rest }
}

/// The literal assigned to the variable whose name begins the text.
fn value_of(text: &str, code: &str) -> Option<String> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let name = text.split(|c| !part(c)).next().filter(|name| !name.is_empty())?;
    code.match_indices(name).find_map(|(at, _)| {
        let (before, rest) = code.split_at_checked(at)?;
        let value = rest.get(name.len()..)?.trim_start().strip_prefix('=')?.trim_start();
        (!before.ends_with(part)).then(|| literal(value)).flatten().map(|(text, _)| text)
    })
}

fn is_quote(text: &str) -> bool {
    text.starts_with(['\'', '"', '`'])
}

/// The literal at the beginning of a text, unescaped, and the text after it.
fn literal(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|_| is_quote(text))?;
    let triple = quote.to_string().repeat(3);
    if let Some(inside) = text.strip_prefix(triple.as_str()) {
        let (value, after) = inside.split_once(triple.as_str())?;
        return Some((value.to_owned(), after));
    }
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            _ if c == quote => return Some((value, text.get(at + c.len_utf8()..)?)),
            _ => value.push(c),
        }
    }
    None
}

/// Every literal of a text, still escaped.
pub(super) fn literals(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(['\'', '"', '`'])?;
        let quote = rest.get(start..)?.chars().next()?;
        let inside = rest.get(start + 1..)?;
        let end = inside.find(quote)?;
        rest = inside.get(end + 1..)?;
        inside.get(..end)
    })
}
