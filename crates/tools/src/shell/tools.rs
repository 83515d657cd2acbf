use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use counterfoil_ledger::TrustLevel;
use counterfoil_model::{BackgroundRun, Status, Tool, ToolErrorCategory};
use counterfoil_sandbox::{Gap, Limits, Profile, Room, Sandbox};
use counterfoil_shell::Script;
use rustix::process::{Gid, Uid};

use super::arguments::{ShellArguments, bash, run_named};
use super::background::Background;
use super::capture::shares;
use super::definition::{OUTPUT, RUN, STOP, definitions};
use super::directory::directory;
use super::environment::environment;
use super::foreground;
use super::harmless::is_harmless;
use super::receipt::{confinement, refused, unconfined};
use super::run::{Ended, Left, Run, Start};
use super::sessions::Sessions;
use super::transaction::Transaction;
use super::written::Watched;
use crate::blocklist::find_blocked_command;
use crate::scene::Scene;
use crate::tool_event::Progress;
use crate::wanted::Wanted;
use crate::{
    ExitCause, FullText, RolledBack, ShellOutputEnvelope, ShellPolicy, ShellPolicyHandle,
    ShellSettings, ToolError, ToolOutput,
};

/// Runs shell commands with Bash. The guard decides who may run them.
///
/// Every execution checks the blocklist again, under the policy in force when the command starts;
/// the command keeps that policy until it ends.
#[derive(Debug, Clone)]
pub struct ShellTools {
    policy: ShellPolicyHandle,
    sandbox: Sandbox,
    sessions: Sessions,
    snapshots: Option<PathBuf>,
}

impl ShellTools {
    /// Creates the tools with this policy, which the gates should share. Commands are not confined.
    #[must_use]
    pub fn new(policy: ShellPolicyHandle) -> Self {
        Self { policy, sandbox: Sandbox::default(), sessions: Sessions::default(), snapshots: None }
    }

