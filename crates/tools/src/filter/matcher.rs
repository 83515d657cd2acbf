use std::fmt;
use std::sync::Arc;

use regex::Regex;

/// Matches commands. A command is the base name of its program and its arguments, separated by
/// single blanks, as in `cargo test --lib`.
#[derive(Clone)]
pub enum CommandMatcher {
    /// Exactly this command.
    Exact(String),
    /// This command, with or without more words.
    Prefix(String),
    /// Commands that this expression matches.
    Regex(Regex),
    /// Commands for which this function returns true.
    Custom(Arc<dyn Fn(&str) -> bool + Send + Sync>),
}

impl CommandMatcher {
    /// Whether the command matches.
    #[must_use]
    pub fn matches(&self, command: &str) -> bool {
        match self {
            Self::Exact(text) => command == text,
            Self::Prefix(text) => command
                .strip_prefix(text.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
            Self::Regex(regex) => regex.is_match(command),
            Self::Custom(agrees) => agrees(command),
        }
    }
}

impl fmt::Debug for CommandMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(text) => write!(f, "Exact({text:?})"),
            Self::Prefix(text) => write!(f, "Prefix({text:?})"),
            Self::Regex(regex) => write!(f, "Regex({:?})", regex.as_str()),
            Self::Custom(_) => f.write_str("Custom(…)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_matches_what_it_says() {
        let exact = CommandMatcher::Exact("make".to_owned());
        let prefix = CommandMatcher::Prefix("cargo test".to_owned());
        let regex = CommandMatcher::Regex(Regex::new(r"^python3? -m pytest\b").unwrap());
        let custom = CommandMatcher::Custom(Arc::new(|command| command.len() == 2));
        for (matcher, command, expected) in [
            (&exact, "make", true),
            (&exact, "make all", false),
            (&prefix, "cargo test", true),
            (&prefix, "cargo test --lib", true),
            (&prefix, "cargo tests", false),
            (&prefix, "cargo", false),
            (&regex, "python3 -m pytest -q", true),
            (&regex, "python3 -m pytester", false),
            (&custom, "ls", true),
            (&custom, "lsof", false),
        ] {
            assert_eq!(matcher.matches(command), expected, "{matcher:?} {command}");
        }
    }
}
