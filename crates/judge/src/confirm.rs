//! Comparisons that code can make once both quotations are found.

use std::fmt;

use counterfoil_record::{
    CallStatus, FactKind, FileEffect, Label, LineKind, RunEnd, Value, ValueKind, values,
};

use crate::case::Case;
use crate::opinion::ReadVerdict;

/// Evidence found by code that confirms a judge's opinion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirmation {
    /// Both quotations contain values of this kind, and none of them match.
    ValuesDiffer {
        /// The kind.
        kind: ValueKind,
        /// The value in the answer.
        stated: String,
        /// The value in the record.
        recorded: String,
    },
    /// The cited call did not complete.
    CallFailed {
        /// The call's number.
        call: usize,
        /// How the call ended.
        status: CallStatus,
    },
    /// The cited run of a check failed, or found nothing to run.
    RunFailed {
        /// The number of the call.
        call: usize,
    },
    /// Files were changed after the cited run of a check.
    RunStale {
        /// The number of the call.
        call: usize,
    },
    /// No such check was run.
    NeverRun,
    /// The tool needed for this was offered but never called.
    ToolNeverCalled {
        /// The tool.
        tool: String,
    },
    /// A file or an address in the answer occurs in no call and no result.
    NeverNamed {
        /// The name in the answer.
        stated: String,
    },
    /// The answer gives a count that differs from the length of the list.
    CountDiffers {
        /// The count in the answer.
        stated: u64,
        /// The length of the list.
        length: u64,
    },
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ValuesDiffer { kind, stated, recorded } => {
                write!(
                    f,
                    "the {} differs: the answer says `{stated}`, the record has `{recorded}`",
                    kind.name()
                )
            }
            Self::CallFailed { call, status } => {
                write!(f, "call C{call} has the status `{}`", status.name())
            }
            Self::RunFailed { call } => write!(f, "run R{call} did not pass"),
            Self::RunStale { call } => write!(f, "files were changed after run R{call}"),
            Self::NeverRun => f.write_str("no such check was run"),
            Self::ToolNeverCalled { tool } => write!(f, "`{tool}` was never called"),
            Self::NeverNamed { stated } => {
                write!(f, "`{stated}` does not occur in any call or result")
            }
            Self::CountDiffers { stated, length } => {
                write!(
                    f,
                    "the answer gives a count of {stated}, but the length of the list is {length}"
                )
            }
        }
    }
}

/// A finding whose quotations were found.
pub(crate) struct Verified<'c> {
    pub(crate) case: &'c Case<'c>,
    pub(crate) verdict: ReadVerdict,
    /// The quoted words of the answer.
    pub(crate) says: &'c str,
    /// The cited line of the record, and the quoted words.
    pub(crate) cited: Option<(Label, &'c str)>,
    pub(crate) needs: Option<&'c str>,
}

