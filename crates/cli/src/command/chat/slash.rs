//! What is said to the program, not to the model. One arm a command.

use std::io::{self, Write as _};

use counterfoil_agent::{NoteOrigin, TaskSelection, Turned};
use counterfoil_guard::Disposition;
use counterfoil_report::visible;

use crate::conversation::{Begun, told_once};
use crate::terminal::Paint;

/// How the conversation goes on.
pub(super) enum After {
    On,
    End,
}

const HELP: &str = "\
/status   gates, model, context, cache and limits as they are now
/why      receipts and findings of the last answer
/tools    what the model is offered now
/memory   the latest notes; `/memory WORDS` searches, `/remember TEXT` keeps one
/tasks    what is still to run
/compact  tell what went before in short
/clear    forget what was said; the record stays
/quit     end; Ctrl-D does, too";

pub(super) async fn slash(
    begun: &mut Begun,
    said: &str,
    last: Option<&Turned>,
) -> anyhow::Result<After> {
    let text = match said {
        "/help" | "/?" => HELP.to_owned(),
        "/quit" | "/exit" => return Ok(After::End),
        "/status" => status(begun),
        "/why" => why(begun, last)?,
        "/tools" => tools(begun),
        "/compact" => begun.agent.compact().await?.text,
        "/clear" => {
            begun.agent.clear().await?;
            "nothing is known any more of what was said; the record stays".to_owned()
        }
        "/tasks" => tasks(begun)?,
        "/memory" => memory(begun, None)?,
        other if other.starts_with("/memory ") => memory(begun, other.strip_prefix("/memory "))?,
        other if other.starts_with("/remember ") => remember(begun, other).await?,
        other => format!("`{}` is no command here; `/help` lists them", visible(other)),
    };
    writeln!(io::stderr(), "{text}")?;
    Ok(After::On)
}

/// What is in force, a line each. What is off is not mentioned.
fn status(begun: &Begun) -> String {
    let (guard, session) = (begun.agent.guard(), begun.agent.session());
    let settings = &begun.settings;
    let ids = guard.gates().ids();
    let gates: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let (full, fits) = begun.agent.context();
    let usage = begun.agent.usage();
    let mut lines = vec![
        format!("Model: {}", begun.model),
        format!("Session: {}", session.id()),
        format!("Context: {full} of {fits} tokens"),
        format!("Usage: {} tokens read, {} written", usage.input, usage.output),
        format!("Gates: {}", gates.join(", ")),
    ];
    let filter = &settings.tool_filter;
    if filter.enabled {
        let embeddings = begun.options.llm.named(&begun.options.agent.provider);
        let embeddings = embeddings.is_ok_and(|provider| !provider.embedding_model.is_empty());
        lines.push(format!(
            "Filter: top_k={}, always_on={}, embeddings={}",
            filter.top_k,
            filter.always_on.len(),
            if embeddings { guard.catalog().iter().count() } else { 0 }
        ));
    }
    let judge = &begun.options.tools.adversarial_policy;
    if judge.enabled {
        let provider = if judge.provider.is_empty() { &judge.model } else { &judge.provider };
        let (count, open) = (judge.policies.len(), judge.fail_open);
        lines.push(format!("Judge: provider={provider}, policies={count}, fail_open={open}"));
    }
    if let Some(quota) = settings.quota {
        lines.push(format!("Budget: at most {quota} calls in a session"));
    }
    let cache = session.cache().counts();
    if settings.result_cache.enabled {
        lines.push(format!("Cache: {} results, {} given again", cache.entries, cache.hits));
    }
    lines.push(format!("Workspace: {}", guard.workspace().display()));
    lines.join("\n")
}

fn why(begun: &Begun, last: Option<&Turned>) -> anyhow::Result<String> {
    let Some(last) = last else { return Ok("there is no answer yet".to_owned()) };
    let paint = Paint::for_errors();
    let mut lines = Vec::new();
    for id in &last.executions {
        let Some(receipt) = begun.agent.guard().ledger().receipt(id)? else { continue };
        let status = receipt.status.name();
        lines.push(format!("  {} {} {status}", paint.code(id), visible(&receipt.tool)));
    }
    if lines.is_empty() {
        lines.push("  no tool was called".to_owned());
    }
    lines.extend(told_once(&last.findings, paint));
    let verdict = match (last.stands, last.findings.is_empty()) {
        (true, true) => Disposition::Pass,
        (true, false) => Disposition::Annotate,
        (false, _) => Disposition::Block,
    };
    let verdict = match verdict {
        Disposition::Pass => "the record shows nothing against it",
        Disposition::Annotate => "it stands, with doubts",
        Disposition::Block => "it was held back",
    };
    lines.push(format!("  {verdict}"));
    Ok(lines.join("\n"))
}

/// The latest notes, or those that are searched for.
fn memory(begun: &Begun, query: Option<&str>) -> anyhow::Result<String> {
    let Some(memory) = &begun.memory else { return Ok(NO_MEMORY.to_owned()) };
    let lines: Vec<String> = match query {
        None => {
            let notes = memory.store().list(20)?;
            notes.iter().map(|note| format!("  {}  {}", note.id, visible(&note.text))).collect()
        }
        Some(query) => {
            let found = memory.store().search(query, None, 20)?;
            found.iter().map(|note| format!("  {}  {}", note.id, visible(&note.text))).collect()
        }
    };
    Ok(if lines.is_empty() { "there is no such note".to_owned() } else { lines.join("\n") })
}

async fn remember(begun: &Begun, said: &str) -> anyhow::Result<String> {
    let Some(memory) = &begun.memory else { return Ok(NO_MEMORY.to_owned()) };
    let text = said.strip_prefix("/remember ").unwrap_or(said);
    let id = memory.save(text, begun.agent.session().id(), NoteOrigin::User).await?;
    Ok(format!("note {id}"))
}

fn tasks(begun: &Begun) -> anyhow::Result<String> {
    let Some(scheduler) = &begun.scheduler else { return Ok(NO_MEMORY.to_owned()) };
    let tasks = scheduler.tasks(TaskSelection::Active)?;
    let mut lines = Vec::new();
    for task in &tasks {
        let shown = scheduler.shown(task)?;
        let next = shown.next.unwrap_or_default();
        let (when, prompt) = (visible(&shown.when), visible(&shown.prompt));
        lines.push(format!("  {}  {next}  {when}: {prompt}", shown.task));
    }
    Ok(if lines.is_empty() { "there is no task".to_owned() } else { lines.join("\n") })
}

const NO_MEMORY: &str = "there is no memory in this run";

fn tools(begun: &Begun) -> String {
    let offer = begun.agent.guard().offer(begun.agent.session());
    let mut lines: Vec<String> = offer
        .tools
        .iter()
        .map(|tool| {
            let first = tool.description.lines().next().unwrap_or_default();
            format!("  {}  {}", visible(&tool.name), visible(first))
        })
        .collect();
    for excluded in &offer.excluded {
        let why = excluded.denied.clone();
        let why = why.unwrap_or_else(|| format!("waits for {}", excluded.waits_for.join(", ")));
        lines.push(format!("  {}  not offered: {}", visible(&excluded.tool), visible(&why)));
    }
    lines.join("\n")
}
