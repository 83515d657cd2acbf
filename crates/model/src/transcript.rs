use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::call::{Outcome, ToolCall};
use crate::receipt::RecordedReceipt;
use crate::tool::Catalog;

/// A log format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// OpenAI chat messages, and our own ledger export (with an additional `receipts` member).
    OpenaiChat,
    /// OpenAI Responses items.
    OpenaiResponses,
    /// Anthropic messages.
    Anthropic,
    /// Claude Code session log.
    ClaudeCode,
    /// Codex rollout log.
    Codex,
    /// Gemini CLI chat.
    GeminiCli,
    /// OpenHands events.
    Openhands,
    /// SWE-agent trajectory.
    SweAgent,
    /// mini-swe-agent trajectory.
    MiniSweAgent,
    /// SpecStory Markdown.
    Specstory,
    /// OpenTelemetry GenAI spans in OTLP JSON.
    Otel,
    /// MCP message log.
    Mcp,
    /// FK fixture: `{output, toolRegistry, invocations, receipts?}`.
    Fk,
    /// Messages of the Vercel AI SDK.
    VercelAi,
    /// LangChain messages, LangGraph states, LangSmith runs, Ragas samples.
    Langchain,
    /// Message history of Pydantic AI.
    PydanticAi,
    /// AutoGen AgentChat messages and events.
    Autogen,
    /// Session of Google's Agent Development Kit.
    GoogleAdk,
    /// Output of `codex exec --json`.
    CodexExec,
    /// Session export of OpenCode.
    Opencode,
    /// Session of Goose.
    Goose,
    /// Training data in ShareGPT format.
    Sharegpt,
    /// Export of ChatGPT.
    Chatgpt,
    /// Aider's Markdown history.
    Aider,
    /// Session of Strands Agents.
    Strands,
    /// Chat history of Semantic Kernel in Python.
    SemanticKernel,
    /// Messages of Crush.
    Crush,
    /// Session of Pi.
    Pi,
    /// Messages of a Letta agent.
    Letta,
    /// Messages of a Dify app.
    Dify,
    /// Session of GitHub Copilot CLI.
    CopilotCli,
}

impl Format {
    /// Every format, in the order in which detection tries them.
    pub const ALL: [Self; 31] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Fk,
        Self::MiniSweAgent,
        Self::SweAgent,
        Self::CodexExec,
        Self::Opencode,
        Self::Chatgpt,
        Self::PydanticAi,
        Self::Autogen,
        Self::GoogleAdk,
        Self::Strands,
        Self::SemanticKernel,
        Self::Crush,
        Self::Pi,
        Self::Letta,
        Self::Dify,
        Self::CopilotCli,
        Self::VercelAi,
        Self::GeminiCli,
        Self::Openhands,
        Self::Otel,
        Self::Mcp,
        Self::OpenaiResponses,
        Self::Goose,
        Self::Langchain,
        Self::Sharegpt,
        Self::Anthropic,
        Self::OpenaiChat,
        Self::Aider,
        Self::Specstory,
    ];

    /// The name used on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Openhands => "openhands",
            Self::SweAgent => "swe-agent",
            Self::MiniSweAgent => "mini-swe-agent",
            Self::Specstory => "specstory",
            Self::Otel => "otel",
            Self::Mcp => "mcp",
            Self::Fk => "fk",
            Self::VercelAi => "vercel-ai",
            Self::Langchain => "langchain",
            Self::PydanticAi => "pydantic-ai",
            Self::Autogen => "autogen",
            Self::GoogleAdk => "google-adk",
            Self::CodexExec => "codex-exec",
            Self::Opencode => "opencode",
            Self::Goose => "goose",
            Self::Sharegpt => "sharegpt",
            Self::Chatgpt => "chatgpt",
            Self::Aider => "aider",
            Self::Strands => "strands",
            Self::SemanticKernel => "semantic-kernel",
            Self::Crush => "crush",
            Self::Pi => "pi",
            Self::Letta => "letta",
            Self::Dify => "dify",
            Self::CopilotCli => "copilot-cli",
        }
    }

    /// The format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Policy and instructions.
    System,
    /// The person, or a simulation of one.
    User,
    /// The agent.
    Assistant,
    /// Results of tools.
    Tool,
}

/// The kind of a message, in addition to its sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// Part of the conversation.
    #[default]
    Ordinary,
    /// Inserted by the agent's harness (reminders, hooks, local commands), not by a person.
    Injected,
    /// A summary that replaced earlier messages.
    Summary,
    /// The agent's private reasoning: recorded, but not shown to the user, so it makes no claims.
    Reasoning,
}

