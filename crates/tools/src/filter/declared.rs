use std::borrow::Cow;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lines::{is_note, joined, left_out};
use super::preserved::is_preserved;
use super::repeats::without_repeats;
use super::{CommandMatcher, Filter, FilterCall, FilterConfidence, FilterId, Filtered};

/// A filter as declared in a file: the commands it applies to, and which lines of their output may
/// be dropped.
///
/// Expressions match single lines, without colours. A line that reports a problem always stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FilterDeclaration {
    /// The filter's name.
    pub id: String,
    /// Commands by their first words: `cargo test` also matches `cargo test --lib`.
    pub commands: Vec<String>,
    /// Commands by their exact text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<String>,
    /// Commands by regular expressions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regex: Vec<String>,
    /// Lines by which the expected output is recognised. Without any, all output counts as
    /// recognised, but only with partial confidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recognise: Vec<String>,
    /// Lines that are only progress: always left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<String>,
    /// Lines whose information is repeated elsewhere in the output: left out if the output is
    /// recognised.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Lines that stay even if an expression above matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Whether consecutive identical lines are replaced by one line and a count.
    pub merge_repeats: bool,
    /// Shortens long output that is recognised and comes from a successful command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

/// The limits for shortening output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Output of up to this many lines is not shortened.
    pub above: usize,
    /// The number of lines kept at the beginning.
    pub head: usize,
    /// The number of lines kept at the end.
    pub tail: usize,
}

/// Why a declaration is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterDeclarationError {
    /// Its name is invalid.
    #[error("`{0}` is not a valid filter name; use only letters, digits and `-`")]
    Name(String),
    /// It lists no command.
    #[error("the filter `{0}` lists no commands")]
    NoCommand(String),
    /// An expression is invalid.
    #[error("the filter `{id}`: `{expression}` is not a valid regular expression: {reason}")]
    Expression {
        /// The filter.
        id: String,
        /// The expression.
        expression: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It keeps more lines than its limit.
    #[error("the filter `{0}`: `head` plus `tail` must be less than `above`")]
    Cut(String),
}

/// A declared filter, checked.
#[derive(Debug, Clone)]
pub struct DeclaredFilter {
    id: FilterId,
    matchers: Vec<CommandMatcher>,
    recognise: Lines,
    progress: Lines,
    details: Lines,
    keep: Lines,
    merge_repeats: bool,
    cut: Option<Cut>,
}

/// Matches lines by a set of expressions. Compiled on first use, because a process uses few of the
/// filters.
#[derive(Debug, Clone)]
struct Lines {
    expressions: Vec<String>,
    compiled: OnceLock<Option<Regex>>,
}

impl Lines {
    fn new(expressions: Vec<String>) -> Self {
        Self { expressions, compiled: OnceLock::new() }
    }

    fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    fn holds(&self, line: &str) -> bool {
        let regex = self.compiled.get_or_init(|| {
            let all: Vec<String> =
                self.expressions.iter().map(|one| format!("(?:{one})")).collect();
            // An expression that does not compile was refused before. If all together are too
            // large, nothing matches and every line stays.
            if all.is_empty() { None } else { compiled("", &all.join("|")).ok() }
        });
        regex.as_ref().is_some_and(|regex| regex.is_match(line))
    }
}

impl FilterDeclaration {
    /// The checked filter.
    ///
    /// # Errors
    /// When a name, an expression or a number is invalid.
    pub fn resolve(self) -> Result<DeclaredFilter, FilterDeclarationError> {
        for expressions in [&self.recognise, &self.progress, &self.details, &self.keep] {
            // Each separately first, so that the error names the wrong one.
            for expression in expressions {
                compiled(&self.id, expression)?;
            }
            let all: Vec<String> = expressions.iter().map(|one| format!("(?:{one})")).collect();
            compiled(&self.id, &all.join("|"))?;
        }
        self.unproven()
    }

