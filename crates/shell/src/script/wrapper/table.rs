//! Wrappers that run the command line in their arguments.

use super::super::command::{Position, Word};
use super::super::status::Status;
use super::options::{past_options, past_options_to};
use super::{Inner, split};

/// A program that runs the command line in its arguments.
pub(super) struct Rule {
    pub(super) program: &'static str,
    /// The sub-command words that must precede the options, in order.
    pub(super) sub: &'static [&'static str],
    /// Options that take the next word.
    pub(super) valued: &'static [&'static str],
    /// The number of words to skip after the options.
    pub(super) skip: usize,
    /// Whether assignments such as `A=1` may precede the command.
    pub(super) assigns: bool,
    pub(super) position: Position,
}

const fn local(
    program: &'static str,
    sub: &'static [&'static str],
    valued: &'static [&'static str],
) -> Rule {
    Rule { program, sub, valued, skip: 0, assigns: false, position: Position::Wrapper }
}

const UV: &[&str] = &[
    "--with",
    "--with-requirements",
    "--with-editable",
    "-p",
    "--python",
    "--extra",
    "--group",
    "--only-group",
    "--no-group",
    "--directory",
    "--project",
    "--package",
    "--env-file",
    "--index-url",
    "--from",
    "--config-file",
    "--cache-dir",
];
const CONTAINER: &[&str] = &[
    "-e",
    "--env",
    "-v",
    "--volume",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--name",
    "-p",
    "--publish",
    "--network",
    "--net",
    "--mount",
    "--entrypoint",
    "--env-file",
    "--platform",
    "-m",
    "--memory",
    "--cpus",
    "-h",
    "--hostname",
    "--label",
    "-l",
    "--index",
    "--gpus",
    "--add-host",
    "--cap-add",
    "--security-opt",
    "--tmpfs",
    "--ulimit",
    "--shm-size",
    "--pull",
    "--cidfile",
    "--detach-keys",
    "-a",
    "--attach",
    "--link",
    "--restart",
];
const COMPOSE: &[&str] = &["-f", "--file", "-p", "--project-name", "--profile", "--env-file"];
const PNPM: &[&str] = &["-C", "--dir", "--filter", "-F", "--package", "-w"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        assigns: true,
        ..local("env", &[], &["-u", "--unset", "-C", "--chdir", "-a", "--argv0"])
    },
    Rule {
        assigns: true,
        ..local(
            "sudo",
            &[],
            &[
                "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t", "--user",
                "--group",
            ],
        )
    },
    local("doas", &[], &["-u", "-C"]),
    local("command", &[], &[]),
    local("builtin", &[], &[]),
    local("exec", &[], &["-a"]),
    local("nice", &[], &["-n", "--adjustment"]),
    local(
        "ionice",
        &[],
        &["-c", "-n", "-p", "-P", "-u", "--class", "--classdata", "--pid", "--pgid", "--uid"],
    ),
    local("nohup", &[], &[]),
    local("setsid", &[], &[]),
    local("stdbuf", &[], &["-i", "-o", "-e", "--input", "--output", "--error"]),
    Rule { skip: 1, ..local("timeout", &[], &["-s", "-k", "--signal", "--kill-after"]) },
    Rule { skip: 1, ..local("gtimeout", &[], &["-s", "-k", "--signal", "--kill-after"]) },
    // After `!` the grammar reads the keyword as a program; the keyword allows assignments to
    // follow.
    Rule { assigns: true, ..local("time", &[], &["-f", "-o", "--format", "--output"]) },
    local("gtime", &[], &["-f", "-o", "--format", "--output"]),
    local("chronic", &[], &[]),
    local("unbuffer", &[], &[]),
    local("caffeinate", &[], &["-t", "-w"]),
    local(
        "xvfb-run",
        &[],
        &[
            "-s",
            "-n",
            "-e",
            "-f",
            "-p",
            "-w",
            "--server-args",
            "--server-num",
            "--error-file",
            "--auth-file",
            "--wait",
            "--xauth-protocol",
        ],
    ),
    local("dbus-run-session", &[], &[]),
    Rule {
        skip: 1,
        ..local("flock", &[], &["-w", "-E", "--timeout", "--wait", "--conflict-exit-code"])
    },
    local("strace", &[], &["-a", "-b", "-e", "-E", "-I", "-o", "-O", "-p", "-P", "-s", "-S", "-u"]),
    local("ltrace", &[], &["-a", "-A", "-D", "-e", "-F", "-l", "-n", "-o", "-p", "-s", "-u", "-x"]),
    local("valgrind", &[], &[]),
    Rule { skip: 1, ..local("chroot", &[], &[]) },
    local(
        "unshare",
        &[],
        &["-G", "-R", "-S", "-w", "--map-user", "--map-group", "--setgid", "--setuid"],
    ),
    local("nsenter", &[], &["-t", "-S", "-G", "--target", "--setuid", "--setgid"]),
    local(
        "setpriv",
        &[],
        &[
            "--reuid",
            "--regid",
            "--groups",
            "--inh-caps",
            "--ambient-caps",
            "--bounding-set",
            "--securebits",
            "--pdeathsig",
        ],
    ),
    Rule { skip: 1, ..local("taskset", &[], &[]) },
    Rule {
        skip: 1,
        ..local(
            "chrt",
            &[],
            &["-D", "-P", "-T", "--sched-deadline", "--sched-period", "--sched-runtime"],
        )
    },
    local("numactl", &[], &["-i", "-N", "-m", "-C", "-p", "--interleave", "--membind"]),
    local("linux32", &[], &[]),
    local("linux64", &[], &[]),
    local("catchsegv", &[], &[]),
    local("eatmydata", &[], &[]),
    Rule { skip: 1, ..local("faketime", &[], &["-p", "-m", "--pid"]) },
    local("firejail", &[], &[]),
    local(
        "bwrap",
        &[],
        &["--bind", "--ro-bind", "--dev-bind", "--chdir", "--setenv", "--uid", "--gid"],
    ),
    local("prlimit", &[], &["-p", "--pid"]),
    Rule { position: Position::Wrapper, ..local("git", &["bisect", "run"], &[]) },
    local("tini", &[], &["-p", "-e"]),
    local("dumb-init", &[], &["-r", "--rewrite"]),
    Rule { skip: 1, ..local("gosu", &[], &[]) },
    Rule { skip: 1, ..local("su-exec", &[], &[]) },
    local("pkexec", &[], &["--user"]),
    local("toybox", &[], &[]),
    local("rlwrap", &[], &["-a", "-b", "-C", "-D", "-f", "-g", "-H", "-l", "-P", "-s"]),
    local("proxychains4", &[], &["-f"]),
    local("torsocks", &[], &["-a", "-p", "-u", "-P"]),
    local("torify", &[], &[]),
    local("entr", &[], &[]),
    local("fakeroot", &[], &[]),
    local("busybox", &[], &[]),
    local("arch", &[], &[]),
    local("proxychains", &[], &["-f"]),
    local(
        "systemd-run",
        &[],
        &[
            "-p",
            "--property",
            "--unit",
            "-u",
            "-M",
            "--machine",
            "-H",
            "--host",
            "--slice",
            "--description",
            "--uid",
            "--gid",
            "--nice",
            "--working-directory",
            "-E",
            "--setenv",
        ],
    ),
    Rule { skip: 1, ..local("direnv", &["exec"], &[]) },
    local("mise", &["exec"], &["-c", "-C", "--cd", "-j"]),
    local("mise", &["x"], &["-c", "-C", "--cd", "-j"]),
    local("asdf", &["exec"], &[]),
    local("rbenv", &["exec"], &[]),
    local("pyenv", &["exec"], &[]),
    local("fnm", &["exec"], &["--using"]),
    local("volta", &["run"], &["--node", "--npm", "--yarn"]),
    local("conda", &["run"], &["-n", "-p", "--name", "--prefix", "--cwd"]),
    local("mamba", &["run"], &["-n", "-p", "--name", "--prefix", "--cwd"]),
    local("micromamba", &["run"], &["-n", "-p", "--name", "--prefix", "--cwd"]),
    local("poetry", &["run"], &[]),
    local("pipenv", &["run"], &[]),
    local("pdm", &["run"], &["-p"]),
    local("rye", &["run"], &[]),
    local("hatch", &["run"], &["-e", "--env"]),
    local("uv", &["run"], UV),
    local("uv", &["tool", "run"], UV),
    local("uvx", &[], UV),
    local("pipx", &["run"], &["--spec", "--python"]),
    local("bundle", &["exec"], &[]),
    local("npx", &[], &["-p", "--package", "--prefix"]),
    local("bunx", &[], &["-p", "--package"]),
    local("npm", &["exec"], &["-p", "--package", "--prefix"]),
    local("pnpm", &["exec"], PNPM),
    local("pnpm", &["dlx"], PNPM),
    local("yarn", &["exec"], &[]),
    local("yarn", &["dlx"], &["-p", "--package"]),
    local("bun", &["x"], &[]),
    Rule { assigns: true, ..local("cross-env", &[], &[]) },
    local("dotenv", &[], &["-e", "-f", "-v"]),
    local("dotenvx", &["run"], &["-f", "-e"]),
    local("doppler", &["run"], &["-p", "-c", "--project", "--config"]),
    local("op", &["run"], &["--env-file"]),
    local("opam", &["exec"], &["--switch"]),
    local("nix", &["develop", "-c"], &[]),
    local("nix", &["develop", "--command"], &[]),
    local("nix", &["shell", "-c"], &[]),
    local("nix", &["shell", "--command"], &[]),
    Rule { position: Position::Remote, skip: 1, ..local("docker", &["run"], CONTAINER) },
    Rule { position: Position::Remote, skip: 1, ..local("docker", &["exec"], CONTAINER) },
    Rule { position: Position::Remote, skip: 1, ..local("podman", &["run"], CONTAINER) },
    Rule { position: Position::Remote, skip: 1, ..local("podman", &["exec"], CONTAINER) },
    Rule {
        position: Position::Remote,
        skip: 1,
        ..local("docker", &["compose", "exec"], CONTAINER)
    },
    Rule { position: Position::Remote, skip: 1, ..local("docker", &["compose", "run"], CONTAINER) },
    Rule { position: Position::Remote, skip: 1, ..local("docker-compose", &["exec"], CONTAINER) },
    Rule { position: Position::Remote, skip: 1, ..local("docker-compose", &["run"], CONTAINER) },
];

