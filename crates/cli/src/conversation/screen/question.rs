use std::time::{Duration, Instant};

use counterfoil_model::ExactValue;
use counterfoil_report::json_pretty;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tokio::sync::oneshot;

use super::writing::Writing;
use crate::approver::{ApprovalQuestion, Word};
use crate::conversation::row::Row;

/// The time without input after which a key counts as an answer, so that typing while a question
/// appears does not answer it.
const SILENCE: Duration = Duration::from_millis(500);

/// A question to the user.
pub(crate) struct Question {
    pub(super) rows: Vec<Row>,
    arguments: ExactValue,
    answers: oneshot::Sender<Word>,
    /// When the question appeared or the last key was pressed; `None` before it is shown.
    silent_since: Option<Instant>,
    pub(super) stage: Stage,
}

/// The stage of the answer.
pub(super) enum Stage {
    /// One key decides.
    Choosing,
    /// Other arguments are being typed.
    Editing(Writing),
    /// The reason for a refusal is being typed.
    Explaining(Writing),
}

pub(super) const CHOICES: &str = "Approve?  y once · s for this session · n no · v never in this \
    session · e edit · w no, with a reason";

impl Question {
    pub(super) fn new(question: ApprovalQuestion, answers: oneshot::Sender<Word>) -> Self {
        let ApprovalQuestion { rows, arguments } = question;
        Self { rows, arguments, answers, silent_since: None, stage: Stage::Choosing }
    }

    /// Marks the question as shown.
    pub(super) fn shown(&mut self, now: Instant) {
        self.silent_since = Some(now);
    }

    /// Whether the answer is no longer wanted.
    pub(super) fn is_closed(&self) -> bool {
        self.answers.is_closed()
    }

    pub(super) fn answer(self, word: Word) {
        // The receiver may be gone.
        let _ = self.answers.send(word);
    }

    pub(super) fn paste(&mut self, text: &str) {
        match &mut self.stage {
            Stage::Editing(writing) | Stage::Explaining(writing) => writing.insert(text),
            Stage::Choosing => {}
        }
    }

    /// Handles a key; returns the answer if this key completes it.
    pub(super) fn key(&mut self, key: KeyEvent, now: Instant) -> Option<Word> {
        let silence = self.silent_since.map_or(Duration::ZERO, |since| now.duration_since(since));
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match &mut self.stage {
            Stage::Choosing => {
                self.silent_since = Some(now);
                if silence < SILENCE || control {
                    return None;
                }
                return self.choose(key.code);
            }
            Stage::Editing(writing) => match key.code {
                KeyCode::Esc => self.stage = Stage::Choosing,
                KeyCode::Char('s') if control => return Some(Word::Instead(writing.text())),
                _ => writing.key(key),
            },
            Stage::Explaining(writing) => match key.code {
                KeyCode::Esc => self.stage = Stage::Choosing,
                KeyCode::Enter => {
                    let reason = Some(writing.text().trim().to_owned());
                    return Some(Word::No(reason.filter(|reason| !reason.is_empty())));
                }
                _ => writing.key(key),
            },
        }
        None
    }

    fn choose(&mut self, code: KeyCode) -> Option<Word> {
        let KeyCode::Char(letter) = code else { return None };
        match letter {
            'y' => return Some(Word::Yes),
            's' => return Some(Word::YesForSession),
            'n' => return Some(Word::No(None)),
            'v' => return Some(Word::Never),
            'e' => {
                let text = json_pretty(&self.arguments);
                let title = " Arguments: Ctrl-S to run with these, Esc to go back ";
                self.stage = Stage::Editing(Writing::new(&text, title));
            }
            'w' => {
                let title = " Reason for the refusal: Enter to send, Esc to go back ";
                self.stage = Stage::Explaining(Writing::new("", title));
            }
            _ => {}
        }
        None
    }
}

/// The text of the decision that stays on the screen.
pub(super) fn decided(word: &Word) -> &str {
    match word {
        Word::Yes => "approved once",
        Word::YesForSession => "approved for this session",
        Word::No(None) => "no",
        Word::No(Some(reason)) => reason,
        Word::Never => "never in this session",
        Word::Instead(_) => "arguments changed",
        Word::NoAnswer => "no answer",
    }
}
