//! How calls ended, in each format. Anything not understood is not a success.

use counterfoil_formats::Options;
use counterfoil_model::{Format, Outcome};

use crate::shown::read_all;

const DONE: &str = "done";
const FAILED: &str = "failed";
const REFUSED: &str = "refused";
const RUNNING: &str = "running";
const UNKNOWN: &str = "unknown";

/// How a result ended, by its marks alone.
fn end(outcome: Option<&Outcome>) -> &'static str {
    match outcome {
        // There is no result.
        None => UNKNOWN,
        Some(Outcome { refused: true, .. }) => REFUSED,
        Some(Outcome { is_error: Some(true), .. }) => FAILED,
        Some(Outcome { exit_code: Some(code), .. }) if *code != 0 => FAILED,
        Some(Outcome { running: true, .. }) => RUNNING,
        Some(Outcome { unread: true, .. }) => UNKNOWN,
        Some(_) => DONE,
    }
}

/// A log in that format with one call that has this result.
fn log(format: Format, result: &str) -> String {
    let chat = |call: &str, result: &str| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"Go."}},{{"role":"assistant",{call}}},{result}]}}"#
        )
    };
    match format {
        Format::OpenaiChat => chat(
            r#""content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]"#,
            &format!(r#"{{"role":"tool","tool_call_id":"c"{result}}}"#),
        ),
        Format::Anthropic => chat(
            r#""content":[{"type":"tool_use","id":"c","name":"t","input":{}}]"#,
            &format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c"{result}}}]}}"#
            ),
        ),
        Format::OpenaiResponses => format!(
            r#"[{{"role":"user","content":"Go."}},{{"type":"function_call","call_id":"c","name":"t","arguments":"{{}}"}},{{"type":"function_call_output","call_id":"c"{result}}}]"#
        ),
        Format::Mcp => format!(
            "{}\n{{\"jsonrpc\":\"2.0\",\"id\":1{result}}}\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{}}}"#
        ),
        Format::Langchain => format!(
            r#"[{{"type":"human","data":{{"content":"Go."}}}},{{"type":"ai","data":{{"content":"","tool_calls":[{{"name":"t","args":{{}},"id":"c"}}]}}}},{{"type":"tool","data":{{"tool_call_id":"c"{result}}}}}]"#
        ),
        Format::Goose => format!(
            "{}\n{{\"role\":\"user\",\"created\":1,\"content\":[{{\"type\":\"toolResponse\",\"id\":\"c\"{result}}}]}}\n",
            r#"{"role":"assistant","created":1,"content":[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"t","arguments":{}}}}]}"#
        ),
        Format::CodexExec => format!(
            "{}\n{{\"type\":\"item.completed\",\"item\":{{\"id\":\"c\",\"type\":\"mcp_tool_call\",\"server\":\"s\",\"tool\":\"t\",\"arguments\":{{}}{result}}}}}\n",
            r#"{"type":"thread.started","thread_id":"x"}"#
        ),
        Format::Fk => format!(
            r#"{{"output":"Done.","toolRegistry":[{{"name":"t"}}],"invocations":[{{"tool":"t"{result}}}]}}"#
        ),
        Format::PydanticAi => format!(
            r#"[{{"kind":"response","parts":[{{"part_kind":"tool-call","tool_name":"t","args":"{{}}","tool_call_id":"c"}}]}},{{"kind":"request","parts":[{{"part_kind":"tool-return","tool_name":"t","tool_call_id":"c"{result}}}]}}]"#
        ),
        Format::Autogen => format!(
            r#"[{{"source":"a","type":"ToolCallRequestEvent","content":[{{"id":"c","name":"t","arguments":"{{}}"}}]}},{{"source":"a","type":"ToolCallExecutionEvent","content":[{{"call_id":"c","name":"t"{result}}}]}}]"#
        ),
        Format::GeminiCli => format!(
            r#"{{"sessionId":"s","messages":[{{"id":"1","type":"user","content":"Go."}},{{"id":"2","type":"gemini","content":"","toolCalls":[{{"id":"c","name":"t","args":{{}}{result}}}]}}]}}"#
        ),
        Format::VercelAi => format!(
            r#"[{{"role":"user","parts":[{{"type":"text","text":"Go."}}]}},{{"role":"assistant","parts":[{{"type":"tool-t","toolCallId":"c","input":{{}}{result}}}]}}]"#
        ),
        other => export(other, result),
    }
}

