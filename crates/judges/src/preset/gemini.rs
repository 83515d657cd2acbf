use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::invocation::{Invocation, Preset, Question, home, is_set, last_line, member, words};

/// Gemini CLI: runs in a separate home folder, because the user's settings cannot be turned off.
#[derive(Debug)]
pub(super) struct Gemini;

const SYSTEM: &str = "system.md";
/// A fixed model; without one, a second model reads the question to choose.
const MODEL: &str = "flash";

impl Preset for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn prefixes(&self) -> &'static [&'static str] {
        &["GEMINI_API_KEY", "GOOGLE_"]
    }

    fn is_signed_in(&self) -> bool {
        is_set(&["GEMINI_API_KEY"]) || own("oauth_creds.json").is_some()
    }

    fn invocation(&self, question: &Question<'_>) -> Result<Invocation, String> {
        let model = if question.model.is_empty() { MODEL } else { question.model };
        let arguments = ["--output-format", "json", "--extensions", "none", "--model", model];
        let mut arguments = words(&arguments);
        arguments.extend(words(&["--prompt", "Answer the question above."]));
        let links = [
            (".gemini/oauth_creds.json", "oauth_creds.json"),
            (".gemini/google_accounts.json", "google_accounts.json"),
        ];
        Ok(Invocation {
            arguments,
            variables: vec![
                ("GEMINI_CLI_HOME", question.folder.into()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
                ("GEMINI_SYSTEM_MD", question.folder.join(SYSTEM).into()),
            ],
            files: vec![
                (SYSTEM, question.prompt.instructions.to_owned()),
                // Without this, it would read a file with this name in a parent folder.
                (".gemini/.env", String::new()),
                (".gemini/settings.json", settings().to_string()),
            ],
            links: links.into_iter().filter_map(|(to, name)| Some((to, own(name)?))).collect(),
            input: question.prompt.question.clone(),
        })
    }

    fn reply(&self, output: &str, _: &Path) -> Result<String, String> {
        member(output, &["response"])
    }

    /// Its errors end with a JSON object over several lines.
    fn reason(&self, _: &str, errors: &str) -> String {
        let object = errors.rfind("\n{\n").and_then(|at| errors.get(at..));
        let value: Option<Value> = object.and_then(|text| serde_json::from_str(text.trim()).ok());
        let message = value.as_ref().and_then(|value| value.pointer("/error/message")?.as_str());
        message.or_else(|| last_line(errors)).unwrap_or_default().to_owned()
    }
}

/// Returns a file of the user's own Gemini CLI.
fn own(name: &str) -> Option<PathBuf> {
    home().map(|home| home.join(".gemini").join(name)).filter(|file| file.is_file())
}

fn settings() -> Value {
    let chosen = own("settings.json").and_then(|file| std::fs::read_to_string(file).ok());
    let chosen: Option<Value> = chosen.and_then(|text| serde_json::from_str(&text).ok());
    let chosen =
        chosen.as_ref().and_then(|own| own.pointer("/security/auth/selectedType")?.as_str());
    let default = match (is_set(&["GEMINI_API_KEY"]), is_set(&["GOOGLE_GENAI_USE_VERTEXAI"])) {
        (true, _) => "gemini-api-key",
        (false, true) => "vertex-ai",
        (false, false) => "oauth-personal",
    };
    json!({
        "security": {
            "auth": { "selectedType": chosen.unwrap_or(default) },
            "folderTrust": { "enabled": false },
        },
        "tools": { "core": [] },
        "hooksConfig": { "enabled": false },
        "skills": { "enabled": false },
        "context": {
            "fileName": "none",
            "loadMemoryFromIncludeDirectories": false,
            "includeDirectoryTree": false,
        },
        "experimental": { "enableAgents": false },
        "model": { "skipNextSpeakerCheck": true },
        "telemetry": { "enabled": false },
        "privacy": { "usageStatisticsEnabled": false },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
    })
}
