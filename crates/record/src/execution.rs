use std::collections::HashMap;

use counterfoil_model::{Outcome, Status, ToolCall, Transcript};

/// A call with its result.
#[derive(Debug, Clone, Copy)]
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
    pub fn arguments(&self) -> &'t str {
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
        self.outcome.map_or(Status::Open, marked)
    }
}

/// How a call with this result ended, according to its marks and its exit code.
#[must_use]
pub fn marked(outcome: &Outcome) -> Status {
    match outcome {
        o if o.refused => Status::Denied,
        o if o.running => Status::Open,
        o if o.is_error == Some(true) || o.exit_code.is_some_and(|code| code != 0) => {
            Status::Failed
        }
        // How it ended is not known.
        o if o.unread => Status::Open,
        _ => Status::Completed,
    }
}

/// Joins each result with the latest earlier unanswered call with its id, or with the earliest
/// unanswered call if the result has no id. A result that answers no call is an execution of its own.
#[must_use]
pub fn executions(transcript: &Transcript) -> Vec<Execution<'_>> {
    let mut executions: Vec<Execution<'_>> = Vec::new();
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut unanswered = 0;
    for (at, message) in transcript.messages.iter().enumerate() {
        let agent = message.agent.as_deref();
        for call in &message.calls {
            open.entry(call.id.as_str()).or_default().push(executions.len());
            let called_at = at;
            executions.push(Execution {
                call: Some(call),
                outcome: None,
                called_at,
                answered_at: None,
                agent,
            });
        }
        for outcome in &message.outcomes {
            let place = if outcome.call_id.is_empty() {
                while executions.get(unanswered).is_some_and(|e| e.outcome.is_some()) {
                    unanswered += 1;
                }
                Some(unanswered)
            } else {
                open.get_mut(outcome.call_id.as_str()).and_then(Vec::pop)
            };
            let (outcome, answered_at) = (Some(outcome), Some(at));
            match place.and_then(|place| executions.get_mut(place)) {
                Some(one) => (one.outcome, one.answered_at) = (outcome, answered_at),
                None => executions.push(Execution {
                    call: None,
                    outcome,
                    called_at: at,
                    answered_at,
                    agent,
                }),
            }
        }
    }
    executions
}

#[cfg(test)]
mod tests {
    use counterfoil_model::{Format, Message, Role};

    use super::*;

    #[test]
    fn a_result_answers_the_latest_open_call_of_its_id() {
        let call = |id: &str| {
            let calls = vec![ToolCall::new(id, "t", "{}")];
            Message { calls, ..Message::text(Role::Assistant, "") }
        };
        let result = |id: &str| {
            let outcome = Outcome { call_id: id.into(), ..Outcome::default() };
            Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") }
        };
        let mut transcript = Transcript::new("t", Format::ClaudeCode);
        transcript.messages =
            vec![call("a"), call("b"), call("a"), result("a"), result("a"), result("a")];
        let found = executions(&transcript);
        let joined: Vec<_> = found
            .iter()
            .map(|one| (one.call.map(|call| call.id.as_str()), one.answered_at))
            .collect();
        let expected =
            [(Some("a"), Some(4)), (Some("b"), None), (Some("a"), Some(3)), (None, Some(5))];
        assert_eq!(joined, expected);
    }
}
