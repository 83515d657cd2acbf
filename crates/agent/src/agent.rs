use std::collections::BTreeSet;
use std::sync::Arc;

use counterfoil_guard::{
    Answer, CallError, Guard, Phase, RegisterError, Requested, Session, Surroundings,
};
use counterfoil_model::ToolCall;
use counterfoil_providers::Usage;

use crate::compress::{COMPRESS_CONTEXT, Compressor};
use crate::conversation::Conversation;
use crate::kept::KeptSummaries;
use crate::model::Model;
use crate::options::AgentOptions;
use crate::store::CompressionStrategy;

/// What an agent is made of.
pub struct Parts {
    /// What every call and every answer goes through.
    pub guard: Guard,
    /// The session that is gone on with.
    pub session: Session,
    /// The model.
    pub model: Arc<dyn Model>,
    /// The model that compresses the conversation.
    pub compresses: Arc<dyn Model>,
    /// Where summaries are kept; `None` keeps them in memory.
    pub summaries: Option<Arc<KeptSummaries>>,
    /// What was said and done before.
    pub conversation: Conversation,
    /// What the model reads about the place where it works.
    pub introduction: String,
    /// How it behaves.
    pub settings: AgentOptions,
    /// The sub-agent that it is; `None` for the main one.
    pub caller: Option<String>,
}

/// A model with tools, whose calls are judged and whose answers are verified.
pub struct Agent {
    pub(crate) parts: Parts,
    pub(crate) compressor: Compressor,
    /// Ids of calls that were used.
    pub(crate) ids: BTreeSet<String>,
    pub(crate) usage: Usage,
    /// How many tokens the latest request had, as the server counts them.
    pub(crate) read: u64,
    /// Whether the user wants the present turn, or a schedule.
    pub(crate) phase: Phase,
}

impl Agent {
    /// An agent that goes on with this conversation. Its guard gets the tool `compress_context`,
    /// unless it is a sub-agent.
    ///
    /// # Errors
    /// When the guard has a tool of that name already, or takes none.
    pub fn new(mut parts: Parts) -> Result<Self, RegisterError> {
        let conversation = std::mem::take(&mut parts.conversation);
        let ids = conversation.turns().iter().filter_map(|turn| match turn {
            counterfoil_providers::Turn::Assistant { calls, .. } => Some(calls),
            _ => None,
        });
        let ids = ids.flatten().map(|call| call.id.clone()).collect();
        let compressor = Compressor::new(
            parts.session.id().to_owned(),
            conversation,
            Arc::clone(&parts.compresses),
            parts.summaries.clone(),
        );
        if parts.caller.is_none() {
            parts.guard.register(compressor.tool())?;
        }
        Ok(Self {
            parts,
            compressor,
            ids,
            usage: Usage::default(),
            read: 0,
            phase: Phase::Executor,
        })
    }

    /// What its calls go through.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.parts.guard
    }

    /// Its session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.parts.session
    }

    /// What its model cost so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// How full the model's context is, in tokens, and how much fits.
    #[must_use]
    pub fn context(&self) -> (u64, u64) {
        let tokens = self.compressor.conversation().tokens().max(self.read);
        (tokens, self.parts.model.context_tokens())
    }

    /// What the model gets to read.
    #[must_use]
    pub fn conversation(&self) -> Conversation {
        self.compressor.conversation().clone()
    }

    /// Compresses what went before, because the user wants it.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn compact(&mut self) -> Result<Answer, CallError> {
        // The present turn is over.
        self.compressor.conversation().end();
        self.compress(CompressionStrategy::Manual).await
    }

    pub(crate) async fn compress(
        &mut self,
        strategy: CompressionStrategy,
    ) -> Result<Answer, CallError> {
        self.compressor.next(strategy);
        let (phase, requested) = match strategy {
            CompressionStrategy::Manual => (Phase::Executor, Requested::ByUser),
            CompressionStrategy::Triggered | CompressionStrategy::Autonomous => {
                (Phase::Autonomous, Requested::ByModel)
            }
        };
        let around = Surroundings { phase, requested, ..Surroundings::default() };
        let call = ToolCall::new("", COMPRESS_CONTEXT, "{}");
        let answer = self.parts.session.call(call, around).await?;
        if self.compressor.take_done().is_some() {
            self.read = 0;
        }
        Ok(answer)
    }

    /// Forgets what was said; the record stays.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn clear(&mut self) -> Result<(), counterfoil_guard::AppendError> {
        self.parts.session.clear().await?;
        let until = self.compressor.conversation().forget();
        if let Some(keeps) = &self.parts.summaries
            && let Err(error) = keeps.forget(self.parts.session.id(), until)
        {
            tracing::warn!(
                "cannot delete the conversation; resuming this session will restore \
                it: {error}"
            );
        }
        self.read = 0;
        Ok(())
    }
}
