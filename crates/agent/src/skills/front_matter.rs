//! The front matter of a `SKILL.md`: where it is, its fields, and what the specification asks of
//! them.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::{SkillError, SkillProblem};
use super::plain_yaml::{Node, YamlError};
use super::visible::visible;
use super::warning::{SkillWarning, WarningKind};

/// The most bytes of a front matter.
const MOST_BYTES: usize = 16 * 1024;

const FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

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

/// The fields of a front matter that keeps to the specification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) license: Option<String>,
    pub(super) compatibility: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) allowed_tools: Vec<String>,
}

/// Parts front matter and body.
///
/// # Errors
/// A front matter that does not begin, does not end, or is larger than 16 KiB.
pub(super) fn split(text: &str) -> Result<Parts<'_>, SkillProblem> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if !is_fence(first) {
        return Err(SkillProblem::NoFrontMatter);
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
            return Err(SkillProblem::TooLarge { what: "the front matter is", most: "16 KiB" });
        }
    }
    Err(SkillProblem::FrontMatterNotClosed)
}

/// Reads a front matter and holds it against the specification.
pub(super) struct FrontMatter<'t> {
    file: &'t Path,
    folder: &'t str,
    front: &'t str,
    errors: Vec<SkillError>,
    warnings: Vec<SkillWarning>,
}

impl<'t> FrontMatter<'t> {
    pub(super) fn new(file: &'t Path, folder: &'t str, front: &'t str) -> Self {
        Self { file, folder, front, errors: Vec::new(), warnings: Vec::new() }
    }

    /// The fields, with warnings.
    ///
    /// # Errors
    /// Everything that is against the specification.
    pub(super) fn read(mut self) -> Result<(Fields, Vec<SkillWarning>), Vec<SkillError>> {
        let fields = match self.members() {
            Ok(members) => self.fields(members),
            Err(error) => return Err(vec![error]),
        };
        if self.errors.is_empty() { Ok((fields, self.warnings)) } else { Err(self.errors) }
    }

    fn members(&mut self) -> Result<Vec<(String, Node)>, SkillError> {
        let says_nothing = |line: &str| line.trim().is_empty() || line.starts_with('#');
        if self.front.lines().all(says_nothing) {
            return Err(self.error(SkillProblem::NotAMapping, Some(1)));
        }
        let node = Node::read(self.front).or_else(|error| self.read_quoted(error));
        match node {
            Ok(Node::Map(members)) => Ok(members),
            Ok(Node::Text(_) | Node::List(_)) => {
                Err(self.error(SkillProblem::NotAMapping, Some(1)))
            }
            Err(YamlError { reason, line }) => {
                let line = line.filter(|line| *line <= self.front.lines().count());
                let text = line.and_then(|line| self.front.lines().nth(line - 1));
                let error = self.error(SkillProblem::InvalidYaml(reason), line.map(|at| at + 1));
                Err(match text {
                    Some(text) => error.with("text", text.trim_end()),
                    None => error,
                })
            }
        }
    }

    /// The second try, with values quoted that have colons.
    fn read_quoted(&mut self, error: YamlError) -> Result<Node, YamlError> {
        let (quoted, lines) = quote_colons(self.front);
        if lines.is_empty() {
            return Err(error);
        }
        let node = Node::read(&quoted).map_err(|_| error)?;
        for line in lines {
            let why = "the value has a colon and is not quoted, which is not YAML; it is read as \
                       one text";
            self.warn(Some(line + 1), WarningKind::QuotedValue, why.to_owned());
        }
        Ok(node)
    }

    fn fields(&mut self, members: Vec<(String, Node)>) -> Fields {
        let mut known = BTreeMap::new();
        for (name, node) in members {
            if FIELDS.contains(&name.as_str()) {
                known.insert(name, node);
            } else {
                let line = self.line_of(&name);
                let why = format!("the specification has no field `{}`", visible(&name));
                self.warn(line, WarningKind::UnknownField, why);
            }
        }
        let mut take = |name: &str| known.remove(name);
        let (name, description) = (take("name"), take("description"));
        let (license, compatibility) = (take("license"), take("compatibility"));
        let (metadata, allowed) = (take("metadata"), take("allowed-tools"));
        let fields = Fields {
            name: self.required("name", name),
            description: self.required("description", description),
            license: license.and_then(|node| self.text("license", node)),
            compatibility: compatibility.and_then(|node| self.text("compatibility", node)),
            metadata: metadata.map(|node| self.metadata(node)).unwrap_or_default(),
            allowed_tools: allowed.map(|node| self.allowed_tools(node)).unwrap_or_default(),
        };
        self.check_name(&fields.name);
        self.check_length("description", &fields.description, 1024);
        self.check_length("compatibility", fields.compatibility.as_deref().unwrap_or(""), 500);
        fields
    }

