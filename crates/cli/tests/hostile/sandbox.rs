//! Confined commands that reach outside their workspace, or outlive their call.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::stage::{Stage, binary, text};

/// The content of files outside; no output or file of a command may contain it.
const SECRET: &str = "kestrel-51-outside";

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

#[test]
fn a_confined_command_does_not_reach_out() {
    let mut stage = Stage::new();
    for (name, command) in COMMANDS {
        stage.renew();
        prepare(&stage);
        let mut victim = Victim::start(&stage.path("outside"));
        let before = tree(&stage);
        let command = command
            .replace("OUT", &text(&stage.path("outside")))
            .replace("STATE", &text(&stage.path("state")))
            .replace("VICTIM", &victim.0.id().to_string())
            .replace("MARK", &mark());
        let ran = stage.shell(&command, &[]);
        let leaked = ran.contains(SECRET).then(|| "what lies outside was printed".to_owned());
        let seen = leaked.or(trace(&before, &stage, &mut victim));
        stage.tried(name, seen.is_none(), || seen.unwrap_or_default());
    }
    stage.end();
}

fn prepare(stage: &Stage) {
    stage.write("outside/secret", SECRET);
    for name in
        [".ssh/id_ed25519", ".cargo/credentials.toml", ".cache/huggingface/token", ".bashrc"]
    {
        stage.write(&format!("dev/{name}"), SECRET);
    }
}

/// Returns the contents of all files outside the workspace that must not change, by path.
fn tree(stage: &Stage) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![stage.path("outside"), stage.home()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path == stage.work() {
                continue;
            }
            let meta = path.symlink_metadata().unwrap();
            let bytes = match () {
                () if meta.is_dir() => {
                    folders.push(path.clone());
                    Vec::new()
                }
                () if meta.is_file() => std::fs::read(&path).unwrap(),
                () => b"no plain file".to_vec(),
            };
            found.insert(path, bytes);
        }
    }
    found
}

/// Returns the trace that an attempt left, if any.
fn trace(
    before: &BTreeMap<PathBuf, Vec<u8>>,
    stage: &Stage,
    victim: &mut Victim,
) -> Option<String> {
    let survivors = processes(&mark());
    for survivor in &survivors {
        let _ = Command::new("kill").args(["-9", survivor]).status();
    }
    let after = tree(stage);
    let changed = before
        .iter()
        .find(|(path, bytes)| after.get(*path) != Some(bytes))
        .or_else(|| after.iter().find(|(path, _)| !before.contains_key(*path)));
    let changed = changed.map(|(path, _)| format!("`{}` was changed", path.display()));
    let outlives =
        (!survivors.is_empty()).then(|| format!("{} processes outlive the call", survivors.len()));
    changed.or_else(|| victim.changed()).or(outlives)
}

/// A marker in the arguments of processes that try to outlive their call.
fn mark() -> String {
    format!("hostile-survivor-{}-7731", std::process::id())
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

/// Another process of the same user, and how it was scheduled.
struct Victim(Child, Vec<String>);

impl Victim {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new("sleep");
        command.arg("300").current_dir(folder).env("HELD", SECRET);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let scheduling = scheduling(child.id());
        Self(child, scheduling)
    }

    fn changed(&mut self) -> Option<String> {
        if self.0.try_wait().unwrap().is_some() {
            return Some("another process was ended".to_owned());
        }
        let changed = scheduling(self.0.id()) != self.1;
        changed.then(|| "another process was scheduled anew".to_owned())
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

#[test]
fn a_command_does_not_open_the_user_s_terminal() {
    let stage = Stage::new();
    let found = Command::new("script").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: `script` is not installed");
        return;
    }
    let command =
        "for p in /dev/tty /dev/pts/[0-9]*; do true 3<>$p && echo REACHED $p; done; echo done";
    let run = format!(
        "env -i {} {} run shell --from-agent --args '{}'",
        stage.environment().join(" "),
        binary().display(),
        json!({ "command": command })
    );
    let output = Command::new("script")
        .args(["-qec", &run, "/dev/null"])
        .current_dir(stage.work())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(stdout.contains("done"), "the command did not run: {stdout}");
    // The echoed command has quotation marks; a line for a reached device does not.
    assert!(!stdout.lines().any(|line| line.trim_start().starts_with("REACHED /dev")), "{stdout}");
}

#[test]
fn the_mode_of_the_state_folder_cannot_be_changed() {
    let stage = Stage::new();
    let state = text(&stage.path("state"));
    stage.shell(&format!("chmod 000 {state}; chmod 777 {state}"), &[]);
    let output = stage.shell("echo still-works", &[]);
    assert!(output.contains("still-works") && !output.contains("denied"), "{output}");
}

const TRANSACTIONS: &str =
    "[tools.shell]\ntransactional = true\nauto_rollback = true\nkeep_snapshots = 20\n";

/// The commands replace a folder with a link and fail on purpose.
#[test]
fn a_rollback_does_not_follow_a_link() {
    let mut stage = Stage::new();
    for (name, there, command) in [
        ("writes", "sub/secret", "echo y > sub/secret"),
        ("removes", "sub/f", "echo y > sub/kept"),
        ("makes", "sub/d/f", "rm sub/d/f"),
    ] {
        stage.renew();
        prepare(&stage);
        let settings = stage.write("transactional.toml", TRANSACTIONS);
        stage.write("outside/kept", SECRET);
        stage.write(&format!("dev/project/{there}"), "chosen by the model");
        // In a script, so that the command itself does not show the change of the folder.
        let outside = text(&stage.path("outside"));
        stage.write("dev/project/swap.sh", format!("mv sub old\nln -s {outside} sub\n"));
        let before = tree(&stage);
        let command = format!("{command}; sh swap.sh; exit 1");
        let output = stage.shell(&command, &["--config", &settings]);
        stage.tried(format!("{name} through a link"), tree(&stage) == before, || output);
    }
    stage.end();
}

#[test]
fn a_snapshot_does_not_read_through_a_link() {
    let stage = Stage::new();
    prepare(&stage);
    let settings = stage.write("transactional.toml", TRANSACTIONS);
    std::os::unix::fs::symlink(stage.home().join(".ssh"), stage.work().join("a")).unwrap();
    let command = "echo changed > a/id_ed25519; unlink a; mkdir a; exit 1";
    stage.shell(command, &["--config", &settings]);
    let output = stage.shell("cat a/id_ed25519", &[]);
    assert!(!output.contains(SECRET), "the key was printed");
}

/// The user put files into what the agent created.
#[test]
fn an_undo_keeps_what_the_user_added() {
    let mut stage = Stage::new();
    for (command, mine) in [
        ("mkdir out", "out/precious.txt"),
        ("mkdir -p out/a/b", "out/a/precious.txt"),
        ("mkdir src; echo 1 > src/f; cp -r src out", "out/precious.txt"),
    ] {
        stage.renew();
        let settings = stage.write("keeping.toml", "[tools.shell]\ntransactional = true\n");
        let arguments = json!({ "command": command }).to_string();
        let run = ["--config", &settings, "run", "shell", "--from-agent", "--json", "--args"];
        let ran = stage.run(&[&run[..], &[arguments.as_str()]].concat(), "");
        let receipt = ran.json();
        let id = receipt["execution_id"].as_str().unwrap_or_else(|| panic!("{}", ran.shown()));
        std::fs::write(stage.work().join(mine), SECRET).unwrap();
        let undone = stage.run(&["--config", &settings, "undo", id], "");
        stage.tried(command, stage.work().join(mine).exists(), || undone.shown());
    }
    stage.end();
}
