//! What code can compare itself once both quotations are found.

use std::fmt;

use counterfoil_record::{
    CallStatus, FactKind, FileEffect, Label, LineKind, RunEnd, Value, ValueKind, values,
};

use crate::case::Case;
use crate::opinion::ReadVerdict;

/// What code found that bears out a judge's opinion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirmation {
    /// Both quotations have values of this kind, and none is the same.
    ValuesDiffer {
        /// The kind.
        kind: ValueKind,
        /// What the answer says.
        said: String,
        /// What the record has.
        recorded: String,
    },
    /// The cited call did not complete.
    CallFailed {
        /// Its number.
        call: usize,
        /// How it ended.
        status: CallStatus,
    },
    /// The cited run of a check failed, or found nothing to do.
    RunFailed {
        /// The number of its call.
        call: usize,
    },
    /// Files were changed after the cited run of a check.
    RunStale {
        /// The number of its call.
        call: usize,
    },
    /// No such check was run.
    NeverRun,
    /// The tool that it would have needed was offered, and never called.
    ToolNeverCalled {
        /// The tool.
        tool: String,
    },
    /// A file or an address that the answer names occurs in no call and no result.
    NeverNamed {
        /// What it names.
        said: String,
    },
    /// The answer counts something else than the list has.
    CountDiffers {
        /// What the answer says.
        said: u64,
        /// How many entries the list has.
        length: u64,
    },
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ValuesDiffer { kind, said, recorded } => {
                write!(f, "the {} differs: `{said}` and `{recorded}`", kind.name())
            }
            Self::CallFailed { call, status } => write!(f, "C{call} is {}", status.name()),
            Self::RunFailed { call } => write!(f, "the run R{call} did not pass"),
            Self::RunStale { call } => write!(f, "files were changed after the run R{call}"),
            Self::NeverRun => f.write_str("no such check was run"),
            Self::ToolNeverCalled { tool } => write!(f, "`{tool}` was never called"),
            Self::NeverNamed { said } => write!(f, "`{said}` occurs in no call and no result"),
            Self::CountDiffers { said, length } => {
                write!(f, "the answer counts {said}, the list has {length}")
            }
        }
    }
}

/// An opinion whose quotations were found.
pub(crate) struct Verified<'c> {
    pub(crate) case: &'c Case<'c>,
    pub(crate) verdict: ReadVerdict,
    /// The words of the answer.
    pub(crate) says: &'c str,
    /// The line of the record, and its words.
    pub(crate) cited: Option<(Label, &'c str)>,
    pub(crate) needs: Option<&'c str>,
}

type Comparison = fn(&Verified<'_>) -> Option<Confirmation>;

/// Every comparison, the most telling first.
const COMPARISONS: [Comparison; 6] =
    [run, call, tool_never_called, count, values_differ, never_named];

/// The first comparison that bears the opinion out.
pub(crate) fn confirm(verified: &Verified<'_>) -> Option<Confirmation> {
    COMPARISONS.iter().find_map(|compare| compare(verified))
}

/// A run's fact says failed, stale or never.
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

/// The cited call failed, or never ran.
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

/// The tool that is needed was offered, and never called, and every call is recorded.
fn tool_never_called(verified: &Verified<'_>) -> Option<Confirmation> {
    let tool = verified.needs.filter(|_| verified.verdict == ReadVerdict::Unsupported)?;
    let facts = verified.case.facts();
    let offered = facts.catalog().get(tool).is_some();
    // What a sub-agent did may not be recorded.
    let alone = facts.delegations().next().is_none();
    let never = offered && alone && facts.is_complete() && !facts.has_called(tool);
    never.then(|| Confirmation::ToolNeverCalled { tool: tool.to_owned() })
}

/// The answer counts something else than the only list of the cited result has.
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
    let [said] = numbers.as_slice() else { return None };
    // A number that the quotation has is no count.
    let quoted = numbers_in(quote).contains(said) && *said != length;
    (listed && *said != length && !quoted)
        .then_some(Confirmation::CountDiffers { said: *said, length })
}

/// What the only number of these words counts: the plural noun after it, without its ending.
fn counted(says: &str) -> Option<&str> {
    let words: Vec<&str> = says.split_whitespace().collect();
    words.windows(2).find_map(|pair| {
        let [first, second] = pair else { return None };
        let plain = first.bytes().all(|b| b.is_ascii_digit()) || word_number(first).is_some();
        let noun = second.trim_end_matches(|c: char| !c.is_alphabetic()).strip_suffix('s')?;
        (plain && noun.len() > 2).then_some(noun)
    })
}

/// Both quotations have values of one kind, and none of the one is one of the other.
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
    let (said, recorded) = (values_of(verified.says), values_of(quote));
    KINDS.into_iter().find_map(|kind| {
        let of_kind = |all: &[Value]| -> Vec<Value> {
            all.iter().filter(|value| value.kind == kind).cloned().collect()
        };
        let (said, recorded) = (of_kind(&said), of_kind(&recorded));
        let (first, other) = (said.first()?, recorded.first()?);
        let shared = said.iter().any(|a| recorded.iter().any(|b| a.same(b)));
        (!shared).then(|| Confirmation::ValuesDiffer {
            kind,
            said: first.key.clone(),
            recorded: other.key.clone(),
        })
    })
}

/// A file or an address of the answer occurs in no call and no result, and every call is recorded.
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
    let said = verified.says.get(absent.start..absent.end).unwrap_or_default().to_owned();
    Some(Confirmation::NeverNamed { said })
}

/// The values of a text, numbers in words included.
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

/// The number that a word is. "One" is as often no number.
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