    fn required(&mut self, field: &'static str, node: Option<Node>) -> String {
        match node {
            None => self.fail(SkillProblem::Missing(field), None),
            Some(Node::Text(text)) if text.trim().is_empty() => {
                self.fail(SkillProblem::Blank(field), Some(field));
            }
            Some(node) => return self.text(field, node).unwrap_or_default(),
        }
        String::new()
    }

    /// A text; a blank one is none.
    fn text(&mut self, field: &'static str, node: Node) -> Option<String> {
        if let Node::Text(text) = node {
            return Some(text.trim_end_matches('\n').to_owned()).filter(|t| !t.trim().is_empty());
        }
        self.fail(SkillProblem::WrongKind { field, expected: "a text" }, Some(field));
        None
    }

    fn metadata(&mut self, node: Node) -> BTreeMap<String, String> {
        let members = match node {
            Node::Map(members) => members,
            Node::Text(text) if text.is_empty() => return BTreeMap::new(),
            Node::Text(_) | Node::List(_) => {
                let problem = SkillProblem::WrongKind { field: "metadata", expected: "a mapping" };
                self.fail(problem, Some("metadata"));
                return BTreeMap::new();
            }
        };
        let mut metadata = BTreeMap::new();
        for (name, node) in members {
            let text = match node {
                Node::Text(text) => text,
                nested @ (Node::List(_) | Node::Map(_)) => {
                    let why = format!("`{}` is no text, and is kept as JSON", visible(&name));
                    let line = self.line_of("metadata");
                    self.warn(line, WarningKind::NestedMetadata, why);
                    nested.to_json().to_string()
                }
            };
            metadata.insert(name, text);
        }
        metadata
    }

    fn allowed_tools(&mut self, node: Node) -> Vec<String> {
        let nodes = match node {
            Node::Text(text) => return tool_names(&text),
            Node::List(nodes) => nodes,
            Node::Map(_) => vec![node],
        };
        let mut names = Vec::new();
        for node in nodes {
            match node {
                Node::Text(text) => names.push(text.trim().to_owned()),
                Node::List(_) | Node::Map(_) => {
                    let (field, expected) = ("allowed-tools", "a list of texts");
                    self.fail(SkillProblem::WrongKind { field, expected }, Some(field));
                    break;
                }
            }
        }
        names.retain(|name| !name.is_empty());
        names
    }

    fn check_name(&mut self, name: &str) {
        if name.is_empty() {
            return;
        }
        self.check_length("name", name, 64);
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let problem = if !name.chars().all(allowed) {
            SkillProblem::NameCharacters
        } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
            SkillProblem::NameHyphens
        } else if name != self.folder {
            SkillProblem::NameNotFolder(self.folder.to_owned())
        } else {
            return;
        };
        let error = self.error(problem, self.line_of("name")).with("name", name);
        self.errors.push(error);
    }

    fn check_length(&mut self, field: &'static str, text: &str, most: usize) {
        let length = text.chars().count();
        if length > most {
            self.fail(SkillProblem::TooLong { field, length, most }, Some(field));
        }
    }

    fn fail(&mut self, problem: SkillProblem, field: Option<&str>) {
        let line = field.and_then(|field| self.line_of(field));
        let error = self.error(problem, line);
        self.errors.push(error);
    }

    fn error(&self, problem: SkillProblem, line: Option<usize>) -> SkillError {
        SkillError::new(problem, self.file).of_skill(self.folder).at(line)
    }

    fn warn(&mut self, line: Option<usize>, what: WarningKind, why: String) {
        self.warnings.push(SkillWarning::new(self.file, line, what, why));
    }

    /// The line of the file on which a field begins, where it is written without quotes.
    fn line_of(&self, field: &str) -> Option<usize> {
        let begins = |line: &str| {
            line.strip_prefix(field).is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        self.front.lines().position(begins).map(|at| at + 2)
    }
}

