//! Chat completions.

use serde_json::Value;

use super::call::ReadCall;
use super::members::{Members, has, list, object, only_text, place, text};
use super::reader::{Parts, Reader, Voice};
use super::unreadable::{Read, Unreadable};
use crate::request::ModelRequest;

/// The only choice of an answer.
#[derive(Debug, Default)]
pub(super) struct Choice {
    calls: Vec<(Option<usize>, ReadCall)>,
    form: Option<Form>,
}

/// The member that holds the calls of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    ToolCalls,
    /// A single call, in the older format.
    FunctionCall,
}

/// The member that holds the words of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Delta,
    Message,
}

impl Holder {
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Delta => ("delta", "message"),
            Self::Message => ("message", "delta"),
        }
    }
}

impl Reader for Choice {
    fn event(&mut self, event: &Value, parts: &mut Parts, _: &ModelRequest) -> Read {
        self.answer(event, Holder::Delta, parts)
    }

    fn whole(&mut self, answer: &Value, parts: &mut Parts, _: &ModelRequest) -> Read {
        self.answer(answer, Holder::Message, parts)
    }

    fn calls(&self) -> Vec<ReadCall> {
        self.calls.iter().map(|(_, call)| call.clone()).collect()
    }
}

impl Choice {
    fn answer(&mut self, answer: &Value, holder: Holder, parts: &mut Parts) -> Read {
        let members = object(answer)?;
        parts.around(members, &["choices"])?;
        let choices = list(members, "choices")?;
        let Some(choice) = choices.first() else { return Ok(()) };
        let choice = object(choice)?;
        if choices.len() > 1 || place(choice, "index")?.unwrap_or(0) > 0 {
            return Err(Unreadable::Choices);
        }
        let (own, other) = holder.names();
        if has(choice, other) {
            return Err(Unreadable::Words);
        }
        parts.within(choice, &["index", "delta", "message"])?;
        match choice.get(own) {
            None | Some(Value::Null) => Ok(()),
            Some(message) => self.message(object(message)?, holder, parts),
        }
    }

    fn message(&mut self, message: &Members, holder: Holder, parts: &mut Parts) -> Read {
        let known = ["content", "refusal", "audio", "tool_calls", "function_call"];
        parts.within(message, &known)?;
        content(message, parts)?;
        parts.say(Voice::Refusal, only_text(message, "refusal")?)?;
        if let Some(audio) = message.get("audio").filter(|audio| !audio.is_null()) {
            let audio = object(audio)?;
            parts.within(audio, &["id", "data", "expires_at", "transcript"])?;
            parts.say(Voice::Transcript, only_text(audio, "transcript")?)?;
            parts.waits = true;
        }
        for (at, call) in list(message, "tool_calls")?.iter().enumerate() {
            self.form(Form::ToolCalls)?;
            let call = object(call)?;
            let at = match holder {
                Holder::Delta => place(call, "index")?,
                Holder::Message => Some(at),
            };
            self.tool_call(at, call, parts)?;
        }
        if has(message, "function_call") {
            self.form(Form::FunctionCall)?;
            let function = message.get("function_call").unwrap_or(&Value::Null);
            let call = self.call(Some(0), "")?;
            function_of(call, object(function)?, parts)?;
        }
        Ok(())
    }

    fn form(&mut self, form: Form) -> Read {
        match *self.form.get_or_insert(form) == form {
            true => Ok(()),
            false => Err(Unreadable::Call),
        }
    }

    fn tool_call(&mut self, at: Option<usize>, part: &Members, parts: &mut Parts) -> Read {
        parts.within(part, &["index", "id", "type", "function", "custom"])?;
        let call = self.call(at, text(part, "id"))?;
        let (function, custom) = (has(part, "function"), has(part, "custom"));
        if function && (custom || call.plain) {
            return Err(Unreadable::Call);
        }
        if function {
            function_of(call, object(part.get("function").unwrap_or(&Value::Null))?, parts)?;
        }
        if custom {
            if call.has_arguments() && !call.plain {
                return Err(Unreadable::Call);
            }
            call.plain = true;
            let custom = object(part.get("custom").unwrap_or(&Value::Null))?;
            parts.within(custom, &["name", "input"])?;
            call.call(text(custom, "name"))?;
            call.argue(custom.get("input").unwrap_or(&Value::Null))?;
        }
        Ok(())
    }

    /// The call that a piece belongs to: by its index, by its id, or the last one.
    fn call(&mut self, at: Option<usize>, id: &str) -> Read<&mut ReadCall> {
        let known = match at {
            Some(at) => self.calls.iter().position(|(known, _)| *known == Some(at)),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().position(|(_, call)| call.id == id),
        };
        let known = known.unwrap_or_else(|| {
            self.calls.push((at, ReadCall::default()));
            self.calls.len() - 1
        });
        let (_, call) = self.calls.get_mut(known).ok_or(Unreadable::Place)?;
        call.identify(id)?;
        Ok(call)
    }
}

/// Reads words: a text, or a list of parts.
fn content(message: &Members, parts: &mut Parts) -> Read {
    let content = match message.get("content") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::String(text)) => return parts.say(Voice::Content, text),
        Some(Value::Array(content)) => content,
        Some(_) => return Err(Unreadable::Words),
    };
    for part in content {
        let part = object(part)?;
        match text(part, "type") {
            "text" => {
                parts.within(part, &["type", "text"])?;
                parts.say(Voice::Content, only_text(part, "text")?)?;
            }
            "thinking" | "reasoning" | "reference" => {}
            _ => parts.odd(&Value::Object(part.clone()))?,
        }
    }
    Ok(())
}

fn function_of(call: &mut ReadCall, function: &Members, parts: &mut Parts) -> Read {
    parts.within(function, &["name", "arguments"])?;
    call.call(text(function, "name"))?;
    call.argue(function.get("arguments").unwrap_or(&Value::Null))
}
