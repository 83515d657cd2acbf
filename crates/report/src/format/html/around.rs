//! The conversation before an answer: the user's request, the tool calls and their results.

use counterfoil_model::{Message, Outcome, Role, ToolCall, Transcript};
use counterfoil_redact::Redactor;
use maud::{Markup, html};

use crate::summary::counted;
use crate::visible::{shorten, visible, visible_output};

/// The maximum number of messages shown, counted from the newest of the turn.
const MESSAGES: usize = 40;
/// The maximum number of characters shown of a text.
const TEXT: usize = 3_000;
/// The number of characters shown of a call while it is folded.
const LINE: usize = 140;

/// Renders what happened since the user's last message, folded.
pub(super) fn before(transcript: &Transcript, turn: usize) -> Markup {
    let all = transcript.messages.get(..turn).unwrap_or_default();
    let request = all.iter().rposition(|message| message.role == Role::User).unwrap_or(0);
    let from = request.max(all.len().saturating_sub(MESSAGES));
    let messages = all.get(from..).unwrap_or_default();
    let calls: usize = messages.iter().map(|message| message.calls.len()).sum();
    if messages.is_empty() {
        return html! {};
    }
    let redactor = Redactor::standard();
    html! {
        details .around {
            summary { "The conversation before it: " (counted(calls, "tool call")) }
            @if from > request {
                p .record { (counted(from - request, "earlier message")) " not shown" }
            }
            @for message in messages { (message_of(message, &redactor)) }
        }
    }
}

fn message_of(message: &Message, redactor: &Redactor) -> Markup {
    let text = message.text.trim();
    let speaker = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "agent",
        Role::Tool => "tool",
    };
    html! {
        @if !text.is_empty() {
            div .(speaker) { h4 { (speaker) } (visible_output(&shorten(&redactor.redact(text), TEXT))) }
        }
        @for call in &message.calls { (call_of(call, redactor)) }
        @for outcome in &message.outcomes { (outcome_of(outcome, redactor)) }
    }
}

fn call_of(call: &ToolCall, redactor: &Redactor) -> Markup {
    let arguments = redactor.redact(call.arguments.as_str());
    html! {
        details .call {
            summary {
                strong { (visible(&call.tool)) } " " code { (visible(&shorten(&arguments, LINE))) }
            }
            pre { (visible_output(&shorten(&arguments, TEXT))) }
        }
    }
}

fn outcome_of(outcome: &Outcome, redactor: &Redactor) -> Markup {
    let text = redactor.redact(&outcome.text);
    let failed = outcome.is_error == Some(true) || outcome.exit_code.is_some_and(|code| code != 0);
    html! {
        details .result .failed[failed] {
            summary {
                @if failed { "failed: " } @else { "result: " }
                code { (visible(&shorten(&text, LINE))) }
            }
            pre { (visible_output(&shorten(&text, TEXT))) }
        }
    }
}
