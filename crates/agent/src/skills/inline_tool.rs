//! Tools that the body of a skill defines: a code block `tool` with a name, parameters, and a
//! command with placeholders. No shell reads the command.

use std::path::Path;

use counterfoil_model::{JsonError, JsonLimits, parse_strict};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::code_options::{Runs, runs};
use super::error::{SkillError, SkillProblem, visible};
use super::markdown::{Code, Part, parts};
use super::placeholder::Template;
use super::warning::{SkillWarning, WarningKind};

/// The most tools of one skill.
const MOST_TOOLS: usize = 64;
/// The most bytes that a value may have in an argument. Linux takes no longer argument.
const MOST_VALUE_BYTES: usize = 128 * 1024 - 1;

/// A tool that a skill defines.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InlineTool {
    /// 1 to 64 of `a` to `z`, `0` to `9` and `_`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments, of type `object`.
    pub parameters: Value,
    /// The program: a name, or a path that the executor resolves. It has no placeholder.
    pub program: String,
    /// The line of `SKILL.md` on which its code block begins, from 1.
    pub line: usize,
    templates: Vec<Template>,
}

/// Why a value cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// A value that is no text, number or boolean.
    #[error("the parameter `{0}` is a list or an object, which is no argument of a command")]
    Nested(String),
    /// A value that the operating system does not take.
    #[error("the parameter `{0}` has a zero character, or more than 128 KiB")]
    NotAnArgument(String),
    /// A text that the program could take for an option.
    #[error("the parameter `{0}` begins with `-`, which the program could take for an option")]
    LooksLikeOption(String),
}

impl InlineTool {
    /// The arguments of [`program`](Self::program) for a call. Texts are as they are, numbers and
    /// booleans as JSON writes them. An argument with a placeholder whose parameter is missing or
    /// null is left out. The guard has checked that the values keep to
    /// [`parameters`](Self::parameters); a text may begin an argument with `-` only after an
    /// argument `--`.
    ///
    /// # Errors
    /// Values that are no argument, or would become an option.
    pub fn arguments(&self, values: &Value) -> Result<Vec<String>, ArgumentsError> {
        let given = |name: &str| values.get(name).filter(|value| !value.is_null());
        let mut arguments = Vec::new();
        let mut options_ended = false;
        for template in &self.templates {
            if template.parameters().any(|name| given(name).is_none()) {
                continue;
            }
            let first = template.first_parameter().filter(|_| !options_ended);
            let is_option = |name: &&str| {
                given(name).and_then(Value::as_str).is_some_and(|text| text.starts_with('-'))
            };
            if let Some(name) = first.filter(is_option) {
                return Err(ArgumentsError::LooksLikeOption(name.to_owned()));
            }
            options_ended |= template.literal() == Some("--");
            let argument =
                template.filled(|name| text_of(name, given(name).unwrap_or(&Value::Null)));
            arguments.push(argument?);
        }
        Ok(arguments)
    }

    /// The warning that an option stays without its value when a parameter is missing.
    pub(super) fn dangling_option(&self, file: &Path) -> Option<SkillWarning> {
        let required = self.parameters.get("required").and_then(Value::as_array);
        let is_optional = |name: &str| !required.into_iter().flatten().any(|other| other == name);
        let dangles = |pair: &[Template]| match pair {
            [option, value] => {
                let option = option.literal().filter(|o| o.starts_with('-') && *o != "--")?;
                let name = value.first_parameter().filter(|name| is_optional(name))?;
                Some((option.to_owned(), name.to_owned()))
            }
            _ => None,
        };
        let (option, name) = self.templates.windows(2).find_map(dangles)?;
        let why = format!(
            "`{}` of the tool `{}` stays without a value where `{name}` is missing; write \
             `{}={{{name}}}` where the program takes that",
            visible(&option),
            self.name,
            visible(&option)
        );
        Some(SkillWarning::new(file, Some(self.line), WarningKind::DanglingOption, why))
    }
}

