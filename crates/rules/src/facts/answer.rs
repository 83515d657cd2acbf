//! What the agent said, message by message.

use std::ops::Range;

use counterfoil_model::{Message, MessageKind, Role, Transcript};

use crate::prose::Prose;

/// One text of the agent's, taken apart.
#[derive(Debug)]
pub(crate) struct Answer<'t> {
    /// The message.
    pub(crate) turn: usize,
    /// Its text.
    pub(crate) prose: Prose<'t>,
}

/// The most bytes of one answer that are read; the rest is counted as not read.
pub const LONGEST: usize = 1024 * 1024;

/// What is read of the text of an answer: all of it, or whole lines as far as they fit.
fn read_part(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let head = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default();
    let line = head.rfind('\n').filter(|end| *end > LONGEST / 2);
    line.and_then(|end| head.get(..end)).unwrap_or(head)
}

/// How many answers from a message on are longer than what is read of them.
pub(crate) fn read_in_part(transcript: &Transcript, first: usize) -> usize {
    let said = transcript.messages.iter().skip(first).filter(|message| is_said(message));
    said.filter(|message| message.text.len() > LONGEST).count()
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
        .map(|(turn, message)| Answer { turn, prose: Prose::read(read_part(&message.text)) })
        .collect()
}

/// Whether a message is something that the agent tells somebody.
fn is_said(message: &Message) -> bool {
    message.role == Role::Assistant
        && message.kind == MessageKind::Ordinary
        && !message.text.trim().is_empty()
}
