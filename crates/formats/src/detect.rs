use counterfoil_model::Format;
use serde_json::value::RawValue;

use crate::reader::{READERS, Reader};
use crate::sketch::Sketch;
use crate::source::Layout;
use crate::{evaluations, exchange};

/// How much of the input detection looks at, in bytes.
pub(crate) const HEAD: usize = 256 * 1024;

/// How many lines of it.
const LINES: usize = 64;

/// What detection looks for, format by format.
#[must_use]
pub fn looked_for() -> Vec<(Format, &'static str)> {
    READERS.iter().map(|reader| (reader.format(), reader.looks_for())).collect()
}

/// What an input seems to be.
pub(crate) struct Detected {
    pub(crate) layout: Layout,
    pub(crate) reader: Option<&'static dyn Reader>,
}

/// Tells the form of a log by how it begins.
pub(crate) fn detect(head: &str) -> Detected {
    let text = head.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n', '\0']);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).take(LINES).collect();
    let json = text.starts_with(['{', '[']);
    let by_line = lines.first().is_some_and(is_complete)
        || (mostly(&lines) && !(json && begins_document(text)));
    if by_line {
        let lines: Vec<Sketch> = lines.into_iter().map(sketch).collect();
        // One complete line alone is a document and a log of one line alike.
        return Detected { layout: Layout::Lines, reader: most_frequent(&lines) };
    }
    if json {
        let (layout, text) = match first_of_many(text) {
            Some(one) => (Layout::Documents, one),
            None => (Layout::Document, text),
        };
        return Detected { layout, reader: first(&sketch(text)) };
    }
    let reader = READERS.iter().copied().find(|reader| reader.recognises_text(text));
    Detected { layout: Layout::Text, reader }
}

/// Whether a line alone is a whole object or list.
fn is_complete(line: &&str) -> bool {
    line.trim_start().starts_with(['{', '['])
        && serde_json::from_str::<&RawValue>(line.trim_matches('\0')).is_ok()
}

/// Whether most lines are complete: so it is with a log whose first line was cut off, and not
/// with a damaged document that holds one object a line with a comma behind it.
fn mostly(lines: &[&str]) -> bool {
    let complete = lines.iter().filter(|line| is_complete(line)).count();
    complete >= 2 && complete * 2 > lines.len()
}

/// Whether the text is one JSON document as far as it goes: the head may end anywhere in it.
fn begins_document(text: &str) -> bool {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(_) => true,
        Err(error) => error.is_eof(),
    }
}

/// The first value where another one stands behind it.
fn first_of_many(text: &str) -> Option<&str> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let one = values.next()?.ok()?.get();
    let rest = text.get(values.byte_offset()..)?.trim_start();
    rest.starts_with(['{', '[']).then_some(one)
}

/// The sketch of a text, or of the conversation that it wraps.
fn sketch(text: &str) -> Sketch {
    let sketch = Sketch::of(text);
    let wraps = evaluations::recognises(&sketch) || exchange::recognises(&sketch);
    if first(&sketch).is_some_and(|reader| !wraps || reader.format() != Format::OpenaiChat) {
        return sketch;
    }
    match evaluations::first(text).or_else(|| exchange::first(text)) {
        Some(inner) => Sketch::of(&inner),
        None => sketch,
    }
}

fn first(sketch: &Sketch) -> Option<&'static dyn Reader> {
    READERS.iter().copied().find(|reader| reader.recognises(sketch))
}

/// The format of most lines; of two with as many, the one that is tried first.
fn most_frequent(lines: &[Sketch]) -> Option<&'static dyn Reader> {
    let mut votes = [0_usize; READERS.len()];
    for sketch in lines {
        let place = READERS.iter().position(|reader| reader.recognises(sketch));
        if let Some(count) = place.and_then(|place| votes.get_mut(place)) {
            *count += 1;
        }
    }
    let most = votes.iter().copied().max().filter(|&most| most > 0)?;
    let place = votes.iter().position(|&count| count == most)?;
    READERS.get(place).copied()
}
