//! The front matter of a `SKILL.md`: where it is, its fields, and what the specification asks of
//! them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::error::{SkillError, SkillProblem, visible};
use super::plain_yaml::{Node, YamlError};
use super::warning::{SkillWarning, WarningKind};

/// The most bytes of a front matter.
const MOST_BYTES: usize = 16 * 1024;

/// The two parts of a `SKILL.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts<'t> {
    /// Between the two lines `---`; it begins on line 2.
    pub(super) front: &'t str,
    /// What follows.
    pub(super) body: &'t str,
    /// The line on which the body begins.
    pub(super) body_line: usize,
}

/// What other fields the specification has, and what they are.
const OPTIONAL: [(&str, &str); 4] = [
    ("license", "a text"),
    ("compatibility", "a text"),
    ("metadata", "a mapping"),
    ("allowed-tools", "a list of texts"),
];

/// Parts front matter and body.
///
/// # Errors
/// A front matter that does not begin, does not end, or is larger than 16 KiB.
pub(super) fn split(text: &str) -> Result<Parts<'_>, SkillProblem> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if !is_fence(first) {
        let help = "begin with `---`, then `name:` and `description:`, then `---`";
        return Err(SkillProblem::new("the file does not begin with a line `---`", help));
    }
    let mut length = 0_usize;
    for (at, line) in rest.split_inclusive('\n').enumerate() {
        if is_fence(line) {
            let (front, body) = rest.split_at_checked(length).unwrap_or((rest, ""));
            let body = body.get(line.len()..).unwrap_or_default();
            return Ok(Parts { front, body, body_line: at + 3 });
        }
        length = length.saturating_add(line.len());
        if length > MOST_BYTES {
            return Err(SkillProblem::too_large("the front matter is", "16 KiB"));
        }
    }
    let help = "end the front matter with a line that is only `---`";
    Err(SkillProblem::new("the front matter is not closed by a line `---`", help))
}

/// Reads the name and the description, and holds all fields against the specification.
/// `allowed-tools` grants nothing.
///
/// # Errors
/// Everything that is against the specification.
pub(super) fn read(
    file: &Path,
    folder: &str,
    front: &str,
) -> Result<(String, String, Vec<SkillWarning>), Vec<SkillError>> {
    let (members, errors, warnings) = (BTreeMap::new(), Vec::new(), Vec::new());
    let mut reader = Reader { file, folder, members, errors, warnings };
    reader.members = reader.read(front).map_err(|error| vec![error])?;
    let (name, description) = (reader.required("name", 64), reader.required("description", 1024));
    reader.optional();
    for (name, (line, _)) in std::mem::take(&mut reader.members) {
        let why = format!("the specification has no field `{}`", visible(&name));
        reader.warn(line, WarningKind::UnknownField, why);
    }
    let Reader { errors, warnings, .. } = reader;
    if errors.is_empty() { Ok((name, description, warnings)) } else { Err(errors) }
}

struct Reader<'t> {
    file: &'t Path,
    folder: &'t str,
    /// The fields that are not read yet, with their lines.
    members: BTreeMap<String, (usize, Node)>,
    errors: Vec<SkillError>,
    warnings: Vec<SkillWarning>,
}

