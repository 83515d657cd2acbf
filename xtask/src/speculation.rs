//! `cargo xtask bench-speculation`: measures how long a turn takes with and without speculative
//! calls. Model and tool are ours, with configurable delays.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use counterfoil_agent::{Agent, AgentOptions, Conversation, Model, Nobody, Parts};
use counterfoil_guard::{
    BoxFuture, FunctionExecutor, Guard, GuardOptions, SessionStart, SpeculationCounts, ToolError,
};
use counterfoil_model::{Effects, Tool, ToolCall};
use counterfoil_providers::{Piece, ProviderError, Reply, Request, Stop};
use serde_json::{Value, json};
use tokio::time::sleep;

/// Flags of `cargo xtask bench-speculation`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Time that the model takes to write each call, and the answer, in milliseconds
    #[arg(long, default_value_t = 200)]
    model_ms: u64,
    /// Time that each look-up takes, in milliseconds
    #[arg(long, default_value_t = 200)]
    tool_ms: u64,
    /// Number of runs of each turn; the median counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// One answer of the model: the calls that it writes, in order.
type Step = Vec<(&'static str, String)>;

/// Returns four look-ups in one answer.
fn at_once() -> Vec<Step> {
    vec![(0..4).map(|number| ("look_up", format!("room {number}"))).collect()]
}

/// Returns eight pairs of a change and a look-up of what was changed.
fn one_by_one() -> Vec<Step> {
    let pair = |number: u32| {
        let room = format!("room {number}");
        [vec![("paint", room.clone())], vec![("look_up", room)]]
    };
    (0..8).flat_map(pair).collect()
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    let Options { model_ms, tool_ms, rounds } = options;
    println!("The model writes {model_ms} ms at a call, a look-up takes {tool_ms} ms.");
    println!("{:34} mode         ms  begun  used  wasted", "turn");
    for (name, steps) in
        [("four look-ups in one answer", at_once()), ("eight times paint, look", one_by_one())]
    {
        for mode in ["off", "decoding", "pattern", "both"] {
            let (time, counts) = median(options, mode, &steps)?;
            let SpeculationCounts { begun, used, wasted } = counts;
            println!("{name:34} {mode:9} {:5}  {begun:5}  {used:4}  {wasted:6}", time.as_millis());
        }
    }
    println!("{rounds} rounds each, the median");
    Ok(())
}

fn median(options: &Options, mode: &str, steps: &[Step]) -> Result<(Duration, SpeculationCounts)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut times = Vec::new();
    for _ in 0..options.rounds.max(1) {
        times.push(runtime.block_on(turn(options, mode, steps))?);
    }
    times.sort_by_key(|(time, _)| *time);
    Ok(times.swap_remove(times.len() / 2))
}

async fn turn(
    options: &Options,
    mode: &str,
    steps: &[Step],
) -> Result<(Duration, SpeculationCounts)> {
    let settings = json!({ "tools": { "speculation": { "mode": mode } } });
    let settings: GuardOptions = serde_json::from_value(settings)?;
    let guard = Guard::builder()
        .settings(settings.resolve()?)
        .executor(tool("look_up", false, options.tool_ms))
        .executor(tool("paint", true, 0))
        .build()?;
    let session = guard.session(SessionStart::default())?;
    let model: Arc<dyn Model> = Arc::new(Writer {
        steps: Mutex::new(steps.iter().cloned().collect()),
        pace: Duration::from_millis(options.model_ms),
    });
    let mut agent = Agent::new(Parts {
        guard: guard.clone(),
        session: session.clone(),
        model: Arc::clone(&model),
        compresses: model,
        summaries: None,
        conversation: Conversation::default(),
        introduction: String::new(),
        settings: AgentOptions::default(),
        caller: None,
    })?;
    let begun = Instant::now();
    let turned = agent.turn("Look after the rooms", &mut Nobody).await?;
    let took = begun.elapsed();
    let calls: usize = steps.iter().map(Vec::len).sum();
    ensure!(turned.executions.len() == calls && turned.stands, "the turn went wrong: {turned:?}");
    Ok((took, session.speculation_counts()))
}

/// Creates a tool that takes `millis` milliseconds.
fn tool(name: &str, writes: bool, millis: u64) -> FunctionExecutor {
    let parameters = json!({
        "type": "object",
        "properties": { "room": { "type": "string" } },
        "required": ["room"],
    });
    let effects = Effects {
        writes: Some(writes),
        reads: Some(true),
        idempotent: Some(true),
        ..Effects::default()
    };
    let tool = Tool { parameters: Some(parameters), effects, ..Tool::named(name) };
    FunctionExecutor::waiting(tool, move |arguments: Value| async move {
        sleep(Duration::from_millis(millis)).await;
        let room = arguments.get("room").and_then(Value::as_str).unwrap_or_default();
        Ok::<_, ToolError>(format!("{room} is green"))
    })
}

/// A model that writes the given calls, one by one.
struct Writer {
    steps: Mutex<VecDeque<Step>>,
    pace: Duration,
}

impl Model for Writer {
    fn chat<'a>(
        &'a self,
        _: &'a Request,
        on: &'a mut (dyn FnMut(Piece) + Send),
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        let step = self.steps.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        Box::pin(async move {
            let Some(step) = step else {
                sleep(self.pace).await;
                let text = "That is what I could see.".to_owned();
                return Ok(Reply { text, stop: Stop::End, ..Reply::default() });
            };
            let mut calls = Vec::new();
            for (tool, room) in step {
                sleep(self.pace).await;
                let arguments = json!({ "room": room }).to_string();
                let call = ToolCall::new(format!("c{}", calls.len()), tool, arguments);
                on(Piece::Whole(call.clone()));
                calls.push(call);
            }
            Ok(Reply { calls, stop: Stop::Calls, ..Reply::default() })
        })
    }

    fn supports_tool_use(&self) -> bool {
        true
    }

    fn context_tokens(&self) -> u64 {
        100_000
    }
}
