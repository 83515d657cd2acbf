//! The front matter of a `SKILL.md`: where it is, and the name and description that it gives.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_saphyr::{Error, Spanned};

use super::error::{SkillError, visible};
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

static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?ms)\A---[ \t\r]*\n(?P<front>.*?)^---[ \t\r]*$\n?(?P<body>.*)\z").ok()
});

/// Parts front matter and body; nothing where there is no front matter.
pub(super) fn split(text: &str) -> Option<Parts<'_>> {
    let found = PARTS.as_ref()?.captures(text)?;
    let (front, body) = (found.name("front")?.as_str(), found.name("body")?.as_str());
    Some(Parts { front, body, body_line: front.matches('\n').count() + 3 })
}

/// What is read of a front matter. Other fields are left alone; `allowed-tools` grants nothing.
#[derive(Deserialize)]
struct Fields {
    name: Spanned<String>,
    description: Spanned<String>,
}

/// Reads the name and the description, each as the text that is written there.
///
/// # Errors
/// What is against the specification.
pub(super) fn read(
    file: &Path,
    folder: &str,
    front: &str,
) -> Result<(String, String, Option<SkillWarning>), SkillError> {
    if front.len() > MOST_BYTES {
        let help = "shorten it and move the rest to the body";
        return Err(SkillError::new(file, "the front matter is larger than 16 KiB", help).at(1));
    }
    let (fields, warning) = match fields(front) {
        Ok(fields) => (fields, None),
        Err(error) => {
            let line = line_of(error.location());
            let fields = fields(&with_colons_quoted(front)).map_err(|_| {
                let what = format!("the front matter cannot be read: {}", error.without_snippet());
                let help = "write each field as `name: value`, and quote values with special \
                            characters; anchors, aliases and tags are not allowed";
                SkillError::new(file, visible(&what), help).at(line)
            })?;
            let why = "an unquoted value contains a colon, which is not valid YAML; it is read as \
                       a single string";
            let warning = SkillWarning::new(file, Some(line), WarningKind::QuotedValue, why);
            (fields, Some(warning))
        }
    };
    let name = text(file, "name", &fields.name, 64)?;
    let description = text(file, "description", &fields.description, 1024)?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let (what, help) = if !name.split('-').all(|part| !part.is_empty() && part.chars().all(plain)) {
        let what = "may contain only `a` to `z`, `0` to `9` and single hyphens between them";
        (format!("the name `{}` {what}", visible(&name)), "use a name such as `pdf-forms`")
    } else if name != folder {
        let what = format!("the name does not match the name of the folder, `{}`", visible(folder));
        (what, "rename the folder or the skill")
    } else {
        return Ok((name, description, warning));
    };
    Err(SkillError::new(file, what, help).at(line_of(Some(fields.name.referenced))))
}

fn fields(front: &str) -> Result<Fields, Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: 16, max_anchors: 0, max_aliases: 0 },
        merge_keys: serde_saphyr::MergeKeyPolicy::Error,
        null_as_string: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(front, options)
}

/// A line of the file, whose first line is a fence.
fn line_of(place: Option<serde_saphyr::Location>) -> usize {
    place.and_then(|place| usize::try_from(place.line()).ok()).unwrap_or(0) + 1
}

/// Quotes plain values with a colon.
fn with_colons_quoted(front: &str) -> String {
    let quoted = |line: &str| match line.split_once(": ") {
        Some((field, value))
            if (value.contains(": ") || value.ends_with(':'))
                && !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!']) =>
        {
            format!("{field}: '{}'\n", value.replace('\'', "''"))
        }
        _ => format!("{line}\n"),
    };
    front.lines().map(quoted).collect()
}

/// A text that is neither blank nor too long.
fn text(
    file: &Path,
    field: &str,
    value: &Spanned<String>,
    most: usize,
) -> Result<String, SkillError> {
    let text = value.value.trim_end_matches('\n');
    let length = text.chars().count();
    let (what, help) = if text.trim().is_empty() {
        (format!("the field `{field}` is blank"), "say what the skill does and when to use it")
    } else if length > most {
        let what = format!("the field `{field}` has {length} characters; the maximum is {most}");
        (what, "shorten it and move the rest to the body")
    } else {
        return Ok(text.to_owned());
    };
    Err(SkillError::new(file, what, help).at(line_of(Some(value.referenced))))
}
