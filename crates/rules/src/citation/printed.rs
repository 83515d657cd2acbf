use std::collections::BTreeSet;

use counterfoil_model::{Claim, ClaimKind, Role, Span};

use super::compare::spaced;
use super::stated::cited;
use super::traffic::{Traffic, traffic};
use super::traffic_line::Firmness;
use crate::facts::{Answer, Facts};
use crate::tool_use::same;

/// Finds printed output that no call returned.
pub(crate) fn simulations(facts: &Facts<'_>) -> Vec<Claim> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        for one in traffic(answer.prose.text) {
            found.extend(judge(facts, answer, &one));
        }
    }
    found
}

fn judge(facts: &Facts<'_>, answer: &Answer<'_>, one: &Traffic) -> Option<Claim> {
    let text = answer.prose.text;
    if one.doubtful.as_deref().is_some_and(|tool| !is_tool(facts, tool)) {
        return None;
    }
    if one.command.as_deref().is_some_and(|command| !was_run(facts, command, answer.turn)) {
        return None;
    }
    // Output that names its tool is a citation, which other rules judge.
    if one.firmness != Firmness::Markup && !cited(one.span.slice(text)).objects.is_empty() {
        return None;
    }
    is_invented(facts, answer, &one.lines, one.firmness)
        .then(|| answer.prose.claim_at(one.span, ClaimKind::Simulation, Vec::new(), answer.turn))
}

/// Whether printed output is clearly made up and not a quotation.
fn is_invented(facts: &Facts<'_>, answer: &Answer<'_>, lines: &[Span], firmness: Firmness) -> bool {
    let text = answer.prose.text;
    let turn = answer.turn;
    let printed = lines.iter().map(|line| without_receipts(facts, spaced(line.slice(text))));
    let printed: Vec<String> = printed.filter(|line| !is_elision(line)).collect();
    // Output with a known id is a citation, which other rules judge.
    let cites = printed.iter().any(|line| {
        let ids = cited(line).ids;
        ids.iter().any(|m| given(facts, turn).any(|there| there.contains(m.id.as_str())))
    });
    if printed.is_empty() || cites {
        return false;
    }
    let plain = printed.iter().all(|line| line.chars().filter(|c| c.is_alphanumeric()).count() < 3);
    let mut missing: Vec<&String> = printed
        .iter()
        .filter(|line| plain || line.chars().filter(|c| c.is_alphanumeric()).count() >= 3)
        .collect();
    let all = missing.len();
    for there in given(facts, turn) {
        if missing.is_empty() {
            break;
        }
        let spaced = spaced(there);
        missing.retain(|line| !spaced.contains(line.as_str()));
        if missing.is_empty() {
            break;
        }
        // The same words with different braces and spaces.
        let known: BTreeSet<String> = words(&spaced).collect();
        missing.retain(|line| !words(line).all(|word| known.contains(&word)));
    }
    let complete = facts.is_complete_before(turn);
    let firm = match firmness {
        Firmness::Markup => true,
        Firmness::Heading | Firmness::Summary if facts.record().before(turn).next().is_none() => {
            true
        }
        Firmness::Summary => false,
        Firmness::Heading => {
            // Words may paraphrase a result, but numbers need a source.
            let numbers: Vec<String> = missing
                .iter()
                .flat_map(|line| words(&line.replace(',', "")).collect::<Vec<_>>())
                .filter(|word| word.bytes().any(|b| b.is_ascii_digit()))
                .map(|word| word.trim_end_matches(".00").to_owned())
                .collect();
            let new = numbers
                .iter()
                .filter(|number| !given(facts, turn).any(|t| t.contains(number.as_str())))
                .count();
            new > 0 && new * 2 >= numbers.len()
        }
    };
    // A long quotation may have been shortened or tidied up in places.
    complete && firm && missing.len() * 2 >= all
}

/// Whether a call before message `turn` has this command: other commands are shown to the user.
fn was_run(facts: &Facts<'_>, command: &str, turn: usize) -> bool {
    let escaped = command.replace('\\', "\\\\").replace('"', "\\\"");
    facts.record().before(turn).any(|execution| execution.arguments().contains(&escaped))
}

/// The line without receipt ids and their labels: results do not contain them if the ledger keeps
/// them separately.
fn without_receipts(facts: &Facts<'_>, mut line: String) -> String {
    let receipts = || facts.transcript().receipts.iter().flatten();
    for mention in cited(&line).ids {
        if receipts().any(|receipt| receipt.id == mention.id) {
            line = line.replace(&mention.id, "").replace("execution_id", "");
        }
    }
    line
}

/// Everything that the agent was given up to message `turn`, results first.
pub(super) fn given<'f>(facts: &'f Facts<'_>, turn: usize) -> impl Iterator<Item = &'f str> {
    let messages = facts.transcript().messages.iter().take(turn + 1);
    let results = messages.clone().flat_map(|m| m.outcomes.iter().map(|o| o.text.as_str()));
    let instructions = messages.filter(|m| m.role != Role::Assistant).map(|m| m.text.as_str());
    results.chain(instructions)
}

/// `…`, `... +12 lines`: omitted lines, or an empty line.
fn is_elision(line: &str) -> bool {
    line.starts_with('…')
        || line.starts_with("...")
        || ["none", "null", "n/a", "{}", "[]"].iter().any(|word| line.eq_ignore_ascii_case(word))
}

/// Words and numbers, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-')))
        .map(|word| word.trim_matches(['.', '-', '_']).to_lowercase())
        .filter(|word| !word.is_empty())
}

/// Whether the agent had or called a tool of this name.
fn is_tool(facts: &Facts<'_>, name: &str) -> bool {
    facts.transcript().catalog.iter().any(|known| same(&known.name, name))
        || facts.record().executions().iter().any(|e| same(e.tool(), name))
}
