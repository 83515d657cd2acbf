//! The shell executor: what it returns, what it refuses, and that it leaves nothing running.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use counterfoil_guard::{
    BlocklistOptions, ErasedToolExecutor, ShellExecutor, ShellOptions, ShellOptionsError,
    ShellOutputEnvelope, ShellPolicy, ShellPolicyHandle, ToolError, ToolOutput, TrustLevel,
};
use counterfoil_model::SideEffect;
use counterfoil_model::ToolErrorCategory::{
    self, InvalidParameters, PermanentFailure, PolicyBlocked, Timeout,
};
use counterfoil_tools::OutOfRange;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stage::{Stage, approved, call, permit, wait};

/// A workspace with a shell.
struct Room {
    folder: TempDir,
    stage: Stage,
    policy: ShellPolicyHandle,
    shell: ShellExecutor,
}

fn policy(options: ShellOptions) -> ShellPolicy {
    ShellPolicy { settings: options.resolve().unwrap(), ..ShellPolicy::default() }
}

impl Room {
    fn new() -> Self {
        Self::with(ShellOptions::default())
    }

    fn with(options: ShellOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stage = Stage::at(&folder.path().canonicalize().unwrap());
        let policy = ShellPolicyHandle::new(policy(options));
        let shell = ShellExecutor::new(policy.clone());
        Self { folder, stage, policy, shell }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn call(&self, arguments: Value) -> Result<ToolOutput, ToolError> {
        let shell: &dyn ErasedToolExecutor = &self.shell;
        let scene = self.stage.scene();
        wait(shell.execute_tool_call(permit("shell", arguments), &scene)).map(Option::unwrap)
    }

    fn run(&self, command: &str) -> ToolOutput {
        self.call(json!({ "command": command })).unwrap()
    }

    /// The output of a command, which has to succeed.
    fn stdout(&self, command: &str) -> String {
        let output = self.run(command);
        assert_eq!(output.failure, None, "{command}: {}", output.text);
        envelope(&output).stdout
    }
}

fn envelope(output: &ToolOutput) -> ShellOutputEnvelope {
    serde_json::from_value(output.raw_response.clone().unwrap()).unwrap()
}

#[test]
fn envelope_complete_and_exit_code_recorded() {
    let room = Room::new();
    let cases: [(&str, &str, &str, i32, Option<ToolErrorCategory>, &str); 9] = [
        ("printf hello", "hello", "", 0, None, "hello"),
        ("true", "", "", 0, None, ""),
        ("false", "", "", 1, Some(PermanentFailure), "[Command finished with exit code 1]"),
        (
            "echo out; echo err >&2; exit 3",
            "out\n",
            "err\n",
            3,
            Some(PermanentFailure),
            "out\n[stderr]\nerr\n[Command finished with exit code 3]",
        ),
        (
            "echo 'Permission denied' >&2",
            "",
            "Permission denied\n",
            0,
            None,
            "[stderr]\nPermission denied\n",
        ),
        ("printf 'a\\nb' | cat", "a\nb", "", 0, None, "a\nb"),
        ("exit 126", "", "", 126, Some(PolicyBlocked), "[Command finished with exit code 126]"),
        (
            "-c",
            "",
            "bash: line 1: -c: command not found\n",
            127,
            Some(PermanentFailure),
            "[stderr]\nbash: line 1: -c: command not found\n[Command finished with exit code 127]",
        ),
        (
            "kill -9 $$",
            "",
            "",
            137,
            Some(PermanentFailure),
            "[Command finished with exit code 137]",
        ),
    ];
    for (command, stdout, stderr, exit_code, failure, text) in cases {
        let output = room.run(command);
        let expected = ShellOutputEnvelope {
            version: 1,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            exit_code,
            truncated: false,
        };
        assert_eq!(envelope(&output), expected, "{command}");
        assert_eq!(output.exit_code, Some(exit_code), "{command}");
        assert_eq!((output.failure, output.truncated), (failure, false), "{command}");
        assert_eq!(output.text, text, "{command}");
        let members: Vec<&str> = output
            .raw_response
            .as_ref()
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .map(|k| k.as_str())
            .collect();
        assert_eq!(members, ["version", "stdout", "stderr", "exit_code", "truncated"]);
    }
}

#[test]
fn truncation_is_visible_and_output_is_kept_at_both_ends() {
    let room = Room::new();
    let output = room.run("echo first; yes ä | head -c 39999999; echo last");
    let kept = envelope(&output);
    assert!(output.truncated && kept.truncated);
    assert!(kept.stdout.starts_with("first\nä\n") && kept.stdout.ends_with("ä\nlast\n"));
    assert!(kept.stdout.chars().count() <= 30_000);
    assert!(kept.stdout.chars().count() > 29_900);
    assert!(!kept.stdout.contains('\u{fffd}'));
    assert!(output.text.ends_with("[output truncated]"), "the model sees it");
    assert_eq!(output.exit_code, Some(0));

    let small = Room::with(ShellOptions { max_output_chars: 500, ..ShellOptions::default() });
    let output = small.run("yes out | head -c 9999; yes err | head -c 9999 >&2");
    let both = envelope(&output);
    assert!(both.truncated);
    assert!(both.stdout.len() + both.stderr.len() <= 500);
    assert!(both.stderr.contains("err") && both.stdout.contains("out"));
}

#[test]
fn the_blocklist_holds_on_every_path() {
    let mut room = Room::new();
    let shell: &dyn ErasedToolExecutor = &room.shell;
    let blocked = [
        "touch here; sudo true",
        "touch here; echo $(true)",
        "touch here; $X",
        "touch here; eval true",
        "touch here; 'unclosed",
        "touch here; rm -rf .",
        "touch here && bash -c 'sudo true'",
    ];
    for trust in [TrustLevel::Untrusted, TrustLevel::Provisional, TrustLevel::Trusted] {
        room.stage.trust = trust;
        let scene = room.stage.scene();
        for command in blocked {
            for tool in ["shell", "bash"] {
                let arguments = || json!({ "command": command });
                let by_policy = wait(shell.execute_tool_call(permit(tool, arguments()), &scene));
                let confirmed = approved(tool, arguments());
                let confirmed = wait(shell.execute_tool_call_confirmed(confirmed, &scene));
                for refused in [by_policy, confirmed] {
                    let error = refused.unwrap_err();
                    assert_eq!(error.category(), PolicyBlocked, "{command}");
                    assert!(matches!(error, ToolError::Shell { exit_code: 126, .. }), "{command}");
                }
            }
        }
    }
    assert!(!room.path().join("here").exists(), "nothing ran");
}

#[test]
fn both_ways_run_the_same_command_and_strangers_are_not_its_own() {
    let room = Room::new();
    let shell: &dyn ErasedToolExecutor = &room.shell;
    let scene = room.stage.scene();
    let arguments = || json!({ "command": "echo same" });
    let first = wait(shell.execute_tool_call(permit("shell", arguments()), &scene));
    let second = wait(shell.execute_tool_call_confirmed(approved("bash", arguments()), &scene));
    assert_eq!(first.clone().unwrap().unwrap().text, "same\n");
    assert_eq!(first, second);
    assert_eq!(wait(shell.execute_tool_call(permit("file", arguments()), &scene)), Ok(None));
    let confirmed = approved("file", arguments());
    assert_eq!(wait(shell.execute_tool_call_confirmed(confirmed, &scene)), Ok(None));
    assert!(!shell.is_tool_retryable("shell") && !shell.is_tool_speculatable("shell"));
    let names: Vec<_> = shell.tool_definitions().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["shell", "bash", "shell_output", "shell_stop"]);
}

