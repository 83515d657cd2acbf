use std::sync::LazyLock;

use counterfoil_model::Outcome;

use crate::failure::{Failure, failure_in};

/// How a call ended, according to the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallStatus {
    /// It ended, and nothing indicates a failure.
    Completed,
    /// Its error mark, its exit status or the text of its result indicates a failure.
    Failed,
    /// A person or a policy refused it, so it never ran.
    Denied,
    /// It has no result yet, or is still running.
    Unfinished,
    /// The record does not keep its result.
    Unknown,
}

impl CallStatus {
    /// The display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Unfinished => "unfinished",
            Self::Unknown => "unknown",
        }
    }

    /// How a call with this result ended. `text` is the text of the result and `exit` its exit
    /// status. `prints` is whether the text is the output of a command rather than a message about
    /// the call.
    pub(crate) fn from_outcome(
        outcome: &Outcome,
        text: &str,
        exit: Option<i32>,
        prints: bool,
    ) -> Self {
        if outcome.refused {
            return Self::Denied;
        }
        if outcome.running {
            return Self::Unfinished;
        }
        if outcome.is_error == Some(true) || exit.is_some_and(|code| code != 0) {
            return if opens_with(text, &REFUSALS) { Self::Denied } else { Self::Failed };
        }
        if prints && exit.is_some() { Self::Completed } else { Self::by_words(text, prints) }
    }

    fn by_words(text: &str, prints: bool) -> Self {
        match failure_in(text) {
            Some(Failure::Refused) => Self::Denied,
            // A command may print anything, and an object that was found may be in any state.
            Some(Failure::Failed | Failure::State { alone: true, .. }) if !prints => Self::Failed,
            _ => Self::Completed,
        }
    }
}

/// Whether the opening of a message about a call says that the call failed or was refused.
#[must_use]
pub fn status_by_opening(text: &str) -> Option<CallStatus> {
    if opens_with(text, &REFUSALS) {
        return Some(CallStatus::Denied);
    }
    let failed = opens_with(text, &FAILURES) || opens_with_http_error(text);
    failed.then_some(CallStatus::Failed)
}

/// The openings of messages that report a failure, in lower case.
pub fn failure_openings() -> impl Iterator<Item = &'static str> {
    FAILURES.iter().copied()
}

static FAILURES: LazyLock<Vec<&str>> =
    LazyLock::new(|| openings(include_str!("../lexicon/failures.txt")));

static REFUSALS: LazyLock<Vec<&str>> =
    LazyLock::new(|| openings(include_str!("../lexicon/refusals.txt")));

/// The openings in a file of them.
fn openings(text: &'static str) -> Vec<&'static str> {
    text.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"')).collect()
}

fn opens_with(text: &str, openings: &[&str]) -> bool {
    openings.iter().any(|opening| {
        let split = text.split_at_checked(opening.len());
        split.filter(|(head, _)| head.eq_ignore_ascii_case(opening)).is_some_and(|(_, rest)| {
            let closed = opening.ends_with([' ', ':', '>', ')']) || opening.contains(' ');
            closed || rest.is_empty() || rest.starts_with([':', ' ', '!', '.', '-', '\n', '('])
        })
    })
}

/// Whether the text opens like `HTTP 401` or `HTTP/1.1 503`.
fn opens_with_http_error(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let opens = words.next().is_some_and(|word| word == "HTTP" || word.starts_with("HTTP/"));
    let code = words.next().unwrap_or_default().trim_end_matches([':', ',']);
    opens && code.len() == 3 && code.starts_with(['4', '5'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_say_how_a_call_ended() {
        let marked = |is_error| Outcome { is_error, ..Outcome::default() };
        for (outcome, text, exit, prints, expected) in [
            (marked(None), "done", None, false, CallStatus::Completed),
            (marked(Some(true)), "no", None, false, CallStatus::Failed),
            (marked(Some(true)), "Rejected by the user", None, false, CallStatus::Denied),
            (marked(None), "", Some(2), true, CallStatus::Failed),
            (marked(None), "error: x", Some(0), true, CallStatus::Completed),
            (marked(None), "error: x", None, true, CallStatus::Completed),
            (marked(None), "Error: no such order", None, false, CallStatus::Failed),
            (marked(None), r#"{"error":"x"}"#, None, false, CallStatus::Failed),
            (marked(None), r#"{"error":null,"id":1}"#, None, false, CallStatus::Completed),
            (marked(None), r#"{"status":"failed"}"#, None, false, CallStatus::Failed),
            (marked(None), r#"{"id":7,"status":"failed"}"#, None, false, CallStatus::Completed),
            (marked(None), r#"{"success":false}"#, None, false, CallStatus::Failed),
            (marked(None), "HTTP 503", None, false, CallStatus::Failed),
            (Outcome { refused: true, ..marked(None) }, "", None, false, CallStatus::Denied),
            (Outcome { running: true, ..marked(None) }, "", None, true, CallStatus::Unfinished),
        ] {
            assert_eq!(CallStatus::from_outcome(&outcome, text, exit, prints), expected, "{text}");
        }
    }
}
