use std::collections::BTreeMap;

use counterfoil_formats::read_tools;
use counterfoil_ledger::{Closed, Draft, Event, Ledger, Opened, ReadLedgerError, Rejected};
use counterfoil_model::{
    Arguments, Catalog, Digest, ExactValue, Format, Gap, Message, Outcome, RecordedReceipt, Role,
    Status, ToolCall, Transcript,
};
use counterfoil_rules::set_feedback_aside;
use serde_json::Value;

/// Builds a transcript, as rules understand it, from a session's events.
///
/// INVARIANT: this is the only way from events to a transcript. A live session applies each event
/// as it is written, and a replay applies events as they are read, so both judge the same
/// transcript.
#[derive(Debug, Clone)]
pub(crate) struct Timeline {
    transcript: Transcript,
    /// The index of each execution's receipt.
    receipts: BTreeMap<String, usize>,
    tools: Option<Digest>,
    known: Option<(Digest, Catalog)>,
}

/// Reads a recorded session as a transcript from the ledger; `None` if the ledger has no event of
/// it. [`crate::export`] writes it, and `counterfoil check` reads that.
///
/// # Errors
/// When the ledger cannot be read.
pub fn recorded_transcript(
    ledger: &Ledger,
    session: &str,
) -> Result<Option<Transcript>, ReadLedgerError> {
    recorded_transcript_until(ledger, session, u64::MAX)
}

/// Reads a recorded session up to and including one of its events, by its sequence number in the
/// session, from 1.
///
/// # Errors
/// When the ledger cannot be read.
pub fn recorded_transcript_until(
    ledger: &Ledger,
    session: &str,
    last: u64,
) -> Result<Option<Transcript>, ReadLedgerError> {
    let mut events = ledger.events_of(session, 0, last)?;
    events.retain(|event| event.session_seq <= last);
    if events.is_empty() {
        return Ok(None);
    }
    let mut timeline = Timeline::new(session, None);
    for event in &events {
        timeline.apply(event, &|digest| ledger.result(digest).ok().flatten());
    }
    // Retention has dropped the beginning.
    if events.first().is_some_and(|event| event.session_seq > 1) {
        timeline.transcript.completeness.add(Gap::CutStart, 0);
    }
    Ok(Some(timeline.transcript))
}

/// Looks up the stored bytes of a digest, if they still exist.
type Stored<'s> = dyn Fn(&Digest) -> Option<Vec<u8>> + 's;

/// The arguments as the model wrote them. Arguments that were not JSON are recorded as text.
fn as_emitted(recorded: &ExactValue) -> Arguments {
    match recorded.as_str() {
        Some(text) => Arguments::raw(text),
        None => Arguments::from(recorded),
    }
}

impl Timeline {
    /// Begins with no events. `known` is a list of tools that need not be read, by its digest.
    pub(crate) fn new(session: &str, known: Option<(Digest, Catalog)>) -> Self {
        let mut transcript = Transcript::new(session, Format::OpenaiChat);
        transcript.receipts = Some(Vec::new());
        Self { transcript, receipts: BTreeMap::new(), tools: None, known }
    }

    /// The digest of the session's latest list of tools.
    pub(crate) fn tools(&self) -> Option<Digest> {
        self.tools
    }

    pub(crate) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Applies one event. `stored` looks up the bytes of a digest; if retention has dropped them,
    /// the text is empty and marked as cut.
    pub(crate) fn apply(&mut self, event: &Event, stored: &Stored<'_>) {
        match &event.draft {
            Draft::Said(recorded) => {
                let text = stored(&recorded.text).map(text_of).unwrap_or_default();
                let mut message = Message {
                    time: Some(recorded.at),
                    agent: recorded.caller_id.clone(),
                    ..Message::text(recorded.role, text)
                };
                set_feedback_aside(&mut message);
                self.push(message);
            }
            // The model has not made that call: it supports no claim, and its closing event finds
            // no receipt.
            Draft::Opened(opened) if opened.links.speculative => {}
            Draft::Opened(opened) => self.opened(opened),
            Draft::Closed(closed) => self.closed(closed, stored),
            Draft::Rejected(rejected) => self.rejected(rejected),
            Draft::Began { tools, .. } => self.began(*tools, stored),
            Draft::Judged { .. }
            | Draft::Shown { .. }
            | Draft::Approved(_)
            | Draft::Declined(_)
            | Draft::Cleared
            | Draft::Ended => {}
        }
    }

    fn opened(&mut self, opened: &Opened) {
        self.call(opened);
        self.receipts.insert(opened.execution_id.clone(), self.receipt_count());
        self.add_receipt(RecordedReceipt {
            id: opened.execution_id.clone(),
            tool: opened.tool.clone(),
            call_id: Some(call_id(opened)),
            status: Status::Open,
            started: Some(opened.started_at),
            ended: None,
            result: None,
            id_shown: opened.id_shown,
        });
    }