fn text_of(name: &str, value: &Value) -> Result<String, ArgumentsError> {
    let text = match value {
        Value::Array(_) | Value::Object(_) => {
            return Err(ArgumentsError::Nested(name.to_owned()));
        }
        Value::String(text) => text.clone(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain.to_string(),
    };
    if text.contains('\0') || text.len() > MOST_VALUE_BYTES {
        return Err(ArgumentsError::NotAnArgument(name.to_owned()));
    }
    Ok(text)
}

/// The tools of a body that begins on line `first` of the file.
///
/// # Errors
/// Everything that is wrong with them.
pub(super) fn read_all(
    file: &Path,
    body: &str,
    first: usize,
) -> Result<Vec<InlineTool>, Vec<SkillError>> {
    let (mut tools, mut errors) = (Vec::<InlineTool>::new(), Vec::new());
    for part in parts(body, first) {
        let Part::Code(code) = part else { continue };
        if code.language != "tool" {
            continue;
        }
        let failed = |(what, help): Fault| {
            SkillError::new(SkillProblem::new(what, help), file).at(Some(code.line))
        };
        if tools.len() == MOST_TOOLS {
            errors.push(failed(fault("the skill has more than 64 tools", "split the skill")));
            break;
        }
        match read(file, &code) {
            Err(error) => errors.push(error),
            Ok(tool) if tools.iter().any(|other| other.name == tool.name) => {
                let error = failed(fault("two tools have the same name", "rename one of the two"));
                errors.push(error.with("tool", &tool.name));
            }
            Ok(tool) => tools.push(tool),
        }
    }
    if errors.is_empty() { Ok(tools) } else { Err(errors) }
}

/// What is wrong, and what to do about it.
type Fault = (String, &'static str);

fn fault(what: impl Into<String>, help: &'static str) -> Fault {
    (what.into(), help)
}

/// A tool as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    description: String,
    parameters: Value,
    command: Vec<String>,
}

fn read(file: &Path, code: &Code<'_>) -> Result<InlineTool, SkillError> {
    let at = |line: usize, (what, help): Fault| {
        SkillError::new(SkillProblem::new(what, help), file).at(Some(line))
    };
    if !code.is_closed {
        return Err(at(code.line, fault("the code block of a tool is not closed", "close it")));
    }
    let unreadable = |line: usize, told: &str| {
        let help = "write an object with `name`, `description`, `parameters` and `command`";
        at(line, fault(format!("the tool cannot be read: {}", visible(told)), help))
    };
    let lines: Vec<&str> = code.lines.iter().map(|(_, line)| *line).collect();
    let value = parse_strict(&lines.join("\n"), JsonLimits::ARGUMENTS).map_err(|error| {
        let told = match error {
            JsonError::Truncated(told) | JsonError::Invalid(told) => told,
            error @ JsonError::TooLarge { .. } => error.to_string(),
        };
        let (reason, place) = told.rsplit_once(" at line ").unwrap_or((&told, ""));
        let line = place.split(' ').next().and_then(|line| line.parse().ok()).unwrap_or(0);
        unreadable(code.line.saturating_add(line), reason)
    })?;
    let written: Written =
        serde_json::from_value(value).map_err(|error| unreadable(code.line, &error.to_string()))?;
    let of_tool = |error: SkillError| error.with("tool", &written.name);
    let properties = described(&written).map_err(|fault| of_tool(at(code.line, fault)))?;
    let (program, templates) =
        command(&written.command, &properties).map_err(|(word, fault)| {
            let holds = |(_, line): &&(usize, &str)| line.contains(&word);
            let line = code.lines.iter().rev().find(holds).filter(|_| !word.is_empty());
            let error = of_tool(at(line.map_or(code.line, |(line, _)| *line), fault));
            if word.is_empty() { error } else { error.with("argument", &word) }
        })?;
    Ok(InlineTool {
        name: written.name,
        description: written.description,
        parameters: written.parameters,
        program,
        line: code.line,
        templates,
    })
}

/// The properties of the parameters of a tool that has a name and a description.
fn described(written: &Written) -> Result<Map<String, Value>, Fault> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if !(1..=64).contains(&written.name.len()) || !written.name.bytes().all(allowed) {
        let what = "the name of a tool is not 1 to 64 of `a` to `z`, `0` to `9` and `_`";
        return Err(fault(what, "use a name such as `fill_form`"));
    }
    if written.description.trim().is_empty() {
        return Err(fault("the tool has no description", "say what the tool does"));
    }
    let wrong = |why: &str| {
        let what = "the parameters of the tool are not the JSON schema of an object";
        let help = "write `{\"type\": \"object\", \"properties\": {…}, \"required\": […]}`";
        fault(format!("{what}: {why}"), help)
    };
    let schema = written.parameters.as_object().ok_or_else(|| wrong("they are not an object"))?;
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(wrong("`type` is not `object`"));
    }
    let properties = match schema.get("properties") {
        None => Map::new(),
        Some(Value::Object(properties)) => properties.clone(),
        Some(_) => return Err(wrong("`properties` is not an object")),
    };
    if !properties.values().all(|property| property.is_object() || property.is_boolean()) {
        return Err(wrong("a property is not a schema"));
    }
    let is_known = |name: &Value| name.as_str().is_some_and(|name| properties.contains_key(name));
    match schema.get("required") {
        None => Ok(properties),
        Some(Value::Array(required)) if required.iter().all(is_known) => Ok(properties),
        Some(_) => Err(wrong("`required` is not a list of names in `properties`")),
    }
}

