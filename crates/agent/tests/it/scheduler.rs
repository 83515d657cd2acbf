use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use counterfoil_agent::{
    Agent, AgentOptions, CatchUp, Due, FireError, Model, NoWatch, Scheduler, Store, SubAgents,
    TaskState,
};
use counterfoil_guard::{Clock, Guard, GuardOptions, Phase, Surroundings};
use counterfoil_model::{Role, Status, ToolCall};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::script::{Script, calls, guard, parts, says, wait};

/// Thursday 2026-11-26, 10:00 in UTC.
const BEGAN: i64 = 1_795_687_200_000;
const MINUTE: i64 = 60_000;

/// A clock that stays still until it is moved.
#[derive(Debug)]
struct Hand(AtomicI64);

impl Clock for Hand {
    fn wall(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

impl Hand {
    fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(BEGAN)))
    }

    fn minutes(&self, minutes: i64) {
        self.0.store(BEGAN + minutes * MINUTE, Ordering::SeqCst);
    }
}

fn scheduler(store: &Arc<Store>, hand: &Arc<Hand>) -> Scheduler {
    Scheduler::new(
        Arc::clone(store),
        Arc::clone(hand) as Arc<dyn Clock>,
        TimeZone::UTC,
        Path::new("/here"),
    )
}

fn in_memory() -> (Scheduler, Arc<Hand>) {
    let hand = Hand::new();
    (scheduler(&Arc::new(Store::in_memory().unwrap()), &hand), hand)
}

fn add(scheduler: &Scheduler, phrase: &str, catch_up: CatchUp) {
    scheduler.add("s", phrase, "look at the build", catch_up).unwrap();
}

/// Everything that is due.
fn taken(scheduler: &Scheduler) -> Vec<Due> {
    std::iter::from_fn(|| scheduler.take_due().unwrap()).collect()
}

/// How many tasks will run again.
fn active(scheduler: &Scheduler) -> usize {
    let tasks = scheduler.list().unwrap();
    tasks.iter().filter(|task| task.state == TaskState::Active).count()
}

/// In minutes since the beginning.
fn minutes(due: &[Due]) -> Vec<i64> {
    due.iter().map(|due| (due.at - BEGAN) / MINUTE).collect()
}

#[test]
fn what_was_missed_is_caught_up_as_the_task_says() {
    for (catch_up, at_50, at_61) in [
        // Due every 15 minutes: at 50, those of 15, 30 and 45 were missed.
        (CatchUp::Skip, &[][..], &[60][..]),
        (CatchUp::Once, &[45], &[60]),
        (CatchUp::All, &[15, 30, 45], &[60]),
    ] {
        let (scheduler, hand) = in_memory();
        add(&scheduler, "every 15 minutes", catch_up);
        hand.minutes(14);
        assert_eq!(taken(&scheduler), []);
        hand.minutes(50);
        assert_eq!(minutes(&taken(&scheduler)), at_50, "{catch_up:?}");
        assert_eq!(taken(&scheduler), [], "{catch_up:?}: each is run once");
        hand.minutes(61);
        assert_eq!(minutes(&taken(&scheduler)), at_61, "{catch_up:?}");
        // The clock goes back: nothing is run twice.
        hand.minutes(20);
        assert_eq!(taken(&scheduler), [], "{catch_up:?}");
    }
}

#[test]
fn after_a_very_long_pause_the_present_counts() {
    let (scheduler, hand) = in_memory();
    add(&scheduler, "every minute", CatchUp::All);
    hand.minutes(365 * 24 * 60);
    let due = taken(&scheduler);
    assert!(due.len() <= 100, "{}", due.len());
    hand.minutes(365 * 24 * 60 + 1);
    assert_eq!(taken(&scheduler).len(), 1);
}

#[test]
fn a_task_that_runs_once_is_done_then() {
    let (scheduler, hand) = in_memory();
    add(&scheduler, "in 20 minutes", CatchUp::Skip);
    hand.minutes(20);
    assert_eq!(minutes(&taken(&scheduler)), [20]);
    assert_eq!(active(&scheduler), 0);
}

