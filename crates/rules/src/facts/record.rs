use std::collections::HashMap;

use counterfoil_model::{Outcome, Status, ToolCall, Transcript};

/// A call with its result.
#[derive(Debug)]
pub struct Execution<'t> {
    /// The call; `None` for a result without a recorded call.
    pub call: Option<&'t ToolCall>,
    /// The result; `None` if none is recorded.
    pub outcome: Option<&'t Outcome>,
    /// The message that made the call (or carried the lone result).
    pub called_at: usize,
    /// The message that carried the result.
    pub answered_at: Option<usize>,
    /// The sub-agent that made the call; `None` for the main thread.
    pub agent: Option<&'t str>,
}

impl<'t> Execution<'t> {
    /// The tool's name as emitted; empty if only the result is recorded.
    #[must_use]
    pub fn tool(&self) -> &'t str {
        self.call.map_or("", |call| call.tool.as_str())
    }

    /// The arguments as emitted; empty if only the result is recorded.
    #[must_use]
    pub(crate) fn arguments(&self) -> &'t str {
        self.call.map_or("", |call| call.arguments.as_str())
    }

    /// The text of the result; empty if none is recorded.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.outcome.map_or("", |outcome| outcome.text.as_str())
    }

    /// How it ended, according to the marks and exit codes in the log.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.outcome {
            None => Status::Open,
            Some(o) if o.refused => Status::Denied,
            Some(o) if o.running => Status::Open,
            Some(o) if o.is_error == Some(true) || o.exit_code.is_some_and(|code| code != 0) => {
                Status::Failed
            }
            // How it ended is not known.
            Some(o) if o.unread => Status::Open,
            Some(_) => Status::Completed,
        }
    }
}

/// All executions of a transcript, in the order of their calls.
#[derive(Debug, Default)]
pub struct Record<'t> {
    executions: Vec<Execution<'t>>,
}

impl<'t> Record<'t> {
    /// Joins each result with the latest earlier unanswered call of its id; a result without an id
    /// with the earliest unanswered call.
    #[must_use]
    pub fn new(transcript: &'t Transcript) -> Self {
        let count = transcript.messages.iter().map(|message| message.calls.len()).sum();
        let mut executions: Vec<Execution<'t>> = Vec::with_capacity(count);
        // The latest unanswered call of each id; for each execution, the previous unanswered call
        // with the same id.
        let mut open: HashMap<&str, usize> = HashMap::new();
        let mut earlier: Vec<Option<usize>> = Vec::with_capacity(count);
        let mut next_unanswered = 0;
        for (at, message) in transcript.messages.iter().enumerate() {
            let agent = message.agent.as_deref();
            for call in &message.calls {
                earlier.push(open.insert(call.id.as_str(), executions.len()));
                executions.push(Execution {
                    call: Some(call),
                    outcome: None,
                    called_at: at,
                    answered_at: None,
                    agent,
                });
            }
            for outcome in &message.outcomes {
                let place = if outcome.call_id.is_empty() {
                    while executions.get(next_unanswered).is_some_and(|e| e.outcome.is_some()) {
                        next_unanswered += 1;
                    }
                    (next_unanswered < executions.len()).then_some(next_unanswered)
                } else {
                    let id = outcome.call_id.as_str();
                    let latest = open.remove(id);
                    if let Some(before) = latest.and_then(|i| earlier.get(i).copied().flatten()) {
                        open.insert(id, before);
                    }
                    latest
                };
                if let Some(execution) = place.and_then(|i| executions.get_mut(i)) {
                    execution.outcome = Some(outcome);
                    execution.answered_at = Some(at);
                } else {
                    earlier.push(None);
                    executions.push(Execution {
                        call: None,
                        outcome: Some(outcome),
                        called_at: at,
                        answered_at: Some(at),
                        agent,
                    });
                }
            }
        }
        Self { executions }
    }

    /// All executions.
    #[must_use]
    pub fn executions(&self) -> &[Execution<'t>] {
        &self.executions
    }

    /// The executions whose call is before message `turn`.
    pub fn before(&self, turn: usize) -> std::slice::Iter<'_, Execution<'t>> {
        self.executions.get(..self.count_before(turn)).unwrap_or_default().iter()
    }

    /// The number of executions before message `turn`.
    pub(crate) fn count_before(&self, turn: usize) -> usize {
        self.executions.partition_point(|e| e.called_at < turn)
    }
}

#[cfg(test)]
mod tests {
    use counterfoil_model::{Arguments, Format, Message, Role};

    use super::*;

    #[test]
    fn a_result_answers_the_latest_open_call_of_its_id() {
        let call = |id: &str| {
            let arguments = Arguments::raw("{}");
            let call = ToolCall { id: id.into(), tool: "t".into(), arguments, line: 0 };
            Message { calls: vec![call], ..Message::text(Role::Assistant, "") }
        };
        let result = |id: &str| {
            let outcome = Outcome { call_id: id.into(), ..Outcome::default() };
            Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") }
        };
        let mut transcript = Transcript::new("t", Format::ClaudeCode);
        transcript.messages =
            vec![call("a"), call("b"), call("a"), result("a"), result("a"), result("a")];
        let record = Record::new(&transcript);
        let joined: Vec<_> = record
            .executions()
            .iter()
            .map(|one| (one.call.map(|call| call.id.as_str()), one.answered_at))
            .collect();
        let expected =
            [(Some("a"), Some(4)), (Some("b"), None), (Some("a"), Some(3)), (None, Some(5))];
        assert_eq!(joined, expected);
    }
}
