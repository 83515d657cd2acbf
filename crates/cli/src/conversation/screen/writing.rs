use ratatui::crossterm::event::KeyEvent;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, Borders};
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

/// The maximum height, in lines.
const HIGHEST: usize = 12;

/// A text that is being typed.
pub(super) struct Writing(TextArea<'static>);

impl Writing {
    pub(super) fn new(text: &str, title: &str) -> Self {
        let mut area = TextArea::new(text.lines().map(str::to_owned).collect());
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_cursor_line_style(Style::default());
        area.set_cursor_style(Style::default().add_modifier(Modifier::REVERSED));
        let block = Block::default().borders(Borders::TOP).title(title.to_owned());
        area.set_block(block.border_style(Style::default().add_modifier(Modifier::DIM)));
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self(area)
    }

    pub(super) fn area(&self) -> &TextArea<'static> {
        &self.0
    }

    pub(super) fn text(&self) -> String {
        self.0.lines().join("\n")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn key(&mut self, key: KeyEvent) {
        self.0.input(key);
    }

    pub(super) fn insert(&mut self, text: &str) {
        self.0.insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    pub(super) fn newline(&mut self) {
        self.0.insert_newline();
    }

    /// Whether the cursor is on the first or last line.
    pub(super) fn is_at_the(&self, edge: Edge) -> bool {
        let row = self.0.cursor().0;
        match edge {
            Edge::Top => row == 0,
            Edge::Bottom => row + 1 >= self.0.lines().len(),
        }
    }

    /// Returns its height at this width, including its border.
    pub(super) fn height(&self, columns: u16) -> u16 {
        let columns = usize::from(columns.max(1));
        let lines = self.0.lines().iter().map(|line| line.chars().count() / columns + 1);
        let lines = lines.sum::<usize>().clamp(1, HIGHEST);
        u16::try_from(lines + 1).unwrap_or(2)
    }
}

/// The first or last line.
#[derive(Clone, Copy)]
pub(super) enum Edge {
    Top,
    Bottom,
}
