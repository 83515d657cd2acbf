//! Creates the guard for every command, from the configuration and the built-in tools.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use counterfoil_guard::{
    Approver, ExecutorKind, FileExecutor, Gates, Guard, GuardOptions, GuardSettings, HostedCall,
    Ledger, Sandbox, ShellExecutor, ShellPolicy, StateFolder, SystemClock, SystemRandomness,
    WebExecutor,
};
use counterfoil_judge::AnswerJudge;
use counterfoil_model::Agent;

use crate::config::{self, Options};
use crate::exit::{Complaint, note};
use crate::provider::{embedder, judge, reformatter};
use crate::rule_names::Selection;
use crate::skills::named_folders;
use crate::state::State;

/// The internal argument that turns this program into its own sandbox helper: started by
/// bubblewrap, it confines itself and then executes the command.
pub(crate) const CONFINE: &str = "__confine";

/// A second argument, with which it only tests whether it can make a user namespace.
pub(crate) const NAMESPACE: &str = "user-namespace";

/// The built-in executors.
const BUILTIN: [ExecutorKind; 3] = [ExecutorKind::Shell, ExecutorKind::File, ExecutorKind::Web];

/// The parts of a guard.
pub(crate) struct Making<'o> {
    /// The configuration.
    pub(crate) options: &'o Options,
    /// The state folder in which it records; `None` records nothing.
    pub(crate) state: Option<State>,
    /// The approver that it asks.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// The judge that reads answers in addition to the rules.
    pub(crate) answer_judge: Option<Arc<dyn AnswerJudge>>,
    /// The project's root; `None` means the working directory.
    pub(crate) workspace: Option<PathBuf>,
}

impl<'o> Making<'o> {
    /// Creates a guard that records nothing, asks no one and works in the working directory.
    pub(crate) fn new(options: &'o Options) -> Self {
        Self { options, state: None, approver: None, answer_judge: None, workspace: None }
    }

    /// Creates the guard. The caller prints its notices.
    pub(crate) fn guard(self) -> anyhow::Result<Guard> {
        self.made(true, &BUILTIN)
    }

    /// Creates the guard with only these built-in executors; none if a host runs its own tools.
    pub(crate) fn offering(self, kinds: &[ExecutorKind]) -> anyhow::Result<Guard> {
        self.made(true, kinds)
    }

    /// Creates the guard without recording, to find out what it would do.
    pub(crate) fn rehearsing(self) -> anyhow::Result<Guard> {
        self.made(false, &BUILTIN)
    }

    fn made(self, records: bool, kinds: &[ExecutorKind]) -> anyhow::Result<Guard> {
        let folder = self.state.map(|state| state.folder());
        let settings = settings_beside(self.options, folder.as_ref())?;
        let workspace = match self.workspace {
            Some(folder) => folder
                .canonicalize()
                .with_context(|| format!("cannot use the workspace {}", folder.display()))?,
            None => std::env::current_dir().context("the working directory no longer exists")?,
        };
        if !workspace.is_dir() {
            let named = workspace.display();
            return Err(Complaint::new(format!("the workspace {named} is not a folder")).into());
        }
        let judge = judge(self.options)?;
        let mut shell =
            ShellExecutor::new(settings.shell.clone()).confined(sandbox(folder.as_ref()));
        if let Some(folder) = &folder {
            shell = shell.keeping_snapshots(folder.snapshots());
        }
        let mut files = FileExecutor::new(settings.file.clone());
        if let Some(folder) = &folder {
            files = files.protecting(folder.path());
        }
        for secret in settings.ledger.key.iter().chain(&settings.ledger.password_file) {
            files = files.protecting(secret);
        }
        let mut builder = Guard::builder().workspace(workspace);
        if kinds.contains(&ExecutorKind::Shell) {
            builder = builder.at_session_end(shell.session_end()).executor(shell);
        }
        if kinds.contains(&ExecutorKind::File) {
            builder = builder.executor(files);
        }
        if kinds.contains(&ExecutorKind::Web) {
            builder = builder.executor(WebExecutor::new(settings.web.clone()));
        }
        if !kinds.is_empty() {
            builder = builder.read_overflow();
        }
        let mut builder = builder.settings(settings);
        if let Some(folder) = folder.filter(|_| records) {
            builder = builder.state(folder);
        }
        if let Some(approver) = self.approver {
            builder = builder.approver(approver);
        }
        if let Some(judge) = judge {
            builder = builder.judge(judge);
        }
        if let Some(judge) = self.answer_judge {
            builder = builder.answer_judge(judge);
        }
        if let Some(reformatter) = reformatter(self.options)? {
            builder = builder.reformatter(reformatter);
        }
        if let Some(embedder) = embedder(self.options)? {
            builder = builder.embedder(embedder);
        }
        Ok(builder.build()?)
    }
}

