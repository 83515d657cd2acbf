use std::collections::BTreeMap;
use std::env;
use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use counterfoil_guard::{Guard, GuardBuilder, HostedCall};
use counterfoil_hooks::{
    Agent, Answer, Decision, Event, Happening, HooksOptions, HooksSettings, OnFault,
    ReadEventError, Snapshots, Surrounding, read_event, respond, write_answer,
};
use counterfoil_judge::AnswerJudge;

use super::once_a_session;
use super::snapshots::SnapshotFolder;
use crate::config::{self, Files, Options, Place};
use crate::exit::{Complaint, Exit};
use crate::files;
use crate::global::Global;
use crate::guard::settings_of_hook;
use crate::judge::Judging;
use crate::provider::judge;
use crate::state::State;

/// The variable that Claude Code sets for the hooks of a plugin.
const OF_PLUGINS: &str = "CLAUDE_PLUGIN_ROOT";

/// The longest time for a judge, in addition to the hook's time limit: the agent's settings give a
/// stop 30 s in total.
const MOST_TO_READ: Duration = Duration::from_secs(22);

/// The maximum size of an event, in bytes.
const MOST: u64 = 64 * 1024 * 1024;

/// Reads one event and answers it within its time limit. Whatever goes wrong before the answer is
/// written, the exit code is 0, and standard output has one JSON object or nothing; only an event that
/// cannot be read has exit code 2 where the user does not want failures to pass.
pub(super) fn run(global: &Global, agent: Agent) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let (progress, updates) = channel();
    // The waiting thread is the new one, because the allocator serves the main thread in large
    // pieces.
    let place = absolute(global.place());
    let waiting = std::thread::spawn(move || match wait(&updates, began, &place) {
        Waited::Answered(event, answer) => (event, answer),
        Waited::InVain(event, answer) => {
            let exit = write(agent, &event, &answer).unwrap_or(Exit::Internal);
            std::process::exit(exit as i32);
        }
    });
    // A panic has already been printed; the waiting thread sees that the channel is closed.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let result = answer(global, agent, began, &progress);
        let _ = progress.send(Progress::Answered(result.map_err(|error| format!("{error:#}"))));
    }));
    drop(progress);
    let (event, answer) = waiting.join().map_err(|_| {
        anyhow::anyhow!("the agent closed the connection before it received the answer")
    })?;
    write(agent, &event, &answer)
}

fn write(agent: Agent, event: &str, answer: &Answer) -> anyhow::Result<Exit> {
    // Agents take this exit code as a refusal of whatever event they sent; it cannot ask.
    if let (true, Some(Decision::Deny(why) | Decision::Ask(why))) =
        (event.is_empty(), &answer.decision)
    {
        writeln!(io::stderr().lock(), "{why}").context("the answer cannot be written")?;
        return Ok(Exit::Input);
    }
    if let Some(text) = write_answer(agent, event, answer) {
        writeln!(io::stdout().lock(), "{text}").context("the answer cannot be written")?;
    }
    Ok(Exit::Clean)
}

/// A message from the working thread to the waiting one.
enum Progress {
    /// The name of the event, and whether it precedes a tool call.
    Event(String, bool),
    /// The time limit, and what to do on failure.
    Settings(Duration, OnFault),
    Answered(Result<Answer, String>),
}

/// The name of the event, with its answer.
enum Waited {
    Answered(String, Answer),
    /// The time is up, but the work continues.
    InVain(String, Answer),
}

