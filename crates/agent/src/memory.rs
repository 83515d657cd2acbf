//! What the agent remembers, and its two tools for that.

use std::sync::Arc;

use counterfoil_guard::{Clock, Embedder, FunctionExecutor, ToolOutput};
use serde_json::{Value, json};

use crate::own_tool::{failed, own_tool, text, writing};
use crate::store::{Note, NoteError, NoteId, NoteOrigin, Store, secretless};

const SAVE: &str = "Saves a note for later conversations: a fact about the user or the project that \
                    will still matter then. Never save secrets.";

const SEARCH: &str = "Searches the notes from earlier conversations. The best match comes first, \
                      and each note states where it comes from. A note states what was true when \
                      it was written.";

/// How many notes a search gives when no number is given.
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
                tracing::warn!(
                    "cannot use embeddings, so notes are matched by words only: {error}"
                );
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
    ) -> Result<NoteId, NoteError> {
        let text = &*secretless(text);
        let vector = self.vector(text).await;
        let session = Some(session.to_owned());
        let note = Note { text: text.to_owned(), session, origin, at: self.clock.wall() };
        self.store.save(&note, vector.as_deref())
    }

    /// `memory_save` and `memory_search` for a session.
    #[must_use]
    pub fn tools(&self, session: &str) -> Vec<FunctionExecutor> {
        vec![self.saving(session), self.searching()]
    }

    fn saving(&self, session: &str) -> FunctionExecutor {
        let members = json!({
            "text": {
                "type": "string",
                "minLength": 1,
                "description": "One fact, worded so that it can be found again.",
            },
        });
        let tool = writing(own_tool("memory_save", SAVE, members, &["text"]));
        let (own, session) = (self.clone(), session.to_owned());
        FunctionExecutor::waiting(tool, move |arguments| {
            let (own, session) = (own.clone(), session.clone());
            async move {
                let saved = own.save(text(&arguments, "text"), &session, NoteOrigin::Agent).await;
                let id = saved.map_err(failed)?;
                Ok(ToolOutput::from(json!({ "saved": id })))
            }
        })
    }

    fn searching(&self) -> FunctionExecutor {
        let members = json!({
            "query": { "type": "string", "description": "Words to search for, or the topic." },
            "limit": { "type": "integer", "minimum": 1, "maximum": MOST_FOUND },
        });
        let mut tool = own_tool("memory_search", SEARCH, members, &["query"]);
        tool.effects.retrieves = Some(true);
        let own = self.clone();
        FunctionExecutor::waiting(tool, move |arguments| {
            let own = own.clone();
            async move {
                let query = text(&arguments, "query");
                let limit = arguments.get("limit").and_then(Value::as_u64).unwrap_or(FOUND);
                let limit = usize::try_from(limit.min(MOST_FOUND)).unwrap_or(usize::MAX);
                let vector = own.vector(query).await;
                let found = own.store.search(query, vector.as_deref(), limit);
                let notes = found.map_err(failed)?;
                Ok(ToolOutput::from(json!({ "notes": notes })))
            }
        })
    }
}
