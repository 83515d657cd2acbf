//! What an agent keeps between two runs, in one file of SQLite: notes that it can search, summaries
//! of what left its context, and tasks that a scheduler fires.
//!
//! Deliberately not here: receipts, which the ledger keeps; the model that makes vectors; the clock.
//! Times are arguments, in milliseconds since 1970 UTC.
//!
//! Start with [`Store::open`]. A store blocks while it works: asynchronous callers give it a thread.

mod error;
mod firings;
mod handle;
mod ids;
mod notes;
mod open;
mod schema;
mod search;
mod summaries;
mod tasks;
mod terms;
mod text;

pub use error::{OpenStoreError, StoreError};
pub use firings::Firing;
pub use handle::Store;
pub use ids::{NoteId, TaskId};
pub(crate) use notes::secretless;
pub use notes::{LONGEST_NOTE, Note, NoteError, NoteOrigin, StoredNote};
pub use search::Found;
pub use summaries::{CompressionStrategy, Summary};
pub use tasks::{CatchUp, NewTask, Task, TaskState};