#[test]
fn of_many_processes_one_runs_a_firing_and_a_killed_one_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let hand = Hand::new();
    let open = || scheduler(&Arc::new(Store::open(&path).unwrap()), &hand);
    add(&open(), "every minute", CatchUp::All);
    hand.minutes(50);
    let looks: Vec<_> = (0..4)
        .map(|_| {
            let scheduler = open();
            std::thread::spawn(move || minutes(&taken(&scheduler)))
        })
        .collect();
    let mut all: Vec<i64> = looks.into_iter().flat_map(|look| look.join().unwrap()).collect();
    all.sort_unstable();
    assert_eq!(all, (1..=50).collect::<Vec<i64>>());
    // All of these processes are gone, and none of their firings came to an end.
    hand.minutes(60);
    let after = open();
    assert_eq!(after.give_up_interrupted(11 * MINUTE).unwrap(), 0);
    assert_eq!(after.give_up_interrupted(10 * MINUTE).unwrap(), 50);
    assert_eq!(after.give_up_interrupted(0).unwrap(), 0);
    assert_eq!(minutes(&taken(&after)), (51..=60).collect::<Vec<i64>>());
}

fn call(agent: &Agent, tool: &str, arguments: &Value) -> (Status, String) {
    let call = ToolCall::new("", tool, arguments.to_string());
    let answer = wait(agent.session().call(call, Surroundings::default())).unwrap();
    (answer.status, answer.text)
}

/// An agent with tasks.
fn agent(model: &Arc<Script>, guard: &Guard, scheduler: &Scheduler) -> Agent {
    let agent = Agent::new(parts(guard, model)).unwrap();
    for tool in scheduler.tools(agent.session().id()) {
        guard.register(tool).unwrap();
    }
    agent
}

#[test]
fn the_model_makes_lists_and_ends_tasks() {
    let (scheduler, _) = in_memory();
    let guard = guard();
    let agent = agent(&Script::new([]), &guard, &scheduler);
    let prompt = "look at the build";
    let weekly = json!({ "when": "every weekday at 9am", "prompt": prompt });
    let once = json!({ "when": "in 20 minutes", "prompt": prompt });
    let odd = json!({ "when": "every blue moon", "prompt": prompt });
    for (tool, arguments, status, text) in [
        (
            "scheduler",
            &weekly,
            Status::Completed,
            "every weekday at 09:00 UTC; next: Fri 2026-11-27",
        ),
        ("schedule_deferred", &once, Status::Completed, "2026-11-26 10:20"),
        ("schedule_deferred", &weekly, Status::Failed, "is recurring"),
        ("scheduler", &odd, Status::Failed, "blue"),
        ("scheduler", &json!({ "when": "in 20 minutes" }), Status::Refused, "prompt"),
        (
            "scheduler",
            &json!({ "when": "in 20 minutes", "prompt": " " }),
            Status::Failed,
            "the task has no prompt",
        ),
        ("list_tasks", &json!({}), Status::Completed, "look at the build"),
        ("cancel_task", &json!({ "task": 1 }), Status::Completed, "cancelled"),
        ("cancel_task", &json!({ "task": 1 }), Status::Failed, "there is no scheduled task 1"),
        ("run_task", &json!({ "task": 2 }), Status::Completed, prompt),
        ("run_task", &json!({ "task": 9 }), Status::Failed, "there is no scheduled task 9"),
    ] {
        let (found, answer) = call(&agent, tool, arguments);
        assert_eq!(found, status, "{tool} {arguments}: {answer}");
        assert!(answer.contains(text), "{tool} {arguments}: {answer}");
    }
    assert_eq!(active(&scheduler), 1);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "reads the files of the store")]
fn no_secret_of_a_prompt_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ456789"].concat();
    let prompt = format!("Push with {token}, password: hunter2Secret99.");
    let scheduler = scheduler(&Arc::new(Store::open(&path).unwrap()), &Hand::new());
    let guard = guard();
    let agent = agent(&Script::new([]), &guard, &scheduler);
    scheduler.add("s", "in 20 minutes", &prompt, CatchUp::Once).unwrap();
    for tool in ["scheduler", "schedule_deferred"] {
        let arguments = json!({ "when": "in 20 minutes", "prompt": prompt });
        assert_eq!(call(&agent, tool, &arguments).0, Status::Completed);
    }
    let tasks = scheduler.store().tasks().unwrap();
    assert_eq!(tasks.len(), 3);
    assert!(
        tasks.iter().all(|task| task.asked.prompt.starts_with("Push with [REDACTED:")),
        "{tasks:?}"
    );
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for secret in [token.as_str(), "hunter2Secret99"] {
            assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
        }
    }
}

