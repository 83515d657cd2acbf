use super::command::{Command, Direction, Position, Target, Word};
use super::status::{Masking, Status};

/// What a wrapper runs.
pub(super) struct Inner {
    pub(super) script: Body,
    pub(super) position: Position,
    /// How the status of what runs reaches the wrapper's.
    pub(super) status: Status,
    pub(super) errexit: bool,
    pub(super) pipefail: bool,
}

pub(super) enum Body {
    /// A script of its own.
    Text(String),
    /// A command line that is already split.
    Words(Vec<Word>),
}

/// What the command runs, when it is a wrapper.
pub(super) fn inner(command: &Command) -> Vec<Inner> {
    let Some(program) = command.program() else { return Vec::new() };
    let args = command.args.as_slice();
    match program {
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "fish" => shell(command),
        "eval" => joined(args).map(text).into_iter().collect(),
        "find" | "gfind" => find(args),
        "watch" => {
            let rest = past_options(args, &["-n", "--interval"], 0, false);
            let masked = Status::Masked(Masking::Wrapper);
            joined(rest)
                .map(|script| Inner { status: masked, ..text(script) })
                .into_iter()
                .collect()
        }
        "trap" => match args {
            [script, _, ..] => script
                .literal()
                .filter(|script| !script.starts_with('-'))
                .map(|script| Inner {
                    status: Status::Masked(Masking::Wrapper),
                    ..text(script.to_owned())
                })
                .into_iter()
                .collect(),
            _ => Vec::new(),
        },
        "su" | "runuser" => option_value(args, &["-c", "--command"])
            .and_then(Word::literal)
            .map(|script| text(script.to_owned()))
            .into_iter()
            .collect(),
        "script" => option_value(args, &["-c", "--command", "-qc", "-qec", "-ec", "-efqc"])
            .and_then(Word::literal)
            .map(|script| text(script.to_owned()))
            .into_iter()
            .collect(),
        "ssh" => {
            let valued = [
                "-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-e", "-m", "-S",
                "-W", "-w",
            ];
            let rest = past_options(args, &valued, 1, false);
            let here = || here_text(command).map(str::to_owned);
            joined(rest)
                .filter(|script| !script.is_empty())
                .or_else(here)
                .map(|script| Inner { position: Position::Remote, ..text(script) })
                .into_iter()
                .collect()
        }
        "env" => match split_string(args) {
            Some(script) => vec![text(script)],
            None => by_table(program, args).into_iter().collect(),
        },
        "command" if args.first().is_some_and(|w| matches!(w.text.as_str(), "-v" | "-V")) => {
            Vec::new()
        }
        "nix-shell" => option_value(args, &["--run", "--command"])
            .and_then(Word::literal)
            .map(|script| text(script.to_owned()))
            .into_iter()
            .collect(),
        "npx" | "npm" if option_value(args, &["-c", "--call"]).is_some() => {
            option_value(args, &["-c", "--call"])
                .and_then(Word::literal)
                .map(|script| text(script.to_owned()))
                .into_iter()
                .collect()
        }
        _ => by_table(program, args).into_iter().collect(),
    }
}

/// A program that runs the command line in its arguments.
struct Rule {
    program: &'static str,
    /// The words that must stand before the options, in this order.
    sub: &'static [&'static str],
    /// Options that take the next word.
    valued: &'static [&'static str],
    /// Words to skip after the options.
    skip: usize,
    /// `A=1` may stand before the command.
    assigns: bool,
    position: Position,
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

const RULES: &[Rule] = &[
    Rule { assigns: true, ..local("env", &[], &["-u", "--unset", "-C", "--chdir"]) },
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
    local("ionice", &[], &["-c", "-n", "--class", "--classdata"]),
    local("nohup", &[], &[]),
    local("setsid", &[], &[]),
    local("stdbuf", &[], &["-i", "-o", "-e", "--input", "--output", "--error"]),
    Rule { skip: 1, ..local("timeout", &[], &["-s", "-k", "--signal", "--kill-after"]) },
    Rule { skip: 1, ..local("gtimeout", &[], &["-s", "-k", "--signal", "--kill-after"]) },
    // After `!` the grammar takes the keyword for a program; the keyword lets assignments follow.
    Rule { assigns: true, ..local("time", &[], &["-f", "-o", "--format", "--output"]) },
    local("gtime", &[], &["-f", "-o", "--format", "--output"]),
    local(
        "xargs",
        &[],
        &[
            "-I",
            "-n",
            "-P",
            "-L",
            "-s",
            "-d",
            "-E",
            "-a",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
            "--max-lines",
            "--replace",
        ],
    ),
    local("chronic", &[], &[]),
    local("unbuffer", &[], &[]),
    local("caffeinate", &[], &["-t", "-w"]),
    local("xvfb-run", &[], &["-s", "-n", "-e", "-f", "--server-args", "--server-num"]),
    local("dbus-run-session", &[], &[]),
    Rule { skip: 1, ..local("flock", &[], &["-w", "-E", "--timeout"]) },
    local("strace", &[], &["-e", "-o", "-p", "-s", "-u", "-E"]),
    local("ltrace", &[], &["-e", "-o", "-p", "-s"]),
    local("valgrind", &[], &[]),
    Rule { skip: 1, ..local("chroot", &[], &[]) },
    local("unshare", &[], &[]),
    local("fakeroot", &[], &[]),
    local("busybox", &[], &[]),
    local("arch", &[], &[]),
    local("proxychains", &[], &["-f"]),
    local("systemd-run", &[], &["-p", "--property", "--unit", "-u"]),
    local("direnv", &["exec"], &[]),
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

fn by_table(program: &str, args: &[Word]) -> Option<Inner> {
    let (rule, rest) = RULES
        .iter()
        .filter(|rule| rule.program == program)
        .find_map(|rule| Some((rule, after_sub(rule, args)?)))?;
    let mut rest = past_options(rest, rule.valued, rule.skip, rule.assigns);
    let mut words = Vec::with_capacity(rest.len());
    // `uv run -m pytest` and `pdm run -m …` name a module.
    if let [flag, module, tail @ ..] = rest
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
    let status = if program == "xargs" { Status::Conditional } else { Status::Decides };
    let position = rule.position;
    Some(Inner { script: Body::Words(words), position, status, errexit: false, pipefail: false })
}

/// The words after the sub-command, when it is the one of the rule.
fn after_sub<'a>(rule: &Rule, args: &'a [Word]) -> Option<&'a [Word]> {
    let mut rest = args;
    for (i, sub) in rule.sub.iter().enumerate() {
        // Global options may stand before the last word of the sub-command.
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

/// The words after options, after assignments where those may stand, and after `skip` more.
fn past_options<'a>(
    args: &'a [Word],
    valued: &[&str],
    mut skip: usize,
    assigns: bool,
) -> &'a [Word] {
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        let text = first.text.as_str();
        if text == "--" {
            rest = tail;
            if skip == 0 {
                break;
            }
        } else if text == "-m" {
            break;
        } else if text.len() > 1 && text.starts_with('-') {
            rest = if valued.contains(&text) { tail.get(1..).unwrap_or_default() } else { tail };
        } else if assigns && is_assignment(text) {
            rest = tail;
        } else if skip > 0 {
            skip -= 1;
            rest = tail;
            if skip == 0 {
                break;
            }
        } else {
            break;
        }
    }
    // `timeout 5 -- cmd`
    match rest {
        [first, tail @ ..] if first.text == "--" => tail,
        _ => rest,
    }
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
    })
}