/// Creates the sandbox, with this program as bubblewrap's helper. Commands cannot see the state
/// folder.
pub(crate) fn sandbox(state: Option<&StateFolder>) -> Sandbox {
    let sandbox = Sandbox::by_helper("/proc/self/exe", &[CONFINE]);
    match state {
        Some(folder) => sandbox.hiding(folder.path()),
        None => sandbox,
    }
}

/// Opens the shared ledger, or the one in an existing state folder, for reading.
pub(crate) fn ledger(state: &State, options: &Options) -> anyhow::Result<Ledger> {
    let path = state.folder().ledger();
    let shared = options.ledger.url.is_some();
    if !shared {
        state.clone().existing()?;
    }
    if !shared && !path.exists() {
        let missing = format!("nothing has been recorded yet: `{}` does not exist", path.display());
        return Err(Complaint::new(missing)
            .help("`counterfoil run` records the calls it makes")
            .into());
    }
    let settings = options.ledger.clone().resolve()?;
    let (clock, randomness) = (Arc::new(SystemClock::default()), Arc::new(SystemRandomness));
    let (ledger, notices) = Ledger::open(&path, settings, clock, randomness)
        .map_err(|error| Complaint::from_error(&error).help(error.help()))?;
    notices.iter().try_for_each(note)?;
    Ok(ledger)
}

/// Creates the gates of a host, to find out what they would decide. No one is asked.
pub(crate) fn gates(options: &Options, state: Option<&StateFolder>) -> anyhow::Result<Gates> {
    let policy = &options.tools.adversarial_policy;
    let mut settings = options.guard().resolve()?;
    protect_own_places(&mut settings, options, state);
    let gates = settings.gates().for_host();
    let gates = if policy.consults_model() { gates.with_judge() } else { gates };
    Ok(gates.build())
}

/// Returns the validated settings of the guard, with the state folder protected.
pub(crate) fn settings_beside(
    options: &Options,
    folder: Option<&StateFolder>,
) -> anyhow::Result<GuardSettings> {
    let mut settings = settings(options)?;
    protect_own_places(&mut settings, options, folder);
    Ok(settings)
}

/// Returns the settings of the guard in an agent's hook.
pub(crate) fn settings_of_hook(
    agent: Agent,
    call: Option<&HostedCall>,
    mut options: Options,
    folder: Option<&StateFolder>,
) -> anyhow::Result<GuardSettings> {
    let guard = options.hooks.guard(agent, call, options.guard());
    let GuardOptions { tools, ledger, audit, .. } = guard;
    (options.tools, options.ledger, options.audit) = (tools, ledger, audit);
    settings_beside(&options, folder)
}

/// Protects paths that control the agent and are known only here: the state folder, the
/// configuration, keys, configured skills, this program, and agents' settings in folders named by
/// environment variables.
fn protect_own_places(
    settings: &mut GuardSettings,
    options: &Options,
    folder: Option<&StateFolder>,
) {
    let set =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = folder.map(|folder| folder.path().to_owned());
    let configuration = config::user_folder().into_iter().chain(options.files.iter().cloned());
    let keys = settings.ledger.key.clone().into_iter().chain(settings.ledger.password_file.clone());
    let of_agents = [
        (
            "CLAUDE_CONFIG_DIR",
            &["settings.json", "settings.local.json", "hooks", ".claude.json"] as &[&str],
        ),
        ("CODEX_HOME", &["config.toml", "hooks.json", "rules"]),
    ];
    let of_agents = of_agents.into_iter().flat_map(|(variable, names)| {
        let folder = set(variable);
        names.iter().filter_map(move |name| Some(folder.as_ref()?.join(name)))
    });
    let program = std::env::current_exe().ok();
    let places: Vec<PathBuf> = named
        .into_iter()
        .chain(configuration)
        .chain(keys)
        .chain(named_folders(options))
        .chain(of_agents)
        .chain(program)
        .filter_map(|place| std::path::absolute(place).ok())
        .collect();
    // Also protect the target of a link, which a command may name directly.
    let real: Vec<PathBuf> = places.iter().filter_map(|place| place.canonicalize().ok()).collect();
    let mut all = [places, real].concat();
    all.sort();
    all.dedup();
    settings.protected = settings.protected.clone().and_folders(all);
    // What lies there is also no reading for an agent: a copy of the ledger's key signs receipts.
    let state = folder.map(|folder| folder.path()).and_then(|path| std::path::absolute(path).ok());
    let real = state.as_ref().and_then(|path| path.canonicalize().ok());
    let state = state.into_iter().chain(real);
    let policy = settings.shell.load();
    let blocklist = policy.blocklist.clone().and_secret_folders(state);
    settings.shell.rebuild(ShellPolicy { blocklist, ..ShellPolicy::clone(&policy) });
}

/// Returns the validated settings of the guard.
pub(crate) fn settings(options: &Options) -> anyhow::Result<GuardSettings> {
    let mut settings = options.guard().resolve()?;
    let selection = Selection { options, ignored: &[], modes: &[], only: &[] };
    settings.rules = selection.settings()?;
    Ok(settings)
}
