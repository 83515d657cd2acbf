//! What the agent said, message by message.

use std::cell::OnceCell;
use std::ops::Range;

use counterfoil_model::{Message, MessageKind, Role, Transcript};

use crate::grounding::Reading;
use crate::prose::Prose;

/// One text of the agent's, taken apart.
#[derive(Debug)]
pub(crate) struct Answer<'t> {
    /// The message.
    pub(crate) turn: usize,
    /// Its text.
    pub(crate) prose: Prose<'t>,
    /// How each clause reads; made when somebody asks.
    pub(crate) readings: OnceCell<Vec<Reading>>,
}

/// The agent's texts among some messages, in order.
pub(crate) fn answers(transcript: &Transcript, among: Range<usize>) -> Vec<Answer<'_>> {
    transcript
        .messages
        .iter()
        .enumerate()
        .take(among.end)
        .skip(among.start)
        .filter(|(_, message)| is_said(message))
        .map(|(turn, message)| Answer {
            turn,
            prose: Prose::read(&message.text),
            readings: OnceCell::new(),
        })
        .collect()
}

/// Whether a message is something that the agent tells somebody.
fn is_said(message: &Message) -> bool {
    message.role == Role::Assistant
        && message.kind == MessageKind::Ordinary
        && !message.text.trim().is_empty()
}
