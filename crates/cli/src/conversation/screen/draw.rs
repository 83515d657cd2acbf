use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block as Border, Borders, Clear, Paragraph};

use super::block::style;
use super::question::{CHOICES, Stage};
use super::view::View;
use crate::conversation::row::Tone;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

impl View {
    /// Draws everything: the conversation, the progress, a question or the input, the status.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        self.columns = area.width;
        let live = u16::from(self.live.is_some());
        let queued = u16::try_from(self.queued.len()).unwrap_or(u16::MAX).min(3);
        let below = self.height_below(area.width);
        let parts = Layout::vertical([
            Constraint::Min(1),
            Constraint::Length(live + queued),
            Constraint::Length(below),
            Constraint::Length(1),
        ]);
        let [conversation, under_way, below, state] = parts.areas(area);
        self.page = usize::from(conversation.height);
        self.draw_conversation(frame, conversation);
        self.draw_live(frame, under_way);
        self.draw_below(frame, below);
        self.draw_state(frame, state);
        self.draw_over(frame, area);
    }

    fn height_below(&self, columns: u16) -> u16 {
        match self.questions.front().map(|question| &question.stage) {
            None => self.writing.height(columns),
            Some(Stage::Choosing) => {
                let lines = CHOICES.chars().count() / usize::from(columns.max(1)) + 2;
                u16::try_from(lines).unwrap_or(2)
            }
            Some(Stage::Editing(writing) | Stage::Explaining(writing)) => writing.height(columns),
        }
    }

    /// Draws the conversation, from its end upwards as far as there is room.
    fn draw_conversation(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let high = usize::from(area.height);
        let total: usize = self.blocks.iter().map(|block| block.height(area.width)).sum();
        self.below = self.below.min(total.saturating_sub(high));
        // The number of lines above the visible part.
        let first = total.saturating_sub(high + self.below);
        let (mut at, mut row) = (0, 0);
        for block in &self.blocks {
            let height = block.height(area.width);
            let skip = first.saturating_sub(at).min(height);
            let shown = (height - skip).min(high - row);
            at += height;
            if shown == 0 {
                continue;
            }
            let place = Rect {
                y: area.y.saturating_add(u16::try_from(row).unwrap_or(u16::MAX)),
                height: u16::try_from(shown).unwrap_or(u16::MAX),
                ..area
            };
            let skip = u16::try_from(skip).unwrap_or(u16::MAX);
            frame.render_widget(block.paragraph().scroll((skip, 0)), place);
            row += shown;
            if row == high {
                break;
            }
        }
    }

    fn draw_live(&self, frame: &mut Frame<'_>, area: Rect) {
        let mut lines = Vec::new();
        if let Some((since, state)) = &self.live {
            let elapsed = Instant::now().duration_since(*since);
            let turn = usize::try_from(elapsed.as_millis() / 100).unwrap_or(0);
            let spinner = SPINNER.get(turn % SPINNER.len()).copied().unwrap_or_default();
            lines.push(Line::from(vec![
                Span::styled(format!("{spinner} "), style(Tone::Code, self.colours)),
                Span::raw(if self.questions.is_empty() {
                    &**state
                } else {
                    "waiting for your approval"
                }),
                Span::styled(format!("  {} s", elapsed.as_secs()), style(Tone::Dim, false)),
            ]));
        }
        for text in &self.queued {
            let text = counterfoil_report::visible(text);
            lines.push(Line::styled(format!("  next: {text}"), style(Tone::Dim, false)));
        }
        frame.render_widget(Paragraph::new(lines), area);
    }

    fn draw_below(&self, frame: &mut Frame<'_>, area: Rect) {
        match self.questions.front().map(|question| &question.stage) {
            None => frame.render_widget(self.writing.area(), area),
            Some(Stage::Editing(writing) | Stage::Explaining(writing)) => {
                frame.render_widget(writing.area(), area);
            }
            Some(Stage::Choosing) => {
                let border = Border::default().borders(Borders::TOP);
                let text = Line::styled(CHOICES, style(Tone::Note, self.colours));
                let wrap = ratatui::widgets::Wrap { trim: true };
                frame.render_widget(Paragraph::new(text).wrap(wrap).block(border), area);
            }
        }
    }

    fn draw_state(&self, frame: &mut Frame<'_>, area: Rect) {
        let keys = if self.leaves {
            "Ctrl-C again to quit"
        } else if self.live.is_some() {
            "Esc to interrupt"
        } else if self.below > 0 {
            "PgDn for more"
        } else {
            "Ctrl-R receipts and claims · /help"
        };
        let dim = style(Tone::Dim, false);
        let whole = format!("{} · {}", self.status, self.session);
        let used = whole.chars().count() + keys.chars().count() + 2;
        let state = if used <= usize::from(area.width) { whole } else { self.status.clone() };
        frame.render_widget(Line::styled(state, dim), area);
        frame.render_widget(Line::styled(keys, dim).right_aligned(), area);
    }

    fn draw_over(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let Some(over) = &mut self.over else { return };
        let border = Border::default()
            .borders(Borders::ALL)
            .title(" Receipts and claims of the last answer ")
            .title_bottom(" ↑ ↓ to scroll, any other key to close ");
        let inner = border.inner(area);
        let height = over.block.height(inner.width);
        over.above = over.above.min(height.saturating_sub(usize::from(inner.height)));
        let above = u16::try_from(over.above).unwrap_or(u16::MAX);
        frame.render_widget(Clear, area);
        frame.render_widget(border, area);
        frame.render_widget(over.block.paragraph().scroll((above, 0)), inner);
    }
}
