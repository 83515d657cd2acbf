use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use counterfoil_model::{
    Arguments, Catalog, ExactValue, JsonError, Tool, ToolCall, without_hidden_arguments,
    without_hidden_parameters,
};
use serde_json::{Value, json};

use crate::catalog_lint::{CatalogIssue, lint};
use crate::context::Context;
use crate::issue::{Issue, IssueSeverity, code, shortened, shown, unescaped};
use crate::leaves::each_text;
use crate::needle::{Needle, NeedleKind, needles, words};
use crate::placeholder::is_placeholder;
use crate::repair::{Names, coerced};
use crate::report::CallReport;
use crate::schema::{Remotes, Schema};
use crate::shape::Shape;
use crate::violation::{Breach, Violation};

/// Decides whether a call may go on to the gates, using a compiled catalog.
#[derive(Debug)]
pub struct Admission {
    /// `None` when the catalog is unknown.
    tools: Option<HashMap<String, Entry>>,
    names: Names,
    settings: AdmissionSettings,
}

/// Validated settings for admission.
#[derive(Debug, Clone)]
pub struct AdmissionSettings {
    /// Whether to apply lossless corrections of arguments.
    pub coerce: bool,
    /// Whether to apply lossless corrections of names.
    pub resolve_names: bool,
    /// Texts longer than this many characters are suspicious.
    pub longest_text: usize,
    /// Overrides of `longest_text` for single parameters, by tool and JSON Pointer.
    pub longest_text_of: BTreeMap<(String, String), usize>,
    /// Maximum number of correction rounds per turn before the model is told to stop.
    pub corrections: u32,
    /// Documents that schemas may refer to.
    pub remotes: Remotes,
}

impl Default for AdmissionSettings {
    /// Arguments are left as emitted, names are repaired if nothing is lost, texts may have 10,000
    /// characters, and there are no remote documents.
    fn default() -> Self {
        Self {
            coerce: false,
            resolve_names: true,
            longest_text: 10_000,
            longest_text_of: BTreeMap::new(),
            corrections: 3,
            remotes: Remotes::default(),
        }
    }
}

/// One tool of the catalog.
#[derive(Debug)]
struct Entry {
    available: bool,
    reads: bool,
    schema: Option<Schema>,
    /// Why the tool's schema cannot be used, if it cannot.
    unusable: Option<String>,
    shape: Shape,
}

impl Entry {
    /// Whether the tool can be called without arguments.
    fn asks_for_nothing(&self) -> bool {
        self.unusable.is_none()
            && self.schema.as_ref().is_none_or(|schema| schema.is_valid(&json!({})))
    }
}

impl Admission {
    /// Compiles every schema of a catalog.
    ///
    /// Parts of a schema that cannot be used are reported as an issue, and the rest is checked. A
    /// tool whose schema cannot be used at all is also reported, and all of its calls are rejected
    /// because they cannot be validated.
    #[must_use]
    pub fn compile(catalog: &Catalog, settings: AdmissionSettings) -> (Self, Vec<CatalogIssue>) {
        let mut issues = Vec::new();
        let mut tools = HashMap::with_capacity(catalog.len());
        for tool in catalog.iter() {
            issues.extend(lint(tool));
            let parameters = tool.parameters.as_ref().map(without_hidden_parameters);
            let compiled = parameters.map(|p| Schema::compile_in_part(&p, &settings.remotes));
            let mut unusable = None;
            let schema = match compiled {
                None => None,
                Some(Ok((schema, left))) => {
                    issues.extend(CatalogIssue::unchecked(&tool.name, &left));
                    Some(schema)
                }
                Some(Err(error)) => {
                    unusable = Some(error.to_string());
                    issues.push(CatalogIssue::invalid_schema(&tool.name, error));
                    None
                }
            };
            let shape = schema.as_ref().map(|s| Shape::from_schema(s.source())).unwrap_or_default();
            let (available, reads) = (tool.available, reads(tool));
            let entry = Entry { available, reads, schema, unusable, shape };
            tools.insert(tool.name.clone(), entry);
        }
        let names = Names::from_catalog(catalog);
        (Self { tools: catalog.is_known().then_some(tools), names, settings }, issues)
    }

