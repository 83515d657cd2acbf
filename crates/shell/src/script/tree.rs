//! The syntax tree of a script, as far as the analysis needs it.

use super::command::{Assignment, Destination, Direction, Redirect, Stream, Target, Word};
use super::state::Surroundings;

/// A sequence of commands.
#[derive(Debug, Default)]
pub(super) struct List(pub(super) Vec<Item>);

#[derive(Debug)]
pub(super) struct Item {
    pub(super) pipelines: AndOr,
    /// Whether it ends with `&`.
    pub(super) background: bool,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(super) struct AndOr {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Connector, Pipeline)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connector {
    And,
    Or,
}

#[derive(Debug)]
pub(super) struct Pipeline {
    /// Whether an odd number of `!` precedes it.
    pub(super) negated: bool,
    pub(super) stages: Vec<Node>,
}

#[derive(Debug)]
pub(super) enum Node {
    Simple(Parts),
    Compound(Compound, Parts),
    Function(Function),
    Coprocess(Box<Node>),
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) body: Compound,
    pub(super) redirects: Parts,
}

#[derive(Debug)]
pub(super) enum Compound {
    Group(List),
    Subshell(List),
    /// `((…))`
    Arithmetic(Found),
    /// `[[ … ]]`, with its operands as arguments.
    Test(Parts),
    /// `for` and `select`; the values of the variable are given as assignments.
    For {
        values: Parts,
        body: List,
    },
    ArithmeticFor {
        header: Found,
        body: List,
    },
    Case {
        word: Found,
        items: Vec<CaseItem>,
    },
    If {
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    Loop {
        until: bool,
        condition: List,
        body: List,
    },
}

#[derive(Debug)]
pub(super) struct CaseItem {
    pub(super) patterns: Found,
    pub(super) body: List,
}

/// The scripts found in words, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// `$(…)` and `` `…` ``.
    pub(super) scripts: Vec<List>,
    /// `<(…)` and `>(…)`.
    pub(super) processes: Vec<List>,
}

impl Found {
    pub(super) fn append(&mut self, other: Self) {
        self.scripts.extend(other.scripts);
        self.processes.extend(other.processes);
    }
}

impl Node {
    /// The redirects that follow it.
    pub(super) fn redirects_mut(&mut self) -> Option<&mut Parts> {
        match self {
            Self::Simple(parts) | Self::Compound(_, parts) => Some(parts),
            Self::Function(_) | Self::Coprocess(_) => None,
        }
    }
}

/// The words of one simple command, and the scripts in them.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) name: Option<Word>,
    pub(super) args: Vec<Word>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) found: Found,
    pub(super) here_strings: usize,
}

impl Parts {
    pub(super) fn named(name: &str) -> Self {
        Self { name: Some(Word::fixed(name)), ..Self::default() }
    }

    /// A command whose name is the first of these words.
    pub(super) fn of_words(words: Vec<Word>) -> Self {
        let mut words = words.into_iter();
        Self { name: words.next(), args: words.collect(), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.name.is_none() && self.assignments.is_empty() && self.redirects.is_empty()
    }

    /// Adds `2>&1` after the other redirects, as `|&` does.
    pub(super) fn add_error_to_output(&mut self) {
        self.redirects.push(Redirect {
            stream: Stream::Fd(2),
            direction: Direction::Duplicate,
            target: Target::Fd(1),
        });
    }

    /// Where standard output and standard error go, with redirects applied from left to right.
    pub(super) fn outputs(&self, around: &Surroundings) -> (Destination, Destination) {
        let (mut stdout, mut stderr) = (around.stdout, around.stderr);
        for redirect in &self.redirects {
            let to = match (redirect.direction, &redirect.target) {
                (Direction::Read | Direction::Inline, _) => continue,
                (_, Target::Fd(1)) => stdout,
                (_, Target::Fd(2)) => stderr,
                (_, Target::Fd(_) | Target::Text(_)) => Destination::Captured,
                (_, Target::Closed) => Destination::Discarded,
                (_, Target::Process) => Destination::Filtered,
                (_, Target::File(word)) => match word.literal() {
                    Some("/dev/null") => Destination::Discarded,
                    Some("/dev/stdout") => stdout,
                    Some("/dev/stderr") => stderr,
                    Some("/dev/tty") => Destination::Shown,
                    _ => Destination::File,
                },
            };
            match redirect.stream {
                Stream::Fd(1) => stdout = to,
                Stream::Fd(2) => stderr = to,
                Stream::OutputAndError => (stdout, stderr) = (to, to),
                Stream::Fd(_) => {}
            }
        }
        (stdout, stderr)
    }
}
