//! Sets up the agent according to the configuration.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use anyhow::Context as _;
use counterfoil_agent::{
    Agent, Conversation, Due, KeptSummaries, Memory, Model, Parts, Scheduler, SkillSet, Store,
    SubAgents, time_zone,
};
use counterfoil_guard::{
    Approver, Clock, Embedder, Guard, GuardSettings, Session, SessionStart, StateFolder,
    SystemClock,
};

use counterfoil_model::Digest;
use counterfoil_providers::Provider;
use tokio::runtime::Runtime;

use super::row::Row;
use super::seen::{noted, warned};
use crate::config::{self, Options};
use crate::exit::Complaint;
use crate::global::Global;
use crate::guard::{Making, settings_beside};
use crate::judge::Judging;
use crate::provider::provider;
use crate::reload::{follow, invalid};
use crate::servers::{self, Servers};
use crate::skills::find;
use crate::state::State;
use crate::surroundings::environment;

/// An agent that is ready for a conversation.
pub(crate) struct Begun {
    pub(crate) agent: Agent,
    /// `None` if its store cannot be used.
    pub(crate) memory: Option<Memory>,
    /// `None` if its store cannot be used.
    pub(crate) scheduler: Option<Scheduler>,
    servers: Servers,
    reloads: Receiver<Reloaded>,
    pub(crate) options: Options,
    pub(crate) settings: GuardSettings,
    /// The model's name for people.
    pub(crate) model: String,
    /// The guard's state folder.
    pub(crate) folder: StateFolder,
    /// Whether the session stays open at the end, because the user named it.
    pub(crate) stays: bool,
    /// The notices to show before the conversation.
    pub(crate) notices: Vec<Row>,
    /// The lock that keeps other processes from continuing the session.
    _lock: Option<File>,
}

/// The configuration that took effect, or why the previous one stays.
type Reloaded = anyhow::Result<(Options, GuardSettings)>;

/// The options from the command line.
pub(crate) struct Wanted<'w> {
    /// The session to continue or begin.
    pub(crate) session: Option<&'w str>,
    /// The model, by its name in the configuration.
    pub(crate) provider: Option<&'w str>,
    /// Whether to lock the session against other processes.
    pub(crate) alone: bool,
    /// Approves calls for which a gate asks.
    pub(crate) approver: Arc<dyn Approver>,
    /// The project's root.
    pub(crate) workspace: Option<PathBuf>,
}

/// Opens the scheduler, for a caller that runs no tasks.
pub(crate) fn scheduler(global: &Global) -> anyhow::Result<Scheduler> {
    let path = global.state()?.create()?.folder().agent();
    let store =
        Store::open(&path).map_err(|error| Complaint::from_error(&error).help(error.why.help()))?;
    let here = std::env::current_dir().context("the working directory no longer exists")?;
    let here = here.canonicalize().unwrap_or(here);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    Ok(Scheduler::new(Arc::new(store), clock, time_zone(), &here))
}

pub(crate) fn begin(
    global: &Global,
    wanted: &Wanted<'_>,
    runtime: &Runtime,
) -> anyhow::Result<Begun> {
    let options = config::find(&global.place())?.options;
    let agent = options.agent.checked().map_err(Complaint::from_error)?;
    let (own, compresses) = models(&options, wanted.provider)?;
    let state = global.state()?.create()?;
    let folder = state.folder();
    let lock = wanted.session.filter(|_| wanted.alone).map(|id| alone(&folder, id)).transpose()?;
    let settings = settings_beside(&options, Some(&folder))?;
    let guard = guarded(state, wanted, &options)?;
    let mut notices: Vec<Row> =
        guard.notices().iter().map(|notice| noted(&notice.to_string())).collect();
    let servers = runtime.block_on(servers::offer(&guard, &options, Some(&folder), None))?;
    notices.extend(servers.left_out.iter().map(|why| noted(why)));
    let store = store(&folder, &mut notices);
    let model = own.settings().model.clone();
    let (session, known) = session(&guard, wanted.session, &model)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let kept = store.clone().map(|store| KeptSummaries::new(store, Arc::clone(&clock)));
    let conversation = conversation(&session, known, kept.as_ref())?;
    let schedules =
        |store| Scheduler::new(store, Arc::clone(&clock), time_zone(), guard.workspace());
    let scheduler = store.clone().map(schedules);
    let memory = store.map(|store| Memory::new(store, clock, embedder(&own)));
    let skills = skills(&options, &settings, &guard, &mut notices)?;
    let introduction = [introduction(&guard), skills.introduction()].join("\n\n");
    let model_of_helpers = Arc::clone(&own) as Arc<dyn Model>;
    let helpers = SubAgents::new(&session, model_of_helpers, &agent, &introduction);
    let agent = Agent::new(Parts {
        guard,
        session,
        model: own,
        compresses,
        summaries: kept.map(Arc::new),
        conversation,
        introduction,
        settings: agent,
        caller: None,
    })?;
    let reloads = reloads(global, agent.guard(), &folder, runtime);
    let mut begun = Begun {
        agent,
        memory,
        scheduler,
        servers,
        reloads,
        options,
        settings,
        model,
        folder,
        stays: wanted.session.is_some(),
        notices,
        _lock: lock,
    };
    begun.register(&helpers, &skills)?;
    Ok(begun)
}

