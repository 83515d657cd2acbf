//! Short descriptions of sessions.

use counterfoil_model::{Format, Message, Outcome, Role, ToolCall, Transcript};

/// A call with its result: tool, arguments, exit status, text.
pub(crate) type Step<'s> = (&'s str, &'s str, Option<i32>, &'s str);

/// A session with these calls, followed by a message of the agent.
pub(crate) fn session(steps: &[Step<'_>]) -> Transcript {
    let mut transcript = Transcript::new("t", Format::OpenaiChat);
    transcript.directory = Some("/repo".to_owned());
    for (at, (tool, arguments, exit_code, text)) in steps.iter().enumerate() {
        let id = format!("id{at}");
        let call = ToolCall::new(&id, *tool, *arguments);
        let outcome = Outcome {
            call_id: id,
            text: (*text).to_owned(),
            exit_code: *exit_code,
            ..Outcome::default()
        };
        let calls = Message { calls: vec![call], ..Message::text(Role::Assistant, "") };
        let results = Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") };
        transcript.messages.extend([calls, results]);
    }
    transcript.messages.push(Message::text(Role::Assistant, "Done."));
    transcript
}

/// The arguments of a shell call.
pub(crate) fn shell(line: &str) -> String {
    serde_json::json!({ "command": line }).to_string()
}