type Comparison = fn(&Verified<'_>) -> Option<Confirmation>;

/// Every comparison, strongest evidence first.
const COMPARISONS: [Comparison; 6] =
    [run, call, tool_never_called, count, values_differ, never_named];

/// The first comparison that confirms the opinion.
pub(crate) fn confirm(verified: &Verified<'_>) -> Option<Confirmation> {
    COMPARISONS.iter().find_map(|compare| compare(verified))
}

/// Confirms if the cited fact is a failed, stale or missing run.
fn run(verified: &Verified<'_>) -> Option<Confirmation> {
    let (label, _) = verified.cited?;
    let fact = verified.case.fact(label)?;
    let call = fact.calls.first().copied().unwrap_or_default();
    match fact.kind {
        FactKind::NoCheck(_) => Some(Confirmation::NeverRun),
        FactKind::Check(_, state) if matches!(state.end, RunEnd::Failed | RunEnd::Empty) => {
            Some(Confirmation::RunFailed { call })
        }
        FactKind::Check(_, state) if state.stale => Some(Confirmation::RunStale { call }),
        FactKind::VersionControl(RunEnd::Failed) => Some(Confirmation::RunFailed { call }),
        _ => None,
    }
}

/// Confirms if the cited call failed or was denied.
fn call(verified: &Verified<'_>) -> Option<Confirmation> {
    let (label, _) = verified.cited.filter(|_| verified.verdict == ReadVerdict::Contradicted)?;
    if !matches!(label.kind, LineKind::Call | LineKind::Result) {
        return None;
    }
    let facts = verified.case.facts();
    let call = facts.call(label.number)?;
    let status = facts.status(call);
    let failed = matches!(status, CallStatus::Failed | CallStatus::Denied);
    failed.then_some(Confirmation::CallFailed { call: call.number, status })
}

/// Confirms if the needed tool was offered but never called, and every call is recorded.
fn tool_never_called(verified: &Verified<'_>) -> Option<Confirmation> {
    let tool = verified.needs.filter(|_| verified.verdict == ReadVerdict::Unsupported)?;
    let facts = verified.case.facts();
    let offered = facts.catalog().get(tool).is_some();
    // A sub-agent's calls may not be recorded.
    let alone = facts.delegations().next().is_none();
    let never = offered && alone && facts.is_complete() && !facts.has_called(tool);
    never.then(|| Confirmation::ToolNeverCalled { tool: tool.to_owned() })
}

/// Confirms if the answer gives a count that differs from the only list in the cited result.
fn count(verified: &Verified<'_>) -> Option<Confirmation> {
    let (label, quote) =
        verified.cited.filter(|_| verified.verdict == ReadVerdict::Contradicted)?;
    let facts = verified.case.facts();
    let fact = verified.case.fact(label);
    let (length, call) = match (fact.map(|fact| fact.kind), label.kind) {
        (Some(FactKind::List(length)), _) => (length, *fact?.calls.first()?),
        (None, LineKind::Result) => match facts.lists(label.number) {
            [list] => (list.length, label.number),
            _ => return None,
        },
        _ => return None,
    };
    let things = counted(verified.says)?.to_lowercase();
    let is_of_them = |text: &str| text.to_lowercase().contains(&things);
    let listed = facts.call(call).is_some_and(|call| is_of_them(&call.tool))
        || verified.case.text_of(label).is_some_and(is_of_them);
    let numbers = numbers_in(verified.says);
    let [stated] = numbers.as_slice() else { return None };
    // A number that also occurs in the quotation is not a count.
    let quoted = numbers_in(quote).contains(stated) && *stated != length;
    (listed && *stated != length && !quoted)
        .then_some(Confirmation::CountDiffers { stated: *stated, length })
}

/// The plural noun after the only number in these words, without its final `s`.
fn counted(says: &str) -> Option<&str> {
    let words: Vec<&str> = says.split_whitespace().collect();
    words.windows(2).find_map(|pair| {
        let [first, second] = pair else { return None };
        let plain = first.bytes().all(|b| b.is_ascii_digit()) || word_number(first).is_some();
        let noun = second.trim_end_matches(|c: char| !c.is_alphabetic()).strip_suffix('s')?;
        (plain && noun.len() > 2).then_some(noun)
    })
}

/// Confirms if both quotations have values of one kind, and none of them match.
fn values_differ(verified: &Verified<'_>) -> Option<Confirmation> {
    const KINDS: [ValueKind; 7] = [
        ValueKind::Date,
        ValueKind::Email,
        ValueKind::Url,
        ValueKind::Path,
        ValueKind::Id,
        ValueKind::Time,
        ValueKind::Number,
    ];
    let (_, quote) = verified.cited.filter(|_| verified.verdict == ReadVerdict::Contradicted)?;
    let (stated, recorded) = (values_of(verified.says), values_of(quote));
    KINDS.into_iter().find_map(|kind| {
        let of_kind = |all: &[Value]| -> Vec<Value> {
            all.iter().filter(|value| value.kind == kind).cloned().collect()
        };
        let (stated, recorded) = (of_kind(&stated), of_kind(&recorded));
        let (first, other) = (stated.first()?, recorded.first()?);
        let shared = stated.iter().any(|a| recorded.iter().any(|b| a.same(b)));
        (!shared).then(|| Confirmation::ValuesDiffer {
            kind,
            stated: first.key.clone(),
            recorded: other.key.clone(),
        })
    })
}

/// Confirms if a file or an address in the answer occurs in no call and no result, and every call
/// is recorded.
fn never_named(verified: &Verified<'_>) -> Option<Confirmation> {
    if verified.verdict != ReadVerdict::Unsupported || !verified.case.facts().is_complete() {
        return None;
    }
    let facts = verified.case.facts();
    let unnamed = facts.changes().any(|(_, change)| {
        change.effect == FileEffect::Unnamed || change.path.contains(['*', '?', '{', '['])
    });
    let closed = facts.shortened().next().is_none() && facts.delegations().next().is_none();
    let all = values(verified.says);
    let named = all.iter().filter(|value| match value.kind {
        ValueKind::Email | ValueKind::Url => closed,
        ValueKind::Path => closed && !unnamed,
        _ => false,
    });
    let occurs = |value: &&Value| {
        facts.values_of(value.kind).any(|(line, text)| {
            let own = matches!(line.label.kind, LineKind::Call | LineKind::Result);
            own && values(text).iter().any(|known| known.same(value))
        })
    };
    let absent = named.into_iter().find(|value| !occurs(value))?;
    let stated = verified.says.get(absent.start..absent.end).unwrap_or_default().to_owned();
    Some(Confirmation::NeverNamed { stated })
}

/// The values of a text, including numbers written as words.
fn values_of(text: &str) -> Vec<Value> {
    let mut found = values(text);
    for word in text.split(|c: char| !c.is_alphabetic()) {
        let number = word_number(word).map(|number| number.to_string());
        found.extend(number.iter().flat_map(|number| values(number)));
    }
    found
}

fn numbers_in(text: &str) -> Vec<u64> {
    values_of(text).iter().filter_map(Value::to_whole).collect()
}

/// The value of a number word. "One" is left out because it is often not a number.
fn word_number(word: &str) -> Option<usize> {
    const WORDS: [&str; 21] = [
        "zero",
        "",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    let lower = word.to_ascii_lowercase();
    WORDS.iter().position(|known| !known.is_empty() && *known == lower)
}