pub(super) fn by_table(program: &str, args: &[Word]) -> Option<Inner> {
    let (rule, rest) = RULES
        .iter()
        .filter(|rule| rule.program == program)
        .find_map(|rule| Some((rule, after_sub(rule, args)?)))?;
    let modules = matches!(program, "uv" | "pdm");
    let mut rest = if modules {
        past_options_to(rest, rule.valued, rule.skip, rule.assigns, "-m")
    } else {
        past_options(rest, rule.valued, rule.skip, rule.assigns)
    };
    let mut words = Vec::with_capacity(rest.len());
    // `uv run -m pytest` and `pdm run -m …` name a module.
    if let [flag, module, tail @ ..] = rest
        && modules
        && flag.text == "-m"
    {
        words.extend([Word::fixed("python"), flag.clone(), module.clone()]);
        rest = tail;
    }
    words.extend_from_slice(rest);
    let first = words.first_mut()?;
    if matches!(program, "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "bun" | "pipx")
        && let Some(at) = first.text.rfind('@').filter(|at| *at > 0)
    {
        first.text.truncate(at);
    }
    Some(Inner { position: rule.position, ..split(words, Status::Decides) })
}

/// The words after the sub-command, if it is the one in the rule.
pub(super) fn after_sub<'a>(rule: &Rule, args: &'a [Word]) -> Option<&'a [Word]> {
    let mut rest = args;
    for (i, sub) in rule.sub.iter().enumerate() {
        // Global options may precede the last word of the sub-command.
        let global: &[&str] = match rule.program {
            "docker" | "docker-compose" => COMPOSE,
            "pnpm" => PNPM,
            _ => &[],
        };
        if i > 0 || matches!(rule.program, "docker-compose" | "pnpm" | "uv" | "poetry" | "conda") {
            rest = past_options(rest, if rule.program == "uv" { UV } else { global }, 0, false);
        }
        let (first, tail) = rest.split_first()?;
        if first.text != *sub {
            // `nix develop .#x -c cmd`
            if rule.program == "nix" && i == 1 {
                let at = rest.iter().position(|word| word.text == *sub)?;
                rest = rest.get(at + 1..)?;
                continue;
            }
            return None;
        }
        rest = tail;
    }
    Some(rest)
}
