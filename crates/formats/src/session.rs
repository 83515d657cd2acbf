use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use counterfoil_model::{
    Catalog, Format, Gap, Message, Outcome, Problem, Role, Tool, ToolCall, Transcript, WrongJson,
};
use serde_json::value::RawValue;

use crate::fields::{self, Fields};
use crate::lines::End;
use crate::reading::Reading;
use crate::tools;
use crate::written::read_written;

/// A transcript while it is being read.
pub(crate) struct Session {
    pub(crate) transcript: Transcript,
    /// Positions of messages and results by id, for logs that record things several times.
    pub(crate) positions: HashMap<String, usize>,
    /// The positions of earlier messages that the part being read may repeat.
    repeats: HashMap<String, VecDeque<usize>>,
    /// The called tools that the provider runs itself: its list of tools may name only their kind.
    hosted: BTreeSet<String>,
    /// The first member with an agent's answer that was not understood, and its line.
    unread_answer: Option<(usize, String)>,
    problems: Vec<Problem>,
    reason: String,
    unparsed: usize,
}

/// Kinds of parts that hold no call and no result.
const WITHOUT_CALLS: [&str; 21] = [
    "image",
    "image_url",
    "input_image",
    "output_image",
    "audio",
    "input_audio",
    "output_audio",
    "video",
    "file",
    "input_file",
    "document",
    "redacted_thinking",
    "reasoning",
    "step-start",
    "container_upload",
    "encrypted_content",
    "resource",
    "resource_link",
    "search_result",
    "web_search_result",
    "tool_reference",
];

/// Whether a part of this kind is known to hold no call and no result.
pub(crate) fn holds_no_call(kind: &str) -> bool {
    WITHOUT_CALLS.contains(&kind)
}

/// Members that name the model, in any format.
const MODEL_MEMBERS: [&str; 7] =
    ["model", "model_name", "modelName", "modelID", "model_slug", "modelVersion", "model_version"];

/// Members that hold what an agent answered, in any format.
const ANSWERS: [&str; 12] = [
    "output",
    "outputs",
    "response",
    "responses",
    "response_body",
    "responseBody",
    "completion",
    "generations",
    "choices",
    "answer",
    "reply",
    "result",
];

/// Suffixes of member names that hold calls or their results, in any format.
const CALL_MEMBERS: [&str; 14] = [
    "toolcall",
    "toolcalls",
    "tooluse",
    "tooluses",
    "toolinvocation",
    "toolinvocations",
    "toolrequest",
    "toolrequests",
    "toolresponse",
    "toolresponses",
    "toolresult",
    "toolresults",
    "functioncall",
    "functionresponse",
];

/// Whether a member with this name may hold calls or their results.
fn may_hold_calls(name: &str) -> bool {
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    CALL_MEMBERS.iter().any(|end| name.ends_with(end))
}

/// Maximum number of problems of one kind that are reported line by line.
const MOST_REPORTED: usize = 20;

impl Session {
    pub(crate) fn new(id: impl Into<String>, format: Format) -> Self {
        Self {
            transcript: Transcript::new(id, format),
            positions: HashMap::new(),
            repeats: HashMap::new(),
            hosted: BTreeSet::new(),
            unread_answer: None,
            problems: Vec::new(),
            reason: String::new(),
            unparsed: 0,
        }
    }

    /// Adds a message; calls and results without a line number get the message's.
    pub(crate) fn push(&mut self, mut message: Message) {
        let line = message.line;
        message.calls.iter_mut().filter(|c| c.line == 0).for_each(|c| c.line = line);
        message.outcomes.iter_mut().filter(|o| o.line == 0).for_each(|o| o.line = line);
        message.outcomes.iter_mut().for_each(Outcome::unwrap_command);
        if !self.repeats.is_empty()
            && let Some(at) = self.repeats.get_mut(&key(&message)).and_then(VecDeque::pop_front)
        {
            return self.repeated(message, at);
        }
        self.transcript.messages.push(message);
    }

    /// Says that the next part may repeat messages read so far; these are not added again.
    pub(crate) fn expect_repeats(&mut self) {
        self.repeats.clear();
        for (at, message) in self.transcript.messages.iter().enumerate() {
            self.repeats.entry(key(message)).or_default().push_back(at);
        }
    }