#[test]
fn the_working_directory_stays_in_the_workspace() {
    let mut room = Room::with(ShellOptions {
        directories: vec![PathBuf::from("/usr/share")],
        ..ShellOptions::default()
    });
    let outside = tempfile::tempdir().unwrap();
    let root = room.path();
    fs::create_dir_all(root.join("sub/deep")).unwrap();
    File::create(root.join("file")).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("out")).unwrap();
    std::os::unix::fs::symlink(root.join("sub"), root.join("in")).unwrap();
    let absolute = root.join("sub").display().to_string();
    let cases: [(&str, Result<PathBuf, ToolErrorCategory>); 12] = [
        (".", Ok(root.clone())),
        ("sub", Ok(root.join("sub"))),
        ("sub/deep/..", Ok(root.join("sub"))),
        ("in", Ok(root.join("sub"))),
        (&absolute, Ok(root.join("sub"))),
        ("/usr/share", Ok(PathBuf::from("/usr/share"))),
        ("..", Err(PolicyBlocked)),
        ("/", Err(PolicyBlocked)),
        ("out", Err(PolicyBlocked)),
        ("sub/../../", Err(PolicyBlocked)),
        ("file", Err(PermanentFailure)),
        ("missing", Err(PermanentFailure)),
    ];
    for (cwd, expected) in cases {
        let ran = room.call(json!({ "command": "pwd", "cwd": cwd }));
        let directory = ran.map(|o| PathBuf::from(envelope(&o).stdout.trim_end()));
        assert_eq!(directory.map_err(|error| error.category()), expected, "{cwd}");
    }
    assert_eq!(room.stdout("pwd").trim_end(), root.display().to_string());
    room.stage.workspace = PathBuf::from("relative");
    let refused = room.call(json!({ "command": "pwd" })).unwrap_err();
    assert_eq!(refused.category(), PolicyBlocked, "no workspace");
}

