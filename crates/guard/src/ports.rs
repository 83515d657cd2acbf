//! The services that the guard needs from outside. Tests and hosts can bring their own.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use counterfoil_ledger::{Lasts, Phase};
use counterfoil_model::ExactValue;

use crate::gate::Question;

/// A future on the heap, for traits that are used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Asks a person.
pub trait Approver: Send + Sync {
    /// Asks a person about one call. The reply covers all questions about it.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalReply>;
}

/// A call that a person is asked about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// The session that it belongs to.
    pub session: &'a str,
    /// The model's id of the call; empty if it gave none.
    pub call_id: &'a str,
    /// The sub-agent that makes the call; `None` for the main agent.
    pub caller: Option<&'a str>,
    /// The phase of the agent's cycle.
    pub phase: Phase,
    /// The questions about the call, one per gate, at least one. All are about the same call: a
    /// person who agrees, agrees to the call.
    pub questions: &'a [Question],
    /// The arguments that would run, complete and not redacted, so that the person can change them.
    pub arguments: &'a ExactValue,
    /// Why the replacement arguments from the previous reply cannot be used.
    pub wrong: Option<&'a str>,
}

impl ApprovalRequest<'_> {
    /// The call in one line, redacted.
    #[must_use]
    pub fn call(&self) -> &str {
        self.questions.first().map_or("", |question| &question.call)
    }
}

/// The reply of a person who is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalReply {
    /// The person agrees.
    Agreed(Approval),
    /// The person refuses: the call is denied, and the model is told.
    Declined {
        /// Who refused.
        by: String,
        /// The reason, if one was given.
        reason: Option<String>,
    },
    /// The person gives other arguments, which are judged like any others. They run if they fit the
    /// tool and no gate denies them; giving them counts as agreement. The model is told.
    Changed {
        /// Who changed the arguments.
        by: String,
        /// A JSON object.
        arguments: String,
    },
    /// No person was there, or none answered. The question stays open.
    NoAnswer,
}

/// A person's agreement to exactly what was asked: this tool with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// Who agreed, for the receipt.
    pub by: String,
    /// The reason, if one was given.
    pub reason: Option<String>,
    /// For how many calls it is valid.
    pub lasts: Lasts,
}

impl Approval {
    /// An approval for one call by this person.
    #[must_use]
    pub fn by(who: impl Into<String>) -> Self {
        Self { by: who.into(), reason: None, lasts: Lasts::Once }
    }

    /// Extends it to all identical calls of the session.
    #[must_use]
    pub fn for_session(self) -> Self {
        Self { lasts: Lasts::Session, ..self }
    }

    /// Adds the reason.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

/// A model that answers a text with a text. It judges calls by policies in plain language, and
/// serves the guard's other needs for a model.
pub trait Completion: Send + Sync {
    /// Returns the model's complete answer. The caller interprets it.
    fn complete<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<String, CompletionError>>;
}

/// The model could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model did not answer: {0}")]
pub struct CompletionError(pub String);

/// Computes embeddings of texts, which are close to each other for texts of similar meaning.
pub trait Embedder: Send + Sync {
    /// Returns one vector per text, in order, all of the same length.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>>;
}

/// The embedding model did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the embedding model did not answer: {0}")]
pub struct EmbedderError(pub String);

/// Called with the id of a session that has ended.
pub type SessionEnd = Arc<dyn Fn(&str) + Send + Sync>;
