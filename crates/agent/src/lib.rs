//! A reference agent, and the shortest program that shows how to build on the guard.
//!
//! A turn is `hear → offer → ask the model → call → … → verify → answer`. Every call of a tool goes
//! through [`counterfoil_guard::Guard::call`], and no answer is shown before
//! [`counterfoil_guard::Guard::verify`] let it pass: what it holds back goes to the model once more,
//! with what is wrong, and then an honest word of our own stands in its place.
//!
//! What may happen, and what is true, is decided by the guard alone.

mod agent;
mod compress;
mod conversation;
mod model;
mod options;
mod prompt;
mod turn;
mod watch;

pub use agent::{Agent, Parts};
pub use compress::{COMPRESS_CONTEXT, CompressError, Compression, CompressionStrategy, Summary};
pub use conversation::Conversation;
pub use model::Model;
pub use options::{AgentOptions, AgentOptionsError, AgentSettings};
pub use turn::{TurnError, Turned};
pub use watch::{Nobody, Told, Watch};