fn wait(telling: &Receiver<Progress>, began: Instant, place: &Place) -> Waited {
    let (mut event, mut before) = (String::new(), false);
    let (mut limit, mut on_failure) = (limit_of_reading(), OnFault::Open);
    loop {
        let left = limit.saturating_sub(began.elapsed());
        let (failed, is_late) = match telling.recv_timeout(left) {
            Ok(Progress::Event(name, is_before)) => {
                (event, before) = (name, is_before);
                continue;
            }
            Ok(Progress::Settings(time_limit, on_fault)) => {
                (limit, on_failure) = (time_limit, on_fault);
                continue;
            }
            Ok(Progress::Answered(Ok(answer))) => return Waited::Answered(event, answer),
            Ok(Progress::Answered(Err(error))) => (error, false),
            Err(RecvTimeoutError::Timeout) => {
                (format!("timed out after {} ms", limit.as_millis()), true)
            }
            Err(RecvTimeoutError::Disconnected) => {
                ("internal error in counterfoil".to_owned(), false)
            }
        };
        if event.is_empty() {
            // An event that was not read may announce a call.
            (before, on_failure) = (true, meant_for_failure(place));
        }
        let answer = after_failure(&failed, before, on_failure);
        return match is_late {
            true => Waited::InVain(event, answer),
            false => Waited::Answered(event, answer),
        };
    }
}

/// The time limit until the event has led to a configuration.
fn limit_of_reading() -> Duration {
    let named = env::var("COUNTERFOIL_HOOKS_TIME_LIMIT_MS").ok().and_then(|ms| ms.parse().ok());
    let options = named.map(|time_limit_ms| HooksOptions { time_limit_ms, ..Default::default() });
    options.unwrap_or_default().resolve().unwrap_or_default().time_limit
}

/// The answer to an agent whose hook failed.
fn after_failure(failed: &str, before: bool, on_failure: OnFault) -> Answer {
    let line = failed.split_whitespace().collect::<Vec<_>>().join(" ");
    let decision = match on_failure {
        _ if !before => None,
        OnFault::Open => None,
        OnFault::Ask => {
            Some(Decision::Ask(format!("counterfoil could not judge this call: {line}")))
        }
        OnFault::Closed => Some(Decision::Deny(format!(
            "counterfoil could not judge this call and is configured to deny such calls: {line}"
        ))),
    };
    if decision.is_some() {
        return Answer { decision, ..Answer::default() };
    }
    Answer::notice(format!("counterfoil: {line}; the agent continues without this check"))
}

fn answer(
    global: &Global,
    agent: Agent,
    began: Instant,
    progress: &Sender<Progress>,
) -> anyhow::Result<Answer> {
    let event = match read(agent, progress)? {
        Ok(event) => event,
        Err(answer) => return Ok(answer),
    };
    let (state, place) = (global.state(), absolute(global.place()));
    if let Some(cwd) = &event.cwd {
        // If that folder is gone, the configuration is searched for from here.
        let _ = env::set_current_dir(cwd);
    }
    let (options, notes) = options(&place, progress)?;
    let hooks = options.hooks.resolve()?;
    let reads = matches!(event.happening, Happening::Stop { .. }) && options.judge.hooks;
    let more = if reads { MOST_TO_READ } else { Duration::ZERO };
    let _ = progress.send(Progress::Settings(hooks.time_limit + more, hooks.on_failure));
    // The judge must finish before the hook times out, so that a call it rejects does not pass.
    let left = hooks.time_limit.saturating_sub(began.elapsed()).mul_f32(0.8);
    let reader = reads.then(|| reader(&options));
    let made = Made::new(agent, &event, options, (state, reader), (left, hooks.on_failure))?;
    let folder = made.state.as_ref().map(|state: &State| state.folder().hooks());
    let kept = made.state.as_ref().filter(|_| hooks.undo);
    let kept = kept.map(|state| SnapshotFolder(state.folder().snapshots()));
    let root = workspace(&event);
    let home = env::var("HOME").ok().map(|home| ("HOME".to_owned(), home));
    let surrounding = Surrounding {
        agent,
        settings: &hooks,
        folder: folder.as_deref(),
        environment: &BTreeMap::from_iter(home),
        snapshots: kept.as_ref().map(|kept| kept as &dyn Snapshots),
        workspace: Some(&root),
        by_plugin: env::var_os(OF_PLUGINS).is_some(),
    };
    let responded = respond(&made.guard, &surrounding, &event);
    let mut answer = runtime(made.asks)?.block_on(responded)?;
    // Once per turn is often enough.
    let once = matches!(event.happening, Happening::Prompt(_) | Happening::Stop { .. });
    for note in notes.into_iter().filter(|_| once).chain(made.faults(&event)) {
        answer.add_notice(&format!("counterfoil: {note}"));
    }
    // Dropping the guard would checkpoint the ledger's log, which can wait.
    std::mem::forget(made.guard);
    Ok(answer)
}

