use serde::Serialize;

use crate::family::Family;
use crate::finding::{Code, Evidence, Verdict};
use crate::span::Span;

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case", tag = "type", content = "family")]
pub enum ClaimKind {
    /// A completed side effect: "the order has been cancelled".
    Action(Family),
    /// The outcome of a check: "all tests pass", "the build is green".
    Outcome(Family),
    /// A named tool that was used: "I used the WebSearch tool".
    Tool,
    /// An observation from an unnamed lookup: "after checking the database".
    Provenance,
    /// A value attributed to a result.
    Value,
    /// A number of things found, changed or passed.
    Count,
    /// The absence of something.
    Absence,
    /// A source: URL, path, file and line, verbatim quote.
    Source,
    /// An error message quoted as observed.
    Error,
    /// An execution cited by its id, or a structured tool result.
    Execution,
    /// Tool traffic printed as text.
    Simulation,
    /// A denial: "I changed nothing", "I did not run anything".
    Denial,
    /// That the whole task is done.
    Completion,
    /// That something happened before something else.
    Order,
    /// Any statement that a judge considers false.
    Statement,
}

/// The kind of thing that a claim names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// An identifier: order number, ticket, hash.
    Id,
    /// An e-mail address.
    Email,
    /// A URL.
    Url,
    /// A file path.
    Path,
    /// A proper name.
    Name,
    /// A number, with its unit if there is one.
    Number,
    /// An amount of money.
    Money,
    /// A date or a time.
    Date,
    /// Quoted or code-formatted text.
    Quote,
    /// A tool's name.
    Tool,
    /// A plain noun: `order`, `e-mail`.
    Noun,
}

/// A thing that a claim names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Object {
    /// The kind of thing.
    pub kind: ObjectKind,
    /// The text as written.
    pub text: String,
}

/// A statement by the agent that a record can support or contradict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// What it is about.
    #[serde(flatten)]
    pub kind: ClaimKind,
    /// The words of the claim.
    pub text: String,
    /// The objects that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Object>,
    /// The range of the words in the message's text.
    #[serde(skip)]
    pub span: Span,
    /// The message that contains it.
    #[serde(skip)]
    pub turn: usize,
}

/// The verdict of one rule on one claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The claim.
    pub claim: Claim,
    /// The decision.
    pub verdict: Verdict,
    /// Why the claim is not checkable; `None` with every other verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The rule that decided.
    pub rule: Code,
    /// The evidence for the decision.
    pub evidence: Vec<Evidence>,
}

/// A clause of the agent's text and how it was read. Explains why there is no finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClauseReading {
    /// The message that contains it.
    pub turn: usize,
    /// The range of its words in the message's text.
    pub span: Span,
    /// Its words.
    pub text: String,
    /// Why the clause asserts nothing; `None` if it asserts something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<&'static str>,
    /// The completed verbs in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<ActReading>,
    /// The objects and values that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<NamedReading>,
}

/// A completed verb, and whether it reports an act that changes something.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActReading {
    /// The verb as written.
    pub verb: String,
    /// The kind of act; `None` if it is not an act.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Why it is not an act of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<&'static str>,
}

/// An object or value that a clause names, and its source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedReading {
    /// The object.
    #[serde(flatten)]
    pub object: Object,
    /// The first earlier text that contains it, whatever that text says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Evidence>,
}
