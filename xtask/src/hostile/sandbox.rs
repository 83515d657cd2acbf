//! Confined commands that reach outside their workspace, or outlive their call.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::bench::{Bench, PATH, use_private_modes};
use super::{Attempt, Held};

/// The content of files outside; no output or file of a command may contain it.
const SECRET: &str = "kestrel-51-outside";
/// A marker in the arguments of processes that try to outlive their call.
const MARK: &str = "hostile-survivor-7731";

/// The commands: `OUT` is a folder outside, `STATE` the state folder, `VICTIM` another process.
const COMMANDS: [(&str, &str); 34] = [
    ("reads outside", "cat OUT/secret"),
    ("reads outside by a redirect", "cat < OUT/secret"),
    ("reads outside through a link", "ln -s OUT l1; cat l1/secret"),
    ("reads outside through a link upwards", "ln -s . l2; cat l2/../../outside/secret"),
    ("reads outside through its own root", "cat /proc/self/root/OUT/secret"),
    ("reads outside by a hard link", "ln OUT/secret l3 && cat l3"),
    ("reads outside in Python", "python3 -c 'print(open(\"OUT/secret\").read())'"),
    ("packs what lies outside", "tar cf - OUT | tr -d '\\0'"),
    ("copies from outside", "cp -r OUT stolen; cat stolen/secret"),
    ("reads a key of the home", "cat ~/.ssh/id_ed25519"),
    ("reads credentials of a granted folder", "cat ~/.cargo/credentials.toml"),
    ("reads credentials of another granted folder", "cat ~/.cache/huggingface/token"),
    ("reads the environment of another process", "tr '\\0' '\\n' < /proc/VICTIM/environ"),
    ("reads the arguments' files of another process", "cat /proc/VICTIM/cwd/secret"),
    ("lists the state folder", "cat STATE/*.key STATE/*.jsonl && echo SECRET"),
    ("writes outside", "echo x > OUT/new"),
    ("appends outside", "echo x >> OUT/secret"),
    ("writes outside through a link", "ln -s OUT w1; echo x > w1/new"),
    ("moves from outside", "mv OUT/secret ."),
    ("renames into the outside", "echo x > f; mv f OUT/new"),
    ("removes outside", "unlink OUT/secret"),
    ("cuts outside", "truncate -s 0 OUT/secret"),
    ("makes a folder outside", "mkdir OUT/d"),
    ("links into the outside", "ln -s /etc/passwd OUT/l"),
    ("a start file of a shell", "echo x >> ~/.bashrc"),
    ("kills another process", "kill -9 VICTIM"),
    ("lowers another process", "renice -n 19 -p VICTIM"),
    ("schedules another process", "chrt --idle -p 0 VICTIM"),
    ("binds another process", "taskset -p 1 VICTIM"),
    ("a survivor in the background", "bash -c 'exec -a MARK sleep 120' & sleep 0.2"),
    ("a survivor in its own session", "setsid bash -c 'exec -a MARK sleep 120' & sleep 0.2"),
    ("a survivor of two forks", "(setsid bash -c '(exec -a MARK sleep 120) &' &) ; sleep 0.2"),
    (
        "a survivor that ignores signals",
        "setsid bash -c 'trap \"\" HUP TERM; exec -a MARK sleep 120' & sleep 0.2",
    ),
    ("another user", "su -c 'cat OUT/secret' root"),
];

pub(super) fn attempt(bench: &Bench) -> Result<Vec<Attempt>> {
    let outside = bench.path("outside");
    prepare(bench)?;
    let mut attempts = Vec::new();
    for (name, command) in COMMANDS {
        let mut victim = Victim::start(&outside)?;
        let before = tree(bench)?;
        let command = command
            .replace("OUT", &outside.display().to_string())
            .replace("STATE", &bench.path("state").display().to_string())
            .replace("VICTIM", &victim.0.id().to_string())
            .replace("MARK", MARK);
        let ran = shell(bench, &command, &[])?;
        let seen = trace(&before, bench, &mut victim)?;
        let leaked = ran.contains(SECRET).then(|| "what lies outside was printed".to_owned());
        let seen = leaked.or(seen);
        attempts.push(Attempt::new(name, seen.map_or(Held::Yes, Held::No)));
        restore(bench, &outside)?;
    }
    attempts.push(terminal(bench)?);
    attempts.push(state_mode(bench)?);
    attempts.extend(rollbacks(bench)?);
    attempts.extend(undo(bench)?);
    Ok(attempts)
}

