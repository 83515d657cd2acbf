//! `cargo xtask dialogues`: replays recorded dialogues with the agent. The model says what was
//! recorded, and lies where the record was changed. No fabricated answer may be shown.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use counterfoil_agent::{Agent, AgentOptions, Conversation, Model, Nobody, Parts};
use counterfoil_guard::{
    BoxFuture, FunctionExecutor, Guard, GuardOptions, SessionStart, ToolError, ToolOutput,
};
use counterfoil_model::{Message, Role, Severity, Tool, ToolErrorCategory};
use counterfoil_providers::{Piece, ProviderError, Reply, Request, Stop};
use serde_json::Value;

use crate::corpus::rows::{Row, large};

/// Flags of `cargo xtask dialogues`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder with the sets
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// The set with lies
    #[arg(long, default_value = "perturbed")]
    lying: String,
    /// The set without lies
    #[arg(long, default_value = "tau1")]
    honest: String,
    /// Maximum number of dialogues from each set
    #[arg(long, default_value_t = 200)]
    most: usize,
    /// Minimum severity to hold an answer back: `error` or `warning`
    #[arg(long, default_value = "error")]
    hold_back: String,
    /// Print the answers that are handled wrongly
    #[arg(long)]
    show: bool,
}

/// The counts of answers by outcome.
#[derive(Default)]
struct Tally {
    /// Lies that were not shown.
    held_back: usize,
    /// Lies that were shown with a warning.
    doubted: usize,
    /// Lies that were shown without a warning.
    shown: usize,
    /// Lies at a point that the dialogue did not reach.
    not_reached: usize,
    /// Honest answers that were shown unchanged, byte for byte.
    unchanged: usize,
    /// Honest answers that were changed.
    changed: usize,
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut classes: BTreeMap<String, Tally> = BTreeMap::new();
    for (set, name) in [(&options.lying, "lying"), (&options.honest, "honest")] {
        let path = options.data.join(format!("{set}.jsonl.gz"));
        let rows = large(&path).with_context(|| path.display().to_string())?;
        let count = rows.len().min(options.most);
        for row in rows.iter().take(count) {
            let class = if row.class.is_empty() { "no lie" } else { &row.class };
            let tally = classes.entry(class.to_owned()).or_default();
            runtime.block_on(play(row, tally, options))?;
        }
        println!("{count} {name} dialogues of `{set}`");
    }
    println!("{:22} held back  doubted  shown  not reached | honest: unchanged  changed", "");
    let mut all = Tally::default();
    for (class, tally) in &classes {
        print(class, tally);
        all.held_back += tally.held_back;
        all.doubted += tally.doubted;
        all.shown += tally.shown;
        all.not_reached += tally.not_reached;
        all.unchanged += tally.unchanged;
        all.changed += tally.changed;
    }
    print("all", &all);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
fn print(class: &str, tally: &Tally) {
    let Tally { held_back, doubted, shown, not_reached, unchanged, changed } = tally;
    println!(
        "{class:22} {held_back:9}  {doubted:7}  {shown:5}  {not_reached:11} | {unchanged:17}  {changed:7}"
    );
}

/// A turn: the user's message, and the model's messages and calls up to its answer.
struct Played<'r> {
    user: String,
    replies: Vec<(usize, &'r Message)>,
}

fn turns(row: &Row) -> Vec<Played<'_>> {
    let mut turns: Vec<Played<'_>> = Vec::new();
    for (at, message) in row.transcript.messages.iter().enumerate() {
        match message.role {
            Role::User => turns.push(Played { user: message.text.clone(), replies: Vec::new() }),
            Role::Assistant => {
                if let Some(turn) = turns.last_mut() {
                    turn.replies.push((at, message));
                }
            }
            Role::System | Role::Tool => {}
        }
    }
    turns
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
async fn play(row: &Row, tally: &mut Tally, options: &Options) -> Result<()> {
    let show = options.show;
    let script = Arc::new(Script::default());
    let outcomes = Arc::new(Mutex::new(outcomes(row)));
    let guard = guard(row, &outcomes)?;
    let session = guard.session(SessionStart::default())?;
    for message in row.transcript.messages.iter().filter(|m| m.role == Role::System) {
        session.hear(Role::System, &message.text).await?;
    }
    let mut agent = Agent::new(Parts {
        guard,
        session,
        model: Arc::clone(&script) as Arc<dyn Model>,
        compresses: Arc::clone(&script) as Arc<dyn Model>,
        summaries: None,
        conversation: Conversation::default(),
        introduction: String::new(),
        settings: AgentOptions {
            hold_back: serde_json::from_value(Value::from(options.hold_back.as_str()))?,
            ..AgentOptions::default()
        }
        .checked()?,
        caller: None,
    })?;
    let lie = row.turn.filter(|_| row.lies == Some(true));
    let mut reached = false;
    for turn in turns(row) {
        // The first message without a call ends the turn.
        let Some(ends) = turn.replies.iter().position(|(_, said)| said.calls.is_empty()) else {
            break;
        };
        script.say(turn.replies.iter().take(ends + 1).map(|(_, said)| reply(said)));
        let turned = agent.turn(&turn.user, &mut Nobody).await?;
        let Some((at, said)) = turn.replies.get(ends) else { break };
        if said.text.trim().is_empty() {
            continue;
        }
        let same = turned.stands && turned.answer.trim() == said.text.trim();
        if lie == Some(*at) {
            reached = true;
            let doubts = turned.findings.iter().any(|f| f.severity == Severity::Warning);
            let place = match (same, doubts) {
                (false, _) => &mut tally.held_back,
                (true, true) => &mut tally.doubted,
                (true, false) => &mut tally.shown,
            };
            *place += 1;
            if show && same && !doubts {
                println!("{}: shown: {}\n", row.id, said.text);
            }
        } else if lie.is_none_or(|lie| *at < lie) {
            *(if same { &mut tally.unchanged } else { &mut tally.changed }) += 1;
            if show && !same {
                println!("{}: changed: {}\n  to: {}\n", row.id, said.text, turned.answer);
            }
        }
    }
    tally.not_reached += usize::from(lie.is_some() && !reached);
    Ok(())
}

fn reply(message: &Message) -> Reply {
    let stop = if message.calls.is_empty() { Stop::End } else { Stop::Calls };
    Reply { text: message.text.clone(), calls: message.calls.clone(), stop, ..Reply::default() }
}

/// The results by tool and arguments, in order, each with whether it is a failure. Calls of other
/// tools or arguments do not use them up.
type Outcomes = BTreeMap<(String, String), VecDeque<(String, bool)>>;

fn outcomes(row: &Row) -> Outcomes {
    let messages = &row.transcript.messages;
    // Some dialogues reuse ids, so take the next result.
    let result = |id: &str, at: usize| {
        let mut outcomes = messages.iter().skip(at).flat_map(|message| &message.outcomes);
        let found = outcomes.find(|outcome| outcome.call_id == id)?;
        Some((found.text.clone(), found.is_error == Some(true)))
    };
    let mut all = Outcomes::new();
    let calls = messages.iter().enumerate();
    for (at, call) in calls.flat_map(|(at, said)| said.calls.iter().map(move |call| (at, call))) {
        let arguments = call.arguments.parse().unwrap_or_default().to_string();
        let results = all.entry((call.tool.clone(), arguments)).or_default();
        results.extend(result(&call.id, at));
    }
    all
}

/// Creates a guard whose tools return the recorded results. Schemas are left out, because the calls
/// were executed when recorded.
fn guard(row: &Row, outcomes: &Arc<Mutex<Outcomes>>) -> Result<Guard> {
    let mut builder = Guard::builder().settings(GuardOptions::default().resolve()?);
    for tool in row.transcript.catalog.iter() {
        let offered = Tool {
            description: tool.description.clone(),
            parameters: None,
            ..Tool::named(&tool.name)
        };
        let (outcomes, name) = (Arc::clone(outcomes), tool.name.clone());
        let recorded = move |arguments: &Value| {
            let mut all = held(&outcomes);
            let results = all.entry((name.clone(), arguments.to_string())).or_default();
            let next =
                if results.len() > 1 { results.pop_front() } else { results.front().cloned() };
            match next {
                Some((text, false)) => Ok(ToolOutput::from(text)),
                Some((text, true)) => Err(ToolError::of(ToolErrorCategory::PermanentFailure, text)),
                None => Err(ToolError::of(ToolErrorCategory::PermanentFailure, "no result")),
            }
        };
        builder = builder.executor(FunctionExecutor::new(offered, recorded));
    }
    Ok(builder.build()?)
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A model that says what was recorded, and does not change its answer.
#[derive(Default)]
struct Script {
    replies: Mutex<VecDeque<Reply>>,
    last: Mutex<Reply>,
}

impl Script {
    fn say(&self, replies: impl Iterator<Item = Reply>) {
        let mut all = held(&self.replies);
        all.clear();
        all.extend(replies);
    }
}

impl Model for Script {
    fn chat<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut (dyn FnMut(Piece) + Send),
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        let next = held(&self.replies).pop_front();
        let reply = match next {
            Some(reply) => {
                held(&self.last).clone_from(&reply);
                reply
            }
            // The answer was sent back; lie again.
            None => held(&self.last).clone(),
        };
        Box::pin(async move { Ok(reply) })
    }

    fn supports_tool_use(&self) -> bool {
        true
    }

    fn context_tokens(&self) -> u64 {
        u64::from(u32::MAX)
    }
}