/// Reloads the rules for calls whenever the configuration changes.
fn reloads(
    global: &Global,
    guard: &Guard,
    folder: &StateFolder,
    runtime: &Runtime,
) -> Receiver<Reloaded> {
    let (sender, reloads) = channel();
    let (guard, folder) = (guard.clone(), folder.clone());
    let apply = move |options: Options| {
        let settings = settings_beside(&options, Some(&folder))?;
        guard.reload(settings.clone());
        Ok((options, settings))
    };
    // At the end of the conversation, nothing receives it.
    runtime.spawn(follow(global.place(), apply, move |outcome| drop(sender.send(outcome))));
    reloads
}

/// Creates the guard, without the tools of a conversation.
fn guarded(state: State, wanted: &Wanted<'_>, options: &Options) -> anyhow::Result<Guard> {
    Making {
        state: Some(state),
        approver: Some(Arc::clone(&wanted.approver)),
        answer_judge: Judging::answer_judge(options, options.judge.chat)?,
        workspace: wanted.workspace.clone(),
        ..Making::new(options)
    }
    .guard()
}

/// However a conversation ends, no command and no temporary folder of its session is left behind.
impl Drop for Begun {
    fn drop(&mut self) {
        self.agent.session().leave();
    }
}

impl Begun {
    /// Registers the agent's tools. Those of skills come last, so that they cannot replace others.
    fn register(&mut self, helpers: &SubAgents, skills: &SkillSet) -> anyhow::Result<()> {
        let (guard, session) = (self.agent.guard(), self.agent.session());
        let remembering = self.memory.iter().flat_map(|memory| memory.tools(session.id()));
        let scheduling = self.scheduler.iter().flat_map(|tasks| tasks.tools(session.id()));
        let own = remembering.chain(scheduling).chain([helpers.tool()]);
        own.into_iter().try_for_each(|tool| guard.register(tool))?;
        for tool in skills.tools(session) {
            if let Err(error) = guard.register(tool) {
                self.notices.push(noted(&format!("skill tool left out: {error}")));
            }
        }
        Ok(())
    }

    /// Applies what has changed since the last turn (the configuration, and the tools of servers that
    /// have announced a change), and returns the notices.
    pub(crate) async fn apply_changes(&mut self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        while let Ok(outcome) = self.reloads.try_recv() {
            rows.push(self.reloaded(outcome));
        }
        let changes = self.servers.list_again(self.agent.guard()).await;
        rows.extend(changes.iter().map(|change| noted(change)));
        rows
    }

    /// Notes the settings that a reload has changed; the others stay as they were at the start.
    fn reloaded(&mut self, outcome: Reloaded) -> Row {
        match outcome {
            Ok((options, settings)) => {
                self.options.tools.adversarial_policy = options.tools.adversarial_policy;
                (self.settings.quota, self.settings.shell) = (settings.quota, settings.shell);
                noted(
                    "configuration reloaded: changes to the rules for calls are now in effect; \
                     other changes need a restart",
                )
            }
            Err(error) => warned(&invalid(&error)),
        }
    }