impl Reader<'_> {
    fn read(&mut self, front: &str) -> Result<BTreeMap<String, (usize, Node)>, SkillError> {
        let says_nothing = |line: &str| line.trim().is_empty() || line.starts_with('#');
        let node = match front.lines().all(says_nothing) {
            true => Ok(Node::List(Vec::new())),
            false => Node::read(front).or_else(|error| self.read_quoted(front, error)),
        };
        match node {
            // The first line of the file is a fence.
            Ok(Node::Map(members)) => {
                Ok(members.into_iter().map(|(name, line, node)| (name, (line + 1, node))).collect())
            }
            Ok(Node::Text(_) | Node::List(_)) => {
                let help = "write each field as `name: value`";
                let problem = SkillProblem::new("the front matter has no fields", help);
                Err(self.error(problem, Some(1)))
            }
            Err(YamlError { reason, line }) => {
                let what = format!("the front matter cannot be read: {reason}");
                let help = "write each field as `name: value` on one line, and quote values with \
                            special characters; anchors, aliases and tags are refused";
                let text = line.checked_sub(1).and_then(|at| front.lines().nth(at));
                let error =
                    self.error(SkillProblem::new(what, help), text.and(line.checked_add(1)));
                Err(text.map_or(error.clone(), |text| error.with("text", text.trim_end())))
            }
        }
    }

    /// The second try, with values quoted that have colons.
    fn read_quoted(&mut self, front: &str, error: YamlError) -> Result<Node, YamlError> {
        let (quoted, lines) = quote_colons(front);
        if lines.is_empty() {
            return Err(error);
        }
        let node = Node::read(&quoted).map_err(|_| error)?;
        for line in lines {
            let why = "the value has a colon and is not quoted, which is not YAML; it is read as \
                       one text";
            self.warn(line + 1, WarningKind::QuotedValue, why.to_owned());
        }
        Ok(node)
    }

    fn required(&mut self, field: &'static str, most: usize) -> String {
        let line = self.members.get(field).map(|(line, _)| *line);
        let before = self.errors.len();
        let text = self.text(field, most);
        if text.is_none() && self.errors.len() == before {
            let help = match (field, line) {
                ("name", None) => "add `name:` with the name of the folder",
                _ => "say what the skill does and when to use it",
            };
            let what = if line.is_some() { "blank" } else { "missing" };
            self.fail(format!("the field `{field}` is {what}"), help, line);
        }
        let text = text.unwrap_or_default();
        if field == "name" && !text.is_empty() {
            self.check_name(&text, line);
        }
        text
    }

    /// A text; a blank one is none.
    fn text(&mut self, field: &'static str, most: usize) -> Option<String> {
        let (line, node) = self.members.remove(field)?;
        let Node::Text(text) = node else {
            self.wrong(field, "a text", line);
            return None;
        };
        let text = Some(text.trim_end_matches('\n')).filter(|text| !text.trim().is_empty())?;
        let length = text.chars().count();
        if length > most {
            let what = format!("the field `{field}` has {length} characters, {most} are the most");
            self.fail(what, "shorten it, and put the rest into the body", Some(line));
        }
        Some(text.to_owned())
    }

    fn optional(&mut self) {
        for (field, expected) in OPTIONAL {
            if expected == "a text" {
                self.text(field, if field == "license" { usize::MAX } else { 500 });
                continue;
            }
            let Some((line, node)) = self.members.remove(field) else { continue };
            let is_text = |node: &Node| matches!(node, Node::Text(_));
            let fits = match &node {
                Node::Text(text) => expected == "a list of texts" || text.is_empty(),
                Node::List(nodes) => expected == "a list of texts" && nodes.iter().all(is_text),
                Node::Map(_) => expected == "a mapping",
            };
            if !fits {
                self.wrong(field, expected, line);
            }
        }
    }

    fn wrong(&mut self, field: &str, expected: &str, line: usize) {
        let help = match expected {
            "a mapping" => "write its members below it as `name: value`, indented",
            "a list of texts" => "write the names of the tools with blanks between them",
            _ => "write it as one text, in quotes where needed",
        };
        self.fail(format!("the field `{field}` is not {expected}"), help, Some(line));
    }

    fn check_name(&mut self, name: &str, line: Option<usize>) {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let help = "use a name such as `pdf-forms`";
        let problem = if !name.chars().all(allowed) {
            let what = "the name has characters other than `a` to `z`, `0` to `9` and `-`";
            SkillProblem::new(what, help)
        } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
            SkillProblem::new("the name begins or ends with a hyphen, or has two in a row", help)
        } else if name != self.folder {
            let what = format!("the name is not that of the folder, `{}`", visible(self.folder));
            SkillProblem::new(what, "rename the folder or the skill")
        } else {
            return;
        };
        let error = self.error(problem, line).with("name", name);
        self.errors.push(error);
    }

    fn fail(&mut self, what: String, help: &'static str, line: Option<usize>) {
        let error = self.error(SkillProblem::new(what, help), line);
        self.errors.push(error);
    }

    fn error(&self, problem: SkillProblem, line: Option<usize>) -> SkillError {
        SkillError::new(problem, self.file).of_skill(self.folder).at(line)
    }

    fn warn(&mut self, line: usize, what: WarningKind, why: String) {
        self.warnings.push(SkillWarning::new(self.file, Some(line), what, why));
    }
}

/// A field at the top level whose value is plain, with the indented lines that go on with it.
static PLAIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let value = r##"[^\s"'|>\[\]{}&*!#%@`,][^\n#]*(?:\n[ \t]+\S[^\n]*)*"##;
    Regex::new(&format!("(?m)^(?P<field>[A-Za-z0-9_-]+:[ \t]+)(?P<value>{value})")).ok()
});

/// A front matter in which plain values with colons are quoted, and the lines of those, from 1.
fn quote_colons(front: &str) -> (String, Vec<usize>) {
    let mut lines = Vec::new();
    let Some(plain) = PLAIN.as_ref() else { return (front.to_owned(), lines) };
    let quoted = plain.replace_all(front, |found: &Captures<'_>| {
        let text = |name: &str| found.name(name).map_or("", |part| part.as_str());
        let (field, value) = (text("field"), text("value").trim_end());
        if !(value.contains(": ") || value.contains(":\n") || value.ends_with(':')) {
            return found.get(0).map_or("", |all| all.as_str()).to_owned();
        }
        let start = found.get(0).map_or(0, |all| all.start());
        lines.push(front.get(..start).unwrap_or_default().matches('\n').count() + 1);
        format!("{field}'{}' ", value.replace('\'', "''"))
    });
    (quoted.into_owned(), lines)
}