/// Like [`log`], for exports of frameworks and agents.
fn export(format: Format, result: &str) -> String {
    match format {
        Format::Strands => format!(
            "{}\n{{\"message_id\":1,\"message\":{{\"role\":\"user\",\"content\":[{{\"toolResult\":{{\"toolUseId\":\"c\"{result}}}}}]}}}}\n",
            r#"{"message_id":0,"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"t","input":{}}}]}}"#
        ),
        Format::SemanticKernel => format!(
            r#"{{"messages":[{{"role":"assistant","items":[{{"content_type":"function_call","id":"c","name":"t","arguments":"{{}}"}}]}},{{"role":"tool","items":[{{"content_type":"function_result","id":"c","name":"t"{result}}}]}}]}}"#
        ),
        Format::Crush => format!(
            r#"[{{"session_id":"s","role":"assistant","parts":[{{"type":"tool_call","data":{{"id":"c","name":"t","input":"{{}}"}}}}]}},{{"session_id":"s","role":"tool","parts":[{{"type":"tool_result","data":{{"tool_call_id":"c","name":"t"{result}}}}}]}}]"#
        ),
        Format::Pi => format!(
            "{}\n{{\"type\":\"message\",\"id\":\"2\",\"parentId\":\"1\",\"message\":{{\"role\":\"toolResult\",\"toolCallId\":\"c\"{result}}}}}\n",
            r#"{"type":"message","id":"1","parentId":null,"message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"t","arguments":{}}]}}"#
        ),
        Format::Letta => format!(
            r#"[{{"message_type":"tool_call_message","tool_call":{{"tool_call_id":"c","name":"t","arguments":"{{}}"}}}},{{"message_type":"tool_return_message","tool_call_id":"c"{result}}}]"#
        ),
        Format::Dify => format!(
            r#"[{{"query":"Go.","answer":"Done.","agent_thoughts":[{{"id":"c","tool":"t","tool_input":"{{}}"{result}}}]}}]"#
        ),
        Format::CopilotCli => format!(
            "{}\n{{\"type\":\"tool.execution_complete\",\"data\":{{\"toolCallId\":\"c\"{result}}}}}\n",
            r#"{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"t","arguments":{}}}"#
        ),
        other => panic!("no log of {}", other.name()),
    }
}