fn prepare(bench: &Bench) -> Result<()> {
    bench.write("outside/secret", SECRET)?;
    for name in
        [".ssh/id_ed25519", ".cargo/credentials.toml", ".cache/huggingface/token", ".bashrc"]
    {
        bench.write(&format!("dev/{name}"), SECRET)?;
    }
    Ok(())
}

fn restore(bench: &Bench, outside: &Path) -> Result<()> {
    let _ = std::fs::remove_dir_all(outside);
    for entry in std::fs::read_dir(bench.work())? {
        let path = entry?.path();
        let is_folder = path.symlink_metadata()?.is_dir();
        let _ =
            if is_folder { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
    prepare(bench)
}

/// Runs a command through the guard as an agent would; returns both output streams.
fn shell(bench: &Bench, command: &str, more: &[&str]) -> Result<String> {
    let arguments = json!({ "command": command }).to_string();
    let run = ["run", "shell", "--from-agent", "--args", &arguments];
    let ran = bench.run(&[more, &run].concat(), "")?;
    Ok(format!("{}{}", ran.out, ran.err))
}

/// Returns the contents of all files outside the workspace that must not change, by path.
fn tree(bench: &Bench) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![bench.path("outside"), bench.home()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path == bench.work() {
                continue;
            }
            let meta = path.symlink_metadata()?;
            let text = match () {
                () if meta.is_dir() => {
                    folders.push(path.clone());
                    Vec::new()
                }
                () if meta.is_file() => std::fs::read(&path)?,
                () => b"no plain file".to_vec(),
            };
            found.insert(path.display().to_string(), text);
        }
    }
    Ok(found)
}

/// Returns the trace that an attempt left, if any.
fn trace(
    before: &BTreeMap<String, Vec<u8>>,
    bench: &Bench,
    victim: &mut Victim,
) -> Result<Option<String>> {
    let after = tree(bench)?;
    let changed = before
        .iter()
        .find(|(path, text)| after.get(*path) != Some(text))
        .or_else(|| after.iter().find(|(path, _)| !before.contains_key(*path)));
    if let Some((path, _)) = changed {
        return Ok(Some(format!("`{path}` was changed")));
    }
    if let Some(seen) = victim.changed()? {
        return Ok(Some(seen));
    }
    let survivors = processes(MARK);
    for survivor in &survivors {
        let _ = Command::new("kill").args(["-9", survivor]).status();
    }
    Ok((!survivors.is_empty()).then(|| format!("{} processes outlive the call", survivors.len())))
}

