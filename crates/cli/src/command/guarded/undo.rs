use std::io::{self, Write as _};
use std::path::Path;

use clap::Args;
use counterfoil_guard::{Guard, RolledBack, Session, SessionStart, Surroundings};
use counterfoil_model::{ExactValue, ToolErrorCategory};
use counterfoil_report::{shorten, visible};
use counterfoil_tools::{SinceChanged, UndoError, has_snapshot, undo_snapshot};
use serde_json::json;

use crate::config;
use crate::exit::{Complaint, Exit, note};
use crate::global::Global;
use crate::guard::Making;

/// Undo a shell command's changes, from its snapshot
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil undo shell_1735999999123_0a1b2c3d
  counterfoil undo shell_1735999999123_0a1b2c3d --force   also restore files that have changed since

  counterfoil undo --last      undo the newest command with a snapshot; again, the one before it
  counterfoil undo --list      list the commands that can be undone, newest first

Snapshots require `[tools.shell] transactional = true` and `keep_snapshots` above 0, or, for a
coding agent's commands, `[hooks] undo = true`.")]
pub(crate) struct Arguments {
    /// The id of the execution, from its receipt
    #[arg(value_name = "EXECUTION_ID", required_unless_present_any = ["last", "list"])]
    execution_id: Option<String>,
    /// Undo the newest execution that has a snapshot
    #[arg(long, conflicts_with = "execution_id")]
    last: bool,
    /// List the executions that have a snapshot, newest first
    #[arg(long, conflicts_with_all = ["execution_id", "last", "force"])]
    list: bool,
    /// Also restore files that have changed since the command ended
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let state = global.state()?.existing()?;
    let kept = state.folder().snapshots();
    let guard = Making { state: Some(state), ..Making::new(&options) }.guard()?;
    if arguments.list {
        return list(&guard, &kept);
    }
    let newest = || Ok(undoable(&guard, &kept)?.next().ok_or_else(nothing)?);
    let id = arguments.execution_id.clone().map_or_else(newest, anyhow::Ok)?;
    let id = id.as_str();
    let Some(receipt) = guard.ledger().receipt(id)? else {
        return Err(Complaint::new(format!("no receipt for `{id}`")).into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let start = SessionStart { id: Some(receipt.session_id), ..SessionStart::default() };
        let session = guard.session(start)?;
        undo(&session, &kept, id, arguments.force).await
    })?;
    match ended {
        Ok(rolled_back) => {
            writeln!(io::stdout(), "{}", undone(&rolled_back))?;
            Ok(Exit::Clean)
        }
        Err(error) => Err(complaint(&error).into()),
    }
}

/// The number of newest executions that are looked at.
const LOOKED_AT: usize = 500;

/// Returns the executions with a snapshot that has not been restored, newest first.
fn undoable(guard: &Guard, kept: &Path) -> anyhow::Result<impl Iterator<Item = String>> {
    let recent = guard.ledger().recent(None, LOOKED_AT)?;
    Ok(recent.into_iter().filter(move |id| has_snapshot(kept, id)))
}

fn nothing() -> Complaint {
    let what = format!("nothing to undo: none of the last {LOOKED_AT} calls has a snapshot left");
    Complaint::new(what).help(SNAPSHOTS)
}

/// Prints the executions that can be undone.
fn list(guard: &Guard, kept: &Path) -> anyhow::Result<Exit> {
    let ids: Vec<String> = undoable(guard, kept)?.collect();
    if ids.is_empty() {
        note(format!("{}\n  help: {SNAPSHOTS}", nothing()))?;
    }
    for id in ids {
        let Some(receipt) = guard.ledger().receipt(&id)? else { continue };
        let arguments = receipt.arguments.to_string();
        let what = shorten(&visible(&arguments), 100).into_owned();
        writeln!(io::stdout(), "{id}  {}  {what}", receipt.tool)?;
    }
    Ok(Exit::Clean)
}

/// Undoes what this call changed. Undoing is itself a call, with a receipt of its own.
pub(super) async fn undo(
    session: &Session,
    kept: &Path,
    id: &str,
    force: bool,
) -> anyhow::Result<Result<RolledBack, UndoError>> {
    let around = Surroundings { rollback_of: Some(id.to_owned()), ..Surroundings::default() };
    let named: ExactValue = json!({ "execution_id": id, "force": force }).into();
    let tracked = session.track("undo", &named, around).await?;
    let changed = if force { SinceChanged::Overwrite } else { SinceChanged::Refuse };
    let undone = undo_snapshot(kept, id, changed);
    match &undone {
        Ok(RolledBack { restored, deleted }) => {
            let result = json!({ "restored": restored, "deleted": deleted });
            tracked.complete(result).await?;
        }
        Err(error) => {
            let category = ToolErrorCategory::PermanentFailure;
            tracked.fail(category, &error.to_string()).await?;
        }
    }
    Ok(undone)
}

/// Describes the result.
pub(super) fn undone(RolledBack { restored, deleted }: &RolledBack) -> String {
    format!("undone: {restored} restored, {deleted} removed")
}

const SNAPSHOTS: &str = "snapshots require `[tools.shell] transactional = true` and \
                         `keep_snapshots` above 0, or, for a coding agent's commands, `[hooks] \
                         undo = true`; undoing a command uses up its snapshot";

fn complaint(error: &UndoError) -> Complaint {
    let complaint = Complaint::new(error.to_string());
    match error {
        UndoError::NoSnapshot(_) => complaint.help(SNAPSHOTS),
        UndoError::ChangedSince(_) => complaint.help(
            "pass `--force` to restore the files anyway; changes made since then will be lost",
        ),
        UndoError::InTheWay(_) => complaint.help(
            "nothing was undone; move these files away, or pass `--force` to undo the rest and \
             keep these files",
        ),
        UndoError::Unreadable { .. } | UndoError::Partial(_) => complaint,
    }
}