    /// Confines commands with this sandbox.
    #[must_use]
    pub fn confined(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Keeps the latest snapshots in this folder, as many as the settings say.
    #[must_use]
    pub fn keeping_snapshots(mut self, folder: impl Into<PathBuf>) -> Self {
        self.snapshots = Some(folder.into());
        self
    }

    /// Ends what a session has left running, and removes its folder.
    pub fn end_session(&self, session: &str) {
        self.sessions.end(session);
    }

    /// Performs one call of one of the tools.
    ///
    /// # Errors
    /// When it cannot be performed, or the current blocklist refuses it.
    pub async fn perform(
        &self,
        call: Wanted<'_>,
        (execution_id, progress): (&str, &Progress),
        scene: &Scene<'_>,
    ) -> Result<ToolOutput, ToolError> {
        match call.tool {
            OUTPUT => self.look(call, scene, false),
            STOP => self.look(call, scene, true),
            _ => self.run(call, (execution_id, progress), scene).await,
        }
    }

    async fn run(
        &self,
        call: Wanted<'_>,
        (execution_id, progress): (&str, &Progress),
        scene: &Scene<'_>,
    ) -> Result<ToolOutput, ToolError> {
        let policy = self.policy.load();
        let arguments = ShellArguments::read(call.arguments, &policy.settings)?;
        refuse_blocked(&arguments, &policy, scene)?;
        let settings = &policy.settings;
        let directory = directory(scene.workspace, &settings.directories, arguments.cwd)?;
        let transaction =
            Transaction::begin(&settings.transaction, arguments.command, &directory, scene)?;
        let watched = Watched::before(&written(arguments.command), &directory);
        let (mut run, beforehand) = self.prepared(&arguments, &policy, scene, directory)?;
        if policy.sandbox.is_strict() && beforehand.iter().any(|gap| gap.essential) {
            return Err(refused(&beforehand));
        }
        let held = matches!(run.start, Start::Held(_));
        let profile = policy.sandbox.profile();
        let own_namespaces = matches!(&run.start, Start::Held(held) if held.plan.own_namespaces);
        let confinement_with = |gaps: Vec<Gap>, left: Left| {
            let gaps = beforehand.into_iter().chain(gaps).collect();
            if held {
                confinement(profile, gaps, (!own_namespaces).then_some(left))
            } else {
                unconfined(profile, left)
            }
        };
        if arguments.background {
            let name = self
                .sessions
                .start(scene.session, || Background::start(run, execution_id.to_owned()))?;
            let text = format!(
                "started in the background as `{name}`; there is no result yet. Read its \
                 output with `{OUTPUT}`; stop it with `{STOP}`"
            );
            let confinement = Some(confinement_with(Vec::new(), Left::NoProcess));
            let started_by = execution_id.to_owned();
            let background = Some(BackgroundRun { started_by, status: Status::Open });
            return Ok(ToolOutput { confinement, background, ..ToolOutput::from(text) });
        }
        run.progress = progress.clone();
        let ended = foreground::run(run).await?;
        let confinement = Some(confinement_with(ended.gaps.clone(), ended.left));
        let mut output = output(&ended, settings, arguments.timeout);
        let side_effects = watched.after();
        if let Some(transaction) = transaction {
            let kept_in = self.snapshots.as_deref();
            output.rolled_back = transaction.end(ended.exit_code, execution_id, kept_in)?;
        }
        if let Some(RolledBack { restored, deleted }) = output.rolled_back {
            let note = format!("[undone: {restored} restored, {deleted} removed]\n");
            output.add(&note);
        }
        // After a rollback there are no side effects.
        let side_effects = if output.rolled_back.is_some() { Vec::new() } else { side_effects };
        Ok(ToolOutput { side_effects, confinement, ..output })
    }

    /// The run, and the gaps known in advance.
    fn prepared(
        &self,
        arguments: &ShellArguments<'_>,
        policy: &ShellPolicy,
        scene: &Scene<'_>,
        directory: PathBuf,
    ) -> Result<(Run, Vec<Gap>), ToolError> {
        let settings = &policy.settings;
        let program = bash(arguments.command)?;
        let mut environment = environment(scene.environment, &settings.passed);
        let mut run = Run {
            start: Start::Bare(program.clone()),
            directory,
            environment: BTreeMap::new(),
            limits: marked(settings.limits),
            timeout: arguments.timeout,
            max_output: settings.max_recorded,
            echo: None,
            progress: Progress::default(),
        };
        if !self.sandbox.can_hold(&policy.sandbox) {
            if policy.sandbox.is_strict() {
                return Err(refused(&[Gap::essential("no sandbox helper program is configured")]));
            }
            run.environment = environment;
            return Ok((run, Vec::new()));
        }
        let cannot = |what: &str, error: &io::Error| {
            let message = format!("the command cannot be sandboxed: {what}: {error}");
            ToolError::new(ToolErrorCategory::PermanentFailure, message)
        };
        let workspace = scene.workspace.canonicalize();
        let workspace = workspace.map_err(|error| cannot("the workspace", &error))?;
        let base = environment.get("TMPDIR").map_or(Path::new("/tmp"), |path| Path::new(path));
        let temporary = self.sessions.temporary(scene.session, base);
        let temporary = temporary.map_err(|error| cannot("its temporary folder", &error))?;
        own_temporary(&mut environment, &temporary);
        let room = Room {
            workspace: &workspace,
            directories: &settings.directories,
            directory: &run.directory,
            environment: &environment,
            temporary: &temporary,
        };
        let mut held = self.sandbox.hold(&policy.sandbox, &room, run.limits, program);
        if let Some((user, group)) = held.plan.identity {
            let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
            rustix::fs::chown(&temporary, Some(user), Some(group))
                .map_err(|error| cannot("its temporary folder", &error.into()))?;
        }
        let beforehand = std::mem::take(&mut held.gaps);
        run.start = Start::Held(Box::new(held));
        run.environment = environment;
        Ok((run, beforehand))
    }

    /// The output of a command in the background, after stopping it if `stop` is set.
    fn look(
        &self,
        call: Wanted<'_>,
        scene: &Scene<'_>,
        stop: bool,
    ) -> Result<ToolOutput, ToolError> {
        let name = run_named(call.arguments)?;
        let run = self.sessions.run(scene.session, name)?;
        if stop {
            run.stop();
        }
        let (mut text, truncated, ended) = run.look();
        let (status, state) = match ended {
            None if stop => (Status::Cancelled, "ended".to_owned()),
            None => (Status::Open, "still running".to_owned()),
            Some(Ok(0)) => (Status::Completed, "ended with exit code 0".to_owned()),
            Some(Ok(code)) => (Status::Failed, format!("ended with exit code {code}")),
            Some(Err(error)) => (Status::Failed, format!("failed: {error}")),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{name}: {state}]"));
        let background = Some(run.recorded(status));
        Ok(ToolOutput { truncated, background, ..ToolOutput::from(text) })
    }
}

impl ShellTools {
    /// The definitions of the tools.
    #[must_use]
    pub fn definitions(&self) -> Vec<Tool> {
        definitions(&self.policy.load().settings)
    }

    /// Whether a tool of this name belongs here.
    #[must_use]
    pub fn owns(&self, tool: &str) -> bool {
        RUN.contains(&tool) || tool == OUTPUT || tool == STOP
    }

    /// Why a person has to approve this call first.
    #[must_use]
    pub fn question(&self, call: Wanted<'_>, scene: &Scene<'_>) -> Option<String> {
        if !RUN.contains(&call.tool) {
            // They affect only what this session started.
            return run_named(call.arguments).err().map(|error| error.to_string());
        }
        let policy = self.policy.load();
        let arguments = match ShellArguments::read(call.arguments, &policy.settings) {
            Ok(arguments) => arguments,
            Err(error) => return Some(error.to_string()),
        };
        if scene.trust == TrustLevel::Trusted {
            return None;
        }
        let folders = &policy.settings.directories;
        let directory = match directory(scene.workspace, folders, arguments.cwd) {
            Ok(directory) => directory,
            // It cannot have an effect: the executor refuses it for the same reason.
            Err(_) => return None,
        };
        if is_harmless(arguments.command, scene.workspace, &directory) {
            return None;
        }
        let why = match policy.sandbox.profile() {
            Profile::Network => "the command can access the network".to_owned(),
            Profile::Off => "the command would not be sandboxed".to_owned(),
            Profile::ReadOnly | Profile::Workspace => {
                match self.essential_gaps(&arguments, &policy, scene, directory) {
                    Ok(gaps) if gaps.is_empty() => return None,
                    Ok(gaps) => format!("the command would not be sandboxed: {}", gaps.join("; ")),
                    Err(error) => error.to_string(),
                }
            }
        };
        Some(format!("{why}, and it might do more than read inside the workspace"))
    }

