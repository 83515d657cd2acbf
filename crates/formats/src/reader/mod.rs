//! One reader a format, one file a reader. Readers never import one another.

mod anthropic;
mod claude_code;
mod codex;
mod fk;
mod gemini_cli;
mod mcp;
mod mini_swe_agent;
mod openai_chat;
mod openai_responses;
mod openhands;
mod otel;
mod specstory;
mod swe_agent;

use counterfoil_model::Format;

use crate::read::{ReadError, Reading};
use crate::sketch::Sketch;
use crate::source::Source;

/// Reads one form of log.
pub(crate) trait Reader: Sync {
    /// The form.
    fn format(&self) -> Format;

    /// What tells it from others, in words.
    fn looks_for(&self) -> &'static str;

    /// Whether a JSON text (a line, or the beginning of a document) is of this form.
    fn recognises(&self, sketch: &Sketch) -> bool;

    /// Whether the beginning of a text that is not JSON is of this form.
    fn recognises_text(&self, _head: &str) -> bool {
        false
    }

    /// Reads it all. `name` is the id of sessions that have none.
    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError>;
}

/// Every reader, in the order in which detection tries them.
pub(crate) static READERS: [&dyn Reader; 13] = [
    &claude_code::ClaudeCode,
    &codex::Codex,
    &fk::Fk,
    &mini_swe_agent::MiniSweAgent,
    &swe_agent::SweAgent,
    &gemini_cli::GeminiCli,
    &openhands::Openhands,
    &otel::Otel,
    &mcp::Mcp,
    &openai_responses::OpenaiResponses,
    &anthropic::Anthropic,
    &openai_chat::OpenaiChat,
    &specstory::Specstory,
];

/// The reader of a format.
pub(crate) fn of(format: Format) -> Option<&'static dyn Reader> {
    READERS.iter().copied().find(|reader| reader.format() == format)
}
