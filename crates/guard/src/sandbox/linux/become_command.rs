#![expect(clippy::disallowed_methods, reason = "here a process becomes the command")]

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::setsid;

use super::super::{Plan, Reply};
use super::birth::FAILED;
use super::holding::Holding;
use super::kept::Kept;

/// What the helper program calls first thing, before it has started a thread: reads on standard
/// input what to do, gives up its rights, and becomes the command. Returns an exit code when that
/// fails; who started it was told why.
#[must_use]
pub fn run_confined() -> u8 {
    match become_command() {
        Ok(()) => 0,
        Err(error) => {
            let failed = Reply::Failed { reason: error.to_string() };
            let stdin = rustix::stdio::stdin();
            // Nobody listens any more: the exit code says it too.
            let _told = serde_json::to_vec(&failed)
                .map(|line| rustix::io::write(stdin, &[line.as_slice(), b"\n"].concat()));
            FAILED
        }
    }
}

fn become_command() -> io::Result<()> {
    // Leads a session of its own: no terminal, and one group to kill.
    setsid()?;
    let mut channel = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    let mut line = String::new();
    BufReader::new(&channel).read_line(&mut line)?;
    let plan: Plan = serde_json::from_str(&line)?;
    let nothing = File::open("/dev/null")?;

    let holding = Holding::of(&plan, &Kept::default()).map_err(io::Error::other)?;
    if plan.strict && holding.gaps.iter().any(|gap| gap.essential) {
        return tell(&mut channel, &Reply::Refused { gaps: holding.gaps });
    }
    // Whoever started bubblewrap is not in this namespace of processes.
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
