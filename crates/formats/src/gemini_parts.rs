//! Messages of the Gemini API, `{role, parts}`, which several log formats contain.

use std::borrow::Cow;

use counterfoil_model::{Message, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::blocks;
use crate::content;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;

/// Reads the parts of a message. Member names may be in camel case or snake case.
pub(crate) fn read_parts(raw: &RawValue, bare: Message, session: &mut Session) {
    let line = bare.line;
    let mut out = Parts::new(bare, session);
    for part in fields::array(raw).unwrap_or_else(|| vec![raw]) {
        let Some(mut fields) = Fields::from_value(part) else {
            out.text(&fields::string(part).unwrap_or_default());
            continue;
        };
        if let Some(text) = fields.string("text") {
            match fields.boolean("thought") {
                Some(true) => out.reasoning(&text),
                _ => out.text(&text),
            }
        } else if let Some(mut call) = either(&mut fields, ["functionCall", "function_call"]) {
            out.call(ToolCall {
                id: call.string("id").unwrap_or_default().into_owned(),
                tool: call.string("name").unwrap_or_default().into_owned(),
                arguments: fields::arguments(call.take_any("args")),
                line,
            });
        } else if let Some(mut answer) =
            either(&mut fields, ["functionResponse", "function_response"])
        {
            let call_id = answer.string("id").unwrap_or_default().into_owned();
            let mut outcome = Outcome { call_id, line, ..Outcome::default() };
            read_answer(&mut answer, &mut outcome, out.session);
            out.outcome(outcome);
        }
        for known in ["thoughtSignature", "thought_signature"] {
            fields.take(known);
        }
        out.session.leave(&fields);
    }
    out.done();
}

fn either<'a>(fields: &mut Fields<'a>, names: [&str; 2]) -> Option<Fields<'a>> {
    names.into_iter().find_map(|name| fields.object(name))
}

/// The text of a part that may be a `functionResponse`.
pub(crate) fn response_text(raw: &RawValue, session: &mut Session) -> String {
    let Some(mut part) = Fields::from_value(raw) else { return content::result_text(raw, session) };
    if let Some(mut response) = part.object("functionResponse") {
        let mut outcome = Outcome::default();
        read_answer(&mut response, &mut outcome, session);
        return outcome.text;
    }
    part.string("text").map_or_else(|| raw.get().to_owned(), Cow::into_owned)
}

/// Reads the result of a function: `output` or `error` in `response`, or the whole object verbatim.
pub(crate) fn read_answer(answer: &mut Fields<'_>, outcome: &mut Outcome, session: &mut Session) {
    let Some(inner) = answer.take("response") else {
        return ending::unread(outcome, "response", session);
    };
    let Some(mut members) = Fields::from_value(inner) else {
        return blocks::read_content(inner, outcome, session);
    };
    match members.take("output") {
        Some(raw) => blocks::read_content(raw, outcome, session),
        None if members.has("error") => {}
        None => inner.get().clone_into(&mut outcome.text),
    }
    ending::read_members(&["error"], &mut members, outcome, session);
}

/// The role of an API message.
pub(crate) fn role(name: Option<&str>) -> Role {
    if name == Some("model") { Role::Assistant } else { Role::User }
}
