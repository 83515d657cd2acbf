#![expect(clippy::disallowed_methods, reason = "here a process becomes the command")]

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal, setsid};

use super::super::{Gap, Plan, Profile, Reply};
use super::{files, privileges, raw, syscalls};

/// The exit code of a helper that did not become the command.
const FAILED: u8 = 125;

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

    raw::close_on_exec()?;
    privileges::drop(plan.identity)?;
    plan.limits.apply(None)?;
    // Ends with whoever started it. Forgotten when the user changes, so it comes afterwards.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let (mut gaps, landlock) = files::restrict(&plan)?;
    gaps.extend(remainders(&plan));
    let filtered = syscalls::restrict(&plan);
    let seccomp = filtered.is_ok();
    if let Err(error) = filtered {
        let what = "the network, other processes and the kernel's interfaces can be reached";
        gaps.push(Gap::essential(format!("{what}: system calls cannot be filtered: {error}")));
    }
    if plan.strict && gaps.iter().any(|gap| gap.essential) {
        return tell(&mut channel, &Reply::Refused { gaps });
    }
    tell(&mut channel, &Reply::Held { gaps, landlock, seccomp })?;
    let Some((program, arguments)) = plan.program.split_first() else { return Ok(()) };
    rustix::stdio::dup2_stdin(&nothing)?;
    let error = Command::new(program).args(arguments).exec();
    let reason = format!("`{program}` cannot be run: {error}");
    tell(&mut channel, &Reply::Failed { reason })?;
    Err(error)
}

/// What no part of this can hold.
fn remainders(plan: &Plan) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if !plan.own_namespaces {
        if plan.profile != Profile::ReadOnly {
            gaps.push(Gap::remainder(
                "modes, owners and times of files outside the workspace can be changed, where \
                 their owner runs it",
            ));
        }
        if plan.profile == Profile::Network || plan.unix_sockets {
            gaps.push(Gap::remainder(
                "sockets of other programs on this machine can be reached by their paths",
            ));
        }
    }
    gaps
}

fn tell(channel: &mut impl Write, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    channel.write_all(&line)
}