    /// Checks one call. Without a context, the origin of values is not checked.
    #[must_use]
    pub fn admit(&self, call: &ToolCall, context: Option<&dyn Context>) -> CallReport {
        self.admit_parts(&call.tool, &call.arguments, context)
    }

    /// Like [`Admission::admit`], for a name and arguments. No issue names the model's thinking in
    /// the arguments.
    #[must_use]
    pub fn admit_parts(
        &self,
        tool: &str,
        arguments: &Arguments,
        context: Option<&dyn Context>,
    ) -> CallReport {
        let mut report = CallReport {
            tool: tool.to_owned(),
            resolved_name: None,
            issues: Vec::new(),
            arguments: None,
            corrected_arguments: None,
        };
        let entry = match &self.tools {
            None => None,
            Some(tools) => match self.find(tools, &mut report) {
                Some(entry) => Some(entry),
                None => return report,
            },
        };
        if let Some(reason) = entry.and_then(|entry| entry.unusable.as_ref()) {
            let message = format!("the arguments cannot be checked: {reason}");
            let issue = Issue::new(code::INVALID_SCHEMA, IssueSeverity::Block, tool, message);
            report.issues.push(issue);
        }
        let arguments = without_hidden_arguments(arguments);
        if let Some(value) = self.object(entry, &arguments, &mut report) {
            self.check(entry, value, context, &mut report);
        }
        report
    }

    /// The arguments as an object; if they are not one, reports that.
    fn object(
        &self,
        entry: Option<&Entry>,
        arguments: &Arguments,
        report: &mut CallReport,
    ) -> Option<ExactValue> {
        let tool = report.tool.clone();
        let nothing = matches!(arguments.as_str().trim(), "" | "null" | "\"\"");
        if nothing && entry.is_some_and(Entry::asks_for_nothing) {
            return Some(json!({}).into());
        }
        let read = arguments.exact();
        let twice = match read.as_deref() {
            Ok(Value::String(text)) if self.settings.coerce => Arguments::raw(text).exact().ok(),
            _ => None,
        };
        match (read, twice) {
            (Ok(value), _) if value.is_object() => return Some(value),
            (Ok(_), Some(value)) if value.is_object() => {
                let message = "the arguments were JSON inside a string and were unwrapped";
                let warning = IssueSeverity::Warn;
                report.issues.push(Issue::new(code::MALFORMED_ARGUMENTS, warning, &tool, message));
                report.corrected_arguments = Some(value.clone());
                return Some(value);
            }
            (Ok(other), _) => report.issues.push(not_an_object(&tool, &other)),
            (Err(error), _) => report.issues.push(malformed(&tool, arguments, &error)),
        }
        None
    }

