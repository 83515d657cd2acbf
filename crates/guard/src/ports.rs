//! What the guard needs from outside, so that tests and hosts can bring their own.

use std::future::Future;
use std::pin::Pin;

use counterfoil_ledger::{Lasts, Phase};
use counterfoil_model::ExactValue;

use crate::gate::Question;

/// A future on the heap, for traits that are used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Asks a person.
pub trait Approver: Send + Sync {
    /// What somebody says to one call, to all that is asked about it.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalReply>;
}

/// One call about which a person is asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// The session that it belongs to.
    pub session: &'a str,
    /// The model's id of the call; empty when it gave none.
    pub call_id: &'a str,
    /// The sub-agent that makes it; `None` for the main one.
    pub caller: Option<&'a str>,
    /// When in the agent's cycle.
    pub phase: Phase,
    /// Everything that is asked about it, one question a gate; at least one. All are about the same
    /// call: whoever agrees, agrees to the call.
    pub questions: &'a [Question],
    /// The arguments that would run, whole and with their secrets: for whoever changes them.
    pub arguments: &'a ExactValue,
    /// Why the arguments that were given instead, the last time this was asked, cannot be used.
    pub wrong: Option<&'a str>,
}

impl ApprovalRequest<'_> {
    /// The call in one line, redacted.
    #[must_use]
    pub fn call(&self) -> &str {
        self.questions.first().map_or("", |question| &question.call)
    }
}

/// What somebody says who is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalReply {
    /// Yes.
    Agreed(Approval),
    /// No: the call is denied, and the model is told so.
    Declined {
        /// Who said so.
        by: String,
        /// Why, where they said.
        reason: Option<String>,
    },
    /// Other arguments, which are judged like any others. Where they fit the tool and no gate
    /// denies, they run: whoever gives them agrees to them. The model is told.
    Changed {
        /// Who said so.
        by: String,
        /// A JSON object.
        arguments: String,
    },
    /// Nobody was there, or nobody answered: the question stays open.
    Nobody,
}

/// Somebody agreed to exactly what was asked: this tool with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// Who agreed, as the receipt will say.
    pub by: String,
    /// Why, where they said.
    pub reason: Option<String>,
    /// For how many calls.
    pub lasts: Lasts,
}

impl Approval {
    /// For one call, by this person.
    #[must_use]
    pub fn by(who: impl Into<String>) -> Self {
        Self { by: who.into(), reason: None, lasts: Lasts::Once }
    }

    /// The same for every such call of the session.
    #[must_use]
    pub fn for_session(self) -> Self {
        Self { lasts: Lasts::Session, ..self }
    }

    /// The same with the reason that was given.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

/// A model that answers one text with one text: it judges calls by policies in plain language, and
/// does whatever else the guard wants a model for.
pub trait Completion: Send + Sync {
    /// The model's whole answer. Whoever asks decides what it means.
    fn complete<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<String, CompletionError>>;
}

/// The model could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model did not answer: {0}")]
pub struct CompletionError(pub String);

/// Gives texts a place in a space in which those of one meaning are near each other.
pub trait Embedder: Send + Sync {
    /// One vector a text, in their order, all of one length.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>>;
}

/// Texts got no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model for meanings did not answer: {0}")]
pub struct EmbedderError(pub String);
