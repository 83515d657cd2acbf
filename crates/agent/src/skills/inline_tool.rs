//! Tools that the body of a skill defines: a code block `tool` with a name, parameters, and a
//! command with placeholders. No shell reads the command.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::code_options::{Runs, runs};
use super::distinct_json;
use super::error::SkillError;
use super::markdown::{Code, Part, parts};
use super::placeholder::Template;
use super::visible::visible;
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

/// What is wrong with an inline tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InlineToolProblem {
    /// The code block has no end.
    #[error("the code block of a tool is not closed")]
    NotClosed,
    /// It is not the JSON that it should be.
    #[error("the tool cannot be read: {0}")]
    InvalidJson(String),
    /// The name has other characters, none, or too many.
    #[error("the name of a tool is not 1 to 64 of `a` to `z`, `0` to `9` and `_`")]
    Name,
    /// It says nothing about what it does.
    #[error("the tool has no description")]
    NoDescription,
    /// Two tools have one name.
    #[error("two tools have the same name")]
    Twice,
    /// The parameters are no schema of an object.
    #[error("the parameters of the tool are not the JSON schema of an object: {0}")]
    Parameters(&'static str),
    /// The command is empty.
    #[error("the command has no program")]
    NoProgram,
    /// The program is not fixed.
    #[error("the program of the command has a placeholder")]
    ProgramPlaceholder,
    /// The program starts another program.
    #[error("the program of the command starts another program")]
    Carrier,
    /// A parameter would be run.
    #[error("a parameter becomes code or the name of a script")]
    ParameterAsCode,
    /// A brace that is none of a placeholder.
    #[error("an argument has a brace that is not part of a `{{placeholder}}`")]
    StrayBrace,
    /// A placeholder that is no parameter.
    #[error("an argument has a placeholder for which there is no parameter")]
    UnknownPlaceholder,
    /// A parameter that cannot be one argument.
    #[error("an argument has a placeholder for a list or an object")]
    NestedParameter,
    /// A character that no argument can have.
    #[error("the command has a zero character")]
    ZeroCharacter,
    /// There are too many.
    #[error("the skill has more than 64 tools")]
    TooMany,
}

impl InlineToolProblem {
    /// What to do about it.
    #[must_use]
    pub fn suggestion(&self) -> &'static str {
        match self {
            Self::NotClosed => "close the code block",
            Self::InvalidJson(_) => {
                "write an object with `name`, `description`, `parameters` and `command`"
            }
            Self::Name => "use a name such as `fill_form`",
            Self::NoDescription => "say what the tool does",
            Self::Twice => "rename one of the two",
            Self::Parameters(_) => {
                "write `{\"type\": \"object\", \"properties\": {…}, \"required\": […]}`"
            }
            Self::NoProgram => "begin `command` with the program, then its arguments",
            Self::ProgramPlaceholder => "write the name of the program itself",
            Self::Carrier => "begin `command` with the program that does the work",
            Self::ParameterAsCode => {
                "put the code into a file of the skill, and give the parameter after its name"
            }
            Self::StrayBrace => "write `{{` and `}}` for braces",
            Self::UnknownPlaceholder => "add it to the `properties` of `parameters`",
            Self::NestedParameter => "use parameters that are texts, numbers or booleans",
            Self::ZeroCharacter => "remove it",
            Self::TooMany => "split the skill",
        }
    }
}

