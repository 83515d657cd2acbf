//! The conversation: once, or until the user leaves.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use counterfoil_agent::{TurnError, Turned};
use counterfoil_model::Finding;
use counterfoil_report::{json_pretty, visible_output};
use serde_json::{Value, json};

use super::begin::Begun;
use super::shown::{Shown, behind, told};
use super::slash::{Next, slash};
use crate::exit::{Complaint, Exit};
use crate::signals::interrupted;
use crate::terminal::Paint;

/// What became of what the user said.
enum Went {
    Through(Turned),
    /// Ctrl-C.
    BrokenOff,
}

async fn turn(begun: &mut Begun, said: &str) -> Result<Went, TurnError> {
    let mut shown = Shown::new();
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
        answer(&mut out, &turned)?;
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
    let mut last = None;
    while let Some(line) = asked(paint).await? {
        let said = line.trim();
        if said.is_empty() {
            continue;
        }
        if said.starts_with('/') {
            match slash(&mut begun, said, last.as_ref()).await? {
                Next::On => continue,
                Next::End => break,
            }
        }
        match turn(&mut begun, said).await {
            Ok(Went::Through(turned)) => {
                answer(&mut io::stdout().lock(), &turned)?;
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

/// The next line of the user; `None` at the end, and on Ctrl-C.
async fn asked(paint: Paint) -> anyhow::Result<Option<String>> {
    write!(io::stderr(), "{} ", paint.bold(">"))?;
    io::stderr().flush()?;
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|count| (count > 0).then_some(line))
    });
    tokio::select! {
        line = reading => Ok(line??),
        () = interrupted() => {
            writeln!(io::stderr())?;
            Ok(None)
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

fn answer(out: &mut impl io::Write, turned: &Turned) -> io::Result<()> {
    // What a model says cannot move the cursor or hide itself; whoever reads a pipe gets it as it is.
    let text = match io::stdout().is_terminal() {
        true => visible_output(&turned.answer),
        false => turned.answer.as_str().into(),
    };
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{gap}")?;
    out.flush()?;
    let paint = Paint::for_errors();
    for finding in turned.findings.iter().filter(|_| turned.stands) {
        writeln!(io::stderr(), "{}", told(finding, paint))?;
    }
    Ok(())
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