    /// Returns a task that is due now, if there is one.
    pub(crate) fn due(&self) -> Option<Box<Due>> {
        match self.scheduler.as_ref().map(Scheduler::take_due) {
            Some(Ok(Some(due))) => Some(Box::new(due)),
            // The next check tries again; the conversation continues without it.
            Some(Err(error)) => {
                tracing::debug!("cannot read the scheduled tasks: {error}");
                None
            }
            Some(Ok(None)) | None => None,
        }
    }
}

/// Returns the model for the conversation, and the one that compresses it.
fn models(
    options: &Options,
    wanted: Option<&str>,
) -> anyhow::Result<(Arc<Provider>, Arc<dyn Model>)> {
    let own = Arc::new(provider(&options.llm, wanted.unwrap_or(&options.agent.provider))?);
    let compresses: Arc<dyn Model> = match options.agent.compress_provider.as_str() {
        "" => Arc::clone(&own) as Arc<dyn Model>,
        name => Arc::new(provider(&options.llm, name)?),
    };
    Ok((own, compresses))
}

/// What compares the meaning of memories, if an embedding model is configured.
fn embedder(own: &Arc<Provider>) -> Option<Arc<dyn Embedder>> {
    let embeds = own.settings().embedding_model.is_some();
    embeds.then(|| Arc::clone(own) as Arc<dyn Embedder>)
}

/// Returns the session, and whether it already existed.
fn session(guard: &Guard, id: Option<&str>, model: &str) -> anyhow::Result<(Session, bool)> {
    let sessions = guard.ledger().sessions()?;
    let known = id.is_some_and(|id| sessions.iter().any(|known| known == id));
    let session = guard.session(SessionStart {
        id: id.map(str::to_owned),
        model: Some(model.to_owned()),
        environment: environment(),
        ..SessionStart::default()
    })?;
    Ok((session, known))
}

/// Locks a session against other processes, because neither would see the other's messages.
fn alone(folder: &StateFolder, id: &str) -> anyhow::Result<File> {
    let locks = folder.path().join("locks");
    std::fs::create_dir_all(&locks).with_context(|| locks.display().to_string())?;
    let path = locks.join(format!("chat-{}", Digest::of_bytes(id.as_bytes())));
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let wrong = format!("another `counterfoil chat` has session `{id}` open");
            Err(Complaint::new(wrong).help("close it, or use another session").into())
        }
        // If locking does not work here, continue without it.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Returns the earlier conversation of a session, with summaries in place of its compressed part.
fn conversation(
    session: &Session,
    known: bool,
    kept: Option<&KeptSummaries>,
) -> anyhow::Result<Conversation> {
    if !known {
        return Ok(Conversation::default());
    }
    let (compressed, knowledge) = match kept {
        Some(kept) => kept.load(session.id())?,
        None => (0, Vec::new()),
    };
    Ok(Conversation::from_session(session, compressed, knowledge)?)
}

/// Returns the skills that may be used, and adds notices about the others.
fn skills(
    options: &Options,
    settings: &GuardSettings,
    guard: &Guard,
    notices: &mut Vec<Row>,
) -> anyhow::Result<SkillSet> {
    let found = find(options, guard.workspace())?;
    notices.extend(found.errors.iter().map(|error| noted(&error.to_string())));
    let (usable, others) = found.usable(settings);
    if !others.is_empty() {
        let names = others.join("`, `");
        let help = "read them with `counterfoil skills show`, then run `counterfoil skills trust`";
        notices.push(noted(&format!("untrusted skills are not used: `{names}` ({help})")));
    }
    Ok(SkillSet::new(usable))
}

/// Opens the store of notes, summaries and tasks. If it cannot be used, adds a notice and returns
/// `None`; the ledger does not depend on it.
fn store(folder: &StateFolder, notices: &mut Vec<Row>) -> Option<Arc<Store>> {
    match Store::open(&folder.agent()) {
        Ok(store) => Some(Arc::new(store)),
        Err(error) => {
            notices.push(noted(&format!("memory and scheduled tasks are unavailable: {error}")));
            notices.push(Row::plain(format!("  {}", error.why.help())));
            None
        }
    }
}

/// The introduction that tells the model where it works.
fn introduction(guard: &Guard) -> String {
    format!(
        "You work for a user at a command line, with tools, in the folder {}. Answer in the \
         language in which you are asked, as briefly as the matter allows.",
        guard.workspace().display()
    )
}
