//! The verdict on an answer, and what became of it.

use counterfoil_guard::without_hidden;
use counterfoil_model::{Finding, Severity, ToolCall};
use counterfoil_providers::{Reply, Usage};
use tokio::task::JoinHandle;

use crate::calls::CallsJudged;

/// The verdict on an answer.
#[derive(Debug, Default)]
pub(crate) struct Conclusion {
    pub(crate) findings: Vec<Finding>,
    pub(crate) calls: CallsJudged,
    /// Why part of it was not judged.
    pub(crate) unjudged: Option<String>,
    /// Why clients may read a different answer than the one that was judged.
    pub(crate) doubt: Option<String>,
    /// A judgement that came too late. It is still recorded.
    pub(crate) late: Option<JoinHandle<Self>>,
}

impl Conclusion {
    pub(crate) fn not_judged(why: impl ToString, reply: &Reply) -> Self {
        let passed: Vec<ToolCall> = reply.calls.iter().cloned().map(without_hidden).collect();
        let stripped = passed != reply.calls;
        let calls = CallsJudged { passed, stripped, ..CallsJudged::default() };
        Self { calls, unjudged: Some(why.to_string()), ..Self::default() }
    }

    /// The outcome of an answer that is passed on unchanged.
    pub(crate) fn passed(&self) -> &'static str {
        let judged = self.unjudged.is_none() && self.doubt.is_none();
        if judged { "passed" } else { "not judged" }
    }

    /// The findings that are severe enough to act on.
    pub(crate) fn bad(&self, least: Severity) -> Vec<Finding> {
        self.findings.iter().filter(|finding| finding.severity >= least).cloned().collect()
    }
}

/// The outcome of an answer.
#[derive(Debug, Default)]
pub(crate) struct Became {
    pub(crate) what: &'static str,
    pub(crate) status: u16,
    /// Whether the client did not get it, or not all of it.
    pub(crate) withheld: bool,
    /// The model's words that were judged.
    pub(crate) judged: String,
    /// What the client has of it.
    pub(crate) message: AgentMessage,
    /// The findings in the corrected answer, if there is one. The client has its words then.
    pub(crate) better: Option<Vec<Finding>>,
    /// The server's id for it.
    pub(crate) response: Option<String>,
    pub(crate) corrections: u32,
    pub(crate) usage: Usage,
}

impl Became {
    /// The outcome of a complete answer.
    pub(crate) fn from_reply(status: u16, reply: &Reply) -> Self {
        Self {
            status,
            usage: reply.usage,
            judged: reply.text.clone(),
            message: AgentMessage { text: reply.text.clone(), calls: reply.calls.clone() },
            ..Self::default()
        }
    }

    /// Records that the answer is withheld because it could not be judged.
    pub(crate) fn withhold(&mut self) {
        (self.what, self.withheld, self.message.calls) = ("not judged", true, Vec::new());
    }
}

/// The agent's message as the client got it.
#[derive(Debug, Default, Clone)]
pub(crate) struct AgentMessage {
    pub(crate) text: String,
    pub(crate) calls: Vec<ToolCall>,
}
