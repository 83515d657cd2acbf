//! Determines the upshot of a call, from its marks and the words of its result. This is the only
//! place that decides it; `spec/upshots.md` has the cases.

use counterfoil_model::{Outcome, Status};
use counterfoil_record::{Failure, LONGEST_STATUS, failure_in, marked, only_complains};

use crate::prose::sets;
use crate::values::{Leaf, Leaves, Node};

/// The upshot of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Upshot {
    /// It did what it was for, as far as the record shows.
    Done,
    /// It failed.
    Failed,
    /// It was not permitted.
    Refused,
    /// It was meant to change something and changed nothing.
    NothingDone,
    /// No result is recorded, it is still running, or its end could not be read.
    Unknown,
}

impl Upshot {
    /// The name that pages use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::NothingDone => "nothing done",
            Self::Unknown => "unknown",
        }
    }

    /// The status that a receipt would have. A deed that changed nothing counts as failed.
    pub(crate) fn status(self) -> Status {
        match self {
            Self::Done => Status::Completed,
            Self::Failed | Self::NothingDone => Status::Failed,
            Self::Refused => Status::Denied,
            Self::Unknown => Status::Open,
        }
    }

    /// The upshot of a call with this result.
    pub(crate) fn new(call: &CallFacts<'_>, outcome: Option<&Outcome>) -> Self {
        let Some(outcome) = outcome else { return Self::Unknown };
        if call.found_nothing {
            return Self::Done;
        }
        match Self::by_marks(outcome) {
            Self::Done => {}
            // Words that report a failure count; the absence of such words does not mean success.
            Self::Unknown if outcome.unread && call.command.is_none() => {
                let upshot = Self::by_words(call, &outcome.text);
                let failed = matches!(upshot, Self::Failed | Self::Refused);
                return if failed { upshot } else { Self::Unknown };
            }
            marked => return marked,
        }
        match call.command {
            // A command's output is not a message about the command.
            Some(command) => {
                let unmarked = outcome.exit_code.is_none() && outcome.is_error.is_none();
                let fails = unmarked && only_complains(command, &outcome.text);
                if fails { Self::Failed } else { Self::Done }
            }
            None => Self::by_words(call, &outcome.text),
        }
    }

    fn by_marks(outcome: &Outcome) -> Self {
        match marked(outcome) {
            Status::Denied => Self::Refused,
            Status::Failed => Self::Failed,
            Status::Completed => Self::Done,
            _ => Self::Unknown,
        }
    }

    fn by_words(call: &CallFacts<'_>, text: &str) -> Self {
        match failure_in(text) {
            Some(Failure::Failed) => return Self::Failed,
            Some(Failure::Refused) => return Self::Refused,
            Some(Failure::State { word, alone }) if call.is_failed_by(&word, alone) => {
                return if act_leading_to(&word).is_some() { Self::Refused } else { Self::Failed };
            }
            _ => {}
        }
        if call.changes && did_nothing(text) { Self::NothingDone } else { Self::Done }
    }
}

/// What is known about a call.
#[derive(Debug)]
pub(crate) struct CallFacts<'d> {
    /// Whether it was meant to change something.
    pub(crate) changes: bool,
    /// Whether it was meant to look something up.
    pub(crate) looks: bool,
    /// The words of its tool's name, in lower case.
    pub(crate) words: &'d [String],
    /// Its arguments, as JSON.
    pub(crate) arguments: &'d str,
    /// The command line that it ran, if any.
    pub(crate) command: Option<&'d str>,
    /// Whether the command asked a question, and its exit status means "no".
    pub(crate) found_nothing: bool,
}

/// The action that leads to a refusing state: "deny" for "denied".
fn act_leading_to(state: &str) -> Option<&'static str> {
    let pairs = sets::REFUSING_STATES.list.iter().filter_map(|pair| pair.split_once(' '));
    pairs.into_iter().find(|(known, _)| *known == state).map(|(_, act)| act)
}

impl CallFacts<'_> {
    /// Whether a state in the result means that the call itself failed. A look-up may find a thing
    /// in that state, and a call may have been made to put it into that state.
    fn is_failed_by(&self, state: &str, alone: bool) -> bool {
        if self.looks && !self.changes {
            return alone;
        }
        let act = act_leading_to(state).unwrap_or(state);
        let named = self.words.iter().any(|word| word == act);
        !named && !self.arguments.to_ascii_lowercase().contains(state)
    }
}

/// Whether the answer of a changing call says that it changed nothing. An empty text or object does
/// not say so: many tools answer like that.
fn did_nothing(text: &str) -> bool {
    let text = text.trim();
    if text.len() > LONGEST_STATUS {
        return false;
    }
    if text.starts_with('{') {
        let Some(leaves) = Leaves::parse(text) else { return false };
        let count = |node: &Node<'_>| match node.leaf {
            _ if node.parent != 0 || !sets::COUNTS_CHANGES.hold(node.name.as_bytes()) => None,
            Leaf::Flag(flag) => Some(flag),
            Leaf::Number(number) => number.parse::<f64>().ok().map(|number| number != 0.0),
            _ => None,
        };
        let changes: Vec<bool> = leaves.nodes().iter().filter_map(count).collect();
        return !changes.is_empty() && !changes.contains(&true);
    }
    let first = text.split(['.', ':', ';', '\n']).next().unwrap_or_default().trim();
    sets::NOTHING_DONE.list.iter().any(|known| first.eq_ignore_ascii_case(known))
}
