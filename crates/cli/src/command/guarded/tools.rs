use std::io::{self, Write as _};

use clap::Args;
use counterfoil_guard::{Excluded, InclusionReason, Offer, SessionStart};
use counterfoil_model::{Effects, Origin, Tool};
use counterfoil_report::visible;
use serde_json::{Value, json};

use crate::choices::WholeFormat;
use crate::config;
use crate::exit::{Complaint, Exit, note};
use crate::global::Global;
use crate::guard::Making;
use crate::servers;
use crate::surroundings::runtime;
use crate::tables::wide_table;

/// List the tools as the guard sees them: origin, effects, whether they are offered
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil tools
  counterfoil tools --session fix-42      tools that this session may use now
  counterfoil tools --for 'undo my last change'   tools offered for this request, and why
  counterfoil tools --format json | jq '.[] | .name'")]
pub(crate) struct Arguments {
    /// Show what this session would be offered [default: a new session]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show which tools would be offered for this request, even if `[agent.tool_filter]` is off
    #[arg(long = "for", value_name = "QUERY")]
    query: Option<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: WholeFormat,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut options = config::find(&global.place())?.options;
    options.agent.tool_filter.enabled |= arguments.query.is_some();
    let state = match arguments.session {
        Some(_) => Some(global.state()?.existing()?),
        None => None,
    };
    let guard = Making { state, ..Making::new(&options) }.guard()?;
    if let Some(id) = &arguments.session
        && !guard.ledger().sessions()?.contains(id)
    {
        // Listing tools must not begin a session.
        return Err(Complaint::new(format!("the ledger has no session `{id}`")).into());
    }
    let runtime = runtime()?;
    for why in runtime.block_on(servers::offer(&guard, &options, None, None))?.left_out {
        note(visible(&why))?;
    }
    let start = SessionStart { id: arguments.session.clone(), ..SessionStart::default() };
    let session = guard.session(start)?;
    let query = arguments.query.as_deref().unwrap_or_default();
    let offer = runtime.block_on(session.offer_for(query));
    guard.notices().iter().try_for_each(note)?;
    let mut out = io::stdout().lock();
    match arguments.format {
        WholeFormat::Json => {
            let rows: Vec<Value> = guard.catalog().iter().map(|tool| row(tool, &offer)).collect();
            writeln!(out, "{}", counterfoil_report::json_pretty(&rows))?;
        }
        WholeFormat::Text => writeln!(out, "{}", table(guard.catalog().iter(), &offer))?,
    }
    for issue in guard.catalog_issues() {
        note(format!("tool `{}`: {}", visible(&issue.tool), visible(&issue.message)))?;
    }
    if offer.deadlock {
        note(
            "all tools are waiting for each other, so their dependencies are ignored in \
             this turn",
        )?;
    }
    Ok(Exit::Clean)
}

fn row(tool: &Tool, offer: &Offer) -> Value {
    let waits_for = excluded(tool, offer).map(|excluded| &excluded.waits_for);
    json!({
        "name": tool.name,
        "description": tool.description,
        "origin": tool.origin,
        "effects": tool.effects,
        "parameters": tool.parameters,
        "offered": offer.tools.iter().any(|offered| offered.name == tool.name),
        "waits_for": waits_for,
        "denied": excluded(tool, offer).and_then(|excluded| excluded.denied.as_deref()),
        "boost": offer.boosts.get(&tool.name),
        "reasons": offer.reasons.get(&tool.name),
        "score": offer.scores.get(&tool.name),
        "unlike": excluded(tool, offer).is_some_and(|excluded| excluded.unlike),
    })
}

fn excluded<'o>(tool: &Tool, offer: &'o Offer) -> Option<&'o Excluded> {
    offer.excluded.iter().find(|excluded| excluded.tool == tool.name)
}