#[test]
fn a_firing_is_a_call_with_a_receipt_and_no_one_says_its_prompt() {
    let (scheduler, hand) = in_memory();
    let model = Script::new([says("Which build is meant?")]);
    let guard = guard();
    let mut agent = agent(&model, &guard, &scheduler);
    add(&scheduler, "in 20 minutes", CatchUp::Once);
    hand.minutes(20);
    let due = taken(&scheduler);
    wait(scheduler.fire(&mut agent, &due[0], &mut NoWatch)).unwrap();
    let ids = guard.ledger().recent(Some(agent.session().id()), 1).unwrap();
    let receipt = guard.ledger().receipt(&ids[0]).unwrap().unwrap();
    assert_eq!((receipt.tool.as_str(), receipt.phase), ("run_task", Phase::Autonomous));
    let transcript = agent.session().transcript().unwrap();
    // Only the words of users and operators ground what a call names.
    let prompt = &due[0].task.asked.prompt;
    let says = |role| transcript.messages.iter().any(|message| message.role == role);
    assert!(says(Role::System) && !says(Role::User));
    assert!(!transcript.messages.iter().any(|message| message.text.contains(prompt)));
    assert_eq!(scheduler.give_up_interrupted(0).unwrap(), 0, "it came to its end");
}

#[test]
fn what_a_firing_calls_is_autonomous_and_so_is_what_its_helpers_call() {
    let order = |order: u32| calls(&[("c1", "cancel_order", &format!(r#"{{"order":{order}}}"#))]);
    let done = |order: u32| says(&format!("I have cancelled order {order}."));
    let (scheduler, hand) = in_memory();
    let model = Script::new([
        order(7),
        calls(&[("c2", "task", r#"{"prompt":"Cancel order 8."}"#)]),
        order(8),
        done(8),
        done(7),
        order(9),
        done(9),
    ]);
    let guard = guard();
    let mut agent = agent(&model, &guard, &scheduler);
    let helpers = Arc::clone(&model) as Arc<dyn Model>;
    let settings = AgentOptions::default();
    let helpers = SubAgents::new(agent.session(), helpers, &settings, "Help.");
    guard.register(helpers.tool()).unwrap();
    add(&scheduler, "in 20 minutes", CatchUp::Once);
    hand.minutes(20);
    let due = taken(&scheduler);
    wait(scheduler.fire(&mut agent, &due[0], &mut NoWatch)).unwrap();
    wait(agent.turn("Cancel order 9, please.", &mut NoWatch)).unwrap();
    let ids = guard.ledger().recent(Some(agent.session().id()), 10).unwrap();
    let receipts = ids.iter().map(|id| guard.ledger().receipt(id).unwrap().unwrap());
    let mut phases: Vec<(String, Phase)> = receipts
        .filter(|receipt| receipt.tool == "cancel_order")
        .map(|receipt| (receipt.arguments["order"].to_string(), receipt.phase))
        .collect();
    phases.sort_by(|left, right| left.0.cmp(&right.0));
    let autonomous = |order: &str| (order.to_owned(), Phase::Autonomous);
    assert_eq!(phases, [autonomous("7"), autonomous("8"), ("9".to_owned(), Phase::Executor)]);
}

#[test]
fn a_firing_that_a_gate_denies_does_not_run() {
    let (scheduler, hand) = in_memory();
    let options = r#"{"tools":{"permissions":{"rules":[{"tool":"run_task","action":"deny"}]}}}"#;
    let options: GuardOptions = serde_json::from_str(options).unwrap();
    let guard = Guard::builder()
        .settings(options.resolve().unwrap())
        .executor(counterfoil_guard::FunctionExecutor::new(
            counterfoil_model::Tool::named("ping"),
            |_| Ok::<_, counterfoil_guard::ToolError>("pong"),
        ))
        .build()
        .unwrap();
    let model = Script::new([]);
    let mut agent = agent(&model, &guard, &scheduler);
    add(&scheduler, "in 20 minutes", CatchUp::Once);
    hand.minutes(20);
    let due = taken(&scheduler);
    let error = wait(scheduler.fire(&mut agent, &due[0], &mut NoWatch)).unwrap_err();
    assert!(matches!(error, FireError::NotRun(_)), "{error}");
    assert!(model.requests().is_empty());
}

#[test]
fn a_task_runs_where_it_was_made() {
    let store = Arc::new(Store::in_memory().unwrap());
    let hand = Hand::new();
    let here = scheduler(&store, &hand);
    let clock = Arc::clone(&hand) as Arc<dyn Clock>;
    let there = Scheduler::new(store, clock, TimeZone::UTC, Path::new("/there"));
    add(&here, "in 20 minutes", CatchUp::Once);
    hand.minutes(30);
    assert_eq!(active(&there), 1);
    assert_eq!(taken(&there), []);
    assert_eq!(taken(&here).len(), 1);
}