    /// Whether the catalog has a tool with this name or one that it resolves to; always true for an
    /// unknown catalog.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        let Some(tools) = &self.tools else { return true };
        let resolved = || self.settings.resolve_names && self.names.resolve(tool).is_some();
        tools.contains_key(tool) || resolved()
    }

    fn find<'a>(
        &'a self,
        tools: &'a HashMap<String, Entry>,
        report: &mut CallReport,
    ) -> Option<&'a Entry> {
        let entry = tools.get(&report.tool);
        if let Some(entry) = entry.filter(|entry| entry.available) {
            return Some(entry);
        }
        if entry.is_none()
            && self.settings.resolve_names
            && let Some(name) = self.names.resolve(&report.tool)
        {
            report.issues.push(
                Issue::new(
                    code::UNKNOWN_TOOL,
                    IssueSeverity::Warn,
                    &report.tool,
                    format!("there is no tool `{}`; treated as `{name}`", report.tool),
                )
                .expected(name),
            );
            report.resolved_name = Some(name.to_owned());
            return tools.get(name);
        }
        report.issues.push(self.unknown_tool(&report.tool, entry.is_some(), &|_| true));
        None
    }

    /// Leaves tools that are not offered out of the advice about an unknown tool.
    pub fn hide(&self, report: &mut CallReport, offers: &dyn Fn(&str) -> bool) {
        let registered = self.tools.as_ref().is_some_and(|tools| tools.contains_key(&report.tool));
        let unknown = |issue: &&mut Issue| {
            issue.code == code::UNKNOWN_TOOL && issue.severity == IssueSeverity::Block
        };
        if let Some(issue) = report.issues.iter_mut().find(unknown) {
            *issue = self.unknown_tool(&report.tool, registered, offers);
        }
    }

    fn unknown_tool(&self, tool: &str, registered: bool, offers: &dyn Fn(&str) -> bool) -> Issue {
        let block = |message| Issue::new(code::UNKNOWN_TOOL, IssueSeverity::Block, tool, message);
        if tool.trim().is_empty() {
            // Listing the tools to a model that sent an empty name primes more empty calls.
            return block("the call does not name a tool".to_owned());
        }
        let shown = shortened(tool, 100);
        let mut message = if registered {
            format!("the tool `{shown}` is not available")
        } else {
            format!("there is no tool `{shown}`")
        };
        let (listed, similar) = self.names.ranked(tool, offers);
        let similar = listed.get(..similar).unwrap_or_default();
        if !similar.is_empty() && !registered {
            if let Some(letter) = look_alike(&shown, similar) {
                let code = u32::from(letter);
                message.push_str(&format!(" (its letter `{letter}` is U+{code:04X}, not ASCII)"));
            }
            message.push_str(&format!("; did you mean {}?", quoted(similar, " or ")));
        }
        if listed.is_empty() {
            message.push_str("; no tools are available");
        } else {
            let lead = if message.ends_with('?') { " Available: " } else { "; available: " };
            let more = if self.names.count(offers) > listed.len() { ", …" } else { "" };
            message.push_str(&format!("{lead}{}{more}", quoted(&listed, ", ")));
        }
        let issue = block(message).actual(shown);
        match similar.first() {
            Some(best) if !registered => issue.expected(*best),
            _ => issue,
        }
    }

    fn check(
        &self,
        entry: Option<&Entry>,
        arguments: ExactValue,
        context: Option<&dyn Context>,
        report: &mut CallReport,
    ) {
        if let Some(entry) = entry
            && let Some(schema) = &entry.schema
        {
            if !schema.is_valid(&arguments) {
                self.explain(schema, &arguments, report);
            }
            for violation in schema.format_violations(&arguments) {
                report.issues.push(issue_of(&report.tool, violation, IssueSeverity::Warn));
            }
            let tool = &report.tool;
            entry.shape.undeclared(&arguments, "", &mut |pointer, value| {
                let message = format!("`{pointer}` is not a parameter of `{tool}`");
                report.issues.push(
                    Issue::new(code::UNKNOWN_PARAM, IssueSeverity::Warn, tool, message)
                        .at(pointer)
                        .actual(shown(value)),
                );
            });
        }
        self.check_texts(entry, &arguments, context, report);
        if let Some(context) = context {
            check_grounds(entry, &arguments, context, report);
        }
        report.issues.sort_by_key(|issue| Reverse(issue.severity));
        report.arguments = Some(arguments);
    }

    fn explain(&self, schema: &Schema, arguments: &ExactValue, report: &mut CallReport) {
        let tool = report.tool.clone();
        let bare = without_absent_nulls(schema, arguments);
        if schema.is_valid(&bare) {
            return;
        }
        let mut remaining = schema.violations(&bare);
        remaining.retain(|violation| !violation.intended);
        if remaining.is_empty() {
            return;
        }
        if self.settings.coerce
            && let Some((corrected, settled)) = coerced(schema, &bare)
            && let Some(exact) = arguments.made_into(corrected)
        {
            for violation in settled {
                let mut issue = issue_of(&tool, violation, IssueSeverity::Warn);
                issue.message.push_str("; corrected");
                report.issues.push(issue);
            }
            remaining = schema.violations(&exact);
            remaining.retain(|violation| !violation.intended);
            report.corrected_arguments = Some(exact);
        }
        let blocking = remaining.into_iter();
        report.issues.extend(blocking.map(|v| issue_of(&tool, v, IssueSeverity::Block)));
    }

    fn check_texts(
        &self,
        entry: Option<&Entry>,
        arguments: &Value,
        context: Option<&dyn Context>,
        report: &mut CallReport,
    ) {
        let CallReport { tool, issues, .. } = report;
        each_text(arguments, &mut |pointer, text| {
            if let Some(limit) = self.exceeded(tool, pointer, text) {
                let pointer = pointer();
                let actual = text.chars().count();
                let message = format!(
                    "`{pointer}` is {actual} characters long, more than the usual maximum of \
                     {limit}"
                );
                issues.push(
                    Issue::new(code::SUSPICIOUS_LENGTH, IssueSeverity::Warn, tool, message)
                        .at(pointer)
                        .expected(format!("at most {limit} characters"))
                        .actual(format!("{actual} characters")),
                );
            }
            let declared = || {
                let schema = entry.and_then(|entry| entry.schema.as_ref());
                schema.is_some_and(|schema| schema.names(text))
            };
            let mentioned = || context.is_some_and(|context| context.mentions(text));
            if is_placeholder(text) && !mentioned() && !declared() {
                let pointer = pointer();
                let message = format!("`{pointer}` is a placeholder: `{text}`");
                issues.push(
                    Issue::new(code::PLACEHOLDER_VALUE, IssueSeverity::Warn, tool, message)
                        .at(pointer)
                        .expected("a real value")
                        .actual(text),
                );
            }
        });
    }

    /// The limit that a text exceeds, if any.
    fn exceeded(&self, tool: &str, pointer: &dyn Fn() -> String, text: &str) -> Option<usize> {
        let AdmissionSettings { longest_text, longest_text_of: own, .. } = &self.settings;
        let own = (!own.is_empty()).then(|| own.get(&(tool.to_owned(), pointer()))).flatten();
        let limit = *own.unwrap_or(longest_text);
        (text.len() > limit && text.chars().nth(limit).is_some()).then_some(limit)
    }
}

