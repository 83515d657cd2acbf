//! The conversation: once, or until the user leaves.

use std::io::{self, Write as _};

use counterfoil_agent::{Due, Scheduler, TurnError, Turned};
use counterfoil_model::Finding;
use counterfoil_report::json_pretty;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::slash::{After, slash};
use crate::conversation::{Begun, Fired, LOOK_AT_TASKS, Shown, answer, behind, fire};
use crate::exit::{Complaint, Exit};
use crate::questions::next_line;
use crate::signals::interrupted;
use crate::terminal::Paint;

/// What became of what the user said.
enum Went {
    Through(Turned),
    /// Ctrl-C.
    BrokenOff,
}

async fn turn(begun: &mut Begun, said: &str) -> Result<Went, TurnError> {
    let mut shown = Shown::new(begun.agent.guard());
    tokio::select! {
        turned = begun.agent.turn(said, &mut shown) => turned.map(Went::Through),
        () = interrupted() => Ok(Went::BrokenOff),
    }
}

/// Answers one prompt.
pub(super) async fn once(mut begun: Begun, prompt: &str, as_json: bool) -> anyhow::Result<Exit> {
    notices(&begun)?;
    let went = turn(&mut begun, prompt).await;
    let session = begun.agent.session().id().to_owned();
    if !begun.stays {
        begun.agent.guard().end(begun.agent.session()).await?;
    }
    let turned = match went {
        Ok(Went::Through(turned)) => turned,
        Ok(Went::BrokenOff) => {
            let help = format!("`counterfoil chat --session {session}` goes on");
            return Err(Complaint::new("the turn was broken off".to_owned()).help(help).into());
        }
        Err(error) => return Err(complaint(&error).into()),
    };
    let mut out = io::stdout().lock();
    if as_json {
        let whole = json!({
            "answer": turned.answer,
            "stands": turned.stands,
            "held_back": turned.held_back,
            "findings": turned.findings.iter().map(in_json).collect::<Vec<_>>(),
            "receipts": turned.executions,
            "session": session,
            "model": begun.model,
            "usage": begun.agent.usage(),
        });
        writeln!(out, "{}", json_pretty(&whole))?;
    } else {
        answer(&turned)?;
        writeln!(io::stderr(), "{}", closing(&turned, &session))?;
    }
    Ok(if turned.stands { Exit::Clean } else { Exit::Findings })
}

/// Talks until the user leaves.
pub(super) async fn on_and_on(mut begun: Begun) -> anyhow::Result<Exit> {
    notices(&begun)?;
    let paint = Paint::for_errors();
    let session = begun.agent.session().id().to_owned();
    writeln!(
        io::stderr(),
        "{} in {}, session {}. `/help` lists commands, Ctrl-D ends.",
        paint.bold(&begun.model),
        begun.agent.guard().workspace().display(),
        paint.code(&session)
    )?;
    let (mut last, mut reading) = (None, None);
    loop {
        let line = match next(&begun, paint, &mut reading).await? {
            Next::Said(Some(line)) => line,
            Next::Said(None) => break,
            Next::Due(due) => {
                writeln!(io::stderr())?;
                if let Fired::Answered(turned) = fire(&mut begun, &due).await? {
                    last = Some(*turned);
                }
                continue;
            }
        };
        let said = line.trim();
        if said.is_empty() {
            continue;
        }
        if said.starts_with('/') {
            let after = tokio::select! {
                after = slash(&mut begun, said, last.as_ref()) => after,
                () = interrupted() => Err(anyhow::anyhow!("broken off")),
            };
            match after {
                Ok(After::On) => continue,
                Ok(After::End) => break,
                Err(error) => {
                    writeln!(io::stderr(), "{}: {error:#}", paint.error("error"))?;
                    continue;
                }
            }
        }
        match turn(&mut begun, said).await {
            Ok(Went::Through(turned)) => {
                answer(&turned)?;
                let behind = behind(&turned);
                if !behind.is_empty() {
                    writeln!(io::stderr(), "  {behind}: /why")?;
                }
                last = Some(turned);
            }
            Ok(Went::BrokenOff) => {
                writeln!(io::stderr(), "broken off; what ran is recorded, and you can go on")?;
            }
            Err(error) => {
                let complaint = complaint(&error);
                writeln!(io::stderr(), "{}: {complaint}", paint.error("error"))?;
            }
        }
    }
    if !begun.stays {
        begun.agent.guard().end(begun.agent.session()).await?;
    }
    writeln!(io::stderr(), "`counterfoil chat --session {session}` goes on")?;
    Ok(Exit::Clean)
}

/// What comes next.
enum Next {
    /// The user says something; `None` at the end, and on Ctrl-C.
    Said(Option<String>),
    /// A task is due.
    Due(Box<Due>),
}

type Reading = JoinHandle<io::Result<Option<String>>>;

/// Waits for the next line of the user, or for a task. A line that is half typed stays.
async fn next(begun: &Begun, paint: Paint, reading: &mut Option<Reading>) -> anyhow::Result<Next> {
    write!(io::stderr(), "{} ", paint.bold(">"))?;
    io::stderr().flush()?;
    let waits = reading.get_or_insert_with(|| tokio::task::spawn_blocking(next_line));
    loop {
        tokio::select! {
            line = &mut *waits => {
                *reading = None;
                return Ok(Next::Said(line??));
            }
            () = tokio::time::sleep(LOOK_AT_TASKS) => {}
            () = interrupted() => {
                writeln!(io::stderr())?;
                return Ok(Next::Said(None));
            }
        }
        match begun.scheduler.as_ref().map(Scheduler::take_due) {
            Some(Ok(Some(due))) => return Ok(Next::Due(Box::new(due))),
            // It is tried again, and the conversation does not need it.
            Some(Err(error)) => tracing::debug!("tasks cannot be looked at: {error}"),
            Some(Ok(None)) | None => {}
        }
    }
}

fn in_json(finding: &Finding) -> Value {
    json!({
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
    })
}

fn closing(turned: &Turned, session: &str) -> String {
    let behind = behind(turned);
    let comma = if behind.is_empty() { "" } else { ", " };
    format!("{behind}{comma}session {session}")
}

fn notices(begun: &Begun) -> io::Result<()> {
    let paint = Paint::for_errors();
    let notices = begun.agent.guard().notices().iter();
    notices
        .into_iter()
        .try_for_each(|notice| writeln!(io::stderr(), "{}: {notice}", paint.help("note")))
}

fn complaint(error: &TurnError) -> Complaint {
    let complaint = Complaint::new(error.to_string());
    match error {
        TurnError::Model(error) => complaint.help(error.help()),
        _ => complaint,
    }
}