fn option_value<'a>(args: &'a [Word], names: &[&str]) -> Option<&'a Word> {
    let at = args.iter().position(|word| names.contains(&word.text.as_str()))?;
    args.get(at + 1)
}

/// `env -S 'cmd args'`.
fn split_string(args: &[Word]) -> Option<String> {
    args.iter().enumerate().find_map(|(i, word)| {
        let text = word.literal()?;
        let attached = text
            .strip_prefix("--split-string=")
            .or_else(|| text.strip_prefix("-S").filter(|rest| !rest.is_empty()));
        if let Some(script) = attached {
            return Some(script.to_owned());
        }
        let next = args.get(i + 1)?.literal()?;
        matches!(text, "-S" | "--split-string" | "-vS" | "-iS").then(|| next.to_owned())
    })
}

fn text(script: String) -> Inner {
    Inner {
        script: Body::Text(script),
        position: Position::Wrapper,
        status: Status::Decides,
        errexit: false,
        pipefail: false,
    }
}

/// The words joined to one script; `None` when one of them is not fixed.
fn joined(words: &[Word]) -> Option<String> {
    let mut script = String::new();
    for word in words {
        if !script.is_empty() {
            script.push(' ');
        }
        script.push_str(word.literal()?);
    }
    (!script.is_empty()).then_some(script)
}

fn here_text(command: &Command) -> Option<&str> {
    command.redirects.iter().rev().find_map(|redirect| {
        match (&redirect.target, redirect.direction) {
            (Target::Text(word), Direction::Inline) => word.literal(),
            _ => None,
        }
    })
}

/// `bash -c 'script'`, `bash <<EOF`, `sh -s`.
fn shell(command: &Command) -> Vec<Inner> {
    let mut args = command.args.iter();
    let mut errexit = false;
    let mut pipefail = false;
    let mut runs_text = false;
    while let Some(word) = args.next() {
        let option = word.text.as_str();
        if option == "-o" || option == "+o" || option == "-O" || option == "--rcfile" {
            let value = args.next().map(|word| word.text.as_str());
            pipefail |= value == Some("pipefail");
            errexit |= value == Some("errexit");
        } else if option == "--" {
        } else if let Some(flags) = option.strip_prefix('-').filter(|f| !f.starts_with('-')) {
            errexit |= flags.contains('e');
            runs_text |= flags.contains('c');
            if flags.ends_with('o') {
                let value = args.next().map(|word| word.text.as_str());
                pipefail |= value == Some("pipefail");
            }
        } else if option.starts_with('-') || option.starts_with('+') {
        } else if runs_text {
            let script = word.literal().map(str::to_owned);
            return script
                .map(|script| Inner { errexit, pipefail, ..text(script) })
                .into_iter()
                .collect();
        } else {
            return Vec::new();
        }
    }
    here_text(command)
        .map(|script| Inner { errexit, pipefail, ..text(script.to_owned()) })
        .into_iter()
        .collect()
}

/// `find … -exec cmd {} \;`
fn find(args: &[Word]) -> Vec<Inner> {
    let mut found = Vec::new();
    let mut rest = args;
    while let Some(at) =
        rest.iter().position(|w| matches!(w.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        let tail = rest.get(at + 1..).unwrap_or_default();
        let end =
            tail.iter().position(|w| matches!(w.text.as_str(), ";" | "+")).unwrap_or(tail.len());
        let status = if tail.get(end).is_some_and(|w| w.text == "+") {
            Status::Conditional
        } else {
            Status::Masked(Masking::Wrapper)
        };
        if let Some(words) = tail.get(..end).filter(|words| !words.is_empty()) {
            found.push(Inner {
                script: Body::Words(words.to_vec()),
                position: Position::Wrapper,
                status,
                errexit: false,
                pipefail: false,
            });
        }
        rest = tail.get(end..).unwrap_or_default();
    }
    found
}
