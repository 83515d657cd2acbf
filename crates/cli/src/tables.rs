//! Tables without lines, for people.

use comfy_table::{ContentArrangement, Row, Table, presets};

use crate::terminal;

/// Creates a table with this header.
pub(crate) fn table(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
}

/// Creates a table with this header that is as wide as the terminal.
pub(crate) fn wide_table(header: impl Into<Row>) -> Table {
    let width = match terminal::width() {
        0 => 120,
        width => u16::try_from(width).unwrap_or(120),
    };
    let mut table = table(header);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table
}
