use counterfoil_model::Format;

use crate::reading::{ReadError, Reading};
use crate::sketch::Sketch;
use crate::source::Source;

/// Reads one log format.
pub(crate) trait Reader: Sync {
    /// The format.
    fn format(&self) -> Format;

    /// Whether a JSON text (a line, or the beginning of a document) is in this format.
    fn recognises(&self, sketch: &Sketch) -> bool;

    /// Whether text that is not JSON begins like this format.
    fn recognises_text(&self, _head: &str) -> bool {
        false
    }

    /// Whether the format is text rather than JSON.
    fn is_of_text(&self) -> bool {
        false
    }

    /// Reads the whole input. `name` is the id of sessions that have none.
    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError>;
}
