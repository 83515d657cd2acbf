//! Connections to language models: what they are asked, and what they answer.
//!
//! Thin clients of four wires (chat completions, responses, Anthropic messages, Ollama by the first
//! of them) over one connection. The text of arguments is kept as the model wrote it. What an
//! answer means, nobody decides here.
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
