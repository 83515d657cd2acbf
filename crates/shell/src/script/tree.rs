//! The syntax tree of a script, as far as the analysis needs it.

use super::simple::Parts;

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
