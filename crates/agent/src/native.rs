//! Tools that are the agent's own. They go through the guard like any other.

use std::sync::Arc;

use counterfoil_guard::{BoxFuture, Clock, Embedder, FunctionExecutor, ToolError, ToolOutput};
use counterfoil_model::{Effects, Tool, ToolErrorCategory};
use serde_json::{Value, json};

use crate::store::{Note, NoteError, NoteOrigin, Store};

/// How many notes a search gives where nothing is said.
const FOUND: u64 = 5;
/// How many it gives at most.
const MOST_FOUND: u64 = 50;

/// What the agent remembers.
#[derive(Clone)]
pub struct Memory {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    embedder: Option<Arc<dyn Embedder>>,
}

impl Memory {
    /// Notes in this store. With a model for meanings, a search finds what other words say, too.
    #[must_use]
    pub fn new(
        store: Arc<Store>,
        clock: Arc<dyn Clock>,
        embedder: Option<Arc<dyn Embedder>>,
    ) -> Self {
        Self { store, clock, embedder }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The place of a text among meanings; `None` where nothing gives one.
    async fn vector(&self, text: &str) -> Option<Vec<f32>> {
        let texts = [text.to_owned()];
        match self.embedder.as_ref()?.embed(&texts).await {
            Ok(vectors) => vectors.into_iter().next(),
            Err(error) => {
                tracing::warn!("notes are found by words only: {error}");
                None
            }
        }
    }

    /// Keeps a note.
    ///
    /// # Errors
    /// When it is too long, empty, or cannot be written.
    pub async fn save(
        &self,
        text: &str,
        session: &str,
        origin: NoteOrigin,
    ) -> Result<crate::store::NoteId, NoteError> {
        let vector = self.vector(text).await;
        let session = Some(session.to_owned());
        let note = Note { text: text.to_owned(), session, origin, at: self.clock.wall() };
        self.store.save(&note, vector.as_deref())
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Value, ToolError> {
        let vector = self.vector(query).await;
        let found = self.store.search(query, vector.as_deref(), limit);
        let found = found.map_err(|error| failed(&error))?;
        Ok(json!({ "notes": found }))
    }

    /// `memory_save` and `memory_search` for a session.
    #[must_use]
    pub fn tools(&self, session: &str) -> Vec<FunctionExecutor> {
        vec![self.saving(session), self.searching()]
    }

    fn saving(&self, session: &str) -> FunctionExecutor {
        let tool = Tool {
            description: "Keeps a note for later conversations: a fact about the user or the \
                          project that will still matter then. No secrets."
                .to_owned(),
            parameters: Some(json!({
                "type": "object",
                "properties": {
                    "text": { "type": "string", "minLength": 1, "description": "One fact, in words that can be found again." }
                },
                "required": ["text"],
                "additionalProperties": false,
            })),
            effects: Effects {
                reads: Some(false),
                writes: Some(true),
                network: Some(false),
                idempotent: Some(true),
                retrieves: Some(false),
            },
            ..Tool::named("memory_save")
        };
        let (own, session) = (self.clone(), session.to_owned());
        FunctionExecutor::waiting(tool, move |arguments: Value| {
            let (own, session) = (own.clone(), session.clone());
            let saved: BoxFuture<'static, Result<ToolOutput, ToolError>> = Box::pin(async move {
                let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default();
                match own.save(text, &session, NoteOrigin::Agent).await {
                    Ok(id) => Ok(ToolOutput::from(json!({ "saved": id }))),
                    Err(error) => Err(failed(&error)),
                }
            });
            saved
        })
    }

    fn searching(&self) -> FunctionExecutor {
        let tool = Tool {
            description:
                "Looks up notes of earlier conversations, the best first, each with where \
                          it comes from. A note says what was noted, not that it is still so."
                    .to_owned(),
            parameters: Some(json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "Words, or what it is about." },
                    "limit": { "type": "integer", "minimum": 1, "maximum": MOST_FOUND }
                },
                "required": ["query"],
                "additionalProperties": false,
            })),
            effects: Effects {
                reads: Some(true),
                writes: Some(false),
                network: Some(false),
                // What was saved meanwhile is found.
                idempotent: Some(false),
                retrieves: Some(true),
            },
            ..Tool::named("memory_search")
        };
        let own = self.clone();
        FunctionExecutor::waiting(tool, move |arguments: Value| {
            let own = own.clone();
            let found: BoxFuture<'static, Result<ToolOutput, ToolError>> = Box::pin(async move {
                let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
                let limit = arguments.get("limit").and_then(Value::as_u64).unwrap_or(FOUND);
                let limit = usize::try_from(limit.min(MOST_FOUND)).unwrap_or(usize::MAX);
                own.search(query, limit).await.map(ToolOutput::from)
            });
            found
        })
    }
}

fn failed(error: &dyn std::error::Error) -> ToolError {
    ToolError::of(ToolErrorCategory::PermanentFailure, error.to_string())
}
