use counterfoil_model::{Code, Family, Mode, Origin, Tool};
use counterfoil_record::names_shell;

use crate::action::{ActionClaim, ActionVerdict, NOT_OWN, actions, is_supported};
use crate::facts::{Facts, Families, ToolName, kindred};
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::prose::{Lexicon, Tags};
use crate::rule::Rule;
use crate::values::{Leaf, Leaves};

/// FK010: the agent claims a completed side effect without a receipt.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("FK010"),
    "phantom-completion",
    Mode::Block,
    "the agent claims that an action was completed, but no successful call performed it",
    include_str!("../../spec/FK010.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for (claimed, verdict) in actions(facts) {
        judge(facts, findings, claimed, *verdict);
    }
}

/// Judges an action that the agent claims.
fn judge(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    claimed: &ActionClaim,
    verdict: ActionVerdict,
) {
    match verdict {
        ActionVerdict::Possible(at) if is_supported(facts, claimed, at) => {
            findings.supported(&claimed.claim, facts.evidence_at(at));
        }
        ActionVerdict::Possible(_) => findings.not_checkable(
            &claimed.claim,
            "a call may have done it, but the record does not show that it did",
        ),
        ActionVerdict::NotCheckable(reason) => findings.not_checkable(&claimed.claim, reason),
        ActionVerdict::Elsewhere(_) if !claimed.direct => {
            findings.not_checkable(&claimed.claim, NOT_OWN)
        }
        ActionVerdict::Elsewhere(at) => {
            let note = Note::proven(done_to_another(facts, claimed, at))
                .help(
                    "name the object of the actual call, or make the call for the object you named",
                )
                .provable_if(!facts.acts_freely_before(claimed.claim.turn))
                .evidence(facts.evidence_at(at));
            findings.contradicted(facts, &claimed.claim, note);
        }
        ActionVerdict::Unseen(at) => {
            let thing = claimed.claim.objects.get(at).map_or("", |object| object.text.as_str());
            let note = Note::proven(format!(
                "the agent says it did this with `{thing}`, but no call, result or instruction \
                 mentions `{thing}`"
            ))
            .help("do it with a tool, or name what was really changed");
            findings.unsupported(facts, &claimed.claim, note);
        }
        ActionVerdict::Absent => {
            if let Some(reason) = doubt(facts, claimed) {
                return findings.not_checkable(&claimed.claim, reason);
            }
            let family = claimed.family.name();
            let note = Note::proven(format!(
                "the agent says this was done, but no successful call did it ({family})"
            ))
            .help("do it with a tool, or say that it was not done");
            findings.unsupported(facts, &claimed.claim, note);
        }
        ActionVerdict::Failed(_) => {}
    }
}

/// Why a missing call does not prove that the action was not done. It proves it if the agent reports
/// the action as its own, had a tool for such actions, and could
/// not have done it by other means.
fn doubt(facts: &Facts<'_>, claimed: &ActionClaim) -> Option<&'static str> {
    let text = claimed.claim.text.as_str();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    // "I've been assigned" does not report an action of the agent.
    let passive = words.any(|word| matches!(word, "been" | "be"));
    let turn = claimed.claim.turn;
    let does = |tool: &ToolName| tool.families.meets(kindred(claimed.family));
    let known = |tool: &Tool| {
        let own = matches!(tool.origin, Origin::Builtin | Origin::Skill { .. });
        let name = ToolName::parse(&tool.name);
        // Command lines are read.
        let shell = || name.words.iter().any(|word| names_shell(word));
        own || name.families != Families::default() || shell()
    };
    let catalog = &facts.transcript().catalog;
    // A record of receipts without tools and without calls: nothing could have been done at all.
    let powerless = facts.transcript().receipts.is_some()
        && catalog.iter().next().is_none()
        && facts.record().executions().is_empty();
    let offered = match catalog.is_known() {
        _ if powerless => true,
        true => {
            facts.tool_names().iter().any(does) || (is_plain(claimed) && catalog.iter().all(known))
        }
        false => only_known_tools(facts, turn),
    };
    // Only a command pushes, commits or deploys; the record has read all of them.
    let by_command = matches!(claimed.family, Family::Push | Family::Commit | Family::Deploy);
    let free = match by_command && claimed.is_own() {
        true => facts.delegates_before(turn) || facts.is_opaque_before(turn),
        false => facts.acts_freely_before(turn),
    };
    let reasons = [
        (claimed.is_own() == passive, NOT_OWN),
        (!offered && catalog.is_known(), "none of the agent's tools is known to do this"),
        (!offered, "the log has no list of tools, and a tool with unknown effects may do this"),
        (free, "a command, a file edit or another agent may have done it"),
    ];
    reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

/// Whether the verbs for this kind of action are unambiguous. Something that has shipped may have
/// been shipped by others.
fn is_plain(claimed: &ActionClaim) -> bool {
    use Family as F;
    match claimed.family {
        F::Deploy => claimed.is_own(),
        F::Delete | F::Cancel | F::Send | F::Pay | F::Refund | F::Commit | F::Push => true,
        _ => false,
    }
}

/// Whether the effects of every called tool are known. A log without calls may be in a format that
/// drops them; a record of receipts does not.
fn only_known_tools(facts: &Facts<'_>, turn: usize) -> bool {
    let keeps_calls = !facts.record().executions().is_empty();
    (keeps_calls || facts.transcript().receipts.is_some())
        && !facts.called_unknown_tool_before(turn)
}

/// The message "the agent says `8` was cancelled, but the call to `cancel_order` was for `9`".
fn done_to_another(facts: &Facts<'_>, claimed: &ActionClaim, at: usize) -> String {
    let call = facts.record().executions().get(at).and_then(|execution| execution.call);
    let tool = call.map_or("", |call| call.tool.as_str());
    let entry = Lexicon::english().get(&claimed.verb);
    let is_participle = entry.is_some_and(|entry| entry.tags.any(Tags::PARTICIPLE));
    let done = if is_participle { claimed.verb.as_str() } else { "done" };
    let things = claimed.patients.iter().chain(&claimed.claim.objects);
    let Some(named) = things.map(|thing| thing.text.as_str()).find(|text| !text.is_empty()) else {
        return format!(
            "the agent says this was {done}, but the call to `{tool}` was for something else"
        );
    };
    let start = format!("the agent says `{named}` was {done}, but the call to `{tool}`");
    match call.and_then(|call| other_of_its_kind(call.arguments.as_str(), named)) {
        Some(other) => format!("{start} was for `{other}`"),
        None => format!("{start} does not name it"),
    }
}

/// The argument that has the shape of the named id but a different value: `#W7`, for `#W8`.
fn other_of_its_kind(arguments: &str, named: &str) -> Option<String> {
    let shape = |text: &str| -> String {
        let mut shape: Vec<char> = text
            .chars()
            .filter(|c| *c != '#')
            .map(|c| match c {
                c if c.is_ascii_digit() => '0',
                c if c.is_alphabetic() => 'a',
                c => c,
            })
            .collect();
        shape.dedup();
        shape.into_iter().collect()
    };
    let wanted = shape(named);
    let leaves = Leaves::parse(arguments)?;
    let texts = leaves.nodes().iter().filter_map(|node| match node.leaf {
        Leaf::Text(text) | Leaf::Number(text) => Some(text),
        _ => None,
    });
    texts.filter(|text| *text != named).find(|text| shape(text) == wanted).map(str::to_owned)
}