    fn closed(&mut self, closed: &Closed, stored: &Stored<'_>) {
        let place = self.receipts.get(&closed.execution_id).copied();
        let bytes = stored(&closed.recorded_digest);
        let gone = bytes.is_none();
        let text = bytes.map(text_of).unwrap_or_default();
        let receipts = self.transcript.receipts.as_mut();
        let Some(receipt) = receipts.and_then(|all| place.and_then(|place| all.get_mut(place)))
        else {
            return;
        };
        receipt.status = closed.status;
        receipt.ended = Some(closed.ended_at);
        receipt.result = (!gone).then(|| recorded_value(&text));
        let call_id = receipt.call_id.clone().unwrap_or_default();
        self.result(Outcome {
            call_id,
            text,
            is_error: Some(!closed.status.succeeded()),
            exit_code: closed.exit_code,
            running: closed.goes_on(),
            truncated: closed.is_partial() || gone,
            ..Outcome::default()
        });
        self.ran_on(closed);
    }

    /// A command in the background ends after the execution that started it: that one ended well
    /// only if a later execution saw so.
    fn ran_on(&mut self, closed: &Closed) {
        let Some(run) = &closed.background else { return };
        // Of two looks at once, the earlier may be recorded later.
        if run.status == Status::Open && run.started_by != closed.execution_id {
            return;
        }
        let place = self.receipts.get(&run.started_by).copied();
        let receipts = self.transcript.receipts.as_mut();
        if let Some(receipt) = receipts.and_then(|all| place.and_then(|place| all.get_mut(place))) {
            receipt.status = run.status;
        }
    }

    /// How an execution ended, as the receipts of the transcript say.
    pub(crate) fn status_of(&self, execution_id: &str) -> Option<Status> {
        let receipt = self.transcript.receipts.as_ref()?.get(*self.receipts.get(execution_id)?)?;
        Some(receipt.status)
    }

    fn rejected(&mut self, rejected: &Rejected) {
        self.call(&rejected.call);
        self.add_receipt(RecordedReceipt {
            id: rejected.call.execution_id.clone(),
            tool: rejected.call.tool.clone(),
            call_id: Some(call_id(&rejected.call)),
            status: rejected.status,
            started: Some(rejected.call.started_at),
            ended: Some(rejected.call.started_at),
            result: None,
            id_shown: false,
        });
        self.result(Outcome {
            call_id: call_id(&rejected.call),
            text: rejected.answer.clone(),
            is_error: Some(true),
            refused: true,
            ..Outcome::default()
        });
    }

    fn began(&mut self, tools: Digest, stored: &Stored<'_>) {
        self.tools = Some(tools);
        self.transcript.catalog = match (stored(&tools), &self.known) {
            // Tools that retention dropped are unknown tools, not missing ones.
            (None, _) => Catalog::unknown(),
            (Some(_), Some((known, catalog))) if *known == tools => catalog.clone(),
            (Some(list), _) => catalog_of(&list),
        };
    }

    fn call(&mut self, opened: &Opened) {
        let tool = opened.emitted_tool.as_ref().unwrap_or(&opened.tool).clone();
        let call = ToolCall {
            id: call_id(opened),
            tool,
            arguments: as_emitted(&opened.arguments),
            line: 0,
        };
        self.push(Message {
            calls: vec![call],
            agent: opened.caller_id.clone(),
            time: Some(opened.started_at),
            ..Message::text(Role::Assistant, "")
        });
    }

    fn result(&mut self, mut outcome: Outcome) {
        outcome.unwrap_command();
        self.push(Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") });
    }

    fn push(&mut self, message: Message) {
        self.transcript.messages.push(message);
    }

    fn receipt_count(&self) -> usize {
        self.transcript.receipts.as_ref().map_or(0, Vec::len)
    }

    fn add_receipt(&mut self, receipt: RecordedReceipt) {
        self.transcript.receipts.get_or_insert_default().push(receipt);
    }
}

/// The model's id of a call, or the execution's id if it gave none, because results must refer to
/// an id.
fn call_id(opened: &Opened) -> String {
    if opened.call_id.is_empty() { opened.execution_id.clone() } else { opened.call_id.clone() }
}

/// The tools in a stored list.
pub(crate) fn catalog_of(list: &[u8]) -> Catalog {
    let list = serde_json::from_slice::<Value>(list).ok();
    match list.and_then(|list| read_tools(&list).ok()) {
        Some(tools) => Catalog::known(tools).0,
        None => Catalog::unknown(),
    }
}

/// A stored text.
pub(crate) fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A recorded result as JSON: objects and lists are parsed, everything else is text.
pub(crate) fn recorded_value(text: &str) -> Value {
    let looks = text.trim_start().starts_with(['{', '[']);
    let parsed = looks.then(|| serde_json::from_str(text).ok()).flatten();
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}