#[test]
fn secrets_of_the_environment_do_not_pass() {
    let options = ShellOptions { pass_env: vec!["*".to_owned()], ..ShellOptions::default() };
    let mut room = Room::with(options);
    let given = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("LANG", "C"),
        ("EDITOR", "ed"),
        ("GITHUB_TOKEN", "t"),
        ("OPENAI_API_KEY", "k"),
        ("AWS_PROFILE", "p"),
        ("DB_PASSWORD", "p"),
        ("LD_PRELOAD", "/x.so"),
        ("BASH_ENV", "/x"),
    ];
    room.stage.environment =
        given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let seen = room.stdout("env");
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let mut names: Vec<&str> =
        seen.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.retain(|name| !own.contains(name));
    names.sort_unstable();
    assert_eq!(names, ["EDITOR", "LANG", "PATH"]);
    room.policy.rebuild(ShellPolicy::default());
    assert!(!room.stdout("env").contains("EDITOR"), "only what is allowed passes");
}

#[test]
fn a_command_has_no_terminal() {
    let room = Room::new();
    let seen =
        room.stdout("read -r pid _ _ _ group session _ < /proc/$$/stat; echo $pid $group $session");
    let ids: Vec<&str> = seen.split_whitespace().collect();
    assert_eq!(ids.len(), 3, "{seen}");
    assert!(ids[0] == ids[1] && ids[0] == ids[2], "it leads its own group and session: {seen}");
}

#[test]
fn there_is_no_input() {
    let room = Room::new();
    assert_eq!(room.stdout("cat; echo done"), "done\n");
    assert_eq!(room.run("read -r line").exit_code, Some(1));
}

#[test]
fn arguments_are_checked_again() {
    let room = Room::new();
    let cases = [
        json!({}),
        json!({ "command": " " }),
        json!({ "command": ["ls"] }),
        json!({ "command": "ls", "cwd": 1 }),
        json!({ "command": "ls", "timeout_secs": 0 }),
        json!({ "command": "ls", "timeout_secs": 601 }),
        json!({ "command": "ls", "timeout_secs": 601, "background": true }),
        json!({ "command": "ls", "timeout_secs": "1" }),
    ];
    for arguments in cases {
        let error = room.call(arguments.clone()).unwrap_err();
        assert_eq!(error.category(), InvalidParameters, "{arguments}");
    }
}

#[test]
fn what_a_command_wrote_is_a_side_effect() {
    let cases: [(&str, &[&str]); 8] = [
        ("echo x > new", &["new"]),
        ("cat old", &[]),
        ("echo x >> old; rm gone", &["gone", "old"]),
        ("mv old moved", &["moved", "old"]),
        ("cd sub && touch inside", &["sub/inside"]),
        ("false && echo x > never", &[]),
        ("mkdir made; echo x > /dev/null", &["made"]),
        ("ls missing > listing; true", &["listing"]),
    ];
    for (command, expected) in cases {
        let room = Room::new();
        let root = room.path();
        fs::create_dir(root.join("sub")).unwrap();
        File::create(root.join("old")).unwrap();
        File::create(root.join("gone")).unwrap();
        let expected: Vec<SideEffect> =
            expected.iter().map(|path| SideEffect::Wrote(root.join(path))).collect();
        assert_eq!(room.run(command).side_effects, expected, "{command}");
    }
}

