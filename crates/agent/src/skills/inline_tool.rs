//! Tools that the body of a skill defines: a code block `tool` with a name, parameters, and a
//! command with placeholders. No shell reads what fills them.

use std::path::Path;
use std::sync::LazyLock;

use counterfoil_guard::ToolError;
use counterfoil_model::WrongJson;
use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;

use super::error::{SkillError, visible};
use super::markdown::{Code, Part, parts};
use crate::own_tool::refused;

/// The most tools of one skill.
const MOST_TOOLS: usize = 64;

/// A tool that a skill defines.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InlineTool {
    /// 1 to 64 of `a` to `z`, `0` to `9` and `_`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments, of type `object`.
    pub parameters: Value,
    /// The program and its arguments. Each `{name}` in an argument stands for a parameter, `{{` and
    /// `}}` for braces.
    pub command: Vec<String>,
}

/// A brace, two that are one, or a parameter between braces.
static BRACES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\{\{|\}\}|\{(?P<name>[A-Za-z0-9_-]+)\}|[{}]").ok());

fn braces(word: &str) -> impl Iterator<Item = Captures<'_>> {
    BRACES.iter().flat_map(|braces| braces.captures_iter(word))
}

/// The parameters that a word names.
fn parameters(word: &str) -> impl Iterator<Item = &str> {
    braces(word).filter_map(|found| Some(found.name("name")?.as_str()))
}

impl InlineTool {
    /// The command for a call, word by word. Texts are as they are, numbers and booleans as JSON
    /// writes them. A word with a placeholder whose parameter is missing or null is left out. The
    /// guard has checked that the values keep to [`parameters`](Self::parameters); a text may begin
    /// a word with `-` only after a word `--`.
    ///
    /// # Errors
    /// Values that are no argument, or would become an option.
    pub fn filled(&self, values: &Value) -> Result<Vec<String>, ToolError> {
        let given = |name: &str| values.get(name).filter(|value| !value.is_null());
        let (mut words, mut options_ended) = (Vec::new(), false);
        for word in &self.command {
            let names: Vec<&str> = parameters(word).collect();
            if names.iter().any(|name| given(name).is_none()) {
                continue;
            }
            let is_nested = |value: &Value| value.is_array() || value.is_object();
            if let Some(name) = names.iter().find(|name| given(name).is_some_and(is_nested)) {
                let what = "is a list or an object, which cannot be a command argument";
                return Err(refused(format!("the parameter `{name}` {what}")));
            }
            let text = filled(word, |name| match given(name) {
                Some(Value::String(text)) => text.clone(),
                other => other.map(Value::to_string).unwrap_or_default(),
            });
            let begins_with_text = |name: &&&str| {
                let is_first = word.starts_with(&format!("{{{name}}}"));
                is_first && given(name).is_some_and(Value::is_string)
            };
            if let Some(name) = names.first().filter(begins_with_text)
                && text.starts_with('-')
                && !options_ended
            {
                let what = "begins with `-`, which the program could mistake for an option";
                return Err(refused(format!("the parameter `{name}` {what}")));
            }
            options_ended |= text == "--";
            words.push(text);
        }
        Ok(words)
    }

    /// What is wrong with it, and what to do about it.
    fn fault(&self) -> Option<(String, &'static str)> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let Self { name, description, parameters: schema, command } = self;
        let program = command.first().filter(|program| !program.trim().is_empty());
        let is_stray = |found: Captures<'_>| found.get(0).is_some_and(|all| all.len() == 1);
        let stray = |word: &&String| braces(word).any(is_stray);
        let properties = schema.get("properties");
        let is_unknown = |name: &&str| properties.is_none_or(|known| known.get(name).is_none());
        let unknown = command.iter().flat_map(|word| parameters(word)).find(is_unknown);
        Some(if !(1..=64).contains(&name.len()) || !name.bytes().all(allowed) {
            let what = "the tool name must have 1 to 64 characters: `a` to `z`, `0` to `9` and `_`";
            (what.to_owned(), "use a name such as `fill_form`")
        } else if description.trim().is_empty() {
            ("the tool has no description".to_owned(), "say what the tool does")
        } else if schema.get("type").and_then(Value::as_str) != Some("object") {
            let help = "write `{\"type\": \"object\", \"properties\": {…}, \"required\": […]}`";
            ("the parameters of the tool must be a JSON Schema of type `object`".to_owned(), help)
        } else if let Some(word) = command.iter().find(stray) {
            let what = "contains a brace that is not part of a `{placeholder}`";
            (format!("`{}` {what}", visible(word)), "write `{{` and `}}` for literal braces")
        } else if program.is_none_or(|program| parameters(program).next().is_some()) {
            let help = "begin `command` with the name of the program, followed by its arguments";
            ("the command has no program name, or a placeholder in its place".to_owned(), help)
        } else {
            let help = "add it to `properties` in `parameters`";
            (format!("the placeholder `{{{}}}` has no matching parameter", unknown?), help)
        })
    }
}

/// A word with its parameters filled in.
fn filled(word: &str, value: impl Fn(&str) -> String) -> String {
    let replaced = |found: &Captures<'_>| match found.name("name") {
        Some(name) => value(name.as_str()),
        // Of two braces one stays.
        None => found.get(0).map_or("", |both| both.as_str()).chars().take(1).collect(),
    };
    BRACES.as_ref().map_or(word.into(), |braces| braces.replace_all(word, replaced)).into_owned()
}

/// The tools of a body that begins on line `first` of the file.
///
/// # Errors
/// The first thing that is wrong with them.
pub(super) fn read_all(
    file: &Path,
    body: &str,
    first: usize,
) -> Result<Vec<InlineTool>, SkillError> {
    let mut tools = Vec::<InlineTool>::new();
    for part in parts(body, first) {
        let Part::Code(code) = part else { continue };
        if code.language != "tool" {
            continue;
        }
        let tool = read(file, &code)?;
        let wrong = |what, help| Err(SkillError::new(file, what, help).at(code.line));
        if tools.iter().any(|other| other.name == tool.name) {
            return wrong("two tools have the same name", "rename one of them");
        }
        if tools.len() == MOST_TOOLS {
            return wrong("the skill has more than 64 tools", "split the skill");
        }
        tools.push(tool);
    }
    Ok(tools)
}

fn read(file: &Path, code: &Code<'_>) -> Result<InlineTool, SkillError> {
    if !code.is_closed {
        let what = "the code block of the tool is not closed";
        return Err(SkillError::new(file, what, "close it").at(code.line));
    }
    let lines: Vec<&str> = code.lines.iter().map(|(_, line)| *line).collect();
    let tool: InlineTool = serde_json::from_str(&lines.join("\n")).map_err(|error| {
        let help = "write a JSON object with `name`, `description`, `parameters` and `command`";
        let what =
            format!("the tool definition is invalid: {}", visible(&WrongJson::new(&error).what));
        SkillError::new(file, what, help).at(code.line.saturating_add(error.line()))
    })?;
    match tool.fault() {
        Some((what, help)) => Err(SkillError::new(file, what, help).at(code.line)),
        None => Ok(tool),
    }
}
