//! Commands to the program itself instead of the model, one match arm each.

use counterfoil_agent::{NoteOrigin, StoredNote, TaskState, Turned};
use counterfoil_guard::{GuardSettings, Profile, SpeculationCounts, SpeculationMode};
use counterfoil_report::visible;
use counterfoil_tools::has_snapshot;

use crate::command::guarded::undo::{undo, undone};
use crate::conversation::{Begun, Front, Tone, rows, why};

/// How the conversation continues.
pub(super) enum After {
    On,
    End,
}

const HELP: &str = "/status   show the current gates, model, context, cache and limits
/why      show the receipts, claims and findings of the last answer
/tools    list the tools that the model is currently offered
/memory   list the latest notes; `/memory WORDS` searches them, `/remember TEXT` saves one
/tasks    list the active tasks
/undo     undo the changes of the last shell command; `/undo ID` undoes those of call ID
/compact  summarise the conversation so far
/clear    clear the conversation; the record is kept
/quit     quit; `quit`, `exit` and Ctrl-D also quit";

pub(super) async fn slash(
    begun: &mut Begun,
    front: &mut impl Front,
    command: &str,
    last: Option<&Turned>,
) -> anyhow::Result<After> {
    let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let text = match (word, rest.trim()) {
        ("/help" | "/?", _) => HELP.to_owned(),
        ("/quit" | "/exit" | "quit" | "exit", _) => return Ok(After::End),
        ("/status", _) => status(begun),
        ("/why", _) => {
            let rows = why(begun.agent.guard(), last)?;
            front.why(rows)?;
            return Ok(After::On);
        }
        ("/tools", _) => tools(begun),
        ("/compact", _) => match front.during(begun.agent.compact()).await? {
            Some(answer) => answer?.plain().trim().to_owned(),
            None => "interrupted".to_owned(),
        },
        ("/clear", _) => {
            begun.agent.clear().await?;
            "conversation cleared; the record is kept".to_owned()
        }
        ("/tasks", _) => tasks(begun)?,
        ("/memory", "") => memory(begun, None)?,
        ("/memory", query) => memory(begun, Some(query))?,
        ("/remember", "") => "nothing to remember: use `/remember TEXT`".to_owned(),
        ("/remember", text) => remember(begun, text).await?,
        ("/undo", id) => put_back(begun, id, last).await?,
        _ => format!("unknown command `{}`; `/help` lists the commands", visible(word)),
    };
    front.show(&rows(Tone::Plain, &text))?;
    Ok(After::On)
}

/// Lists the settings in force, one per line; disabled features are left out.
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
        format!("Usage: {} tokens in, {} out", usage.input, usage.output),
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
        lines.push(format!("Budget: at most {quota} calls per session"));
    }
    let cache = session.cache().counts();
    if settings.result_cache.enabled {
        lines.push(format!("Cache: {} results, {} reused", cache.entries, cache.hits));
    }
    if settings.speculation.mode != SpeculationMode::Off {
        let SpeculationCounts { begun, used, wasted } = session.speculation_counts();
        let mode = settings.speculation.mode;
        lines.push(format!(
            "Speculation: mode={mode:?}, started={begun}, used={used}, wasted={wasted}"
        ));
    }
    lines.extend(sandbox(settings));
    lines.push(format!("Workspace: {}", guard.workspace().display()));
    lines.join("\n")
}

/// Describes the sandbox for commands; `None` if it is off.
fn sandbox(settings: &GuardSettings) -> Option<String> {
    let sandbox = settings.shell.load().sandbox.clone();
    if sandbox.profile() == Profile::Off {
        return None;
    }
    let abilities = crate::guard::sandbox(None).abilities(&sandbox).clone();
    let gaps: Vec<&str> = abilities.gaps.iter().map(|gap| gap.text.as_str()).collect();
    let holds = if abilities.confines() { "enforced" } else { "not enforced" };
    let but = if gaps.is_empty() { String::new() } else { format!("; {}", gaps.join("; ")) };
    Some(format!("Sandbox: {}, {holds}{but}", sandbox.profile().name()))
}

/// Lists the latest notes, or those that match a query.
fn memory(begun: &Begun, query: Option<&str>) -> anyhow::Result<String> {
    let Some(memory) = &begun.memory else { return Ok(NO_MEMORY.to_owned()) };
    let notes = match query {
        None => memory.store().list(20)?,
        Some(query) => {
            let found = memory.store().search(query, None, 20)?;
            found.into_iter().map(|found| found.kept).collect()
        }
    };
    let line = |kept: &StoredNote| format!("  {}  {}", kept.id, visible(&kept.note.text));
    let lines: Vec<String> = notes.iter().map(line).collect();
    Ok(if lines.is_empty() { "no notes found".to_owned() } else { lines.join("\n") })
}

async fn remember(begun: &Begun, text: &str) -> anyhow::Result<String> {
    let Some(memory) = &begun.memory else { return Ok(NO_MEMORY.to_owned()) };
    let id = memory.save(text, begun.agent.session().id(), NoteOrigin::User).await?;
    Ok(format!("note {id}"))
}

/// Undoes what a call changed, and tells the model.
async fn put_back(begun: &mut Begun, id: &str, last: Option<&Turned>) -> anyhow::Result<String> {
    let of_last = last.map(|last| last.executions.as_slice()).unwrap_or_default();
    let kept = begun.folder.snapshots();
    let id = match id {
        "" => of_last.iter().rev().find(|id| has_snapshot(&kept, id)).map(String::as_str),
        id => Some(id),
    };
    let Some(id) = id else {
        return Ok("the last answer has no calls that can be undone".to_owned());
    };
    match undo(begun.agent.session(), &kept, id, false).await? {
        Ok(rolled_back) => {
            let text = undone(&rolled_back);
            begun.agent.inform(&format!("The user has undone {id}: {text}")).await?;
            Ok(text)
        }
        Err(error) => Ok(format!("{error}; see `counterfoil undo --help`")),
    }
}

fn tasks(begun: &Begun) -> anyhow::Result<String> {
    let Some(scheduler) = &begun.scheduler else { return Ok(NO_MEMORY.to_owned()) };
    let mut lines = Vec::new();
    for shown in scheduler.list()? {
        if shown.state != TaskState::Active {
            continue;
        }
        let next = shown.next.unwrap_or_default();
        let (when, prompt) = (visible(&shown.when), visible(&shown.prompt));
        lines.push(format!("  {}  {next}  {when}: {prompt}", shown.task));
    }
    Ok(if lines.is_empty() { "no tasks".to_owned() } else { lines.join("\n") })
}

const NO_MEMORY: &str = "memory and tasks are unavailable in this run";

fn tools(begun: &Begun) -> String {
    let offer = begun.agent.session().offer();
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
        let why = why.unwrap_or_else(|| {
            format!("only available after {} succeeds", excluded.waits_for.join(", "))
        });
        lines.push(format!("  {}  not offered: {}", visible(&excluded.tool), visible(&why)));
    }
    lines.join("\n")
}