#[test]
fn confinement_says_what_is_not_held() {
    let room = Room::new();
    let confinement = room.run("true").confinement.unwrap();
    assert_eq!(confinement.profile, "off");
    let gaps = confinement.not_held.join("; ");
    for part in ["files outside the workspace", "the network", "other processes", "process group"] {
        assert!(gaps.contains(part), "{gaps}");
    }
    let root = is_root();
    assert_eq!(gaps.contains("ran as root"), root, "{gaps}");
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

// The following tests check that nothing is left running. A running process holds one end of a pipe
// in the workspace, so its end is visible at the other end, without polling.

/// Opens the other end of a pipe. Reports when a line arrives, and when the last writer is gone.
fn listen(room: &Room, name: &str) -> (Receiver<String>, Receiver<()>) {
    room.stdout(&format!("mkfifo {name}"));
    let path = room.path().join(name);
    let ((line, lines), (gone, end)) = (channel(), channel());
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(File::open(path).unwrap());
        let mut first = String::new();
        pipe.read_line(&mut first).unwrap();
        line.send(first).unwrap();
        pipe.read_to_end(&mut Vec::new()).unwrap();
        gone.send(()).unwrap();
    });
    (lines, end)
}

/// Long enough for a busy machine; a passing test never waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Background processes that hold the pipe, and a foreground command that continues once they run.
const FAMILY: &str = "{ echo up; echo > told; sleep 1000; } > pipe & \
                      sh -c 'sleep 1000 > pipe & sh -c \"echo > ready; sleep 1000\" > pipe' & \
                      until [ -s ready ] && [ -s told ]; do :; done; ";

#[test]
fn nothing_is_left_running_after_the_end() {
    for (end, code) in [("true", 0), ("exit 7", 7), ("kill -9 $$", 137)] {
        let room = Room::new();
        let (lines, gone) = listen(&room, "pipe");
        let output = room.run(&format!("{FAMILY}{end}"));
        assert_eq!(output.exit_code, Some(code), "{}", output.text);
        assert_eq!(lines.recv_timeout(PATIENCE).unwrap(), "up\n");
        gone.recv_timeout(PATIENCE).unwrap();
    }
}

