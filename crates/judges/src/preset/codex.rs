use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use counterfoil_judge::answer_schema;
use serde_json::{Value, json};

use super::invocation::{Invocation, Preset, Question, home, is_set, words};

/// Codex: its catalogue of models determines the tools, so it is replaced by one without any.
#[derive(Debug)]
pub(super) struct Codex;

const CATALOGUE: &str = "models.json";
const INSTRUCTIONS: &str = "instructions.md";
const REPLY: &str = "reply.json";
const SCHEMA: &str = "schema.json";

/// The settings that turn features off, in the form of its configuration.
const SETTINGS: [&str; 14] = [
    "project_doc_max_bytes=0",
    "include_permissions_instructions=false",
    "include_environment_context=false",
    "include_collaboration_mode_instructions=false",
    "include_apps_instructions=false",
    "skills.bundled.enabled=false",
    "skills.include_instructions=false",
    "agents.enabled=false",
    "web_search=\"disabled\"",
    "tools.experimental_request_user_input.enabled=false",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "model_instructions_file=\"instructions.md\"",
    "model_catalog_json=\"models.json\"",
];

/// The features to turn off, which would give it tools, hooks and more.
const WITHOUT: [&str; 14] = [
    "shell_tool",
    "unified_exec",
    "apps",
    "plugins",
    "remote_plugin",
    "hooks",
    "multi_agent",
    "multi_agent_v2",
    "code_mode_host",
    "goals",
    "browser_use",
    "computer_use",
    "image_generation",
    "view_image",
];

impl Preset for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn prefixes(&self) -> &'static [&'static str] {
        &["OPENAI_", "CODEX_API_KEY"]
    }

    fn is_signed_in(&self) -> bool {
        is_set(&["OPENAI_API_KEY", "CODEX_API_KEY"]) || login().is_some()
    }

    fn invocation(&self, question: &Question<'_>) -> Result<Invocation, String> {
        let mut arguments = words(&[
            "exec",
            "--skip-git-repo-check",
            "--ephemeral",
            "--ignore-user-config",
            "--ignore-rules",
            "--sandbox",
            "read-only",
            "--output-schema",
            SCHEMA,
            "--output-last-message",
            REPLY,
        ]);
        arguments.extend(SETTINGS.iter().flat_map(|setting| words(&["-c", setting])));
        arguments.extend(WITHOUT.iter().flat_map(|feature| words(&["--disable", feature])));
        if !question.model.is_empty() {
            arguments.extend(words(&["--model", question.model]));
        }
        arguments.push("-".to_owned());
        let mut variables = vec![("CODEX_HOME", question.folder.join(".codex").into())];
        if let (None, Some(key)) = (env::var_os("CODEX_API_KEY"), env::var_os("OPENAI_API_KEY")) {
            variables.push(("CODEX_API_KEY", key));
        }
        Ok(Invocation {
            arguments,
            variables,
            files: vec![
                (SCHEMA, answer_schema().to_string()),
                (INSTRUCTIONS, question.prompt.instructions.to_owned()),
                (CATALOGUE, catalogue(question.program)?.to_string()),
                (".codex/config.toml", String::new()),
            ],
            links: login().map(|login| (".codex/auth.json", login)).into_iter().collect(),
            input: question.prompt.question.clone(),
        })
    }

    fn reply(&self, _: &str, folder: &Path) -> Result<String, String> {
        std::fs::read_to_string(folder.join(REPLY)).map_err(|error| format!("no reply: {error}"))
    }
}

/// Returns the file with its sign-in.
fn login() -> Option<PathBuf> {
    let named = env::var_os("CODEX_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let folder = named.or_else(|| home().map(|home| home.join(".codex")))?;
    Some(folder.join("auth.json")).filter(|file| file.is_file())
}

/// Returns the models that it knows, each without tools.
fn catalogue(program: &Path) -> Result<Value, String> {
    let failed = |why: &str| format!("cannot disable the program's tools: {why}");
    let output = Command::new(program)
        .args(["debug", "models", "--bundled"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    let mut models: Value =
        serde_json::from_slice(&output.stdout).map_err(|_| failed("it did not list its models"))?;
    let list = match &mut models {
        Value::Array(list) => Some(list),
        other => other.get_mut("models").and_then(Value::as_array_mut),
    };
    let list = list.filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| failed("it did not list its models"))?;
    for model in list.iter_mut().filter_map(Value::as_object_mut) {
        for (name, value) in [
            ("tool_mode", json!("direct")),
            ("multi_agent_version", Value::Null),
            ("apply_patch_tool_type", Value::Null),
            ("experimental_supported_tools", json!([])),
            ("supports_search_tool", json!(false)),
        ] {
            model.insert(name.to_owned(), value);
        }
    }
    Ok(models)
}
