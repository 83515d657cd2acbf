//! Log readers: one per format, each in its own file. Readers never import one another.

mod aider;
mod anthropic;
mod autogen;
mod chatgpt;
mod claude_code;
mod codex;
mod codex_exec;
mod copilot_cli;
mod crush;
mod dify;
mod fk;
mod gemini_cli;
mod google_adk;
mod goose;
mod langchain;
mod letta;
mod mcp;
mod mini_swe_agent;
mod openai_chat;
mod openai_responses;
mod opencode;
mod openhands;
mod otel;
mod pi;
mod pydantic_ai;
mod semantic_kernel;
mod sharegpt;
mod specstory;
mod strands;
mod swe_agent;
mod vercel_ai;

use counterfoil_model::Format;

use crate::log_reader::Reader;

/// Every reader, in the order in which detection tries them.
pub(crate) static READERS: [&dyn Reader; 31] = [
    &claude_code::ClaudeCode,
    &codex::Codex,
    &fk::Fk,
    &mini_swe_agent::MiniSweAgent,
    &swe_agent::SweAgent,
    &codex_exec::CodexExec,
    &opencode::Opencode,
    &chatgpt::Chatgpt,
    &pydantic_ai::PydanticAi,
    &autogen::Autogen,
    &google_adk::GoogleAdk,
    &strands::Strands,
    &semantic_kernel::SemanticKernel,
    &crush::Crush,
    &pi::Pi,
    &letta::Letta,
    &dify::Dify,
    &copilot_cli::CopilotCli,
    &vercel_ai::VercelAi,
    &gemini_cli::GeminiCli,
    &openhands::Openhands,
    &otel::Otel,
    &mcp::Mcp,
    &openai_responses::OpenaiResponses,
    &goose::Goose,
    &langchain::Langchain,
    &sharegpt::Sharegpt,
    &anthropic::Anthropic,
    &openai_chat::OpenaiChat,
    &aider::Aider,
    &specstory::Specstory,
];

/// The reader of a format.
pub(crate) fn for_format(format: Format) -> Option<&'static dyn Reader> {
    READERS.iter().copied().find(|reader| reader.format() == format)
}