    /// Skips a message that repeats the one at a position. A result that reads differently is the one
    /// the model was shown.
    fn repeated(&mut self, message: Message, at: usize) {
        self.skip("message repeated by a later part");
        if let Some(known) = self.transcript.messages.get_mut(at)
            && known.outcomes.iter().zip(&message.outcomes).any(|(a, b)| a.text != b.text)
        {
            known.outcomes = message.outcomes;
        }
    }

    /// The first call of this tool that has no result yet.
    pub(crate) fn open_call(&self, tool: &str) -> Option<String> {
        let messages = &self.transcript.messages;
        let outcomes = messages.iter().flat_map(|message| &message.outcomes);
        let answered: HashSet<&str> = outcomes.map(|outcome| outcome.call_id.as_str()).collect();
        let calls = messages.iter().flat_map(|message| &message.calls);
        let mut open = calls.filter(|call| !answered.contains(call.id.as_str()));
        open.find(|call| call.tool == tool && !call.id.is_empty()).map(|call| call.id.clone())
    }

    /// The number of messages so far, which is the position of the next.
    pub(crate) fn len(&self) -> usize {
        self.transcript.messages.len()
    }

    /// Counts something that is skipped.
    pub(crate) fn skip(&mut self, reason: &str) {
        self.transcript.skip(reason);
    }

    /// Counts something that is skipped, by `what` and its name.
    pub(crate) fn skip_named(&mut self, what: &str, name: &str) {
        self.reason.clear();
        self.reason.push_str(what);
        self.reason.push(' ');
        // A name from a foreign file can be anything.
        self.reason.extend(name.chars().filter(|c| !c.is_control()).take(80));
        self.transcript.skip(&self.reason);
    }

    /// Counts a part of the record that was not understood. Unless its kind is known to hold no
    /// call, this is a gap: calls or results may be missing from here on.
    pub(crate) fn skip_part(&mut self, what: &str, name: &str) {
        self.skip_named(what, name);
        if !holds_no_call(name) {
            self.gap(Gap::UnreadParts);
        }
    }

    /// Sets the model that writes the next message and those after it.
    pub(crate) fn next_model(&mut self, name: &str) {
        self.model_from(name, self.len());
    }

    /// Sets the model that wrote the latest message and those after it.
    pub(crate) fn model(&mut self, name: &str) {
        self.model_from(name, self.len().saturating_sub(1));
    }

    fn model_from(&mut self, name: &str, from: usize) {
        let name: String = name.trim().chars().filter(|c| !c.is_control()).take(120).collect();
        let models = &mut self.transcript.models;
        if name.is_empty() || models.last().is_some_and(|(_, last)| *last == name) {
            return;
        }
        // A model named at the head of a log applies to all of its messages.
        let from = if models.is_empty() { 0 } else { from };
        models.push((from, name));
    }

    /// Counts the members that were not taken. If one looks like calls or results, they are missing
    /// from here on.
    pub(crate) fn leave(&mut self, fields: &Fields<'_>) {
        for (key, value) in fields.left() {
            if MODEL_MEMBERS.contains(&key)
                && let Some(name) = fields::string(value)
            {
                self.model(&name);
                continue;
            }
            self.skip_named("unknown field", key);
            if matches!(value.get(), "null" | "[]" | "{}" | "\"\"" | "false") {
                continue;
            }
            if may_hold_calls(key) {
                self.gap(Gap::UnreadParts);
            }
            if ANSWERS.contains(&key) && self.unread_answer.is_none() {
                let near = self.transcript.messages.last().map_or(1, |m| m.line.max(1));
                self.unread_answer = Some((near, key.to_owned()));
            }
        }
        for key in &fields.repeated {
            self.skip_named("repeated field", key);
            self.repeats(key);
        }
    }

    /// Reports a repeated member once per name; the last one counts.
    fn repeats(&mut self, key: &str) {
        let name: String = key.chars().filter(|c| !c.is_control()).take(80).collect();
        let message = format!("duplicate key `{name}` in one object; the last one is used");
        if self.problems.iter().all(|p| p.message != message) {
            // The object belongs to the latest message, or to the one being read after it.
            let near = self.transcript.messages.last().map_or(1, |m| m.line.max(1));
            self.problem(near, message);
        }
    }

