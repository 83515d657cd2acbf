//! The conversation: a single exchange, or until the user leaves.

use std::io::{self, Write as _};

use counterfoil_agent::{TurnError, Turned};
use counterfoil_model::Finding;
use counterfoil_report::json_pretty;
use serde_json::{Value, json};

use super::slash::{After, slash};
use crate::conversation::{
    Begun, Fired, Front, Lines, Next, Row, Tone, complaint, fire, turn_summary, wrong,
};
use crate::exit::{Complaint, Exit};

/// Works on the user's message; `None` if the user interrupts.
async fn turn(
    begun: &mut Begun,
    front: &mut impl Front,
    message: &str,
) -> anyhow::Result<Option<Result<Turned, TurnError>>> {
    front.show(&begun.apply_changes().await)?;
    let mut watching = front.watch(begun);
    let went = front.during(begun.agent.turn(message, &mut watching)).await?;
    drop(watching);
    front.show(&begun.apply_changes().await)?;
    Ok(went)
}

/// Answers one prompt.
pub(super) async fn once(mut begun: Begun, prompt: &str, as_json: bool) -> anyhow::Result<Exit> {
    let mut lines = Lines::new(false);
    lines.show(&begun.notices)?;
    let went = turn(&mut begun, &mut lines, prompt).await?;
    let session = begun.agent.session().id().to_owned();
    if !begun.stays {
        begun.agent.session().end().await?;
    }
    let turned = match went {
        Some(Ok(turned)) => turned,
        None => {
            let help = format!("resume the session with `counterfoil chat --session {session}`");
            return Err(Complaint::new("the turn was interrupted".to_owned()).help(help).into());
        }
        Some(Err(error)) => return Err(complaint(&error).into()),
    };
    if as_json {
        let whole = json!({
            "answer": turned.answer,
            "accepted": turned.accepted,
            "held_back": turned.held_back,
            "findings": turned.findings.iter().map(in_json).collect::<Vec<_>>(),
            "claims": turned.judgements,
            "receipts": turned.executions,
            "session": session,
            "model": begun.model,
            "usage": begun.agent.usage(),
        });
        writeln!(io::stdout().lock(), "{}", json_pretty(&whole))?;
    } else {
        lines.answer(&turned)?;
        writeln!(io::stderr(), "{}", closing(&turned, &session))?;
    }
    Ok(if turned.accepted { Exit::Clean } else { Exit::Findings })
}

/// Talks until the user leaves.
pub(super) async fn on_and_on(begun: &mut Begun, front: &mut impl Front) -> anyhow::Result<Exit> {
    front.show(&begun.notices)?;
    let session = begun.agent.session().id().to_owned();
    let workspace = begun.agent.guard().workspace().display();
    let greeting = Row::new(Tone::Strong, &*begun.model)
        .and(Tone::Plain, format!(" in {workspace}, session "))
        .and(Tone::Code, &*session)
        .and(Tone::Plain, ". `/help` lists commands, Ctrl-D quits.");
    front.show(&[greeting])?;
    let mut last = None;
    loop {
        let line = match front.next(begun).await? {
            Next::Message(Some(line)) => line,
            Next::Message(None) => break,
            Next::Due(due) => {
                if let Fired::Answered(turned) = fire(begun, front, &due).await? {
                    last = Some(*turned);
                }
                continue;
            }
        };
        let message = line.trim();
        if message.starts_with('/') || matches!(message, "exit" | "quit") {
            match slash(begun, front, message, last.as_ref()).await {
                Ok(After::On) => {}
                Ok(After::End) => break,
                Err(error) => front.show(&[wrong(&format!("{error:#}"))])?,
            }
        } else if !message.is_empty()
            && let Some(turned) = answered(begun, front, message).await?
        {
            last = Some(turned);
        }
    }
    if !begun.stays {
        begun.agent.session().end().await?;
    }
    Ok(Exit::Clean)
}

/// Runs a turn and shows its result.
async fn answered(
    begun: &mut Begun,
    front: &mut impl Front,
    message: &str,
) -> anyhow::Result<Option<Turned>> {
    match turn(begun, front, message).await? {
        Some(Ok(turned)) => {
            front.answer(&turned)?;
            return Ok(Some(turned));
        }
        None => {
            let text =
                "interrupted; calls that ran are recorded, and you can continue the conversation";
            front.show(&[Row::plain(text)])?;
        }
        Some(Err(error)) => {
            let complaint = complaint(&error);
            front.show(&[wrong(&complaint.to_string())])?;
            if let Some(advice) = complaint.advice() {
                front.show(&[Row::plain(format!("  {advice}"))])?;
            }
        }
    }
    Ok(None)
}

fn in_json(finding: &Finding) -> Value {
    json!({
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
    })
}

fn closing(turned: &Turned, session: &str) -> String {
    let summary = turn_summary(turned);
    let comma = if summary.is_empty() { "" } else { ", " };
    format!("{summary}{comma}session {session}")
}