#[test]
fn nothing_is_left_running_after_a_timeout() {
    let room = Room::new();
    let (_lines, gone) = listen(&room, "pipe");
    let command = format!("{FAMILY}echo before; sleep 1000");
    let output = room.call(json!({ "command": command, "timeout_secs": 1 })).unwrap();
    assert_eq!(output.failure, Some(Timeout));
    assert_eq!(output.exit_code, Some(137));
    assert_eq!(envelope(&output).stdout, "before\n", "what came before is kept");
    assert_eq!(output.text, "before\n[Command was ended after 1 s]");
    assert_eq!(output.error().unwrap().category(), Timeout);
    gone.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn nothing_is_left_running_when_the_call_is_dropped() {
    let room = Room::new();
    let (lines, gone) = listen(&room, "pipe");
    let shell: &dyn ErasedToolExecutor = &room.shell;
    let scene = room.stage.scene();
    let arguments = json!({ "command": format!("{FAMILY}sleep 1000") });
    wait(async {
        let running = shell.execute_tool_call(permit("shell", arguments), &scene);
        let started = tokio::task::spawn_blocking(move || lines.recv_timeout(PATIENCE).unwrap());
        tokio::select! {
            ended = running => panic!("it ended: {ended:?}"),
            line = started => assert_eq!(line.unwrap(), "up\n"),
        }
    });
    gone.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn a_call_dropped_at_once_starts_nothing_or_ends_it() {
    let room = Room::new();
    let shell: &dyn ErasedToolExecutor = &room.shell;
    let scene = room.stage.scene();
    for _ in 0..50 {
        let arguments = json!({ "command": "echo > started; sleep 1000" });
        wait(async {
            let running = shell.execute_tool_call(permit("shell", arguments), &scene);
            tokio::select! {
                biased;
                ended = running => panic!("it ended: {ended:?}"),
                () = tokio::task::yield_now() => {}
            }
        });
    }
    // Every process that this test started and that is still running has this process as its
    // parent.
    let own = std::process::id().to_string();
    let running = || {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Ok(mut file) = File::open(entry.path().join("stat")) else { continue };
            let mut stat = String::new();
            if file.read_to_string(&mut stat).is_err() {
                continue;
            }
            let Some((name, rest)) = stat.rsplit_once(") ") else { continue };
            let fields: Vec<&str> = rest.split(' ').collect();
            let directory = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            if fields[1] == own && directory == room.path() {
                found.push(name.to_owned());
            }
        }
        found
    };
    let patience = std::time::Instant::now() + PATIENCE;
    while !running().is_empty() {
        assert!(std::time::Instant::now() < patience, "{:?}", running());
        std::thread::yield_now();
    }
}

#[test]
fn who_leaves_the_group_ends_with_the_command() {
    let room = Room::new();
    if room.run("setsid true").exit_code != Some(0) {
        println!("not checked: there is no setsid here");
        return;
    }
    let hidden =
        "(setsid sh -c 'echo > up; (sleep 3; echo > late) &' &) & until [ -s up ]; do :; done";
    let output = room.run(hidden);
    assert_eq!(output.exit_code, Some(0));
    std::thread::sleep(Duration::from_secs(4));
    assert!(!room.path().join("late").exists(), "it went on");
}

#[test]
fn limits_bind_the_command_and_what_it_starts() {
    let limited = |options| Room::with(options);
    let room = limited(ShellOptions { file_mb: 1, ..ShellOptions::default() });
    let output = room.run("sh -c 'head -c 3000000 /dev/zero > big'");
    assert_ne!(output.exit_code, Some(0), "file");
    assert_eq!(fs::metadata(room.path().join("big")).unwrap().len(), 1024 * 1024);

    let room = limited(ShellOptions { memory_mb: 64, ..ShellOptions::default() });
    let output = room.run("head -c 200000000 /dev/zero | tail -c 200000000 | wc -c");
    assert_ne!(envelope(&output).stdout.trim(), "200000000", "memory");

    let room = limited(ShellOptions { cpu_secs: 1, ..ShellOptions::default() });
    let output = room.run("while :; do :; done");
    // SIGXCPU, or SIGKILL from the hard limit.
    assert!(matches!(output.exit_code, Some(152 | 137)), "{:?}", output.exit_code);
    assert_eq!(output.failure, Some(PermanentFailure));

    if is_root() {
        println!("not checked: the number of processes does not bind root");
    } else {
        let room = limited(ShellOptions { max_processes: 1, ..ShellOptions::default() });
        assert_ne!(room.run("(sleep 0) & (sleep 0) & wait").exit_code, Some(0), "processes");
    }
}

#[test]
fn hot_swap_is_atomic_under_load() {
    let one = |name: &str| {
        let blocklist = BlocklistOptions {
            blocked_commands: vec![format!("true not_{name}")],
            ..BlocklistOptions::default()
        };
        ShellPolicy {
            blocklist: blocklist.resolve().unwrap(),
            settings: ShellOptions { pass_env: vec![name.to_owned()], ..ShellOptions::default() }
                .resolve()
                .unwrap(),
            ..ShellPolicy::default()
        }
    };
    let (a, b) = (one("AA"), one("BB"));
    let mut room = Room::new();
    room.stage.environment =
        ["AA", "BB"].map(|name| (name.to_owned(), name.to_owned())).into_iter().collect();
    room.policy.rebuild(a.clone());
    let room = Arc::new(room);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                room.policy.rebuild(b.clone());
                room.policy.rebuild(a.clone());
                std::thread::yield_now();
            }
        });
        let callers: Vec<_> = (0..4)
            .map(|_| {
                let room = Arc::clone(&room);
                scope.spawn(move || {
                    for _ in 0..15 {
                        // A blocks the command; only B runs it, and B passes BB but not AA.
                        match room
                            .call(json!({ "command": "true not_AA; env | grep -E '^(AA|BB)='" }))
                        {
                            Ok(output) => assert_eq!(output.text, "BB=BB\n"),
                            Err(error) => assert_eq!(error.category(), PolicyBlocked),
                        }
                        let seen = room.stdout("env | grep -E '^(AA|BB)='");
                        assert!(["AA=AA\n", "BB=BB\n"].contains(&seen.as_str()), "{seen}");
                    }
                })
            })
            .collect();
        let results: Vec<_> = callers.into_iter().map(|caller| caller.join()).collect();
        done.store(true, Ordering::SeqCst);
        assert!(results.iter().all(Result::is_ok));
    });
}

