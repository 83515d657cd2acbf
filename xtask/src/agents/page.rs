//! The table in docs/hooks.md.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::Table;
use super::agent::Agent;
use super::scenario::Scenario;

pub(super) const AS_EXPECTED: &str = "as expected";

const BEGIN: &str = "<!-- agents: written by `cargo xtask agents --write` -->\n";
const END: &str = "<!-- /agents -->\n";

/// Writes the results between the markers on the page.
pub(super) fn write(
    root: &Path,
    agents: &[Agent],
    scenarios: &[Scenario],
    table: &Table,
) -> Result<()> {
    let path = root.join("docs/hooks.md");
    let page = std::fs::read_to_string(&path)?;
    let marks = "docs/hooks.md has no place for the table";
    let (before, rest) = page.split_once(BEGIN).context(marks)?;
    let (_, after) = rest.split_once(END).context(marks)?;
    let table = shown(agents, scenarios, table);
    Ok(std::fs::write(path, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?)
}

fn shown(agents: &[Agent], scenarios: &[Scenario], table: &Table) -> String {
    let heads: Vec<String> =
        agents.iter().map(|agent| format!("{} {}", agent.title(), agent.version)).collect();
    let mut text = format!("| what the model does | {} |\n", heads.join(" | "));
    text.push_str(&format!("|---|{}\n", "---|".repeat(agents.len())));
    for scenario in scenarios {
        let Some(row) = table.get(&scenario.name) else { continue };
        let cells = agents.iter().map(|agent| match row.get(agent.name()) {
            Some(seen) => cell(scenario, &seen.verdict(scenario)),
            None => "–".to_owned(),
        });
        let cells: Vec<String> = cells.collect();
        text.push_str(&format!("| {} | {} |\n", scenario.what, cells.join(" | ")));
    }
    text
}

/// Summarises a result in a few words.
fn cell(scenario: &Scenario, verdict: &str) -> String {
    if verdict != AS_EXPECTED {
        return format!("**{verdict}**");
    }
    let expected = scenario.expect;
    let times = |what: &str, count: usize| match count {
        0 => None,
        1 => Some(what.to_owned()),
        _ => Some(format!("{what} {count} times")),
    };
    let status = (expected.status != 0).then(|| "`hook status` says so".to_owned());
    let said = [
        times("denied", expected.denied),
        times("sent back", expected.sent_back),
        times("sub-agent sent back", expected.helper_sent_back),
        times("told later", expected.reminded),
        times("recorded by the gateway", expected.recorded),
        status,
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    if said.is_empty() { "let alone".to_owned() } else { said.join(", ") }
}