/// Returns the ids of processes whose arguments contain a text.
fn processes(mark: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let named = entries.flatten().filter(|entry| {
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        arguments.starts_with(mark.as_bytes())
    });
    named.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Another process of the same user.
struct Victim(Child, Vec<String>);

impl Victim {
    fn start(folder: &Path) -> Result<Self> {
        let mut command = Command::new("sleep");
        command.arg("300").current_dir(folder).env("HELD", SECRET);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().context("starting a process to attack")?;
        std::thread::sleep(Duration::from_millis(20));
        let scheduling = scheduling(child.id());
        Ok(Self(child, scheduling))
    }

    fn changed(&mut self) -> Result<Option<String>> {
        if self.0.try_wait()?.is_some() {
            return Ok(Some("another process was ended".to_owned()));
        }
        let changed = scheduling(self.0.id()) != self.1;
        Ok(changed.then(|| "another process was scheduled anew".to_owned()))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns priority, niceness, policy and allowed processors of a process.
fn scheduling(id: u32) -> Vec<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .map(|(_, rest)| rest.split_whitespace().collect())
        .unwrap_or_default();
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed:"));
    // Fields 18, 19 and 41 of the whole line, counted from after the closing bracket.
    let chosen = [15, 16, 38].into_iter().filter_map(|at| fields.get(at).copied());
    chosen.chain(allowed).map(str::to_owned).collect()
}

/// Tries to open the user's terminal from a command.
fn terminal(bench: &Bench) -> Result<Attempt> {
    let name = "opens the user's terminal";
    let found = Command::new("script").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        return Ok(Attempt::new(name, Held::NotTried("`script` is not installed".to_owned())));
    }
    let command = "for p in /dev/tty /dev/pts/[0-9]*; do (exec 3<>$p) 2>/dev/null && echo REACHED $p; done; echo done";
    let line = [
        "env -i".to_owned(),
        format!("HOME={}", bench.home().display()),
        format!("COUNTERFOIL_STATE={}", bench.path("state").display()),
        format!("PATH={PATH}"),
        format!(
            "{} run shell --from-agent --args '{}'",
            bench.binary().display(),
            json!({ "command": command })
        ),
    ];
    let output = Command::new("script")
        .args(["-qec", &line.join(" "), "/dev/null"])
        .current_dir(bench.work())
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // The echoed command has quotation marks; a line for a reached device does not.
    let reached = said.lines().any(|line| line.trim_start().starts_with("REACHED /dev"));
    Ok(Attempt::new(name, Held::when(!reached, || said.chars().take(160).collect())))
}

/// Tries to lock the state folder with a command; later calls must still work.
fn state_mode(bench: &Bench) -> Result<Attempt> {
    let state = bench.path("state").display().to_string();
    shell(bench, &format!("chmod 000 {state}; chmod 777 {state}"), &[])?;
    let said = shell(bench, "echo still-works", &[])?;
    let held = said.contains("still-works") && !said.contains("denied");
    use_private_modes(&bench.path("state"))?;
    Ok(Attempt::new("changes the mode of the state folder", Held::when(held, || said.clone())))
}

/// Runs commands that replace a folder with a link and fail on purpose; the rollback must not
/// follow the link.
fn rollbacks(bench: &Bench) -> Result<Vec<Attempt>> {
    let settings = bench.write(
        "transactional.toml",
        "[tools.shell]\ntransactional = true\nauto_rollback = true\nkeep_snapshots = 20\n",
    )?;
    let settings = settings.display().to_string();
    let outside = bench.path("outside").display().to_string();
    // In a script, so that the command itself does not show the change of the folder.
    let swap = format!("mv sub old\nln -s {outside} sub\n");
    let cases = [
        ("a rollback writes through a link", "sub/secret", "echo y > sub/secret"),
        ("a rollback removes through a link", "sub/f", "echo y > sub/kept"),
        ("a rollback makes through a link", "sub/d/f", "rm sub/d/f"),
    ];
    let mut attempts = Vec::new();
    for (name, there, command) in cases {
        restore(bench, &bench.path("outside"))?;
        bench.write("outside/kept", SECRET)?;
        bench.write(&format!("dev/project/{there}"), "chosen by the model")?;
        bench.write("dev/project/swap.sh", &swap)?;
        let before = tree(bench)?;
        let command = format!("{command}; sh swap.sh; exit 1");
        let said = shell(bench, &command, &["--config", &settings])?;
        let same = tree(bench)? == before;
        attempts.push(Attempt::new(name, Held::when(same, || said.chars().take(160).collect())));
    }
    restore(bench, &bench.path("outside"))?;
    std::os::unix::fs::symlink(bench.home().join(".ssh"), bench.work().join("a"))?;
    shell(
        bench,
        "echo changed > a/id_ed25519; unlink a; mkdir a; exit 1",
        &["--config", &settings],
    )?;
    let said = shell(bench, "cat a/id_ed25519", &[])?;
    let held = !said.contains(SECRET);
    attempts.push(Attempt::new(
        "a snapshot reads through a link",
        Held::when(held, || "the key was printed".to_owned()),
    ));
    restore(bench, &bench.path("outside"))?;
    Ok(attempts)
}

/// Undoes commands after the user put files into what the agent created.
fn undo(bench: &Bench) -> Result<Vec<Attempt>> {
    let settings = bench
        .write("keeping.toml", "[tools.shell]\ntransactional = true\nkeep_snapshots = 50\n")?;
    let settings = settings.display().to_string();
    let mut attempts = Vec::new();
    for (name, command, mine) in [
        ("undo of `mkdir`", "mkdir out", "out/precious.txt"),
        ("undo of `mkdir -p`", "mkdir -p out/a/b", "out/a/precious.txt"),
        ("undo of `cp -r`", "mkdir src; echo 1 > src/f; cp -r src out", "out/precious.txt"),
    ] {
        restore(bench, &bench.path("outside"))?;
        let arguments = json!({ "command": command }).to_string();
        let run = ["--config", &settings, "run", "shell", "--from-agent", "--json", "--args"];
        let ran = bench.run(&[&run[..], &[arguments.as_str()]].concat(), "")?;
        let id = ran.json().get("execution_id").and_then(|id| id.as_str().map(str::to_owned));
        let Some(id) = id else {
            attempts.push(Attempt::new(name, Held::NotTried(ran.shown())));
            continue;
        };
        std::fs::write(bench.work().join(mine), SECRET)?;
        let undone = bench.run(&["--config", &settings, "undo", &id], "")?;
        let kept = bench.work().join(mine).exists();
        attempts.push(Attempt::new(name, Held::when(kept, || undone.shown())));
    }
    restore(bench, &bench.path("outside"))?;
    Ok(attempts)
}
