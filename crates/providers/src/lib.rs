//! Clients for language models.
//!
//! Thin clients for four APIs (chat completions, responses, Anthropic messages, and Ollama through
//! chat completions) over one connection type. Tool arguments are kept exactly as the model wrote
//! them. Deliberately not here: what an answer means.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod chat;
mod connect;
mod events;
mod key;
mod options;
mod provider;
mod text_tools;
mod wire;

pub use chat::{Piece, Reply, Request, Stop, Turn, Usage};
pub use connect::{Connector, Wire};
pub use events::{Event, Events, LONGEST, TooLong};
pub use key::Key;
pub use options::{
    KeyPlace, Kind, LlmOptions, ProviderOptions, ProviderOptionsError, ProviderSettings,
};
pub use provider::{Provider, ProviderError, causes};
pub use wire::{Assembly, WireError, whole, written};
