use std::path::Path;

use counterfoil_judge::answer_schema;
use serde_json::Value;

use super::invocation::{Invocation, Preset, Question, home, is_set, last_line, member, words};

/// Claude Code: its model's only tool is the one for giving its answer.
#[derive(Debug)]
pub(super) struct Claude;

impl Preset for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn prefixes(&self) -> &'static [&'static str] {
        &["ANTHROPIC_", "AWS_", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_"]
    }

    fn is_signed_in(&self) -> bool {
        let kept = || home().is_some_and(|home| home.join(".claude/.credentials.json").is_file());
        is_set(&["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]) || kept()
    }

    fn invocation(&self, question: &Question<'_>) -> Result<Invocation, String> {
        let schema = answer_schema().to_string();
        let mut arguments = words(&[
            "-p",
            "--output-format",
            "json",
            "--tools",
            "",
            "--strict-mcp-config",
            "--setting-sources",
            "",
            "--disable-slash-commands",
            "--no-session-persistence",
            "--system-prompt",
            question.prompt.instructions,
            "--json-schema",
            &schema,
        ]);
        if !question.model.is_empty() {
            arguments.extend(words(&["--model", question.model]));
        }
        Ok(Invocation {
            arguments,
            // Without these the question is sent twice, once to generate a title.
            variables: vec![
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
                ("DISABLE_TELEMETRY", "1".into()),
                ("DISABLE_ERROR_REPORTING", "1".into()),
                ("DISABLE_AUTOUPDATER", "1".into()),
                ("CLAUDE_CODE_MAX_RETRIES", "1".into()),
            ],
            input: question.prompt.question.clone(),
            ..Invocation::default()
        })
    }

    fn reply(&self, output: &str, _: &Path) -> Result<String, String> {
        let value: Option<Value> = serde_json::from_str(output.trim()).ok();
        if value.is_some_and(|value| value.get("is_error") == Some(&Value::Bool(true))) {
            return Err(self.reason(output, ""));
        }
        member(output, &["structured_output", "result"])
    }

    fn reason(&self, output: &str, errors: &str) -> String {
        member(output, &["result", "subtype"])
            .ok()
            .or_else(|| last_line(errors).map(str::to_owned))
            .unwrap_or_default()
    }
}
