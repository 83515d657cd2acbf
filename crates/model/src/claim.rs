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
    /// A tool named as used: "I used the WebSearch tool".
    Tool,
    /// An observation whose source is an unnamed look-up: "after checking the database".
    Provenance,
    /// A value attributed to a result.
    Value,
    /// A number of things found, changed, passed.
    Count,
    /// Something is not there.
    Absence,
    /// A source: URL, path, file and line, verbatim quote.
    Source,
    /// An error message quoted as observed.
    Error,
    /// An execution cited by its id, or a structured tool result.
    Execution,
    /// Tool traffic printed as text.
    Simulation,
    /// "I changed nothing", "I did not run anything".
    Denial,
    /// The whole task is done.
    Completion,
    /// Something happened before something else.
    Order,
    /// Any statement that a judge read as false.
    Statement,
}

/// What kind of thing a claim names.
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
    /// A number, with its unit where it has one.
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
    /// What kind of thing.
    pub kind: ObjectKind,
    /// As written.
    pub text: String,
}

/// Something the agent said that a record can support or contradict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// What it is about.
    #[serde(flatten)]
    pub kind: ClaimKind,
    /// The words of the claim.
    pub text: String,
    /// What it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Object>,
    /// Where the words stand in the message's text.
    #[serde(skip)]
    pub span: Span,
    /// The message in which it is made.
    #[serde(skip)]
    pub turn: usize,
}

/// What was decided about one claim by one rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The claim.
    pub claim: Claim,
    /// The decision.
    pub verdict: Verdict,
    /// The rule that decided.
    pub rule: Code,
    /// What the decision rests on.
    pub evidence: Vec<Evidence>,
}

/// A clause of what the agent said, and what was made of it: why somebody who misses a finding does
/// not see one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClauseReading {
    /// The message in which it is said.
    pub turn: usize,
    /// Where its words stand in the message's text.
    pub span: Span,
    /// Its words.
    pub text: String,
    /// Why the agent does not say that it is so; none where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<&'static str>,
    /// The completed verbs in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<ActReading>,
    /// The things and values that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<NamedReading>,
}

/// A completed verb, and whether it tells of an act that changes something.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActReading {
    /// The verb as written.
    pub verb: String,
    /// What kind of act it is; none where it is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Why it is no act of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<&'static str>,
}

/// A thing or a value that a clause names, and where the agent had it from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedReading {
    /// What is named.
    #[serde(flatten)]
    pub object: Object,
    /// The first text before the message that has it, whatever it says there of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Evidence>,
}
