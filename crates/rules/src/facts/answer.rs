//! The agent's answers, message by message.

use std::ops::Range;

use counterfoil_model::{Message, MessageKind, Role, Transcript};

use crate::prose::Prose;

/// One parsed text of the agent.
#[derive(Debug)]
pub(crate) struct Answer<'t> {
    /// The index of the message.
    pub(crate) turn: usize,
    /// The parsed text.
    pub(crate) prose: Prose<'t>,
}

/// The maximum number of bytes of one answer that are read. The rest is counted as unread.
pub const LONGEST: usize = 1024 * 1024;

/// The part of an answer that is read: all of it, or as many whole lines as fit.
fn read_part(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let head = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default();
    let line = head.rfind('\n').filter(|end| *end > LONGEST / 2);
    line.and_then(|end| head.get(..end)).unwrap_or(head)
}

/// The number of answers, from a message on, that are too long to be read completely.
pub(crate) fn read_in_part(transcript: &Transcript, first: usize) -> usize {
    let answers = transcript.messages.iter().skip(first).filter(|message| is_answer(message));
    answers.filter(|message| message.text.len() > LONGEST).count()
}

/// The agent's texts in a range of messages, in order.
pub(crate) fn answers(transcript: &Transcript, among: Range<usize>) -> Vec<Answer<'_>> {
    transcript
        .messages
        .iter()
        .enumerate()
        .take(among.end)
        .skip(among.start)
        .filter(|(_, message)| is_answer(message))
        .map(|(turn, message)| Answer { turn, prose: Prose::read(read_part(&message.text)) })
        .collect()
}

/// Whether a message is an answer of the agent.
fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant
        && message.kind == MessageKind::Ordinary
        && !message.text.trim().is_empty()
}