    /// Records something that could not be read.
    pub(crate) fn problem(&mut self, line: usize, message: impl Into<String>) {
        self.problems.push(Problem::at(line, message));
    }

    /// Records a problem that explains all others of its line.
    pub(crate) fn problem_instead(&mut self, line: usize, message: impl Into<String>) {
        self.problems.retain(|problem| problem.line != line);
        self.problem(line, message);
    }

    /// Takes over problems, and marks a gap at each.
    pub(crate) fn problems(&mut self, problems: Vec<Problem>) {
        for problem in &problems {
            // The unread part comes before the first message of a later line.
            let after = |m: &Message| problem.line > 0 && m.line >= problem.line;
            let at = self.transcript.messages.iter().position(after).unwrap_or(self.len());
            self.transcript.completeness.add(Gap::Unreadable, at);
        }
        self.problems.extend(problems);
    }

    /// Whether there are agent messages but no user messages: a lone answer without its history.
    pub(crate) fn is_lone_answer(&self) -> bool {
        let has_message = |role: Role| self.transcript.messages.iter().any(|m| m.role == role);
        // A record in our own format is complete.
        self.transcript.format != Format::Fk
            && self.transcript.receipts.is_none()
            && has_message(Role::Assistant)
            && !has_message(Role::User)
    }

    /// The id of the latest call; empty when there is none.
    pub(crate) fn latest_call(&self) -> String {
        let calls = self.transcript.messages.iter().rev().find_map(|m| m.calls.last());
        calls.map(|call| call.id.clone()).unwrap_or_default()
    }

    /// Removes what cannot be judged at the end of a cut-off log: a message of which it contains
    /// nothing, or else the last call, whose arguments may be incomplete. Earlier lines than `line`
    /// are complete.
    pub(crate) fn drop_cut_end(&mut self, line: usize) {
        let is_empty = |message: &Message| {
            message.text.is_empty() && message.calls.is_empty() && message.outcomes.is_empty()
        };
        if self.transcript.messages.pop_if(|last| is_empty(last)).is_some() {
            return;
        }
        let last = self.transcript.messages.last_mut().filter(|last| last.outcomes.is_empty());
        let is_cut = |call: &mut ToolCall| call.line >= line;
        if last.and_then(|last| last.calls.pop_if(is_cut)).is_some() {
            self.skip("truncated call");
        }
    }

    /// Records that something is missing here.
    pub(crate) fn gap(&mut self, gap: Gap) {
        let at = self.len();
        self.transcript.completeness.add(gap, at);
    }

    /// Reports a line that is not JSON: the end of a cut-off log if it is the last line, else
    /// damage.
    pub(crate) fn unparsed(&mut self, line: usize, error: &serde_json::Error, end: End) {
        if error.is_eof() && end != End::Break {
            if end == End::Input {
                self.problem(line, "the log is cut off in the middle of this line");
            }
            return self.gap(Gap::CutEnd);
        }
        if self.unparsed == 0 {
            self.gap(Gap::Unreadable);
        }
        if end == End::Document {
            // The source reports it.
        } else if self.unparsed < MOST_REPORTED {
            self.problem(line, format!("not JSON: {}", WrongJson::new(error).what));
        } else {
            self.skip("line that is not JSON");
        }
        self.unparsed += 1;
    }

    /// Reads the list of tools; an unreadable one leaves the catalog unknown.
    pub(crate) fn tools(&mut self, raw: &RawValue, line: usize) {
        let read = serde_json::from_str(raw.get())
            .map_err(|error| error.to_string())
            .and_then(|value| tools::read_tools(&value).map_err(|error| error.to_string()));
        match read {
            Ok(tools) => self.catalog(tools, line),
            Err(error) => self.problem(line, format!("the list of tools cannot be read: {error}")),
        }
    }

    /// Sets the catalog.
    pub(crate) fn catalog(&mut self, tools: Vec<Tool>, line: usize) {
        let (catalog, repeated) = Catalog::known(tools);
        for name in repeated {
            self.problem(line, format!("the tool `{name}` is listed twice; the first one is used"));
        }
        self.transcript.catalog = catalog;
    }

    /// Notes a called tool that the provider runs itself.
    pub(crate) fn hosts(&mut self, tool: &str) {
        self.hosted.insert(tool.to_owned());
    }