/// Reads the event, or returns the answer if there is nothing to judge.
fn read(agent: Agent, progress: &Sender<Progress>) -> anyhow::Result<Result<Event, Answer>> {
    let mut sent = Vec::new();
    io::stdin().lock().take(MOST).read_to_end(&mut sent).context("cannot read the event")?;
    let answer = match read_event(agent, &sent) {
        Ok(event) => {
            let before = matches!(event.happening, Happening::Before(_));
            let _ = progress.send(Progress::Event(event.name.clone(), before));
            if event.happening != Happening::Other {
                return Ok(Ok(event));
            }
            Answer::default()
        }
        // No agent sends that by itself: it is refused, whatever the settings say.
        Err(error @ ReadEventError::Twice { before: Some(name), .. }) => {
            let _ = progress.send(Progress::Event(name.to_owned(), true));
            let decision = Decision::Deny(format!("counterfoil denied this call: {error}"));
            Answer { decision: Some(decision), ..Answer::default() }
        }
        // It was read, and is not about a call.
        Err(error @ ReadEventError::Twice { before: None, .. }) => {
            Answer::notice(format!("counterfoil: {error}; the agent continues without this check"))
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Err(answer))
}

/// The guard for one event, and what could not be set up.
struct Made {
    guard: Guard,
    state: Option<State>,
    /// Whether a model is asked about calls.
    asks: bool,
    /// Why nothing is recorded, if so.
    unrecorded: Option<anyhow::Error>,
    /// Why no model can be asked, if so.
    no_judge: Option<anyhow::Error>,
}

impl Made {
    fn new(
        agent: Agent,
        event: &Event,
        options: Options,
        (state, reader): (Result<State, Complaint>, Option<Arc<dyn AnswerJudge>>),
        (left, on_failure): (Duration, OnFault),
    ) -> anyhow::Result<Self> {
        let before = matches!(event.happening, Happening::Before(_));
        // Without a judge, its gate denies the calls that it should have judged.
        let judge = if before { judge(&options) } else { Ok(None) };
        let (judge, no_judge) =
            judge.map_or_else(|error| (None, Some(error)), |judge| (judge, None));
        let named = state.as_ref().ok().map(State::folder);
        let mut settings = settings_of_hook(agent, call_of(event), options, named.as_ref())?;
        settings.adversarial = settings.adversarial.within(left);
        let builder = || {
            let builder = Guard::builder().settings(settings.clone()).workspace(workspace(event));
            let builder = match &judge {
                Some(judge) => builder.judge(Arc::clone(judge)),
                None => builder,
            };
            match &reader {
                Some(reader) => builder.answer_judge(Arc::clone(reader)),
                None => builder,
            }
        };
        let (guard, state, unrecorded) = match with_state(state, &builder) {
            Ok((guard, state)) => (guard, Some(state), None),
            // Calls are judged even if they cannot be recorded.
            Err(error) if on_failure == OnFault::Open || !before => {
                (builder().build()?, None, Some(error))
            }
            Err(error) => return Err(error),
        };
        Ok(Self { guard, state, asks: judge.is_some(), unrecorded, no_judge })
    }

    /// Returns what is wrong, once per session for each.
    fn faults(&self, event: &Event) -> impl Iterator<Item = String> {
        let new = |fault: &&anyhow::Error| {
            once_a_session::is_first(&event.session, &format!("{fault:#}"))
        };
        let unrecorded = self.unrecorded.as_ref().filter(new);
        let no_judge = self.no_judge.as_ref().filter(new);
        let unrecorded = unrecorded.map(|fault| format!("this session is not recorded: {fault:#}"));
        let no_judge = no_judge.map(|fault| format!("cannot use a model: {fault:#}"));
        unrecorded.into_iter().chain(no_judge)
    }
}

/// Creates the judge of the last answer at a stop; if that fails, it reports why.
fn reader(options: &Options) -> Arc<dyn AnswerJudge> {
    let time = MOST_TO_READ.min(Duration::from_secs(options.judge.timeout_secs.max(1)));
    Arc::new(Judging::configured(options, time).map_err(|error| format!("{error:#}")))
}

/// Returns the call that an event is about.
fn call_of(event: &Event) -> Option<&HostedCall> {
    match &event.happening {
        Happening::Before(call) | Happening::After(call, _) => Some(call),
        _ => None,
    }
}

/// Returns the configuration, with notes for the user.
fn options(place: &Place, progress: &Sender<Progress>) -> anyhow::Result<(Options, Vec<String>)> {
    match config::find_without_broken_project(place) {
        Ok(found) => Ok((found.options, found.notes)),
        Err(error) => match on_failure_in_text(place) {
            // The defaults still deny what no configuration allows.
            OnFault::Open => {
                let note = format!("{error:#}; using defaults");
                Ok((Options::default(), vec![note]))
            }
            fault => {
                let _ =
                    progress.send(Progress::Settings(HooksSettings::default().time_limit, fault));
                Err(error)
            }
        },
    }
}

/// Creates a guard that records in its state folder.
fn with_state(
    state: Result<State, impl Into<anyhow::Error>>,
    builder: &dyn Fn() -> GuardBuilder,
) -> anyhow::Result<(Guard, State)> {
    let state = state.map_err(Into::into)?.create()?;
    Ok((builder().state(state.folder()).build()?, state))
}

/// Creates a runtime; only a judge over the network needs its timers and I/O.
fn runtime(judged: bool) -> io::Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    if judged {
        runtime.enable_all();
    }
    runtime.build()
}

