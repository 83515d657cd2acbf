use std::cell::Cell;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Wrap};

use crate::conversation::row::{Row, Tone};

/// A group of lines.
pub(super) struct Block {
    text: Text<'static>,
    /// The cached height, with the number of columns it applies to.
    height: Cell<(u16, usize)>,
}

impl Block {
    pub(super) fn new(rows: &[Row], colours: bool) -> Self {
        let text = rows.iter().map(|row| line(row, colours)).collect();
        Self { text, height: Cell::new((0, 0)) }
    }

    pub(super) fn paragraph(&self) -> Paragraph<'_> {
        Paragraph::new(self.text.clone()).wrap(Wrap { trim: false })
    }

    pub(super) fn height(&self, columns: u16) -> usize {
        if self.height.get().0 != columns {
            self.height.set((columns, self.paragraph().line_count(columns)));
        }
        self.height.get().1
    }

    /// Returns its lines without colours.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.text.lines.iter().map(|line| line.spans.iter().map(|span| &*span.content).collect())
    }
}

fn line(row: &Row, colours: bool) -> Line<'static> {
    let span = |(tone, text): &(Tone, String)| {
        // The widget library gives tabs no width.
        Span::styled(text.replace('\t', "    "), style(*tone, colours))
    };
    row.parts().iter().map(span).collect()
}

pub(super) fn style(tone: Tone, colours: bool) -> Style {
    let plain = Style::default();
    let coloured = |colour: Color| if colours { plain.fg(colour) } else { plain };
    match tone {
        Tone::Plain => plain,
        Tone::Strong => plain.add_modifier(Modifier::BOLD),
        Tone::Dim => plain.add_modifier(Modifier::DIM),
        Tone::Code => coloured(Color::Cyan),
        Tone::Note => coloured(Color::LightCyan).add_modifier(Modifier::BOLD),
        Tone::Wrong => coloured(Color::LightRed).add_modifier(Modifier::BOLD),
    }
}
