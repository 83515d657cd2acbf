//! Runs the installed hook as its agent would, on synthetic events.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use counterfoil_hooks::{
    Agent, Answered, Expected, InstalledHook, Probe, answered, canary_log, installed, probes,
};
use counterfoil_report::{shorten, visible};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::agents::{Scope, SettingsFile};
use crate::exit::{self, Complaint};
use crate::settings_file::broken;

/// The maximum time for a probe. The agent's settings may give the hook less.
const LONGEST: Duration = Duration::from_secs(30);

/// Runs every probe on the commands in the file and prints the results. Returns whether all results
/// are as expected.
pub(super) fn run(
    agent: Agent,
    scope: Scope,
    file: &SettingsFile,
    text: &str,
) -> anyhow::Result<bool> {
    let hooks = installed(agent, file.form, text).map_err(|error| broken(&file.path, &error))?;
    let desk = tempfile::Builder::new()
        .prefix("counterfoil-canary-")
        .tempdir()
        .context("cannot create a temporary folder to test the hook")?;
    let folder = match scope {
        Scope::User => desk.path().to_owned(),
        Scope::Project => {
            std::env::current_dir().context("the working directory no longer exists")?
        }
    };
    let shown = folder.to_string_lossy();
    let log = desk.path().join("session.jsonl");
    std::fs::write(&log, canary_log(agent, &shown))
        .context("cannot write the log of the test session")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut all = true;
    let mut out = io::stdout().lock();
    writeln!(out, "tested with a separate state folder:")?;
    for probe in probes(agent, &log.to_string_lossy(), &shown) {
        let answer = runtime.block_on(ask(&hooks, &probe, &folder, desk.path()));
        let met = answer.meets(probe.expected);
        all &= met;
        let remark = remark(&answer, probe.expected);
        let what = visible(&remark).into_owned();
        let mark = if met { "yes" } else { "NO" };
        writeln!(out, "  {mark:<4} {}{}", probe.name, shorten(&what, 200))?;
    }
    Ok(all)
}

/// Prints a complaint with its advice; the caller chooses the exit code.
pub(super) fn complain(complaint: &Complaint) -> anyhow::Result<()> {
    let error =
        Complaint::new(complaint.to_string()).maybe_help(complaint.advice().map(str::to_owned));
    exit::report(&error.into(), &mut io::stderr().lock())?;
    Ok(())
}

async fn ask(hooks: &[InstalledHook], probe: &Probe, folder: &Path, desk: &Path) -> Answered {
    let Some(hook) = hooks.iter().find(|hook| hook.event == probe.event) else {
        return Answered::Failed(format!("no hook installed for {}", probe.event));
    };
    let spawned = Command::new("sh")
        .arg("-c")
        .arg(&hook.command)
        .current_dir(folder)
        .env("COUNTERFOIL_STATE", desk.join("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return Answered::Failed(format!("cannot run `sh`: {error}")),
    };
    let input = probe.input.to_string();
    let pipe = child.stdin.take();
    let talk = async {
        if let Some(mut pipe) = pipe {
            // A command that does not read its input still answers.
            let _ = pipe.write_all(input.as_bytes()).await;
        }
        child.wait_with_output().await
    };
    match tokio::time::timeout(LONGEST, talk).await {
        Err(_) => Answered::Failed(format!("no answer within {} seconds", LONGEST.as_secs())),
        Ok(Err(error)) => Answered::Failed(format!("cannot read the answer of the hook: {error}")),
        Ok(Ok(output)) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            answered(output.status.code(), &text(&output.stdout), &text(&output.stderr))
        }
    }
}

fn remark(answer: &Answered, expected: Expected) -> String {
    let first = |text: &str| text.trim().lines().next().unwrap_or_default().to_owned();
    match (answer, expected) {
        (Answered::Passed { .. }, Expected::Passes) => String::new(),
        (Answered::Passed { notice }, Expected::Objects) if notice.is_empty() => {
            ": the hook raised no objection".to_owned()
        }
        (Answered::Passed { notice }, Expected::Objects) => {
            format!(": the hook raised no objection, and its notice was: {notice}")
        }
        (Answered::NeedsApproval, _) => ": the hook asks the user".to_owned(),
        (Answered::Objected(reason), Expected::Objects) => {
            // The id belongs to a synthetic call.
            let reason = reason.split(" [call ").next().unwrap_or(reason);
            format!(": {}", first(reason))
        }
        (Answered::Objected(reason), Expected::Passes) => {
            format!(": the hook objects: {}", first(reason))
        }
        (Answered::Failed(why), _) => format!(": {why}"),
    }
}