/// The program of a command, and its arguments; or the word that is wrong, and why.
fn command(
    words: &[String],
    properties: &Map<String, Value>,
) -> Result<(String, Vec<Template>), (String, Fault)> {
    if let Some(word) = words.iter().find(|word| word.contains('\0')) {
        return Err((word.clone(), fault("the command has a zero character", "remove it")));
    }
    let read = |word: &String| {
        Template::read(word).map_err(|_| {
            let what = "an argument has a brace that is not part of a `{placeholder}`";
            (word.clone(), fault(what, "write `{{` and `}}` for braces"))
        })
    };
    let templates = words.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let no_program = || {
        let help = "begin `command` with the program, then its arguments";
        (String::new(), fault("the command has no program", help))
    };
    let (first, templates) = templates.split_first().ok_or_else(no_program)?;
    let word = |at: usize| words.get(at).cloned().unwrap_or_default();
    let program = first.literal().ok_or_else(|| {
        let what = "the program of the command has a placeholder";
        (word(0), fault(what, "write the name of the program itself"))
    })?;
    if program.trim().is_empty() {
        return Err(no_program());
    }
    for name in templates.iter().flat_map(Template::parameters) {
        let fault = match properties.get(name) {
            None => fault(
                "an argument has a placeholder for which there is no parameter",
                "add it to the `properties` of `parameters`",
            ),
            Some(schema) if is_nested(schema) => fault(
                "an argument has a placeholder for a list or an object",
                "use parameters that are texts, numbers or booleans",
            ),
            Some(_) => continue,
        };
        return Err((format!("{{{name}}}"), fault));
    }
    match runs(program, templates) {
        None => Ok((program.to_owned(), templates.to_vec())),
        Some(Runs::Carrier) => {
            let help = "begin `command` with the program that does the work";
            Err((word(0), fault("the program of the command starts another program", help)))
        }
        Some(Runs::Code(argument)) => {
            let what = "a parameter becomes code or the name of a script";
            let help =
                "put the code into a file of the skill, and give the parameter after its name";
            Err((word(argument + 1), fault(what, help)))
        }
    }
}

/// Whether the values of a schema can only be lists or objects.
fn is_nested(schema: &Value) -> bool {
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return false,
    };
    let nested = |kind: &&&str| matches!(**kind, "array" | "object");
    kinds.iter().any(|kind| nested(&kind))
        && kinds.iter().all(|kind| nested(&kind) || *kind == "null")
}