fn check_grounds(
    entry: Option<&Entry>,
    arguments: &Value,
    context: &dyn Context,
    report: &mut CallReport,
) {
    let tool = report.tool.clone();
    let reads = entry.map_or_else(|| reads_by_name(&tool), |entry| entry.reads);
    let documented = |word: &str| {
        // A value from the tool's own schema (an enum, an example) is not invented.
        let source = entry.and_then(|e| e.schema.as_ref()).map(|s| s.source().to_string());
        source.is_some_and(|text| text.to_ascii_lowercase().contains(word))
    };
    for Needle { kind, pointer, value, word } in needles(arguments, context.has_looked()) {
        let (code, what) = match kind {
            NeedleKind::Template => continue,
            NeedleKind::Path if !reads || !context.is_missing(&value) => continue,
            NeedleKind::Read | NeedleKind::Url if !context.is_missing(&value) => continue,
            NeedleKind::Path | NeedleKind::Read => (code::UNGROUNDED_PATH, "path"),
            NeedleKind::Url | NeedleKind::Entity => (code::UNGROUNDED_VALUE, "value"),
        };
        // `out` is too vague a word for `ghost/out`; a file name is specific enough.
        let whole = context.has_looked() && code == code::UNGROUNDED_PATH && !word.contains('.');
        let word = if whole { value.to_ascii_lowercase() } else { word };
        if context.mentions(&word) || documented(&word) {
            continue;
        }
        let message = format!(
            "the {what} `{value}` is not in any instruction, user message or earlier tool output"
        );
        report.issues.push(
            Issue::new(code, IssueSeverity::Warn, &tool, message)
                .at(pointer)
                .expected(format!("a {what} from the context"))
                .actual(value),
        );
    }
}