fn table<'t>(tools: impl Iterator<Item = &'t Tool>, offer: &Offer) -> String {
    let mut table = wide_table(["TOOL", "FROM", "EFFECTS", "PARAMETERS", "OFFERED"]);
    for tool in tools {
        let offered = match excluded(tool, offer) {
            Some(Excluded { denied: Some(why), .. }) => format!("no: {why}"),
            Some(Excluded { unlike: true, .. }) => {
                format!("no: less relevant than other tools{}", score(tool, offer))
            }
            Some(excluded) => format!("no: waits for {}", excluded.waits_for.join(", ")),
            None if offer.tools.iter().any(|offered| offered.name == tool.name) => why(tool, offer),
            None => "no: disabled".to_owned(),
        };
        table.add_row([
            visible(&tool.name).into_owned(),
            origin(&tool.origin),
            effects(tool.effects),
            parameters(tool),
            visible(&offered).into_owned(),
        ]);
    }
    table.trim_fmt()
}

/// Whether the tool is offered, and for a request, why.
fn why(tool: &Tool, offer: &Offer) -> String {
    let Some(reasons) = offer.reasons.get(&tool.name) else { return "yes".to_owned() };
    let word = |reason: &InclusionReason| match reason {
        InclusionReason::AlwaysOn => "always on".to_owned(),
        InclusionReason::NameMentioned => "named in the request".to_owned(),
        InclusionReason::Referenced => "called in this turn".to_owned(),
        InclusionReason::ShortDescription => "its description is too short to rank".to_owned(),
        InclusionReason::NoEmbedding => "cannot be ranked".to_owned(),
        InclusionReason::SimilarityRank => format!("relevant{}", score(tool, offer)),
        InclusionReason::DependencyMet => "required tools were called".to_owned(),
        InclusionReason::PreferenceBoost => "preferred tools were called".to_owned(),
        _ => "for another reason".to_owned(),
    };
    let words: Vec<String> = reasons.iter().map(word).collect();
    format!("yes: {}", words.join(", "))
}

fn score(tool: &Tool, offer: &Offer) -> String {
    offer.scores.get(&tool.name).map(|score| format!(" ({score:.2})")).unwrap_or_default()
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Builtin => "built in".to_owned(),
        Origin::Mcp { server } => format!("MCP server {}", visible(server)),
        Origin::Skill { name } => format!("skill {}", visible(name)),
        Origin::External => "external".to_owned(),
    }
}

/// Describes the effects; if none is declared, says so, because that counts as the worst case.
fn effects(effects: Effects) -> String {
    let Effects { reads, writes, network, idempotent, .. } = effects;
    let words =
        [(reads, "reads"), (writes, "writes"), (network, "network"), (idempotent, "repeatable")];
    let named: Vec<&str> =
        words.into_iter().filter(|(is, _)| *is == Some(true)).map(|(_, word)| word).collect();
    match (named.is_empty(), [reads, writes, network].iter().all(Option::is_none)) {
        (false, _) => named.join(", "),
        (true, true) => "not declared".to_owned(),
        (true, false) => "none".to_owned(),
    }
}

/// Lists the parameters in order; optional ones are marked with `?`.
fn parameters(tool: &Tool) -> String {
    let Some(schema) = &tool.parameters else { return "not declared".to_owned() };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|required| required.iter().any(|one| one == name));
    let names = schema.get("properties").and_then(Value::as_object);
    names
        .into_iter()
        .flat_map(|names| names.keys())
        .map(|name| format!("{}{}", visible(name), if is_required(name) { "" } else { "?" }))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_and_parameters_in_words() {
        let none = Effects { reads: Some(false), ..Effects::default() };
        let some = Effects { reads: Some(true), network: Some(true), ..Effects::default() };
        for (given, expected) in
            [(Effects::default(), "not declared"), (none, "none"), (some, "reads, network")]
        {
            assert_eq!(effects(given), expected);
        }
        let schema = json!({"properties": {"b": {}, "a": {}}, "required": ["b"]});
        let tool = Tool { parameters: Some(schema), ..Tool::named("t") };
        assert_eq!(parameters(&tool), "b, a?");
        assert_eq!(parameters(&Tool::named("t")), "not declared");
    }
}
