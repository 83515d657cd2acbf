use counterfoil_model::{Code, Family, Mode};

use crate::action::{ActionClaim, ActionVerdict, actions};
use crate::facts::{Execution, Facts, ToolName};
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::rule::Rule;

/// FK012: the agent claims success although the calls failed.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("FK012"),
    "masked-failure",
    Mode::Block,
    "the agent claims success, but the calls that were meant to achieve it failed",
    include_str!("../../spec/FK012.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for (claimed, verdict) in actions(facts) {
        if let ActionVerdict::Failed(at) = *verdict {
            judge(facts, findings, claimed, at);
        }
    }
}

/// Whether the failed call proves that the action was not done. If files and command lines can do
/// anything, only their own failure proves it.
fn is_disproved(facts: &Facts<'_>, claimed: &ActionClaim, at: usize) -> bool {
    // Version control shows the result of a commit or a push.
    let versioned = !claimed.as_found && matches!(claimed.family, Family::Commit | Family::Push);
    let plain = claimed.direct || claimed.names_file() || versioned;
    let Some((execution, deed)) = facts.deed(at) else { return false };
    if !facts.acts_freely_before(claimed.claim.turn) {
        let words = format!(" {} ", claimed.claim.text);
        let passive = [" is ", " are ", " been "].iter().any(|verb| words.contains(verb));
        let tool = ToolName::parse(execution.tool());
        let names = |thing: &String| tool.words.iter().any(|word| word.starts_with(thing.as_str()));
        let fits = tool.families.has(claimed.family) && claimed.things.iter().any(names);
        return plain || (claimed.state && !claimed.of_others && passive && fits);
    }
    plain && !deed.is_note && (deed.shell.is_some() || deed.edits_files())
}

/// "I updated the order": the call that should have done it failed.
fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, claimed: &ActionClaim, at: usize) {
    if !is_disproved(facts, claimed, at) {
        let reason = "a call failed, but the agent may mean something else";
        return findings.not_checkable(&claimed.claim, reason);
    }
    let tool = tool_at(facts, at);
    let note = Note::proven(format!("the agent says this was done, but `{tool}` failed"))
        .help("say that it failed and why, or try again")
        .evidence(facts.evidence_at(at));
    findings.contradicted(facts, &claimed.claim, note);
}

/// The tool of the execution at an index of the record.
fn tool_at<'t>(facts: &Facts<'t>, at: usize) -> &'t str {
    facts.record().executions().get(at).map_or("", Execution::tool)
}
