//! Inserts or removes one element of an object or a list in a JSON text, leaving the rest of the
//! text unchanged.
//!
//! If the brackets existed before and were empty, a blank line is put before their first element,
//! so that a later removal knows that the brackets have to stay.

use jsonc_parser::common::{Range, Ranged as _};
use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// An object or a list, by its position and the positions of its elements in the text.
#[derive(Debug, Clone)]
pub(super) struct Brackets {
    range: Range,
    elements: Vec<Range>,
}

impl Brackets {
    pub(super) fn from_value(value: &jsonc_parser::ast::Value<'_>) -> Option<Self> {
        let elements = match value {
            jsonc_parser::ast::Value::Object(object) => {
                object.properties.iter().map(|property| property.range).collect()
            }
            jsonc_parser::ast::Value::Array(array) => {
                array.elements.iter().map(jsonc_parser::common::Ranged::range).collect()
            }
            _ => return None,
        };
        Some(Self { range: value.range(), elements })
    }

    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }

    fn inside(&self) -> (usize, usize) {
        (self.range.start + 1, self.range.end.saturating_sub(1))
    }
}

/// A document with one member.
pub(super) fn document(key: &str, value: &Value) -> String {
    format!("{{\n  {}\n}}\n", element(Some(key), value, Some("  "), "  ", "\n"))
}

/// Inserts an element at the end of the brackets. `key` is for objects.
pub(super) fn insert(text: &str, into: &Brackets, key: Option<&str>, value: &Value) -> String {
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = unit(text);
    let (open, close) = into.inside();
    let Some(last) = into.elements.last() else {
        let outer = indentation(text, into.range.start);
        let inner = format!("{outer}{unit}");
        let element = element(key, value, Some(&inner), unit, eol);
        return spliced(text, close, close, &format!("{eol}{eol}{inner}{element}{eol}{outer}"));
    };
    let gap_start = into.elements.iter().rev().nth(1).map_or(open, |before| before.end);
    let gap = blank_end(part(text, gap_start, last.start));
    // Anything between the last element and the bracket is a comment.
    let remarks = part(text, last.end, close).trim_end();
    let gap = match line_start(gap) {
        Some(at) => part(gap, at, gap.len()).to_owned(),
        None if remarks.is_empty() => gap.to_owned(),
        None => format!("{eol}{}", indentation(text, last.start)),
    };
    let inner = gap.rsplit_once('\n').map(|(_, indentation)| indentation);
    let element = element(key, value, inner, unit, eol);
    let with = format!(",{remarks}{gap}{element}");
    spliced(text, last.end, last.end + remarks.len(), &with)
}

/// Removes an element. `None` if the brackets should be removed with it.
pub(super) fn remove(text: &str, from: &Brackets, index: usize) -> Option<String> {
    let own = from.elements.get(index)?;
    if from.elements.len() == 1 {
        return emptied(text, from, own);
    }
    if from.elements.len() > index + 1 {
        let after = comma(text, own.end) + 1;
        let rest = part(text, after, text.len());
        let blank = rest.len() - rest.trim_start().len();
        return Some(spliced(text, own.start, after + blank, ""));
    }
    let before = from.elements.get(index.checked_sub(1)?)?;
    let comma = comma(text, before.end);
    let remarks = part(text, comma + 1, own.start).trim_end();
    Some(spliced(text, comma, own.end, remarks))
}

fn emptied(text: &str, from: &Brackets, own: &Range) -> Option<String> {
    let (open, close) = from.inside();
    let (before, after) = (part(text, open, own.start), part(text, own.end, close));
    let blank = blank_end(before);
    let remarks = part(before, 0, before.len() - blank.len());
    let kept_after = if after.trim().is_empty() { "" } else { after };
    let was_there = line_start(blank)
        .and_then(|at| line_start(part(blank, 0, at)))
        .map(|at| part(blank, 0, at));
    match was_there {
        Some(blank) => Some(spliced(text, open, close, &format!("{remarks}{blank}{kept_after}"))),
        None if remarks.is_empty() && kept_after.is_empty() => None,
        None => Some(spliced(text, open, close, &format!("{before}{after}"))),
    }
}

/// Replaces `start..end` of a text.
pub(super) fn spliced(text: &str, start: usize, end: usize, with: &str) -> String {
    format!("{}{with}{}", part(text, 0, start), part(text, end, text.len()))
}

/// The 1-based line of a position.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + part(text, 0, at).matches('\n').count()
}

fn part(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// Formats an element: on lines of its own if there is an indentation, otherwise on one line.
fn element(key: Option<&str>, value: &Value, at: Option<&str>, unit: &str, eol: &str) -> String {
    let Some(at) = at else {
        return key.map_or_else(String::new, |key| format!("{}:", Value::from(key)))
            + &value.to_string();
    };
    let mut bytes = Vec::new();
    let pretty = PrettyFormatter::with_indent(unit.as_bytes());
    // Writing a value into memory cannot fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, pretty));
    let value = String::from_utf8(bytes).unwrap_or_default();
    let value = value.replace('\n', &format!("{eol}{at}"));
    key.map_or_else(String::new, |key| format!("{}: ", Value::from(key))) + &value
}

/// The unit of indentation of a text: the indentation of its first member, otherwise two spaces.
fn unit(text: &str) -> &str {
    let first = text.trim_start().strip_prefix('{').and_then(|rest| {
        let key = rest.find('"')?;
        let blank = blank_end(part(rest, 0, key));
        blank.rsplit_once('\n').map(|(_, indentation)| indentation)
    });
    first.filter(|indentation| !indentation.is_empty()).unwrap_or("  ")
}

/// The indentation of the line that contains a position.
fn indentation(text: &str, at: usize) -> &str {
    let line = part(text, 0, at).rfind('\n').map_or(0, |end| end + 1);
    let rest = part(text, line, at);
    part(rest, 0, rest.len() - rest.trim_start_matches([' ', '\t']).len())
}

/// The white space at the end of a text.
fn blank_end(text: &str) -> &str {
    part(text, text.trim_end().len(), text.len())
}

/// The start of the last line break of a text.
fn line_start(text: &str) -> Option<usize> {
    let at = text.rfind('\n')?;
    Some(if part(text, 0, at).ends_with('\r') { at - 1 } else { at })
}

/// The position of the next comma, ignoring comments.
fn comma(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = part(text, at, text.len());
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with(',') || rest.is_empty() {
            return at;
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        at += skipped;
    }
}
