use countersign_model::Format;
use serde_json::value::RawValue;

use crate::reader::{READERS, Reader};
use crate::sketch::Sketch;
use crate::source::Layout;

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

/// Tells the form of a log by how it begins. `whole` says that there is no more of it.
pub(crate) fn detect(head: &str) -> Detected {
    let text = head.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n', '\0']);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).take(LINES).collect();
    let complete = |line: &&&str| {
        line.trim_start().starts_with(['{', '['])
            && serde_json::from_str::<&RawValue>(line.trim_matches('\0')).is_ok()
    };
    let first_complete = lines.first().filter(complete).is_some();
    let first_line = lines.first().map_or("", |line| line.trim());
    let json = text.starts_with(['{', '[']);
    if first_complete
        || (first_line != "["
            && first_line != "{"
            && lines.iter().filter(complete).take(2).count() == 2)
    {
        let lines: Vec<Sketch> = lines.into_iter().map(Sketch::of).collect();
        // One complete line alone is a document and a log of one line alike.
        return Detected { layout: Layout::Lines, reader: most_frequent(&lines) };
    }
    if json {
        let sketch = Sketch::of(text);
        return Detected { layout: Layout::Document, reader: first(&sketch) };
    }
    let reader = READERS.iter().copied().find(|reader| reader.recognises_text(text));
    Detected { layout: Layout::Text, reader }
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