    /// Adds the called tools that the provider runs itself to a known catalog.
    fn list_hosted(&mut self) {
        let catalog = &self.transcript.catalog;
        self.hosted.retain(|name| catalog.get(name).is_none());
        if catalog.is_known() && !self.hosted.is_empty() {
            let hosted = self.hosted.iter().map(Tool::named);
            let tools: Vec<Tool> = catalog.iter().cloned().chain(hosted).collect();
            self.transcript.catalog = Catalog::known(tools).0;
        }
    }

    /// Reports a session of whose agent nothing could be read, although it holds an answer.
    fn miss_answer(&mut self) -> bool {
        let unread = self.unread_answer.take().filter(|_| !hears_an_agent(&self.transcript));
        let Some((line, member)) = unread else { return false };
        self.problem(line, format!("`{member}` contains no readable answer or call"));
        self.gap(Gap::UnreadParts);
        true
    }

    /// Finishes the session. Reports results that answer no call; a log with calls but no results
    /// is marked as a gap.
    pub(crate) fn finish(mut self) -> Reading {
        self.list_hosted();
        let unheard = self.miss_answer();
        let mut orphans = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut first_call = None;
        let mut unknown = None;
        let format = self.transcript.format;
        if let Some(at) = read_written(format, &mut self.transcript.messages) {
            self.transcript.completeness.add(Gap::UnreadParts, at);
        }
        name_the_unnamed(&mut self.transcript.messages);
        let mut results = 0_usize;
        for (at, message) in self.transcript.messages.iter().enumerate() {
            for call in &message.calls {
                first_call = first_call.or(Some(at));
                seen.insert(&call.id);
            }
            for outcome in &message.outcomes {
                results += 1;
                if !seen.contains(outcome.call_id.as_str()) {
                    unknown = unknown.or(Some(at));
                    orphans.push(Problem::at(
                        outcome.line,
                        format!("a result refers to an unrecorded call: `{}`", outcome.call_id),
                    ));
                }
            }
        }
        if let Some(at) = first_call.filter(|_| results == 0) {
            self.transcript.completeness.add(Gap::MissingResults, at);
        }
        if let Some(at) = unknown {
            self.transcript.completeness.add(Gap::UnknownCalls, at);
        }
        let more = orphans.len().saturating_sub(MOST_REPORTED);
        self.problems.extend(orphans.into_iter().take(MOST_REPORTED));
        if more > 0 {
            self.problem(0, format!("{more} more results refer to unrecorded calls"));
        }
        Reading { transcript: self.transcript, problems: self.problems, unheard }
    }
}

/// What a message is recognised by when it is repeated. Calls and results with an id are recognised
/// by it, because their text may be formatted anew.
fn key(message: &Message) -> String {
    let calls = message.calls.iter().map(|call| match call.id.as_str() {
        "" => format!("{} {}", call.tool, call.arguments.as_str()),
        id => id.to_owned(),
    });
    let results = message.outcomes.iter().map(|outcome| match outcome.call_id.as_str() {
        "" => outcome.text.clone(),
        id => id.to_owned(),
    });
    let (calls, results): (Vec<String>, Vec<String>) = (calls.collect(), results.collect());
    format!("{:?}\0{}\0{calls:?}\0{results:?}", message.role, message.text)
}

/// Whether the agent says or calls anything.
pub(crate) fn hears_an_agent(transcript: &Transcript) -> bool {
    let acts = |message: &Message| {
        message.role == Role::Assistant && !(message.text.is_empty() && message.calls.is_empty())
    };
    transcript.messages.iter().any(acts)
}

/// Gives ids to calls that have none, and assigns them in order to results without an id.
fn name_the_unnamed(messages: &mut [Message]) {
    let mut open = VecDeque::new();
    let mut count = 0;
    for message in messages {
        for call in message.calls.iter_mut().filter(|call| call.id.is_empty()) {
            count += 1;
            call.id = format!("unnamed-{count}");
            open.push_back(call.id.clone());
        }
        for outcome in message.outcomes.iter_mut().filter(|outcome| outcome.call_id.is_empty()) {
            outcome.call_id = open.pop_front().unwrap_or_default();
        }
    }
}
