//! The rules about executions that an answer cites, in one table. Each reports one kind of fault.

use counterfoil_model::{Code, Evidence, Mode, Status};

use super::compare::Difference;
use super::fault::{Citation, Fault};
use super::judge::citations;
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::rule::Rule;

/// All rules about citations. Each reports one kind of fault.
pub(crate) static RULES: [Rule; 7] = [
    Rule::new(
        Group::Claim,
        Code("CS001"),
        "unknown-execution",
        Mode::Block,
        "the agent cites an execution id that does not exist",
        include_str!("../../spec/CS001.md"),
        check,
    ),
    Rule::new(
        Group::Claim,
        Code("CS002"),
        "execution-of-other-tool",
        Mode::Block,
        "the agent attributes an execution to the wrong tool",
        include_str!("../../spec/CS002.md"),
        check,
    ),
    Rule::new(
        Group::Claim,
        Code("CS003"),
        "expired-execution",
        Mode::Warn,
        "the agent cites an execution that is older than the configured maximum age",
        include_str!("../../spec/CS003.md"),
        check,
    ),
    Rule::new(
        Group::Claim,
        Code("CS004"),
        "unfinished-execution",
        Mode::Block,
        "the agent cites an execution as successful although it failed or never finished",
        include_str!("../../spec/CS004.md"),
        check,
    ),
    Rule::new(
        Group::Claim,
        Code("CS005"),
        "altered-result",
        Mode::Block,
        "the agent cites an execution with content that differs from its recorded result",
        include_str!("../../spec/CS005.md"),
        check,
    ),
    Rule::new(
        Group::Claim,
        Code("CS006"),
        "missing-execution-id",
        Mode::Block,
        "the agent presents a tool result without the id of its execution",
        include_str!("../../spec/CS006.md"),
        check,
    ),
    Rule::new(
        Group::Claim,
        Code("CS007"),
        "missing-tool-name",
        Mode::Block,
        "the agent cites an execution without its tool, and no receipt names the tool",
        include_str!("../../spec/CS007.md"),
        check,
    ),
];

/// Adds the faults that the rule is about.
fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    let code = findings.code().0;
    for citation in citations(facts) {
        let claim = &citation.claim;
        if citation.faults.is_empty() && code == "CS001" {
            findings.supported(claim, citation.evidence.iter().cloned());
        }
        for fault in citation.faults.iter().filter(|fault| code_of(fault) == code) {
            let note = note(citation, fault);
            match fault {
                Fault::MissingId { .. } | Fault::MissingTool { .. } => {
                    findings.unsupported(facts, claim, note);
                }
                _ => findings.contradicted(facts, claim, note),
            }
        }
    }
}

/// The code of the rule that reports a fault.
fn code_of(fault: &Fault) -> &'static str {
    match fault {
        Fault::Unknown { .. } => "CS001",
        Fault::OtherTool { .. } => "CS002",
        Fault::Expired { .. } => "CS003",
        Fault::Unfinished { .. } => "CS004",
        Fault::Altered(_) => "CS005",
        Fault::MissingId { .. } => "CS006",
        Fault::MissingTool { .. } => "CS007",
    }
}

/// The message of a fault.
fn note(citation: &Citation, fault: &Fault) -> Note {
    let shown = || citation.evidence.iter().cloned();
    match fault {
        Fault::Unknown { id, provable } => Note::proven(format!("no execution has the id `{id}`"))
            .help("call the tool and cite the id that it returns, or omit the id")
            .provable_if(*provable),
        Fault::OtherTool { stated, recorded } => {
            Note::proven(format!("the cited execution is a call to `{recorded}`, not `{stated}`"))
                .help("cite the execution of the tool that was used")
                .evidence(shown())
        }
        Fault::Expired { age, window } => {
            let age = format!("the cited execution is {age} s old; the maximum age is {window} s");
            Note::proven(age).help("call the tool again").evidence(shown())
        }
        Fault::Unfinished { status } => {
            Note::proven(format!("the cited execution {}", ended(*status)))
                .help("say how it ended, or call the tool again")
                .evidence(shown())
        }
        Fault::Altered(Difference { stated, recorded, pointer }) => {
            let message = match recorded.is_empty() {
                true => format!("the recorded result has no `{stated}`"),
                false => {
                    format!("the agent says `{stated}`, but the recorded result has `{recorded}`")
                }
            };
            let place = |evidence: Evidence| {
                let whole = recorded.is_empty();
                let excerpt = if whole { evidence.excerpt } else { recorded.clone() };
                Evidence { pointer: pointer.clone(), excerpt, ..evidence }
            };
            Note::proven(message).help("quote the result exactly").evidence(shown().map(place))
        }
        Fault::MissingId { tool } => {
            Note::proven(format!("a result of `{tool}` is presented without an execution id"))
                .help("call the tool and cite the id of its execution")
        }
        Fault::MissingTool { id } => {
            Note::proven(format!("`{id}` is cited without its tool, and no receipt names the tool"))
                .help("name the tool along with the id")
        }
    }
}

/// How an execution ended, as the end of a sentence.
fn ended(status: Status) -> &'static str {
    match status {
        Status::Open => "has not ended",
        Status::Completed => "ended",
        Status::Failed => "failed",
        Status::Denied => "was denied",
        Status::Refused => "was refused",
        Status::Cancelled => "was cancelled",
        Status::Timeout => "timed out",
        Status::RolledBack => "was rolled back",
    }
}