/// `allowed-tools` in one text: names with blanks or commas between them, outside parentheses.
fn tool_names(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let between = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    };
    text.split(between).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// A front matter in which plain values with colons are quoted, and the lines of those, from 1.
/// Only fields at its top level are touched, with the indented lines that go on with them.
fn quote_colons(front: &str) -> (String, Vec<usize>) {
    let (mut quoted, mut changed) = (String::new(), Vec::new());
    let mut lines = front.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let Some((field, value, comment)) = plain_value(line) else {
            quoted.push_str(line);
            quoted.push('\n');
            continue;
        };
        let mut value = value.to_owned();
        let goes_on = |line: &str| line.starts_with([' ', '\t']) && !line.trim().is_empty();
        while let Some((_, more)) = lines.next_if(|(_, line)| comment.is_empty() && goes_on(line)) {
            value.push('\n');
            value.push_str(more.trim_end());
        }
        if value.contains(": ") || value.contains(":\n") || value.ends_with(':') {
            changed.push(at + 1);
            value = format!("'{}'", value.replace('\'', "''"));
        }
        quoted.push_str(&format!("{field}: {value}{comment}\n"));
    }
    (quoted, changed)
}

/// A line at the top level: its field, its value if that is plain, and a comment with its blank.
fn plain_value(line: &str) -> Option<(&str, &str, &str)> {
    let (field, rest) = line.split_once(':')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if field.is_empty() || !field.chars().all(is_name) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    let (value, comment) =
        rest.find(" #").and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
    let value = value.trim();
    let marks = ['"', '\'', '|', '>', '[', ']', '{', '}', '&', '*', '!', '#', '%', '@', '`', ','];
    (!value.is_empty() && !value.starts_with(marks)).then_some((field, value, comment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools() {
        for (text, names) in [
            ("Read Write", &["Read", "Write"][..]),
            ("Read, Write,Bash(git add:*)", &["Read", "Write", "Bash(git add:*)"]),
            ("Bash(git:*)  Bash(jq:*, x)\n", &["Bash(git:*)", "Bash(jq:*, x)"]),
            ("", &[]),
            ("Bash(open Read", &["Bash(open Read"]),
        ] {
            assert_eq!(tool_names(text), names, "{text}");
        }
    }

    #[test]
    fn colons_are_quoted() {
        for (front, quoted, lines) in [
            ("d: Use when: x", "d: 'Use when: x'\n", &[1][..]),
            ("n: a\nd: it's: x # c", "n: a\nd: 'it''s: x' # c\n", &[2]),
            ("d: a: b\n  and c: d\nn: x", "d: 'a: b\n  and c: d'\nn: x\n", &[1]),
            ("d: 'a: b'\nm:\n  a: b: c", "d: 'a: b'\nm:\n  a: b: c\n", &[]),
            ("d: ends:", "d: 'ends:'\n", &[1]),
            ("d: http://x", "d: http://x\n", &[]),
        ] {
            assert_eq!(quote_colons(front), (quoted.to_owned(), lines.to_vec()), "{front}");
        }
    }

    #[test]
    fn the_two_parts() {
        let parts = split("---\nname: a\n---\nbody\n").unwrap();
        assert_eq!(parts, Parts { front: "name: a\n", body: "body\n", body_line: 4 });
        let parts = split("--- \r\nname: a\r\n---\r\n").unwrap();
        assert_eq!(parts, Parts { front: "name: a\r\n", body: "", body_line: 4 });
        assert_eq!(split("---\n---"), Ok(Parts { front: "", body: "", body_line: 3 }));
        assert_eq!(split("---\nname: a\n --- \n"), Err(SkillProblem::FrontMatterNotClosed));
        assert_eq!(split("name: a\n"), Err(SkillProblem::NoFrontMatter));
        assert_eq!(split(""), Err(SkillProblem::NoFrontMatter));
    }
}
