use std::fmt::Write as _;
use std::io::Cursor;

use counterfoil_formats::{Options, ReadError, Reading, Summary, read};
use counterfoil_model::Format;

/// The fixture of a format.
pub(crate) fn fixture(format: Format) -> &'static str {
    match format {
        Format::OpenaiChat => include_str!("../fixtures/openai-chat.jsonl"),
        Format::OpenaiResponses => include_str!("../fixtures/openai-responses.json"),
        Format::Anthropic => include_str!("../fixtures/anthropic.json"),
        Format::ClaudeCode => include_str!("../fixtures/claude-code.jsonl"),
        Format::Codex => include_str!("../fixtures/codex.jsonl"),
        Format::GeminiCli => include_str!("../fixtures/gemini-cli.json"),
        Format::Openhands => include_str!("../fixtures/openhands.json"),
        Format::SweAgent => include_str!("../fixtures/swe-agent.traj"),
        Format::MiniSweAgent => include_str!("../fixtures/mini-swe-agent.json"),
        Format::Specstory => include_str!("../fixtures/specstory.md"),
        Format::Otel => include_str!("../fixtures/otel.json"),
        Format::Mcp => include_str!("../fixtures/mcp.jsonl"),
        Format::Fk => include_str!("../fixtures/fk.json"),
        Format::VercelAi => include_str!("../fixtures/vercel-ai.json"),
        Format::Langchain => include_str!("../fixtures/langchain.json"),
        Format::PydanticAi => include_str!("../fixtures/pydantic-ai.json"),
        Format::Autogen => include_str!("../fixtures/autogen.json"),
        Format::GoogleAdk => include_str!("../fixtures/google-adk.json"),
        Format::CodexExec => include_str!("../fixtures/codex-exec.jsonl"),
        Format::Opencode => include_str!("../fixtures/opencode.json"),
        Format::Goose => include_str!("../fixtures/goose.jsonl"),
        Format::Sharegpt => include_str!("../fixtures/sharegpt.jsonl"),
        Format::Chatgpt => include_str!("../fixtures/chatgpt.json"),
        Format::Aider => include_str!("../fixtures/aider.md"),
        Format::Strands => include_str!("../fixtures/strands.jsonl"),
        Format::SemanticKernel => include_str!("../fixtures/semantic-kernel.json"),
        Format::Crush => include_str!("../fixtures/crush.jsonl"),
        Format::Pi => include_str!("../fixtures/pi.jsonl"),
        Format::Letta => include_str!("../fixtures/letta.json"),
        Format::Dify => include_str!("../fixtures/dify.json"),
        Format::CopilotCli => include_str!("../fixtures/copilot-cli.jsonl"),
    }
}

pub(crate) fn read_all(
    bytes: &[u8],
    options: &Options,
) -> Result<(Summary, Vec<Reading>), ReadError> {
    let mut readings = Vec::new();
    let summary = read(Cursor::new(bytes), options, &mut |reading| readings.push(reading))?;
    Ok((summary, readings))
}

/// Everything that was read, as readable text.
pub(crate) fn shown(bytes: &[u8], options: &Options) -> String {
    let (summary, readings) = match read_all(bytes, options) {
        Ok(read) => read,
        Err(error) => return format!("error: {error}"),
    };
    let mut out = String::new();
    for reading in readings {
        show(&reading, &mut out).expect("writing to a string");
    }
    for problem in summary.problems {
        writeln!(out, "stray problem {}: {}", problem.line, problem.message).expect("string");
    }
    out
}

fn show(reading: &Reading, out: &mut String) -> std::fmt::Result {
    let transcript = &reading.transcript;
    let tools: Vec<String> = transcript
        .catalog
        .iter()
        .map(|tool| {
            let mark = if tool.available { "" } else { " (not available)" };
            let schema = if tool.parameters.is_some() { " with schema" } else { "" };
            format!("{}{schema}{mark}", tool.name)
        })
        .collect();
    let tools = if transcript.catalog.is_known() { format!("{tools:?}") } else { "unknown".into() };
    writeln!(out, "{} {}, tools {tools}", transcript.format.name(), transcript.id)?;
    for (from, model) in &transcript.models {
        writeln!(out, "from {from} on by {model}")?;
    }
    for (at, message) in transcript.messages.iter().enumerate() {
        write!(out, "{at} :{} {:?}", message.line, message.role)?;
        if message.kind != counterfoil_model::MessageKind::Ordinary {
            write!(out, "/{:?}", message.kind)?;
        }
        if let Some(agent) = &message.agent {
            write!(out, " of {agent}")?;
        }
        if let Some(time) = message.time {
            write!(out, " @{time}")?;
        }
        writeln!(out, " {:?}", message.text)?;
        for call in &message.calls {
            writeln!(out, "    call `{}` {} {}", call.id, call.tool, call.arguments.as_str())?;
        }
        for o in &message.outcomes {
            write!(out, "    result `{}` {:?}", o.call_id, o.text)?;
            for (name, value) in [
                ("error", o.is_error.map(|e| e.to_string())),
                ("exit", o.exit_code.map(|e| e.to_string())),
                ("running", o.running.then(String::new)),
                ("refused", o.refused.then(String::new)),
                ("unread", o.unread.then(String::new)),
                ("truncated", o.truncated.then(String::new)),
                ("subagent calls", o.subagent_calls.map(|e| e.to_string())),
            ] {
                if let Some(value) = value {
                    write!(out, " {name}")?;
                    if !value.is_empty() {
                        write!(out, " {value}")?;
                    }
                }
            }
            writeln!(out)?;
        }
    }
    for r in transcript.receipts.iter().flatten() {
        writeln!(out, "receipt {} {} {:?} {:?} {:?}", r.id, r.tool, r.status, r.started, r.result)?;
    }
    if !transcript.completeness.gaps().is_empty() {
        writeln!(out, "gaps {:?}", transcript.completeness.gaps())?;
    }
    for (reason, count) in &transcript.skipped {
        writeln!(out, "skipped {count} {reason}")?;
    }
    for problem in &reading.problems {
        writeln!(out, "problem {}: {}", problem.line, problem.message)?;
    }
    Ok(())
}
