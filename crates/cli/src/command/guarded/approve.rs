use std::collections::BTreeSet;
use std::io::{self, Write as _};

use clap::Args;
use counterfoil_guard::{AppendError, Approval, Draft, Guard, PersonsDecision, Receipt};
use counterfoil_model::Digest;
use counterfoil_report::{json_line, shorten, visible};
use jiff::Timestamp;

use crate::approver::{agreed, user};
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::guard::Making;

/// Approve a call that was denied because it needs a person's approval
///
/// The approval covers one call of the same tool with exactly the same arguments in the session of
/// the denied call, or every such call with `--for-session`. The approval is recorded in the
/// ledger, and the receipt of the call that uses it refers to it. The agent has to make the call
/// again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil approve cancel_order_1735999999123_0a1b2c3d
  counterfoil approve cancel_order_1735999999123_0a1b2c3d --because 'the customer called'
  counterfoil approve --list    list the calls waiting for approval
  counterfoil approve --last    approve the newest of them

Asks for confirmation on the terminal. Without a terminal, nothing is approved.")]
pub(crate) struct Arguments {
    /// The id of the denied call, from the response to it or from `counterfoil audit query`
    #[arg(value_name = "EXECUTION_ID", required_unless_present_any = ["last", "list"])]
    execution_id: Option<String>,
    /// Approve the newest pending call
    #[arg(long, conflicts_with = "execution_id")]
    last: bool,
    /// List pending calls, newest first, without approving any
    #[arg(long, conflicts_with_all = ["execution_id", "last", "for_session", "because"])]
    list: bool,
    /// Approve every identical call in the session, not only one
    #[arg(long)]
    for_session: bool,
    /// The reason, recorded in the receipt
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
}

/// The maximum number of recent calls to look at.
const LOOKED_AT: usize = 500;

/// Returns the calls that wait for approval, newest first, each with its latest attempt.
fn waiting(guard: &Guard) -> anyhow::Result<Vec<Receipt>> {
    let ledger = guard.ledger();
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    for id in ledger.recent(None, LOOKED_AT)? {
        let Some(receipt) = ledger.receipt(&id)? else { continue };
        let call = (receipt.session_id.clone(), receipt.arguments_digest.to_string());
        // Only the latest attempt of the same call counts.
        if known.insert(call) && receipt.waits_for_approval() && !is_decided(guard, &receipt)? {
            found.push(receipt);
        }
    }
    Ok(found)
}

/// Whether a person has decided on the call since it was denied.
fn is_decided(guard: &Guard, receipt: &Receipt) -> anyhow::Result<bool> {
    let about = |digest: &Digest| *digest == receipt.arguments_digest;
    let events = guard.ledger().events_after(&receipt.session_id, receipt.seq)?;
    Ok(events.iter().any(|event| match &event.draft {
        Draft::Approved(approved) => about(&approved.arguments_digest),
        Draft::Declined(declined) => about(&declined.arguments_digest),
        _ => false,
    }))
}

/// Whether the call's session has ended since, so that no one is waiting for a decision.
fn has_ended(guard: &Guard, receipt: &Receipt) -> anyhow::Result<bool> {
    let events = guard.ledger().events_after(&receipt.session_id, receipt.seq)?;
    let decides = |draft: &Draft| matches!(draft, Draft::Approved(_) | Draft::Declined(_));
    let latest = events.iter().map(|event| &event.draft).rfind(|draft| !decides(draft));
    Ok(matches!(latest, Some(Draft::Ended)))
}

fn newest(guard: &Guard) -> anyhow::Result<String> {
    let found = waiting(guard)?.into_iter().next();
    let found = found.ok_or_else(|| {
        Complaint::new("no calls are waiting for approval")
            .help("`counterfoil audit query` lists recorded calls")
    })?;
    Ok(found.execution_id)
}

fn list(guard: &Guard) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    let found = waiting(guard)?;
    if found.is_empty() {
        writeln!(out, "no calls are waiting for approval")?;
    }
    for receipt in found {
        let call = format!("{} {}", receipt.tool, json_line(&receipt.arguments));
        writeln!(out, "{}\n  {}", receipt.execution_id, shorten(&visible(&call), 200))?;
        writeln!(out, "  {}", visible(receipt.reason().unwrap_or_default()))?;
        let time = Timestamp::from_millisecond(receipt.started_at).unwrap_or_default();
        let session = visible(&receipt.session_id);
        let ended = if has_ended(guard, &receipt)? { ", which has ended" } else { "" };
        writeln!(out, "  in session {session}{ended}, {}", time.strftime("%Y-%m-%d %H:%M:%SZ"))?;
    }
    Ok(Exit::Clean)
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let state = global.state()?;
    // A user who decides on calls of other replicas may have recorded nothing here.
    let shared = options.ledger.url.is_some();
    let state = if shared { state.create()? } else { state.existing()? };
    let guard = Making { state: Some(state), ..Making::new(&options) }.guard()?;
    if arguments.list {
        return list(&guard);
    }
    let id = match &arguments.execution_id {
        Some(id) => id.clone(),
        None => newest(&guard)?,
    };
    let id = id.as_str();
    let receipt = guard.ledger().receipt(id)?;
    let receipt = receipt.ok_or_else(|| {
        Complaint::new(format!("no receipt for `{}`", visible(id))).help(
            "`counterfoil audit query` lists recorded calls; the response to a denied call \
             contains its id",
        )
    })?;
    if !receipt.waits_for_approval() && !receipt.was_declined() {
        let what = "is not waiting for approval: a rule denies it, or it already ran";
        return Err(Complaint::new(format!("`{}` {what}", visible(id)))
            .help("`counterfoil policy explain` shows how the rules judge a call")
            .into());
    }
    let has_ended = has_ended(&guard, &receipt)?;
    if !agreed(&question(&receipt, arguments.for_session, has_ended)) {
        return Err(Complaint::new("not approved; the call stays denied")
            .help("to approve it, answer `y` on a terminal")
            .into());
    }
    let mut approval = Approval::by(format!("{} (counterfoil approve)", user()));
    if let Some(why) = &arguments.because {
        approval = approval.because(why);
    }
    if arguments.for_session {
        approval = approval.for_session();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Decisions made before the call was denied are already known.
    let decided = guard.decide(&receipt, PersonsDecision::Agree(approval), receipt.seq);
    runtime.block_on(decided).map_err(|error| match error {
        AppendError::DecidedMeanwhile => Complaint::new(format!("`{}`: {error}", visible(id)))
            .help(
                "the agent can make the call again; `counterfoil serve` shows the current \
                decisions",
            ),
        error => Complaint::new(format!("the approval was not recorded: {error}")),
    })?;
    let effect = match has_ended {
        false => "the agent may make this call again",
        true => "but no one is waiting for it: it counts only if the session is continued",
    };
    writeln!(io::stdout(), "approved: {effect}")?;
    Ok(Exit::Clean)
}

/// What the user is asked about a call.
fn question(receipt: &Receipt, for_session: bool, has_ended: bool) -> String {
    let ended =
        if has_ended { ", which has ended: no one is waiting for this approval" } else { "" };
    let lasts = if for_session { "every identical call in this session" } else { "this call" };
    format!(
        "{} {}\n  in session {}{ended}\n  {}\nApprove {lasts}? [y/N] ",
        visible(&receipt.tool),
        json_line(&receipt.arguments),
        visible(&receipt.session_id),
        visible(receipt.reason().unwrap_or_default()),
    )
}
