//! Runs the cases of the pages `spec/agent/thinking.md` and `spec/agent/filter.md`.

use counterfoil_guard::{FunctionExecutor, Guard, GuardOptions, ToolError, schema_complexity};
use counterfoil_model::Tool;
use serde_json::{Value, json};

use crate::desk::{session, wait};
use crate::words_embedder::words;

const THINKING: &str = include_str!("../../../../spec/agent/thinking.md");
const FILTER: &str = include_str!("../../../../spec/agent/filter.md");

/// The lines of the block with this name.
fn block(page: &'static str, name: &str) -> impl Iterator<Item = &'static str> {
    let (_, rest) = page.split_once(&format!("```{name}\n")).unwrap();
    rest.split_once("```").unwrap().0.lines()
}

fn guard(options: Value, tools: impl Iterator<Item = Tool>) -> Guard {
    let options: GuardOptions = serde_json::from_value(options).unwrap();
    let mut builder = Guard::builder().settings(options.resolve().unwrap());
    builder = builder.embedder(words().unwrap());
    for tool in tools {
        let done = |_: &Value| Ok::<_, ToolError>("done");
        builder = builder.executor(FunctionExecutor::new(tool, done));
    }
    builder.build().unwrap()
}

#[test]
fn room_to_think() {
    let mut differ = Vec::new();
    for case in block(THINKING, "cases") {
        let (_, schema) = case.split_at(case.find('{').unwrap());
        let parameters: Value = serde_json::from_str(schema).unwrap();
        let hard = schema_complexity(&parameters);
        let tool = Tool { parameters: Some(parameters), ..Tool::named("t") };
        let guard = guard(json!({ "tools": { "tafc": { "enabled": true } } }), [tool].into_iter());
        let offer = session(&guard, "s").offer();
        let offered = offer.tools[0].parameters.as_ref().unwrap();
        let thinks = offered["properties"].get("_tafc_think").is_some();
        let found = format!("{hard:.2} {} {schema}", if thinks { "thinks" } else { "plain" });
        if found != case {
            differ.push(found);
        }
    }
    assert!(differ.is_empty(), "these are so:\n{}", differ.join("\n"));
}

#[test]
fn what_is_offered() {
    let tools: Vec<(&str, &str)> =
        block(FILTER, "tools").map(|line| line.split_once(':').unwrap()).collect();
    let mut differ = Vec::new();
    for case in block(FILTER, "cases") {
        let (before, _) = case.split_once(" → ").unwrap();
        let (top_k, request) = before.split_once(' ').unwrap();
        let top_k: usize = top_k.parse().unwrap();
        let options = json!({ "agent": { "tool_filter": { "enabled": true, "top_k": top_k } } });
        let all = tools.iter().map(|(name, description)| Tool {
            description: description.trim().to_owned(),
            ..Tool::named(*name)
        });
        let guard = guard(options, all);
        let offer = wait(session(&guard, "s").offer_for(request));
        let shown = offer.reasons.iter().map(|(tool, reasons)| {
            let reasons: Vec<String> = reasons.iter().map(|why| format!("{why:?}")).collect();
            format!("{tool} {}", reasons.join("+"))
        });
        let found = format!("{before} → {}", shown.collect::<Vec<_>>().join(", "));
        if found != case {
            differ.push(found);
        }
    }
    assert!(differ.is_empty(), "these are so:\n{}", differ.join("\n"));
}
