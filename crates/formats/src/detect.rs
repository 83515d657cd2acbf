use counterfoil_model::Format;
use serde_json::value::RawValue;

use crate::log_reader::Reader;
use crate::reader::READERS;
use crate::sketch::Sketch;
use crate::source::Layout;
use crate::{evaluations, exchange};

/// Bytes of the input that detection looks at.
pub(crate) const HEAD: usize = 256 * 1024;

/// Maximum number of lines that detection looks at.
const LINES: usize = 64;

/// The detected layout and format of an input.
pub(crate) struct Detected {
    pub(crate) layout: Layout,
    pub(crate) reader: Option<&'static dyn Reader>,
}

/// Detects the format of a log from its beginning.
pub(crate) fn detect(head: &str) -> Detected {
    let text = head.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n', '\0']);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).take(LINES).collect();
    let json = text.starts_with(['{', '[']);
    let by_line = lines.first().is_some_and(is_complete)
        || (mostly(&lines) && !(json && begins_document(text)));
    if by_line {
        let lines: Vec<Sketch> = lines.into_iter().map(sketch).collect();
        // A single complete line is read as a log of one line; as a document it would be the same.
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

/// Whether a line is a complete JSON object or list on its own.
fn is_complete(line: &&str) -> bool {
    line.trim_start().starts_with(['{', '['])
        && serde_json::from_str::<&RawValue>(line.trim_matches('\0')).is_ok()
}

/// Whether most lines are complete. This holds for a log whose first line was cut off, but not for
/// a damaged document with one object per line, each followed by a comma.
fn mostly(lines: &[&str]) -> bool {
    let complete = lines.iter().filter(|line| is_complete(line)).count();
    complete >= 2 && complete * 2 > lines.len()
}

/// Whether the text is, or begins, a single JSON document; the head may end anywhere in it.
fn begins_document(text: &str) -> bool {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(_) => true,
        Err(error) => error.is_eof(),
    }
}

/// The first JSON value of the text, if another one follows it.
fn first_of_many(text: &str) -> Option<&str> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let one = values.next()?.ok()?.get();
    let rest = text.get(values.byte_offset()..)?.trim_start();
    rest.starts_with(['{', '[']).then_some(one)
}

/// The sketch of a text, or of the conversation wrapped in it.
fn sketch(text: &str) -> Sketch {
    let sketch = Sketch::from_text(text);
    let wraps = evaluations::recognises(&sketch) || exchange::recognises(&sketch);
    if first(&sketch).is_some_and(|reader| !wraps || reader.format() != Format::OpenaiChat) {
        return sketch;
    }
    match evaluations::first(text).or_else(|| exchange::first(text)) {
        Some(inner) => Sketch::from_text(&inner),
        None => sketch,
    }
}

fn first(sketch: &Sketch) -> Option<&'static dyn Reader> {
    READERS.iter().copied().find(|reader| reader.recognises(sketch))
}

/// The reader that recognises most of the lines; on a tie, the one tried first.
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