/// The arguments without optional members that are null.
fn without_absent_nulls(schema: &Schema, arguments: &Value) -> Value {
    let mut bare = arguments.clone();
    if !remove_nulls(&mut bare) {
        return bare;
    }
    // A required null is kept for validation to judge.
    for _ in 0..8 {
        let missing: Vec<Violation> = schema
            .violations(&bare)
            .into_iter()
            .filter(|v| v.breach == Breach::Missing && arguments.pointer(&v.pointer).is_some())
            .collect();
        if missing.is_empty() {
            break;
        }
        for violation in missing {
            let Some((parent, name)) = violation.pointer.rsplit_once('/') else { continue };
            if let Some(Value::Object(members)) = bare.pointer_mut(parent) {
                members.insert(unescaped(name), Value::Null);
            }
        }
    }
    bare
}

fn remove_nulls(value: &mut Value) -> bool {
    match value {
        Value::Object(members) => {
            let before = members.len();
            members.retain(|_, member| !member.is_null());
            let mut removed = members.len() < before;
            for member in members.values_mut() {
                removed |= remove_nulls(member);
            }
            removed
        }
        Value::Array(items) => {
            let mut removed = false;
            for item in items {
                removed |= remove_nulls(item);
            }
            removed
        }
        _ => false,
    }
}

fn issue_of(tool: &str, violation: Violation, severity: IssueSeverity) -> Issue {
    let Violation { breach, pointer, expected, actual, .. } = violation;
    let at = if pointer.is_empty() { "the arguments".to_owned() } else { format!("`{pointer}`") };
    let (code, message) = match breach {
        Breach::Missing => {
            (code::MISSING_REQUIRED, format!("{at} is required but missing; expected {expected}"))
        }
        Breach::Type => (code::WRONG_TYPE, format!("{at} must be {expected}, got {actual}")),
        Breach::Unknown => (code::UNKNOWN_PARAM, format!("{at} is not a parameter of `{tool}`")),
        Breach::Value => (code::INVALID_VALUE, format!("{at} must be {expected}, got {actual}")),
        Breach::Format => {
            (code::INVALID_FORMAT, format!("{at} should have {expected}, got {actual}"))
        }
    };
    let issue = Issue::new(code, severity, tool, message).at(pointer).expected(expected);
    if actual.is_empty() { issue } else { issue.actual(actual) }
}

fn not_an_object(tool: &str, value: &Value) -> Issue {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let message = format!("the arguments must be a JSON object, got {kind}");
    Issue::new(code::MALFORMED_ARGUMENTS, IssueSeverity::Block, tool, message)
        .expected("a JSON object")
        .actual(shown(value))
}

fn malformed(tool: &str, arguments: &Arguments, error: &JsonError) -> Issue {
    let text = arguments.as_str();
    let message = match error {
        _ if text.trim().is_empty() => {
            "the arguments are empty; send `{}` for a call without arguments".to_owned()
        }
        JsonError::Truncated(_) => {
            format!("the arguments are incomplete: {error}; send them in full")
        }
        JsonError::TooLarge { .. } => format!("the arguments are too large: {error}"),
        JsonError::Invalid(_) => format!("the arguments are not valid JSON: {error}"),
    };
    Issue::new(code::MALFORMED_ARGUMENTS, IssueSeverity::Block, tool, message)
        .expected("a JSON object")
        .actual(shortened(text, 100))
}

fn reads(tool: &Tool) -> bool {
    let Some(reads) = tool.effects.reads else { return reads_by_name(&tool.name) };
    reads && tool.effects.writes != Some(true)
}

fn reads_by_name(name: &str) -> bool {
    words(name).any(|word| {
        matches!(word.as_str(), "read" | "view" | "open" | "cat" | "show" | "load" | "list" | "ls")
    }) && !words(name).any(|word| matches!(word.as_str(), "write" | "edit" | "create" | "update"))
}

/// The first letter of a name that is not ASCII, where the names that may be meant are.
fn look_alike(name: &str, meant: &[&str]) -> Option<char> {
    let letter = name.chars().find(|c| !c.is_ascii() && c.is_alphabetic());
    letter.filter(|_| meant.iter().all(|name| name.is_ascii()))
}

fn quoted(names: &[&str], between: &str) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between)
}