    /// Why it would be refused even with approval, as far as is known in advance.
    #[must_use]
    pub fn refusal(&self, call: Wanted<'_>, scene: &Scene<'_>) -> Option<ToolError> {
        if !RUN.contains(&call.tool) {
            return run_named(call.arguments).err();
        }
        let policy = self.policy.load();
        let arguments = ShellArguments::read(call.arguments, &policy.settings);
        let folders = &policy.settings.directories;
        arguments.and_then(|arguments| directory(scene.workspace, folders, arguments.cwd)).err()
    }
}

impl ShellTools {
    /// The essential restrictions of the profile that would not be enforced.
    fn essential_gaps(
        &self,
        arguments: &ShellArguments<'_>,
        policy: &ShellPolicy,
        scene: &Scene<'_>,
        directory: PathBuf,
    ) -> Result<Vec<String>, ToolError> {
        let abilities = self.sandbox.abilities(&policy.sandbox);
        let (_, beforehand) = if abilities.confines() {
            self.prepared(arguments, policy, scene, directory)
                .map(|(run, gaps)| (Some(run), gaps))?
        } else {
            (None, Vec::new())
        };
        let gaps = abilities.gaps.iter().chain(&beforehand).filter(|gap| gap.essential);
        Ok(gaps.map(|gap| gap.text.clone()).collect())
    }
}

/// The limits of one command, with a mark for finding its processes.
fn marked(limits: Limits) -> Limits {
    #[cfg(target_os = "linux")]
    let limits = Limits { mark: counterfoil_sandbox::mark(), ..limits };
    limits
}

/// Puts temporary files, and the cache that Go requires, in a folder of the session.
fn own_temporary(environment: &mut BTreeMap<String, String>, temporary: &Path) {
    let path = temporary.to_string_lossy();
    for name in ["TMPDIR", "TMP", "TEMP"] {
        environment.insert(name.to_owned(), path.clone().into_owned());
    }
    environment.entry("GOCACHE".to_owned()).or_insert_with(|| format!("{path}/go-build"));
}

// INVARIANT: every execution calls this, approved or not.
fn refuse_blocked(
    arguments: &ShellArguments<'_>,
    policy: &Arc<ShellPolicy>,
    scene: &Scene<'_>,
) -> Result<(), ToolError> {
    let list = policy.blocklist.in_scene(scene, arguments.cwd);
    match find_blocked_command(arguments.command, &list) {
        None => Ok(()),
        Some(message) => Err(ToolError::Shell {
            exit_code: 126,
            category: ToolErrorCategory::PolicyBlocked,
            message,
        }),
    }
}

/// The paths that the command seems to write to.
fn written(command: &str) -> Vec<String> {
    let Ok(script) = Script::parse(command) else { return Vec::new() };
    script.writes().iter().filter_map(|write| write.path.literal().map(str::to_owned)).collect()
}

fn output(ended: &Ended, settings: &ShellSettings, timeout: Duration) -> ToolOutput {
    let envelope = envelope(ended, settings.max_output);
    let given_up = ended.timed_out.then_some(timeout);
    let failure = if ended.timed_out {
        Some(ToolErrorCategory::Timeout)
    } else {
        ExitCause::from_exit(ended.exit_code, &envelope.stderr).map(ExitCause::category)
    };
    let full = envelope.truncated.then(|| {
        let full = self::envelope(ended, settings.max_recorded);
        FullText { cut: full.truncated, text: full.text(given_up) }
    });
    ToolOutput {
        text: envelope.text(given_up),
        full,
        raw_response: serde_json::to_value(&envelope).ok(),
        failure,
        exit_code: Some(ended.exit_code),
        truncated: envelope.truncated,
        ..ToolOutput::default()
    }
}

/// The output of a command, in at most `limit` characters.
fn envelope(ended: &Ended, limit: usize) -> ShellOutputEnvelope {
    let Ended { exit_code, stdout, stderr, .. } = ended;
    let (for_stdout, for_stderr) = shares(limit, stdout.characters(), stderr.characters());
    let (stdout, stdout_cut) = stdout.text(for_stdout);
    let (stderr, stderr_cut) = stderr.text(for_stderr);
    ShellOutputEnvelope {
        version: ShellOutputEnvelope::VERSION,
        stdout,
        stderr,
        exit_code: *exit_code,
        truncated: stdout_cut || stderr_cut,
    }
}