/// Exported rows: anything not understood is not a success either.
#[test]
fn what_is_not_understood_of_an_export_is_no_success() {
    use Format::{CopilotCli, Crush, Dify, Letta, Pi, SemanticKernel, Strands};
    check(&[
        (Strands, r#","content":[{"text":"ok"}],"status":"success""#, DONE),
        (Strands, r#","content":[{"text":"no"}],"status":"error""#, FAILED),
        (Strands, r#","content":[{"text":"ok"}],"status":"half-way""#, UNKNOWN),
        (Strands, r#","answer":"no""#, UNKNOWN),
        (SemanticKernel, r#","result":"ok""#, DONE),
        (SemanticKernel, r#","result":{"id":7}"#, DONE),
        (SemanticKernel, r#","answer":"no""#, UNKNOWN),
        (SemanticKernel, r#","result":[{"type":"failure"}]"#, UNKNOWN),
        (Crush, r#","content":"ok","is_error":false"#, DONE),
        (Crush, r#","content":"no","is_error":true"#, FAILED),
        (Crush, r#","content":"ok","is_error":"maybe""#, UNKNOWN),
        (Crush, r#","answer":"no""#, UNKNOWN),
        (Pi, r#","content":[{"type":"text","text":"ok"}],"isError":false"#, DONE),
        (Pi, r#","content":[{"type":"text","text":"no"}],"isError":true"#, FAILED),
        (Pi, r#","content":[{"type":"failure"}]"#, UNKNOWN),
        (Pi, r#","answer":"no""#, UNKNOWN),
        (Letta, r#","tool_return":"ok","status":"success""#, DONE),
        (Letta, r#","tool_return":"no","status":"error""#, FAILED),
        (Letta, r#","tool_return":"ok","status":"half-way""#, UNKNOWN),
        (Letta, "", UNKNOWN),
        (Dify, r#","observation":"{\"t\": \"ok\"}""#, DONE),
        (Dify, r#","observation":"ok""#, DONE),
        (Dify, r#","observation":"{\"t\": \"tool invoke error: no\"}""#, FAILED),
        (Dify, r#","observation":"{\"t\": null}""#, UNKNOWN),
        (Dify, r#","observation":"""#, UNKNOWN),
        (CopilotCli, r#","success":true,"result":{"content":"ok"}"#, DONE),
        (CopilotCli, r#","success":true"#, DONE),
        (CopilotCli, r#","success":false,"error":{"message":"no","code":"failure"}"#, FAILED),
        (CopilotCli, r#","success":false,"error":{"message":"no","code":"denied"}"#, REFUSED),
        (CopilotCli, r#","success":true,"error":"no""#, FAILED),
        (
            CopilotCli,
            r#","success":true,"result":{"content":"x\n<exited with exit code 2>"}"#,
            FAILED,
        ),
        (CopilotCli, r#","success":"so-so","result":{"content":"ok"}"#, UNKNOWN),
        (CopilotCli, r#","success":true,"result":{"answer":"no"}"#, UNKNOWN),
        (CopilotCli, r#","result":{"content":"ok"}"#, UNKNOWN),
    ]);
}

#[test]
fn what_is_not_understood_is_no_success() {
    use Format::{
        Anthropic, Autogen, CodexExec, Fk, GeminiCli, Goose, Langchain, Mcp, OpenaiChat,
        OpenaiResponses, PydanticAi, VercelAi,
    };
    check(&[
        (OpenaiChat, r#","content":"ok""#, DONE),
        (OpenaiChat, r#","content":"""#, DONE),
        (OpenaiChat, "", DONE),
        (OpenaiChat, r#","content":"","error":"no such mailbox""#, FAILED),
        (OpenaiChat, r#","content":"ok","status":"error""#, FAILED),
        (OpenaiChat, r#","content":"ok","status":"half-way""#, UNKNOWN),
        (OpenaiChat, r#","content":"ok","is_error":"maybe""#, UNKNOWN),
        (OpenaiChat, r#","content":"ok","exit_code":1e999"#, UNKNOWN),
        (OpenaiChat, r#","payload":{"text":"no"}"#, UNKNOWN),
        (OpenaiChat, r#","content":[{"type":"failure","why":"no"}]"#, UNKNOWN),
        (OpenaiChat, r#","content":[{"type":"image_url","image_url":{"url":"x"}}]"#, DONE),
        (OpenaiChat, r#","content":"{\"exit_code\":1,\"output\":\"cut \\ud83d\"}""#, FAILED),
        (Anthropic, r#","content":"ok""#, DONE),
        (Anthropic, "", DONE),
        (Anthropic, r#","content":"ok","is_error":true"#, FAILED),
        (Anthropic, r#","content":"ok","is_error":"true""#, FAILED),
        (Anthropic, r#","content":"ok","is_error":{"x":1}"#, UNKNOWN),
        (Anthropic, r#","output":"no""#, UNKNOWN),
        (Anthropic, r#","run":{"status":"done","result":"ok"}"#, DONE),
        (Anthropic, r#","run":{"status":"done","result":{"output":"x","exitCode":0}}"#, DONE),
        (Anthropic, r#","run":{"status":"done","result":{"output":"x","exitCode":1}}"#, FAILED),
        (Anthropic, r#","run":{"status":"error","error":{"message":"no"}}"#, FAILED),
        (Anthropic, r#","run":{"status":"cancelled","reason":"x"}"#, FAILED),
        (Anthropic, r#","run":{"status":"rejected-by-user"}"#, REFUSED),
        (Anthropic, r#","run":{"status":"in-progress"}"#, RUNNING),
        (Anthropic, r#","run":{"status":"blocked-on-user"}"#, RUNNING),
        (Anthropic, r#","run":{"status":"wandering","result":"ok"}"#, UNKNOWN),
        (Anthropic, r#","run":{"result":"ok"}"#, UNKNOWN),
        (Anthropic, r#","run":"ok""#, UNKNOWN),
        (OpenaiResponses, r#","output":"ok","status":"completed""#, DONE),
        (OpenaiResponses, r#","output":"x","status":"incomplete""#, FAILED),
        (OpenaiResponses, r#","output":"x","status":"in_progress""#, RUNNING),
        (OpenaiResponses, r#","output":"x","status":"odd""#, UNKNOWN),
        (OpenaiResponses, r#","output":{"content":"x","success":false}"#, FAILED),
        (OpenaiResponses, r#","output":{"content":"x","success":"so-so"}"#, UNKNOWN),
        (OpenaiResponses, r#","output":{"content":"x","metadata":{"exit_code":"3"}}"#, FAILED),
        (
            OpenaiResponses,
            r#","output":[{"stdout":"","stderr":"no","outcome":{"type":"exit","exit_code":2}}]"#,
            FAILED,
        ),
        (
            OpenaiResponses,
            r#","output":[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]"#,
            DONE,
        ),
        (
            OpenaiResponses,
            r#","output":[{"stdout":"x","stderr":"","outcome":{"type":"timeout"}}]"#,
            FAILED,
        ),
        (Mcp, r#","result":{"content":[{"type":"text","text":"ok"}]}"#, DONE),
        (Mcp, r#","result":{"content":[],"isError":false}"#, DONE),
        (Mcp, r#","result":{"content":[],"isError":true}"#, FAILED),
        (Mcp, r#","result":{"content":[],"isError":"yes"}"#, UNKNOWN),
        (
            Mcp,
            r#","result":{"content":[{"type":"text","text":"ok"}]},"error":{"message":"no"}"#,
            FAILED,
        ),
        (Mcp, r#","result":{"content":[{"type":"text","text":"ok"}]},"error":null"#, DONE),
        (Mcp, r#","result":{"content":[],"error":"no"}"#, FAILED),
        (Mcp, r#","result":{"structuredContent":{"id":7}}"#, DONE),
        (Mcp, r#","result":{}"#, UNKNOWN),
        (Mcp, r#","result":{"toolResult":"ok"}"#, UNKNOWN),
        (Mcp, r#","result":"ok""#, UNKNOWN),
        (Mcp, "", UNKNOWN),
        (Langchain, r#","content":"ok","status":"success""#, DONE),
        (Langchain, r#","content":"ok","status":"error""#, FAILED),
        (Langchain, r#","content":"ok","status":"mended""#, UNKNOWN),
        (Goose, r#","toolResult":{"status":"success","value":[{"type":"text","text":"x"}]}"#, DONE),
        (Goose, r#","toolResult":{"status":"error","error":"no"}"#, FAILED),
        (Goose, r#","toolResult":{"status":"odd","value":[]}"#, UNKNOWN),
        (Goose, r#","toolResult":{"status":"success"}"#, UNKNOWN),
        (Goose, r#","toolResult":"ok""#, UNKNOWN),
        (Goose, "", UNKNOWN),
        (
            Goose,
            r#","toolResult":{"status":"success","value":{"content":[],"isError":true}}"#,
            FAILED,
        ),
        (CodexExec, r#","status":"completed","result":{"content":[]}"#, DONE),
        (CodexExec, r#","status":"failed","error":{"message":"no"}"#, FAILED),
        (
            CodexExec,
            r#","status":"completed","result":{"content":[]},"error":{"message":"no"}"#,
            FAILED,
        ),
        (CodexExec, r#","status":"completed","result":{"content":[],"isError":true}"#, FAILED),
        (CodexExec, r#","status":"in_progress""#, RUNNING),
        (CodexExec, r#","status":"declined""#, REFUSED),
        (CodexExec, r#","status":"odd","result":{"content":[]}"#, UNKNOWN),
        (Fk, r#","status":"ok""#, DONE),
        (Fk, "", DONE),
        (Fk, r#","status":"denied""#, REFUSED),
        (Fk, r#","status":"odd""#, UNKNOWN),
        (Fk, r#","response":"no such order""#, UNKNOWN),
        (PydanticAi, r#","content":"ok","outcome":"success""#, DONE),
        (PydanticAi, r#","content":"ok","outcome":"failed""#, FAILED),
        (PydanticAi, r#","content":"ok","outcome":"odd""#, UNKNOWN),
        (Autogen, r#","content":"ok","is_error":false"#, DONE),
        (Autogen, r#","content":"ok","is_error":1"#, FAILED),
        (Autogen, r#","content":{"error":"no"},"is_error":[]"#, UNKNOWN),
        (GeminiCli, r#","status":"success","result":"ok""#, DONE),
        (GeminiCli, r#","status":"odd","result":"ok""#, UNKNOWN),
        (
            GeminiCli,
            r#","status":"success","result":[{"functionResponse":{"id":"c","response":{"output":"x"}}}]"#,
            DONE,
        ),
        (VercelAi, r#","state":"output-available","output":"ok""#, DONE),
        (VercelAi, r#","state":"output-available","answer":{"error":"no"}"#, UNKNOWN),
    ]);
}

/// Reads a log for each row, and compares how its call ended.
fn check(rows: &[(Format, &str, &str)]) {
    let mut wrong = Vec::new();
    for &(format, result, expected) in rows {
        let text = log(format, result);
        let options = Options { format: Some(format), ..Options::new("x") };
        let (_, readings) = read_all(text.as_bytes(), &options).unwrap();
        let messages: Vec<_> = readings.iter().flat_map(|r| &r.transcript.messages).collect();
        assert_eq!(messages.iter().map(|m| m.calls.len()).sum::<usize>(), 1, "{text}");
        let is = end(messages.iter().flat_map(|m| &m.outcomes).next());
        if is != expected {
            wrong.push(format!("{} {result}: {is}, not {expected}", format.name()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A thread of Amp links results to calls by `toolUseID`, and reports failures in `run`.
#[test]
fn a_thread_of_amp() {
    let text = r#"{"v":14,"id":"T-1","messages":[
        {"role":"user","messageId":0,"content":[{"type":"text","text":"Run the tests."}]},
        {"role":"assistant","messageId":1,"content":[{"type":"tool_use","complete":true,"id":"a","name":"Bash","input":{"cmd":"make test"}}]},
        {"role":"user","messageId":2,"content":[{"type":"tool_result","toolUseID":"a","run":{"status":"done","result":{"output":"1 failed","exitCode":2}}}]},
        {"role":"assistant","messageId":3,"content":[{"type":"tool_use","id":"b","name":"edit_file","input":{}}]},
        {"role":"user","messageId":4,"content":[{"type":"tool_result","toolUseID":"b","run":{"status":"error","error":{"message":"no such file"}}}]}
    ]}"#;
    let (summary, readings) = read_all(text.as_bytes(), &Options::new("x")).unwrap();
    assert_eq!(summary.format, Format::Anthropic);
    let reading = readings.first().unwrap();
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    let outcomes = reading.transcript.messages.iter().flat_map(|m| &m.outcomes);
    let read: Vec<_> =
        outcomes.map(|o| (o.call_id.as_str(), o.text.as_str(), o.exit_code, o.is_error)).collect();
    assert_eq!(
        read,
        [("a", "1 failed", Some(2), Some(false)), ("b", "no such file", None, Some(true))]
    );
}

/// AG-UI spells member names differently, and lists only the tools of the front end.
#[test]
fn the_input_of_an_ag_ui_run() {
    let text = r#"{"threadId":"t","runId":"r","state":{},"tools":[],"context":[],"messages":[
        {"id":"1","role":"user","content":"Send it."},
        {"id":"2","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"send","arguments":"{}"}}]},
        {"id":"3","role":"tool","toolCallId":"c","content":"","error":"no such mailbox"},
        {"id":"4","role":"assistant","content":"It was not sent."}
    ]}"#;
    let (_, readings) = read_all(text.as_bytes(), &Options::new("x")).unwrap();
    let reading = readings.first().unwrap();
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    assert!(!reading.transcript.catalog.is_known());
    let outcome = reading.transcript.messages.iter().flat_map(|m| &m.outcomes).next().unwrap();
    assert_eq!((outcome.call_id.as_str(), outcome.text.as_str()), ("c", "no such mailbox"));
    assert_eq!(outcome.is_error, Some(true));
}
