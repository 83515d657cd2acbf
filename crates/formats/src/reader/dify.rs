use std::borrow::Cow;

use counterfoil_model::{Arguments, Format, Gap, Message, MessageKind, Outcome, Role, ToolCall};
use serde_json::value::RawValue;

use crate::documents::Messages;
use crate::ending;
use crate::fields::{self, Fields};
use crate::parts::Parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::Locator;
use crate::time;

/// Messages of a Dify app: each has the question, the answer, and the agent's calls in
/// `agent_thoughts`.
pub(crate) struct Dify;

/// Prefixes of the text that Dify returns to the agent for a failed call; there is no other marker.
const FAULTS: [&str; 4] = [
    "tool invoke error: ",
    "tool parameters validation error: ",
    "there is not a tool named ",
    "Please check your tool provider credentials",
];

impl Messages for Dify {
    fn format(&self) -> Format {
        Format::Dify
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "data[].", "messages[]."].into_iter().any(|at| {
            ["query", "answer", "agent_thoughts"]
                .iter()
                .all(|member| sketch.has(&format!("{at}{member}")))
        })
    }

    fn lists(&self) -> &'static [&'static str] {
        &["data", "messages"]
    }

    fn read_head(&self, fields: &mut Fields<'_>, _place: &mut Locator<'_>, session: &mut Session) {
        fields.pass_over(&["limit"]);
        if fields.boolean("has_more") == Some(true) {
            // This is one page of the history; earlier messages are on another page.
            session.gap(Gap::CutStart);
        }
    }

    fn names_session(&self) -> Option<&'static str> {
        Some("conversation_id")
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        if let Some(id) = fields.string("conversation_id").filter(|id| !id.is_empty()) {
            session.transcript.id = id.into_owned();
        }
        let time = fields.take("created_at").and_then(time::millis);
        fields.pass_over(&["id", "parent_message_id", "inputs", "message_files", "feedback"]);
        fields.pass_over(&["retriever_resources", "status", "error", "metadata"]);
        let bare = |role| Message { line, time, ..Message::text(role, "") };
        let text = fields.string("query").unwrap_or_default().into_owned();
        session.push(Message { text, ..bare(Role::User) });
        let answer = fields.string("answer").unwrap_or_default();
        let mut thoughts: Vec<(u64, Fields<'_>)> = Vec::new();
        for raw in fields.array("agent_thoughts").unwrap_or_default() {
            match Fields::from_value(raw) {
                Some(mut thought) => {
                    thoughts.push((thought.number("position").unwrap_or(u64::MAX), thought));
                }
                None => session.problem(line, "an agent thought is not an object"),
            }
        }
        if thoughts.is_empty() {
            // A workflow may have called tools that are not recorded here.
            session.skip("message without the agent's thoughts");
            session.gap(Gap::UnreadParts);
        }
        thoughts.sort_by_key(|(position, _)| *position);
        for (_, mut thought) in thoughts {
            read_thought(&mut thought, &answer, bare(Role::Assistant), session);
        }
        if !answer.is_empty() {
            session.push(Message { text: answer.into_owned(), ..bare(Role::Assistant) });
        }
    }
}

/// Reads one thought: its text, its calls, and their results.
fn read_thought(thought: &mut Fields<'_>, answer: &str, bare: Message, session: &mut Session) {
    let text = thought.string("thought").unwrap_or_default();
    // The last thought repeats the answer.
    if !text.trim().is_empty() && text.trim() != answer.trim() {
        let text = text.into_owned();
        session.push(Message { kind: MessageKind::Reasoning, text, ..bare.clone() });
    }
    let names = thought.string("tool").unwrap_or_default();
    let names: Vec<&str> = names.split(';').filter(|name| !name.is_empty()).collect();
    let input = thought.take("tool_input").map(text_of).unwrap_or_default();
    let observed = thought.take("observation").map(text_of).unwrap_or_default();
    let (mut inputs, mut results) = (ByTool::new(&input, &names), ByTool::new(&observed, &names));
    let thought_id = thought.string("id").unwrap_or_default();
    let mut out = Parts::new(bare, session);
    let mut outcomes = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let id = format!("{thought_id}-{}", at + 1);
        let arguments = Arguments::raw(inputs.take(name).unwrap_or(Cow::Borrowed("{}")));
        out.call(ToolCall { id: id.clone(), tool: (*name).to_owned(), arguments, line: 0 });
        let mut outcome = Outcome { call_id: id, ..Outcome::default() };
        match results.take(name) {
            Some(text) => {
                let failed = FAULTS.iter().any(|fault| text.starts_with(fault));
                outcome.is_error = failed.then_some(true);
                outcome.text = text.into_owned();
            }
            None => ending::unread(&mut outcome, "observation", out.session),
        }
        outcomes.push(outcome);
    }
    outcomes.into_iter().for_each(|outcome| out.outcome(outcome));
    out.done();
    thought.pass_over(&["chain_id", "message_id", "position", "tool_labels", "created_at"]);
    thought.pass_over(&["files", "message_files"]);
    session.leave(thought);
}

/// The value for each tool of a thought: an object keyed by tool name, or the whole text if there
/// is only one tool.
enum ByTool<'t> {
    Named(Fields<'t>),
    Whole(&'t str),
    Nothing,
}

impl<'t> ByTool<'t> {
    fn new(text: &'t str, names: &[&str]) -> Self {
        match (Fields::parse(text), names) {
            (Ok(fields), names) if names.iter().any(|name| fields.has(name)) => Self::Named(fields),
            (_, [_]) if !text.is_empty() => Self::Whole(text),
            _ => Self::Nothing,
        }
    }

    fn take(&mut self, name: &str) -> Option<Cow<'t, str>> {
        match self {
            Self::Named(fields) => fields.take(name).map(text_of),
            Self::Whole(text) => Some(Cow::Borrowed(*text)),
            Self::Nothing => None,
        }
    }
}

/// The content of a string, or the JSON of any other value.
fn text_of(raw: &RawValue) -> Cow<'_, str> {
    fields::string(raw).unwrap_or(Cow::Borrowed(raw.get()))
}
