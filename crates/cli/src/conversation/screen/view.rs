use std::collections::VecDeque;
use std::time::Instant;

use counterfoil_report::visible;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::block::Block;
use super::question::{Question, Stage, decided};
use super::writing::{Edge, Writing};
use crate::approver::Word;
use crate::conversation::row::{Row, Tone, rows};

/// The maximum number of blocks kept; older ones are in the record.
const MOST: usize = 2000;

/// A request of the user.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Say(String),
    /// Show the evidence for the last answer.
    Why,
    BreakOff,
    Leave,
}

/// A page shown over the conversation.
pub(super) struct Over {
    pub(super) block: Block,
    /// The number of its lines above the screen.
    pub(super) above: usize,
}

/// The contents of the screen: what is shown, and what is typed.
pub(super) struct View {
    pub(super) colours: bool,
    pub(super) blocks: VecDeque<Block>,
    /// The number of lines of the conversation below the screen.
    pub(super) below: usize,
    /// The number of columns at the last draw.
    pub(super) columns: u16,
    /// The number of lines of the conversation that fitted at the last draw.
    pub(super) page: usize,
    /// Since when the agent has been working, and on what.
    pub(super) live: Option<(Instant, String)>,
    pub(super) writing: Writing,
    pub(super) questions: VecDeque<Question>,
    pub(super) over: Option<Over>,
    pub(super) status: String,
    pub(super) session: String,
    /// Messages typed while the agent worked.
    pub(super) queued: VecDeque<String>,
    /// Earlier messages, and the one recalled into the input.
    past: Vec<String>,
    recalled: Option<usize>,
    /// Whether Ctrl-C was pressed with nothing to interrupt; once more leaves.
    pub(super) leaves: bool,
}

fn input(text: &str) -> Writing {
    Writing::new(text, "")
}

impl View {
    pub(super) fn new(colours: bool) -> Self {
        Self {
            colours,
            blocks: VecDeque::new(),
            below: 0,
            columns: 80,
            page: 1,
            live: None,
            writing: input(""),
            questions: VecDeque::new(),
            over: None,
            status: String::new(),
            session: String::new(),
            queued: VecDeque::new(),
            past: Vec::new(),
            recalled: None,
            leaves: false,
        }
    }

    pub(super) fn push(&mut self, rows: &[Row]) {
        if rows.is_empty() {
            return;
        }
        let block = Block::new(rows, self.colours);
        if self.below > 0 {
            // Keep the visible lines in place while the user reads earlier ones.
            self.below += block.height(self.columns);
        }
        self.blocks.push_back(block);
        while self.blocks.len() > MOST {
            self.blocks.pop_front();
        }
    }

    /// Adds the user's message to the conversation.
    pub(super) fn add_message(&mut self, text: &str) {
        let mut message = vec![Row::default()];
        message.extend(
            text.lines().map(|line| Row::new(Tone::Strong, "> ").and(Tone::Strong, visible(line))),
        );
        self.below = 0;
        self.push(&message);
        self.past.push(text.to_owned());
    }

    pub(super) fn answer(&mut self, text: &str, accepted: bool) {
        let tone = if accepted { Tone::Plain } else { Tone::Note };
        self.push(&rows(tone, text));
    }

    pub(super) fn begin(&mut self) {
        self.live = Some((Instant::now(), "working".to_owned()));
    }

    pub(super) fn end(&mut self) {
        self.live = None;
        self.questions.clear();
    }

    pub(super) fn state(&mut self, text: String) {
        if let Some((_, state)) = &mut self.live {
            *state = text;
        }
    }

    /// Whether the picture changes without events.
    pub(super) fn moves(&self) -> bool {
        self.live.is_some()
    }

    pub(super) fn lay_over(&mut self, rows: Vec<Row>) {
        self.over = Some(Over { block: Block::new(&rows, self.colours), above: 0 });
    }

    pub(super) fn ask(&mut self, question: Question) {
        self.questions.push_back(question);
        if self.questions.len() == 1 {
            self.show_question();
        }
    }

    /// Shows the call of the first question in the conversation, where all of it can be read.
    fn show_question(&mut self) {
        let Some(question) = self.questions.front_mut() else { return };
        question.shown(Instant::now());
        let rows = std::mem::take(&mut question.rows);
        self.over = None;
        self.below = 0;
        self.push(&rows);
    }

