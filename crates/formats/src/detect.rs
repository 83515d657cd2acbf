use countersign_model::Format;

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
    let lines: Vec<Sketch> =
        text.lines().filter(|line| !line.trim().is_empty()).take(LINES).map(Sketch::of).collect();
    let first_complete = lines.first().is_some_and(|sketch| sketch.complete);
    let many_complete = lines.iter().filter(|sketch| sketch.complete).count() >= 2;
    let first_line = text.lines().next().unwrap_or_default().trim();
    let json = text.starts_with(['{', '[']);
    if first_complete || (many_complete && first_line != "[" && first_line != "{") {
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