/// Why arguments cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// The values are no object.
    #[error("the arguments are not an object")]
    NotAnObject,
    /// A value for which there is no parameter.
    #[error("there is no parameter `{0}`")]
    Unknown(String),
    /// A required parameter has no value.
    #[error("the parameter `{0}` is missing")]
    Missing(String),
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
    /// null is left out. Whether the values keep to [`parameters`](Self::parameters) is for the
    /// caller to check; a text may begin an argument with `-` only after an argument `--`.
    ///
    /// # Errors
    /// Values that are no argument, unknown, missing, or would become an option.
    pub fn arguments(&self, values: &Value) -> Result<Vec<String>, ArgumentsError> {
        let values = values.as_object().ok_or(ArgumentsError::NotAnObject)?;
        let is_known = |name: &str| self.property(name).is_some();
        if let Some(name) = values.keys().find(|name| !is_known(name)) {
            return Err(ArgumentsError::Unknown(visible(name)));
        }
        let given = |name: &str| values.get(name).filter(|value| !value.is_null());
        if let Some(name) = self.required().find(|name| given(name).is_none()) {
            return Err(ArgumentsError::Missing(visible(name)));
        }
        let mut arguments = Vec::new();
        let mut options_ended = false;
        for template in &self.templates {
            if template.parameters().any(|name| given(name).is_none()) {
                continue;
            }
            if let Some(name) = template.first_parameter()
                && !options_ended
                && given(name).and_then(Value::as_str).is_some_and(|text| text.starts_with('-'))
            {
                return Err(ArgumentsError::LooksLikeOption(name.to_owned()));
            }
            options_ended |= template.literal() == Some("--");
            arguments.push(template.filled(|name| text_of(name, given(name)))?);
        }
        Ok(arguments)
    }

    fn property(&self, name: &str) -> Option<&Value> {
        self.parameters.get("properties")?.get(name)
    }

    fn required(&self) -> impl Iterator<Item = &str> {
        let required = self.parameters.get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str)
    }

    /// The warning that an option stays without its value when a parameter is missing.
    pub(super) fn dangling_option(&self, file: &Path) -> Option<SkillWarning> {
        let is_optional = |name: &str| !self.required().any(|required| required == name);
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

fn text_of(name: &str, value: Option<&Value>) -> Result<String, ArgumentsError> {
    let text = match value {
        None | Some(Value::Null) => return Err(ArgumentsError::Missing(name.to_owned())),
        Some(Value::Array(_) | Value::Object(_)) => {
            return Err(ArgumentsError::Nested(name.to_owned()));
        }
        Some(Value::String(text)) => text.clone(),
        Some(plain @ (Value::Bool(_) | Value::Number(_))) => plain.to_string(),
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
        let failed = |Fault { problem, line, named }: Fault| {
            let error = SkillError::new(problem, file).at(Some(line));
            named.iter().fold(error, |error, (key, value)| error.with(key, value))
        };
        if tools.len() == MOST_TOOLS {
            errors.push(failed(Fault::of(InlineToolProblem::TooMany, code.line)));
            break;
        }
        match read(&code) {
            Err(fault) => errors.push(failed(fault)),
            Ok(tool) if tools.iter().any(|other| other.name == tool.name) => {
                let fault = Fault::of(InlineToolProblem::Twice, tool.line);
                errors.push(failed(fault.naming("tool", &tool.name)));
            }
            Ok(tool) => tools.push(tool),
        }
    }
    if errors.is_empty() { Ok(tools) } else { Err(errors) }
}

/// A problem with its place.
struct Fault {
    problem: InlineToolProblem,
    line: usize,
    named: Vec<(&'static str, String)>,
}

impl Fault {
    fn of(problem: InlineToolProblem, line: usize) -> Self {
        Self { problem, line, named: Vec::new() }
    }

    fn naming(mut self, key: &'static str, value: &str) -> Self {
        self.named.push((key, value.to_owned()));
        self
    }
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

fn read(code: &Code<'_>) -> Result<InlineTool, Fault> {
    let fault = |problem| Fault::of(problem, code.line);
    if !code.is_closed {
        return Err(fault(InlineToolProblem::NotClosed));
    }
    let lines: Vec<&str> = code.lines.iter().map(|(_, line)| *line).collect();
    let value = distinct_json::read(&lines.join("\n")).map_err(|error| {
        let told = error.to_string();
        let reason = told.rsplit_once(" at line ").map_or(told.as_str(), |(reason, _)| reason);
        let problem = InlineToolProblem::InvalidJson(visible(reason));
        Fault::of(problem, code.line.saturating_add(error.line()))
    })?;
    let written = serde_json::from_value(value);
    let written: Written = written
        .map_err(|error| fault(InlineToolProblem::InvalidJson(visible(&error.to_string()))))?;

    let of_tool = |fault: Fault| fault.naming("tool", &written.name);
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if !(1..=64).contains(&written.name.len()) || !written.name.bytes().all(allowed) {
        return Err(of_tool(fault(InlineToolProblem::Name)));
    }
    if written.description.trim().is_empty() {
        return Err(of_tool(fault(InlineToolProblem::NoDescription)));
    }
    let properties = properties(&written.parameters).map_err(fault).map_err(of_tool)?;
    let (program, templates) = command(code, &written.command, &properties).map_err(of_tool)?;
    Ok(InlineTool {
        name: written.name,
        description: written.description,
        parameters: written.parameters,
        program,
        line: code.line,
        templates,
    })
}

/// The properties of a schema of an object.
fn properties(parameters: &Value) -> Result<Map<String, Value>, InlineToolProblem> {
    let wrong = InlineToolProblem::Parameters;
    let schema = parameters.as_object().ok_or(wrong("they are not an object"))?;
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
    let required = match schema.get("required") {
        None => &[][..],
        Some(Value::Array(required)) => required,
        Some(_) => return Err(wrong("`required` is not a list")),
    };
    let is_known = |name: &Value| name.as_str().is_some_and(|name| properties.contains_key(name));
    if !required.iter().all(is_known) {
        return Err(wrong("`required` names what is not in `properties`"));
    }
    Ok(properties)
}

fn command(
    code: &Code<'_>,
    words: &[String],
    properties: &Map<String, Value>,
) -> Result<(String, Vec<Template>), Fault> {
    let at = |problem, text: &str| {
        let holds = |(_, line): &&(usize, &str)| line.contains(text);
        let line = code.lines.iter().rev().find(holds).map_or(code.line, |(line, _)| *line);
        Fault::of(problem, line).naming("argument", text)
    };
    if let Some(word) = words.iter().find(|word| word.contains('\0')) {
        return Err(at(InlineToolProblem::ZeroCharacter, word));
    }
    let read =
        |word: &String| Template::read(word).map_err(|_| at(InlineToolProblem::StrayBrace, word));
    let mut templates = words.iter().map(read).collect::<Result<Vec<_>, _>>()?.into_iter();
    let (Some(word), Some(first)) = (words.first(), templates.next()) else {
        return Err(Fault::of(InlineToolProblem::NoProgram, code.line));
    };
    let program = match first.literal() {
        Some(program) if !program.trim().is_empty() => program.to_owned(),
        Some(_) => return Err(Fault::of(InlineToolProblem::NoProgram, code.line)),
        None => return Err(at(InlineToolProblem::ProgramPlaceholder, word)),
    };
    let templates: Vec<Template> = templates.collect();
    for name in templates.iter().flat_map(Template::parameters) {
        match properties.get(name) {
            None => return Err(at(InlineToolProblem::UnknownPlaceholder, &format!("{{{name}}}"))),
            Some(schema) if is_nested(schema) => {
                return Err(at(InlineToolProblem::NestedParameter, &format!("{{{name}}}")));
            }
            Some(_) => {}
        }
    }
    match runs(&program, &templates) {
        None => Ok((program, templates)),
        Some(Runs::Carrier) => Err(at(InlineToolProblem::Carrier, word)),
        Some(Runs::Code(argument)) => {
            let word = words.get(argument + 1).map_or("", String::as_str);
            Err(at(InlineToolProblem::ParameterAsCode, word))
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
    !kinds.is_empty()
        && kinds.iter().all(|kind| matches!(*kind, "array" | "object" | "null"))
        && kinds != ["null"]
}