    fn decide(&mut self, word: Word) {
        let Some(question) = self.questions.pop_front() else { return };
        let line = format!("  → {}", visible(decided(&word)));
        self.push(&[Row::new(Tone::Dim, line)]);
        question.answer(word);
        self.show_question();
    }

    /// Removes questions whose calls were cancelled.
    pub(super) fn forget_questions(&mut self) {
        let count = self.questions.len();
        self.questions.retain(|question| !question.is_closed());
        if self.questions.len() < count {
            self.show_question();
        }
    }

    pub(super) fn queue(&mut self, text: String) {
        self.queued.push_back(text);
    }

    pub(super) fn take_queued(&mut self) -> Option<Wish> {
        self.queued.pop_front().map(Wish::Say)
    }

    pub(super) fn paste(&mut self, text: &str) {
        match self.questions.front_mut() {
            Some(question) => question.paste(text),
            None => self.writing.insert(text),
        }
    }

    /// Returns the lines of the whole conversation.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.blocks.iter().flat_map(Block::lines)
    }

    /// Handles a key; returns what the user requests.
    pub(super) fn key(&mut self, key: KeyEvent, now: Instant) -> Option<Wish> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let left = std::mem::take(&mut self.leaves);
        if control && key.code == KeyCode::Char('c') {
            return self.control_c(left);
        }
        if self.over.is_some() {
            self.key_over(key.code);
            return None;
        }
        if self.scrolled(key.code) {
            return None;
        }
        if let Some(question) = self.questions.front_mut() {
            let breaks = key.code == KeyCode::Esc && matches!(question.stage, Stage::Choosing);
            if breaks {
                return Some(Wish::BreakOff);
            }
            if let Some(word) = question.key(key, now) {
                self.decide(word);
            }
            return None;
        }
        match key.code {
            KeyCode::Char('d') if control && self.writing.is_empty() => Some(Wish::Leave),
            KeyCode::Char('r') if control => self.live.is_none().then_some(Wish::Why),
            KeyCode::Esc if self.live.is_some() => Some(Wish::BreakOff),
            _ => self.key_of_input(key),
        }
    }

    /// Interrupts the work, or clears the input, or asks whether to leave.
    fn control_c(&mut self, again: bool) -> Option<Wish> {
        self.over = None;
        if self.live.is_some() {
            return Some(Wish::BreakOff);
        }
        if !self.writing.is_empty() {
            self.writing = input("");
            return None;
        }
        self.leaves = true;
        again.then_some(Wish::Leave)
    }

    fn key_of_input(&mut self, key: KeyEvent) -> Option<Wish> {
        let newline = KeyModifiers::ALT | KeyModifiers::SHIFT;
        match key.code {
            KeyCode::Enter if key.modifiers.intersects(newline) => self.writing.newline(),
            KeyCode::Char('j') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                self.writing.newline();
            }
            KeyCode::Enter => {
                let text = self.writing.text();
                self.writing = input("");
                self.recalled = None;
                return (!text.trim().is_empty()).then_some(Wish::Say(text));
            }
            KeyCode::Up if self.writing.is_at_the(Edge::Top) => self.recall(true),
            KeyCode::Down if self.writing.is_at_the(Edge::Bottom) => self.recall(false),
            _ => self.writing.key(key),
        }
        None
    }

    /// Puts an earlier or later message into the input.
    fn recall(&mut self, earlier: bool) {
        let at = match (self.recalled, earlier) {
            (None, true) => self.past.len().checked_sub(1),
            (Some(at), true) => Some(at.saturating_sub(1)),
            (Some(at), false) => Some(at + 1),
            (None, false) => return,
        };
        let text = at.and_then(|at| self.past.get(at));
        self.recalled = text.and(at);
        self.writing = input(text.map_or("", String::as_str));
    }

    fn scrolled(&mut self, code: KeyCode) -> bool {
        let page = self.page.saturating_sub(2).max(1);
        match code {
            KeyCode::PageUp => self.below += page,
            KeyCode::PageDown => self.below = self.below.saturating_sub(page),
            _ => return false,
        }
        true
    }

    fn key_over(&mut self, code: KeyCode) {
        let page = self.page.max(1);
        let Some(over) = &mut self.over else { return };
        match code {
            KeyCode::PageUp => over.above = over.above.saturating_sub(page),
            KeyCode::PageDown | KeyCode::Char(' ') => over.above += page,
            KeyCode::Up => over.above = over.above.saturating_sub(1),
            KeyCode::Down => over.above += 1,
            _ => self.over = None,
        }
    }
}
