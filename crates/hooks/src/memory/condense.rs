//! Condenses judged messages to what later claims are checked against. The agent's own prose is
//! dropped, and if there is much, older messages are shortened.

use std::borrow::Cow;

use counterfoil_guard::Redactor;
use counterfoil_model::{Arguments, Message, MessageKind, Role};
use serde_json::Value;

/// The number of bytes of the newest messages that are kept unchanged.
const WHOLE: usize = 3 * 1024 * 1024;
/// The number of bytes that are kept of a text in an older message.
const SHORT: usize = 240;

/// The part of a message that is kept, if any.
pub(super) fn condensed(mut message: Message, redactor: &Redactor) -> Option<Message> {
    if message.role == Role::Assistant {
        if message.kind != MessageKind::Summary {
            message.text = String::new();
        }
        if message.text.is_empty() && message.calls.is_empty() && message.outcomes.is_empty() {
            return None;
        }
    }
    redact(&mut message.text, redactor);
    for call in &mut message.calls {
        if let Cow::Owned(redacted) = redactor.redact(call.arguments.as_str()) {
            call.arguments = Arguments::raw(redacted);
        }
    }
    for outcome in &mut message.outcomes {
        redact(&mut outcome.text, redactor);
    }
    Some(message)
}

fn redact(text: &mut String, redactor: &Redactor) {
    if let Cow::Owned(redacted) = redactor.redact(text) {
        *text = redacted;
    }
}

/// Shortens older messages if all of them together are long.
pub(super) fn shorten(messages: &mut [Message]) {
    let mut left = WHOLE;
    for message in messages.iter_mut().rev() {
        let size = size(message);
        if size <= left {
            left -= size;
            continue;
        }
        left = 0;
        // What people said may ground a value, and it is short.
        if message.role == Role::Tool || message.kind == MessageKind::Injected {
            cut(&mut message.text, SHORT);
        }
        for call in &mut message.calls {
            let long = call.arguments.as_str().len() > SHORT;
            if let Some(Ok(exact)) = long.then(|| call.arguments.exact()) {
                let mut value = exact.value().clone();
                cut_strings(&mut value);
                let cut = exact.made_into(value);
                call.arguments = Arguments::from(&cut.unwrap_or_default());
            }
        }
        for outcome in &mut message.outcomes {
            outcome.truncated |= cut(&mut outcome.text, SHORT);
        }
    }
}

fn size(message: &Message) -> usize {
    let calls = message.calls.iter().map(|call| call.arguments.as_str().len() + 64);
    let outcomes = message.outcomes.iter().map(|outcome| outcome.text.len() + 64);
    message.text.len() + calls.sum::<usize>() + outcomes.sum::<usize>()
}

/// Keeps the beginning and a larger part of the end, where commands print summaries.
fn cut(text: &mut String, most: usize) -> bool {
    if text.len() <= most {
        return false;
    }
    let (head, tail) = (most / 3, text.len() - (most - most / 3));
    let head = text.floor_char_boundary(head);
    let tail = text.ceil_char_boundary(tail);
    let kept = [text.get(..head), Some("\n…\n"), text.get(tail..)];
    *text = kept.into_iter().flatten().collect();
    true
}

fn cut_strings(value: &mut Value) {
    match value {
        Value::String(text) => {
            cut(text, SHORT);
        }
        Value::Array(list) => list.iter_mut().for_each(cut_strings),
        Value::Object(members) => members.values_mut().for_each(cut_strings),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use counterfoil_model::Outcome;

    use super::*;

    #[test]
    fn prose_goes_and_calls_stay() {
        let redactor = Redactor::standard();
        let claim = Message::text(Role::Assistant, "All tests pass.");
        assert_eq!(condensed(claim, &redactor), None);
        let request = Message::text(Role::User, "The key is AKIAIOSFODNN7EXAMPLE, use it.");
        let kept = condensed(request, &redactor).unwrap();
        assert!(!kept.text.contains("AKIAIOSFODNN7EXAMPLE"), "{}", kept.text);
    }

    #[test]
    fn the_newest_stay_whole_and_the_older_say_that_they_are_cut() {
        let with = |text: String| {
            let outcome = Outcome { text, ..Outcome::default() };
            Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") }
        };
        let long = "ä".repeat(WHOLE / 3);
        let mut messages = vec![with(long.clone()), with(long.clone()), with(long)];
        shorten(&mut messages);
        let outcomes = messages.iter().map(|message| &message.outcomes[0]);
        let kept: Vec<_> = outcomes.map(|o| (o.text.len() > SHORT * 2, o.truncated)).collect();
        assert_eq!(kept, [(false, true), (false, true), (true, false)]);
    }
}