#[test]
fn a_running_call_keeps_the_policy_it_started_with() {
    let room = Room::new();
    room.stdout("mkfifo pipe");
    let shell: &dyn ErasedToolExecutor = &room.shell;
    let scene = room.stage.scene();
    let arguments = json!({ "command": "read -r line < pipe; yes \"$line\" | head -c 20000" });
    let small = ShellOptions { max_output_chars: 500, timeout_secs: 1, ..ShellOptions::default() };
    let output = wait(async {
        let mut running =
            std::pin::pin!(shell.execute_tool_call(permit("shell", arguments), &scene));
        tokio::select! {
            biased;
            ended = &mut running => panic!("it ended: {ended:?}"),
            () = tokio::task::yield_now() => {}
        }
        room.policy.rebuild(policy(small));
        let path = room.path().join("pipe");
        let writer = tokio::task::spawn_blocking(move || {
            use std::io::Write as _;
            let mut pipe = File::options().write(true).open(path).unwrap();
            pipe.write_all(b"go\n").unwrap();
        });
        let output = running.await.unwrap().unwrap();
        writer.await.unwrap();
        output
    });
    assert_eq!((output.truncated, output.text.len()), (false, 20_000));
    assert!(room.run("yes | head -c 20000").truncated, "the next one is under the new policy");
}

#[test]
fn trust_decides_what_needs_approval() {
    let mut room = Room::new();
    let root = room.path();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(root.join("src")).unwrap();
    File::create(root.join("src/a.rs")).unwrap();
    File::create(outside.path().join("secret")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), root.join("link")).unwrap();
    let harmless = [
        "ls",
        "ls -la src",
        "cat src/a.rs | head -n 5",
        "cd src && cat a.rs",
        "grep -rn 'fn main' src 2>/dev/null",
        "find . -name '*.rs' -type f | wc -l",
        "pwd; true || false",
        "[ -f src/a.rs ] && echo yes",
    ];
    let questionable = [
        "cargo test",
        "touch x",
        "echo x > y",
        "cat /etc/passwd",
        "cat ../x",
        "cat ~/.ssh/id_rsa",
        "cat link",
        "cat < link",
        "cat src/../../x",
        "cd .. && ls",
        "cd; cat x",
        "cd /etc && cat passwd",
        "cd - && ls",
        "cat $X",
        "cat *.rs",
        "./ls",
        "LD_PRELOAD=x ls",
        "find . -delete",
        "find . -exec rm {} +",
        "find -L .",
        "find . -fprint x",
        "grep -R x .",
        "grep -f/etc/passwd x",
        "wc --files0-from=list",
        "du --files0=list",
        "diff --to-file=link src/a.rs",
        "tail -f src/a.rs",
        "ls; rm x",
        "f() { ls; }; f",
        "env ls",
        "unparsable '",
        "",
    ];
    for (trust, expects_harmless, expects_question) in [
        (TrustLevel::Trusted, false, false),
        (TrustLevel::Provisional, false, true),
        (TrustLevel::Untrusted, false, true),
    ] {
        room.stage.trust = trust;
        let asks = |command: &str| {
            let shell: &dyn ErasedToolExecutor = &room.shell;
            let call = call("shell", json!({ "command": command }));
            shell.requires_confirmation(&call, &room.stage.scene()).is_some()
        };
        for command in harmless {
            assert_eq!(asks(command), expects_harmless, "{trust:?}: {command}");
        }
        for command in questionable.iter().filter(|command| !command.is_empty()) {
            assert_eq!(asks(command), expects_question, "{trust:?}: {command}");
        }
        assert!(asks(""), "nothing to judge is asked at every trust");
    }
}

#[test]
fn options_are_checked() {
    let options = ShellOptions::default;
    let out = |key, given, least, most| Some(OutOfRange { key, given, least, most }.into());
    let cases = [
        (options(), None),
        (ShellOptions { timeout_secs: 0, ..options() }, out("timeout_secs", 0, 1, 600)),
        (ShellOptions { timeout_secs: 601, ..options() }, out("timeout_secs", 601, 1, 600)),
        (
            ShellOptions { max_output_chars: 10, ..options() },
            out("max_output_chars", 10, 500, 10_000_000),
        ),
        (
            ShellOptions { directories: vec![PathBuf::from("x")], ..options() },
            Some(ShellOptionsError::RelativeDirectory { path: "x".to_owned() }),
        ),
    ];
    for (options, expected) in cases {
        assert_eq!(options.clone().resolve().err(), expected, "{options:?}");
    }
    let pattern = ShellOptions { pass_env: vec!["[".to_owned()], ..options() };
    assert!(matches!(pattern.resolve(), Err(ShellOptionsError::Pattern { .. })));
    assert!(toml::from_str::<ShellOptions>("timeout = 3").is_err(), "unknown keys are refused");
}
