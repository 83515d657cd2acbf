//! A model sums a conversation up that becomes too long. What was recorded stays: the
//! receipts outlive what the model can still read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use counterfoil_guard::{FunctionExecutor, ToolError, ToolOutput, without_hidden};
use counterfoil_model::{ToolCall, ToolErrorCategory};
use counterfoil_providers::{ProviderError, Request, Turn};
use serde_json::json;

use crate::conversation::Conversation;
use crate::kept::KeptSummaries;
use crate::model::Model;
use crate::own_tool::{own_tool, unanswered};
use crate::store::{CompressionStrategy, StoreError, Summary, secretless};

/// The tool that compresses the conversation.
pub const COMPRESS_CONTEXT: &str = "compress_context";

/// A conversation was not compressed. It is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// There is nothing before the present turn.
    #[error("there is nothing to compress: the conversation has just begun")]
    Nothing,
    /// It is under way.
    #[error("the conversation is already being compressed")]
    UnderWay,
    /// The model did not answer.
    #[error("the conversation was not compressed: {0}")]
    Model(#[from] ProviderError),
    /// It gave no text.
    #[error("the conversation was not compressed: the model gave no summary")]
    Empty,
    /// The summary cannot be kept.
    #[error("the conversation was not compressed: cannot save the summary: {0}")]
    NotKept(#[from] StoreError),
}

/// The conversation, and what compresses it: shared by the loop and its tool.
#[derive(Clone)]
pub(crate) struct Compressor(Arc<Shared>);

struct Shared {
    session: String,
    conversation: Mutex<Conversation>,
    model: Arc<dyn Model>,
    keeps: Option<Arc<KeptSummaries>>,
    now: Mutex<Now>,
}

/// The compression that is under way, or comes next.
#[derive(Default)]
struct Now {
    running: bool,
    strategy: CompressionStrategy,
    done: Option<CompressionStrategy>,
}

const DESCRIPTION: &str = "Replaces everything before the user's last message with a summary of \
                           it. Call it when part of the work is done and its details are no \
                           longer needed.";

const PROMPT: &str = "Briefly summarize the following conversation for yourself, so that the work \
     can continue without it. Keep: what the user wants and has decided; what was done, with the \
     execution ids; results, names, paths and numbers exactly as they are written; what failed; \
     what is still open. Add nothing, and do not say that anything was done unless a result shows \
     it. Reply only with the summary.";

impl Compressor {
    pub(crate) fn new(
        session: String,
        conversation: Conversation,
        model: Arc<dyn Model>,
        keeps: Option<Arc<KeptSummaries>>,
    ) -> Self {
        let conversation = Mutex::new(conversation);
        Self(Arc::new(Shared { session, conversation, model, keeps, now: Mutex::default() }))
    }

    pub(crate) fn conversation(&self) -> MutexGuard<'_, Conversation> {
        self.0.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.0.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next one is for this reason.
    pub(crate) fn next(&self, strategy: CompressionStrategy) {
        self.now().strategy = strategy;
    }

    /// What was compressed since this was last called.
    pub(crate) fn take_done(&self) -> Option<CompressionStrategy> {
        self.now().done.take()
    }

    /// Tells what went before the present turn in short.
    async fn compress(&self) -> Result<Summary, CompressError> {
        let strategy = {
            let mut now = self.now();
            if now.running {
                return Err(CompressError::UnderWay);
            }
            now.running = true;
            std::mem::take(&mut now.strategy)
        };
        let running = Running(self);
        let (text, entries, until) = {
            let conversation = self.conversation();
            let entries = conversation.present;
            let past = conversation.turns.get(..entries).unwrap_or_default();
            let user_turns = past.iter().filter(|turn| matches!(turn, Turn::User(_))).count();
            (written(past), entries, conversation.compressed + user_turns)
        };
        if entries == 0 {
            return Err(CompressError::Nothing);
        }
        let prompt = format!("{PROMPT}\n\n<conversation>\n{text}</conversation>");
        // Without tools: the model that compresses does nothing else, and never this again.
        let request = Request { turns: vec![Turn::User(prompt)], ..Request::default() };
        let reply = self.0.model.chat(&request, &mut |_| {}).await?;
        let text = reply.text.trim().to_owned();
        if text.is_empty() {
            return Err(CompressError::Empty);
        }
        let summary = Summary { session: self.0.session.clone(), strategy, text, until };
        if let Some(keeps) = &self.0.keeps {
            keeps.keep(&summary)?;
        }
        self.conversation().compress(entries, summary.text.clone());
        self.now().done = Some(strategy);
        drop(running);
        Ok(summary)
    }

    /// The tool for it.
    pub(crate) fn tool(&self) -> FunctionExecutor {
        let tool = own_tool(COMPRESS_CONTEXT, DESCRIPTION, json!({}), &[]);
        let own = self.clone();
        FunctionExecutor::waiting(tool, move |_| {
            let own = own.clone();
            async move {
                let Summary { strategy, text, .. } = own.compress().await.map_err(|error| {
                    let category = match &error {
                        CompressError::Model(why) => unanswered(why),
                        _ => ToolErrorCategory::PermanentFailure,
                    };
                    ToolError::new(category, error.to_string())
                })?;
                let length = text.chars().count();
                let message = "The earlier conversation has been summarized";
                Ok(ToolOutput::from(format!("{message} ({strategy}): {length} characters.")))
            }
        })
    }
}

/// A compression that ends, however it ends.
struct Running<'c>(&'c Compressor);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.now().running = false;
    }
}

/// The turns as the model that compresses reads them, which may be another one than the
/// agent's: without secrets and without what the model thought in the arguments of its calls.
fn written(turns: &[Turn]) -> String {
    let mut text = String::new();
    for turn in turns {
        match turn {
            Turn::User(message) => text.push_str(&format!("User: {message}\n")),
            Turn::Assistant { text: message, calls, .. } => {
                if !message.is_empty() {
                    text.push_str(&format!("Assistant: {message}\n"));
                }
                for call in calls {
                    let ToolCall { id, tool, arguments, .. } = without_hidden(call.clone());
                    text.push_str(&format!("Call {id} of {tool}: {}\n", arguments.as_str()));
                }
            }
            Turn::Result { call_id, text: output, failed } => {
                let state = if *failed { " (failed)" } else { "" };
                text.push_str(&format!("Result of {call_id}{state}: {output}\n"));
            }
        }
    }
    secretless(&text).into_owned()
}
