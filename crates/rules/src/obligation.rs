use counterfoil_model::Family;
use thiserror::Error;

/// Work that a policy requires to accompany other work.
///
/// "After an edit of `*.rs` a passing test", "before a refund a look-up".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obligation {
    pub(crate) when: When,
    pub(crate) trigger: Vec<Family>,
    paths: Vec<String>,
    pub(crate) need: Need,
}

/// Whether the required work comes after or before the trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// After the last trigger.
    After,
    /// Before each trigger.
    Before,
}

/// The required work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) families: Vec<Family>,
    /// The policy's own words for it.
    pub(crate) text: String,
}

/// Why an obligation is invalid.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ObligationError {
    /// Neither or both of `after` and `before` are given.
    #[error("an obligation needs either `after` or `before`")]
    NoTrigger,
    /// A word does not name a kind of action.
    #[error("`{0}` is not a kind of action")]
    UnknownAction(String),
    /// Paths are given for an action that is not done to files.
    #[error("`paths` applies only to actions on files, not to `{0}`")]
    PathsWithoutFiles(String),
}

impl Obligation {
    /// Parses an obligation as a policy writes it.
    ///
    /// `after` or `before` name the trigger: a kind of action (`refund`, `deploy`, …) or `edit`,
    /// any change of a file. `paths` restricts it to files, where `*` matches anything. `needs` is
    /// `passing test`, `passing build`, `passing lint`, a kind of action, or `look-up`, any search
    /// or reading.
    ///
    /// # Errors
    /// When a word does not name a kind of action, or the parts do not fit together.
    pub fn new(
        after: Option<&str>,
        before: Option<&str>,
        paths: Vec<String>,
        needs: &str,
    ) -> Result<Self, ObligationError> {
        let (when, word) = match (after, before) {
            (Some(word), None) => (When::After, word),
            (None, Some(word)) => (When::Before, word),
            _ => return Err(ObligationError::NoTrigger),
        };
        let trigger = families(word)?;
        let files = [Family::Create, Family::Update, Family::Delete, Family::Move];
        if !paths.is_empty() && !trigger.iter().any(|family| files.contains(family)) {
            return Err(ObligationError::PathsWithoutFiles(word.to_owned()));
        }
        let needed = needs.trim();
        let kind = needed.strip_prefix("passing ").unwrap_or(needed);
        let need = Need { families: families(kind)?, text: needed.to_owned() };
        Ok(Self { when, trigger, paths, need })
    }

    /// Whether its trigger is about files.
    pub(crate) fn is_about_files(&self) -> bool {
        !self.paths.is_empty() || self.trigger.len() > 1
    }

    /// Whether it covers a file.
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|pattern| matches(pattern, path))
    }
}

fn families(word: &str) -> Result<Vec<Family>, ObligationError> {
    let word = word.trim();
    Ok(match word {
        "edit" => vec![Family::Update, Family::Create],
        "look-up" => vec![Family::Search, Family::Read],
        _ => {
            let named = Family::ALL.into_iter().find(|family| family.name() == word);
            vec![named.ok_or_else(|| ObligationError::UnknownAction(word.to_owned()))?]
        }
    })
}

/// Whether a path matches a pattern: `*` matches any text, and a pattern without a slash is matched
/// against the last segment.
fn matches(pattern: &str, path: &str) -> bool {
    let path = path.trim_start_matches("./");
    if !pattern.contains('/') {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        return is_like(pattern, name);
    }
    let inside = |at: usize| path.get(at + 1..).is_some_and(|rest| is_like(pattern, rest));
    is_like(pattern, path) || path.match_indices('/').any(|(at, _)| inside(at))
}

fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|head| text.strip_prefix(head)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(tail) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (pattern, path, expected) in [
            ("*.rs", "src/main.rs", true),
            ("*.rs", "main.rs", true),
            ("*.rs", "main.rs.bak", false),
            ("src/*.rs", "/home/me/app/src/main.rs", true),
            ("src/*.rs", "lib/main.rs", false),
            ("docs/*", "docs/a/b.md", true),
            ("Makefile", "sub/Makefile", true),
            ("*", "x", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let new = |after, before, paths: &[&str], needs| {
            let paths = paths.iter().map(|&p| p.to_owned()).collect();
            Obligation::new(after, before, paths, needs).map(|o| (o.when, o.trigger))
        };
        let edit = vec![Family::Update, Family::Create];
        assert_eq!(new(Some("edit"), None, &["*.rs"], "passing test"), Ok((When::After, edit)));
        let refund = Ok((When::Before, vec![Family::Refund]));
        assert_eq!(new(None, Some("refund"), &[], "look-up"), refund);
        assert_eq!(new(None, None, &[], "test"), Err(ObligationError::NoTrigger));
        assert_eq!(new(Some("edit"), Some("edit"), &[], "test"), Err(ObligationError::NoTrigger));
        let unknown = |word: &str| Err(ObligationError::UnknownAction(word.to_owned()));
        assert_eq!(new(Some("dance"), None, &[], "test"), unknown("dance"));
        assert_eq!(new(Some("edit"), None, &[], "passing dance"), unknown("dance"));
        let paths = Err(ObligationError::PathsWithoutFiles("refund".to_owned()));
        assert_eq!(new(None, Some("refund"), &["*.rs"], "look-up"), paths);
    }
}
