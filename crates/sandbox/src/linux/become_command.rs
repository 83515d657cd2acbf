#![expect(clippy::disallowed_methods, reason = "this process becomes the command")]

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::setsid;

use super::super::server::SERVER;
use super::super::{Plan, Reply};
use super::birth::FAILED;
use super::holding::Holding;
use super::kept::Kept;

/// The entry point of the helper program, to be called with its remaining arguments before any
/// thread is started: gives up its rights, and becomes the command. Reads the plan from standard
/// input or, for a server, from the argument after `server`. Returns an exit code on failure, after
/// reporting the reason.
#[must_use]
pub fn run_confined(words: &[String]) -> u8 {
    if let [word, plan] = words
        && word == SERVER
    {
        return match become_server(plan) {
            Ok(()) => 0,
            Err(error) => {
                // If this cannot be read, the exit code still reports the failure.
                let _reported =
                    writeln!(io::stderr(), "counterfoil: the server did not start: {error}");
                FAILED
            }
        };
    }
    match become_command() {
        Ok(()) => 0,
        Err(error) => {
            let failed = Reply::Failed { reason: error.to_string() };
            let stdin = rustix::stdio::stdin();
            // If no one is listening, the exit code still reports the failure.
            let _reported = serde_json::to_vec(&failed)
                .map(|line| rustix::io::write(stdin, &[line.as_slice(), b"\n"].concat()));
            FAILED
        }
    }
}

/// Keeps standard input, output and error, which the client uses to talk to the server.
fn become_server(plan: &str) -> io::Result<()> {
    setsid()?;
    let plan: Plan = serde_json::from_str(plan)?;
    let holding = Holding::new(&plan, &Kept::default()).map_err(io::Error::other)?;
    let essential = holding.gaps.iter().filter(|gap| gap.essential).map(|gap| gap.text.as_str());
    let essential: Vec<&str> = essential.collect();
    if !essential.is_empty() {
        return Err(io::Error::other(format!("it cannot be sandboxed: {}", essential.join("; "))));
    }
    holding.enter(None).map_err(io::Error::other)?;
    let Some((program, arguments)) = plan.program.split_first() else { return Ok(()) };
    let error = Command::new(program).args(arguments).exec();
    Err(io::Error::other(format!("`{program}` cannot be run: {error}")))
}

fn become_command() -> io::Result<()> {
    // Leads a session of its own: no terminal, and one group to kill.
    setsid()?;
    let mut channel = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    let mut line = String::new();
    BufReader::new(&channel).read_line(&mut line)?;
    let plan: Plan = serde_json::from_str(&line)?;
    let nothing = File::open("/dev/null")?;

    let holding = Holding::new(&plan, &Kept::default()).map_err(io::Error::other)?;
    if plan.strict && holding.gaps.iter().any(|gap| gap.essential) {
        return tell(&mut channel, &Reply::Refused { gaps: holding.gaps });
    }
    // The process that started bubblewrap is in another process namespace.
    holding.enter(None).map_err(io::Error::other)?;
    tell(&mut channel, &Reply::Held { gaps: holding.gaps })?;
    let Some((program, arguments)) = plan.program.split_first() else { return Ok(()) };
    rustix::stdio::dup2_stdin(&nothing)?;
    let error = Command::new(program).args(arguments).exec();
    let reason = format!("`{program}` cannot be run: {error}");
    tell(&mut channel, &Reply::Failed { reason })?;
    Err(error)
}

fn tell(channel: &mut impl Write, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    channel.write_all(&line)
}