/// Makes a named file absolute, relative to the initial working directory.
fn absolute(place: Place) -> Place {
    match place.files {
        Files::Named(path) => {
            let files = Files::Named(std::path::absolute(&path).unwrap_or(path));
            Place { files, ..place }
        }
        files => Place { files, ..place },
    }
}

/// Returns the project's root as named by the agent, or else its working directory.
fn workspace(event: &Event) -> PathBuf {
    let named = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"];
    let named = named.into_iter().find_map(env::var_os).map(PathBuf::from);
    named.or_else(|| event.cwd.clone()).unwrap_or_default()
}

/// Returns the `on_failure` setting where no event has led to it yet.
fn meant_for_failure(place: &Place) -> OnFault {
    let found = config::find(place).ok().and_then(|found| found.options.hooks.resolve().ok());
    found.map_or_else(|| on_failure_in_text(place), |hooks| hooks.on_failure)
}

/// Returns the `on_failure` setting of a configuration that cannot be parsed, from its text.
fn on_failure_in_text(place: &Place) -> OnFault {
    let meant = |value: &str| match value {
        value if value.contains("closed") => OnFault::Closed,
        value if value.contains("ask") => OnFault::Ask,
        _ => OnFault::Open,
    };
    if let Ok(word) = env::var("COUNTERFOIL_HOOKS_ON_FAILURE") {
        return meant(&word);
    }
    let file = config::user_file(place);
    let text = file.and_then(|path| files::read_text(path).ok()).unwrap_or_default();
    let mut lines = text.lines().map(str::trim_start);
    let line = lines.find(|line| line.starts_with("on_failure"));
    line.and_then(|line| line.split_once('=')).map_or(OnFault::Open, |(_, value)| meant(value))
}