/// One message of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The sender.
    pub role: Role,
    /// The kind.
    pub kind: MessageKind,
    /// Its decoded text blocks, joined by line breaks. Spans refer to this text.
    pub text: String,
    /// The tool calls in it.
    pub calls: Vec<ToolCall>,
    /// The results in it.
    pub outcomes: Vec<Outcome>,
    /// The sub-agent that it belongs to; `None` for the main thread.
    pub agent: Option<String>,
    /// Milliseconds since the Unix epoch, if recorded.
    pub time: Option<i64>,
    /// 1-based line of the source; 0 if unknown.
    pub line: usize,
}

impl Message {
    /// An ordinary message of the main thread with only this text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            kind: MessageKind::Ordinary,
            text: text.into(),
            calls: Vec::new(),
            outcomes: Vec::new(),
            agent: None,
            time: None,
            line: 0,
        }
    }
}

/// Why a record may lack calls that really happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// The format drops calls or results.
    LossyFormat,
    /// The log begins in the middle of a session.
    CutStart,
    /// The log ends in the middle of a line or a document.
    CutEnd,
    /// Earlier messages were replaced by a summary.
    Compacted,
    /// Some lines could not be read.
    Unreadable,
    /// Calls have no recorded result.
    MissingResults,
    /// A sub-agent worked, but its calls are not in the log.
    UnrecordedSubagent,
    /// Something that may contain a call or a result was not understood.
    UnreadParts,
    /// A result belongs to no recorded call.
    UnknownCalls,
}

/// Whether the transcript has every tool call of the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Completeness {
    gaps: Vec<(Gap, usize)>,
}

impl Completeness {
    /// Nothing is known to be missing.
    #[must_use]
    pub fn complete() -> Self {
        Self::default()
    }

    /// Records that something is missing at or before message `at`.
    pub fn add(&mut self, gap: Gap, at: usize) {
        if !self.gaps.contains(&(gap, at)) {
            self.gaps.push((gap, at));
        }
    }

    /// Removes all gaps of this kind, because the missing parts were found.
    pub fn mend(&mut self, gap: Gap) {
        self.gaps.retain(|(known, _)| *known != gap);
    }

    /// Whether nothing is known to be missing before message `turn`.
    #[must_use]
    pub fn is_complete_before(&self, turn: usize) -> bool {
        self.gaps.iter().all(|&(_, at)| at > turn)
    }

    /// The gaps, each with the message at or before which it occurs.
    #[must_use]
    pub fn gaps(&self) -> &[(Gap, usize)] {
        &self.gaps
    }
}

/// One session, in the common form that rules understand.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The session's id; the file's name if the log has none.
    pub id: String,
    /// The format it was read from.
    pub format: Format,
    /// The absolute working directory of the agent, if the log has it.
    pub directory: Option<String>,
    /// The tools the agent had.
    pub catalog: Catalog,
    /// The messages in order. For OpenAI chat, message `i` is element `i` of the input array.
    pub messages: Vec<Message>,
    /// Receipts in the log (our own ledger export, FK fixtures); `None` if the log has no such
    /// member.
    pub receipts: Option<Vec<RecordedReceipt>>,
    /// The models that answered, each with the first message that it wrote.
    pub models: Vec<(usize, String)>,
    /// Whether and where the record is incomplete.
    pub completeness: Completeness,
    /// The number of skipped lines and fields, by reason.
    pub skipped: BTreeMap<String, u64>,
}

impl Transcript {
    /// An empty transcript with an unknown catalog.
    #[must_use]
    pub fn new(id: impl Into<String>, format: Format) -> Self {
        Self {
            id: id.into(),
            format,
            directory: None,
            catalog: Catalog::unknown(),
            messages: Vec::new(),
            receipts: None,
            models: Vec::new(),
            completeness: Completeness::complete(),
            skipped: BTreeMap::new(),
        }
    }

    /// The model that wrote a message, if the log has it.
    #[must_use]
    pub fn model_at(&self, turn: usize) -> Option<&str> {
        let latest = self.models.iter().rev().find(|(from, _)| *from <= turn);
        latest.or(self.models.first()).map(|(_, name)| name.as_str())
    }

    /// Counts one skipped item.
    pub fn skip(&mut self, reason: &str) {
        if let Some(count) = self.skipped.get_mut(reason) {
            *count += 1;
        } else {
            self.skipped.insert(reason.to_owned(), 1);
        }
    }
}

/// Something that could not be read. The rest of the input is read anyway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// 1-based line of the source; 0 if it concerns the whole input.
    pub line: usize,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// Advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Problem {
    /// A problem at this line.
    #[must_use]
    pub fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into(), help: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