    /// The filter, without compiling its expressions for lines.
    pub(super) fn unproven(self) -> Result<DeclaredFilter, FilterDeclarationError> {
        let id = self.id;
        let named = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if id.is_empty() || !id.chars().all(named) {
            return Err(FilterDeclarationError::Name(id));
        }
        let mut matchers: Vec<CommandMatcher> = Vec::new();
        matchers.extend(self.commands.into_iter().map(CommandMatcher::Prefix));
        matchers.extend(self.exact.into_iter().map(CommandMatcher::Exact));
        for expression in &self.regex {
            matchers.push(CommandMatcher::Regex(compiled(&id, expression)?));
        }
        if matchers.is_empty() {
            return Err(FilterDeclarationError::NoCommand(id));
        }
        if self.cut.is_some_and(|cut| cut.head.saturating_add(cut.tail) >= cut.above) {
            return Err(FilterDeclarationError::Cut(id));
        }
        Ok(DeclaredFilter {
            recognise: Lines::new(self.recognise),
            progress: Lines::new(self.progress),
            details: Lines::new(self.details),
            keep: Lines::new(self.keep),
            id: FilterId(id),
            matchers,
            merge_repeats: self.merge_repeats,
            cut: self.cut,
        })
    }
}

fn compiled(id: &str, expression: &str) -> Result<Regex, FilterDeclarationError> {
    // Bounded, so that no configuration can use gigabytes.
    RegexBuilder::new(expression).size_limit(1 << 20).build().map_err(|error| {
        FilterDeclarationError::Expression {
            id: id.to_owned(),
            expression: expression.to_owned(),
            reason: error.to_string(),
        }
    })
}

impl Filter for DeclaredFilter {
    fn id(&self) -> FilterId {
        self.id.clone()
    }

    fn matchers(&self) -> &[CommandMatcher] {
        &self.matchers
    }

    fn apply(&self, text: &str, call: &FilterCall<'_>) -> Filtered {
        let lines: Vec<&str> = text.lines().collect();
        let known =
            self.recognise.is_empty() || lines.iter().rev().any(|line| self.recognise.holds(line));
        let goes = |line: &str| {
            (self.progress.holds(line) || (known && self.details.holds(line)))
                && !self.keep.holds(line)
                && !self.recognise.holds(line)
                && !is_preserved(line)
        };
        let kept: Vec<&str> = lines.iter().copied().filter(|line| !goes(line)).collect();
        let mut gone = lines.len() - kept.len();

        let cut = self.cut.filter(|_| known && !call.failed);
        let (kept, shortened) = match cut {
            Some(cut) => shortened(kept, cut),
            None => (kept.into_iter().map(Cow::Borrowed).collect(), 0),
        };
        gone += shortened;
        let kept: Vec<&str> = kept.iter().map(|line| &**line).collect();
        let text = if self.merge_repeats {
            let (merged, saved) = without_repeats(&kept);
            gone += saved;
            joined(&merged.iter().map(|line| &**line).collect::<Vec<_>>(), text)
        } else {
            joined(&kept, text)
        };
        let shown = known && !self.recognise.is_empty();
        let confidence = if shown { FilterConfidence::Full } else { FilterConfidence::Partial };
        Filtered { text, confidence, left_out: gone }
    }
}

/// Keeps the head, the tail and, between them, the lines that must stay.
fn shortened(lines: Vec<&str>, cut: Cut) -> (Vec<Cow<'_, str>>, usize) {
    let count = lines.iter().filter(|line| !is_note(line)).count();
    if count <= cut.above {
        return (lines.into_iter().map(Cow::Borrowed).collect(), 0);
    }
    let mut out = Vec::new();
    let (mut at, mut gone, mut marked) = (0, 0, None);
    for line in lines {
        if is_note(line) {
            out.push(Cow::Borrowed(line));
            continue;
        }
        at += 1;
        if at <= cut.head || at > count - cut.tail || is_preserved(line) {
            out.push(Cow::Borrowed(line));
        } else {
            gone += 1;
            if marked.is_none() {
                marked = Some(out.len());
                out.push(Cow::Borrowed(""));
            }
        }
    }
    if let Some(mark) = marked.and_then(|place| out.get_mut(place)) {
        *mark = Cow::Owned(left_out(gone));
    }
    (out, gone)
}
