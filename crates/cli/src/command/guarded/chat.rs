mod slash;
mod talk;

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use tokio::runtime::Runtime;

use crate::approver::{Asks, AtTerminal, Person};
use crate::conversation::{
    Begun, Front, Lines, Screen, ScreenPerson, Wanted, begin, is_for_a_screen,
};
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::questions::is_readable;
use crate::surroundings::runtime;
use crate::terminal::{Paint, plainly};

/// How long to wait for standard input if there is already a prompt.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long the end of a conversation may take.
const LONGEST_END: Duration = Duration::from_millis(200);

/// Chat with an agent whose calls are judged and whose answers are checked against the record
///
/// The model is one of `[[llm.providers]]` in your configuration. Progress goes to standard error;
/// only answers that pass the check go to standard output. `/help` lists the chat's own commands.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil chat
  counterfoil chat -p 'Why does the build fail?'
  git diff | counterfoil chat -p 'Write a message for this commit'
  counterfoil chat --session fix-42                 resume this session, or start it
  counterfoil chat -p 'Run the tests' --json | jq .accepted

Exit codes: 0 answer given, 1 answer held back, 2 usage or input error, 3 internal error.")]
pub(crate) struct Arguments {
    /// Send only this prompt, print the answer and exit; piped input is appended to the prompt
    #[arg(long, short, value_name = "TEXT")]
    prompt: Option<String>,
    /// Resume the session with this id, or start one with this id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The model, by its name in `[[llm.providers]]`
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Approve every call that needs approval; denied and blocked calls stay denied
    #[arg(long, short)]
    yes: bool,
    /// Chat line by line, without a full-screen interface, colours or animation
    #[arg(long)]
    plain: bool,
    /// With a prompt, print the answer as JSON with the members answer, accepted, findings,
    /// receipts and session
    #[arg(long)]
    json: bool,
    /// The project's root, to which calls are confined [default: the working directory]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let prompt = prompt(arguments)?;
    if arguments.json && prompt.is_none() {
        let wrong = "`--json` needs a single prompt";
        return Err(Complaint::new(wrong.to_owned()).help("pass it with `-p`").into());
    }
    let plain = arguments.plain || !is_for_a_screen();
    if arguments.plain {
        plainly();
    }
    let runtime = runtime()?;
    let exit = match prompt {
        Some(prompt) => {
            let begun = begun(global, arguments, AtTerminal, &runtime)?;
            runtime.block_on(talk::once(begun, &prompt, arguments.json))
        }
        None if plain => {
            let begun = begun(global, arguments, AtTerminal, &runtime)?;
            runtime.block_on(on_and_on(begun, |_| Ok(Lines::new(true))))
        }
        None => {
            let (person, questions) = ScreenPerson::new();
            let begun = begun(global, arguments, person, &runtime)?;
            runtime.block_on(on_and_on(begun, |begun| Screen::open(begun, questions)))
        }
    };
    // The end of its tasks frees the guard, whose temporary folder is then removed. A thread may
    // still wait for input that will not come.
    runtime.shutdown_timeout(LONGEST_END);
    exit
}

/// Reads piped input. If there is a prompt, gives up after a while, because the caller may hold
/// open a pipe that never gets data.
fn piped(prompted: bool) -> anyhow::Result<String> {
    let begun = Instant::now();
    while prompted && !is_readable(&io::stdin()) {
        if begun.elapsed() >= PATIENCE {
            let note = Paint::for_errors().help("note");
            writeln!(
                io::stderr(),
                "{note}: no data on standard input within {} s; continuing with the prompt alone",
                PATIENCE.as_secs()
            )?;
            return Ok(String::new());
        }
    }
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).context("standard input cannot be read")?;
    Ok(text)
}

fn begun(
    global: &Global,
    arguments: &Arguments,
    person: impl Person + 'static,
    runtime: &Runtime,
) -> anyhow::Result<Begun> {
    let wanted = Wanted {
        session: arguments.session.as_deref(),
        alone: true,
        provider: arguments.provider.as_deref(),
        approver: Arc::new(Asks::new(person, arguments.yes)),
        workspace: arguments.workspace.clone(),
    };
    begin(global, &wanted, runtime)
}

/// Talks until the user leaves, and prints how to continue the session.
async fn on_and_on<F: Front>(
    mut begun: Begun,
    front: impl FnOnce(&Begun) -> anyhow::Result<F>,
) -> anyhow::Result<Exit> {
    let session = begun.agent.session().id().to_owned();
    let mut front = front(&begun)?;
    let exit = talk::on_and_on(&mut begun, &mut front).await;
    drop(front);
    writeln!(io::stderr(), "resume this session with `counterfoil chat --session {session}`")?;
    exit
}

/// Returns the prompt of a single exchange; `None` for a conversation on the terminal.
fn prompt(arguments: &Arguments) -> anyhow::Result<Option<String>> {
    let piped =
        if io::stdin().is_terminal() { String::new() } else { piped(arguments.prompt.is_some())? };
    let parts = [arguments.prompt.as_deref().unwrap_or_default(), &piped];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
    if parts.is_empty() && (arguments.prompt.is_some() || !io::stdin().is_terminal()) {
        let nothing = "the prompt is empty".to_owned();
        return Err(Complaint::new(nothing).into());
    }
    Ok((!parts.is_empty()).then(|| parts.join("\n\n")))
}
