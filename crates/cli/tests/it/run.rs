//! `run`, `tools`, `stats` and `check --session`, with a shared state folder.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{Desk, Ran};

/// A desk that contains its state folder.
struct Shop(Desk);

impl Shop {
    fn new(files: &[(&str, &str)]) -> Self {
        Self(Desk::with(files))
    }

    fn run(&self, line: &str, arguments: &str) -> Ran {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if !arguments.is_empty() {
            words.extend(["--args", arguments]);
        }
        self.0.spawn(&[("COUNTERFOIL_STATE", "state"), ("USER", "someone-else")], &words, "")
    }

    fn json(&self, line: &str, arguments: &str) -> (i32, Value) {
        let ran = self.run(line, arguments);
        let value = serde_json::from_str(&ran.out).map_err(|_| ran.to_string()).unwrap();
        (ran.code, value)
    }
}

#[test]
fn tools_in_a_circle_are_named_once() {
    let desk = Desk::with(&[
        (
            "counterfoil.toml",
            "[tools.dependencies]\nenabled = true\n\
             [tools.dependencies.rules.read_file]\nrequires = [\"grep\"]\n\
             [tools.dependencies.rules.grep]\nrequires = [\"read_file\"]\n",
        ),
        ("a.txt", "hi"),
    ]);
    let state = [("COUNTERFOIL_STATE", "state")];
    for words in ["run read_file path=a.txt", "tools", "policy check", "config check"] {
        let ran = desk.run_in(&state, words);
        let notice = "note: these tools require one another in a cycle, so their requirements are ignored: \
             grep, read_file";
        assert_eq!((ran.code, ran.err.matches("in a cycle").count()), (0, 1), "{ran}");
        assert!(ran.err.contains(notice), "{ran}");
    }
}

#[test]
fn a_call_is_answered_with_its_receipt() {
    let shop = Shop::new(&[]);
    let (code, whole) =
        shop.json("run shell --json --yes --session s1", r#"{"command": "printf hello"}"#);
    assert_eq!(code, 0, "{whole:#}");
    let members: Vec<&String> = whole.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "execution_id",
            "status",
            "category",
            "result",
            "stdout",
            "stderr",
            "warnings",
            "nudge",
            "receipt"
        ]
    );
    assert_eq!(
        (&whole["status"], &whole["category"], &whole["receipt"]["exit_code"]),
        (&"completed".into(), &Value::Null, &0.into())
    );
    assert_eq!(whole["receipt"]["execution_id"], whole["execution_id"]);
    assert_eq!(whole["receipt"]["session_id"], "s1");
    assert!(whole["result"].as_str().unwrap().contains("hello"), "{whole:#}");
}

#[test]
fn the_outputs_of_a_command_are_kept_apart() {
    let shop = Shop::new(&[("a.txt", "one\n")]);
    let both = r#"{"command": "printf out; printf err >&2; exit 3"}"#;
    let (_, whole) = shop.json("run shell --json --yes", both);
    assert_eq!((&whole["stdout"], &whole["stderr"]), (&"out".into(), &"err".into()), "{whole:#}");
    assert!(whole["result"].as_str().unwrap().contains("out\n[stderr]\nerr"), "{whole:#}");
    let (_, whole) = shop.json("run read_file --json path=a.txt", "");
    assert!(whole.get("stdout").is_none() && whole.get("stderr").is_none(), "{whole:#}");
}

/// A program with a name that a filter knows.
#[test]
fn what_a_filter_shortened_is_answered_with_its_confidence() {
    let script = "for n in 1 2 3 4 5 6 7 8 9; do echo \"   Compiling crate$n v1.0.$n (x)\"; done\n\
                  echo unknown\n";
    let shop = Shop::new(&[("cargo", &format!("#!/bin/sh\n{script}"))]);
    shop.run("run shell --yes", r#"{"command": "chmod +x cargo"}"#);
    let (_, whole) = shop.json("run shell --json --yes", r#"{"command": "./cargo build"}"#);
    assert_eq!(whole["filtered"], "partial", "{whole:#}");
}

#[test]
fn the_result_goes_to_standard_output_and_the_rest_beside_it() {
    let shop = Shop::new(&[("call.json", r#"{"command": "echo hello"}"#)]);
    let ran = shop.run("run shell --yes --session s1 --args @call.json", "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "hello\n"), "{ran}");
    assert!(ran.err.starts_with("completed in ") && ran.err.contains(", session s1\n"), "{ran}");
    let input = r#"{"command": "echo from input"}"#;
    let words = ["run", "shell", "--yes", "--args", "-"];
    let ran = shop.0.spawn(&[("COUNTERFOIL_STATE", "state")], &words, input);
    assert_eq!((ran.code, ran.out.as_str()), (0, "from input\n"), "{ran}");
    let ran = shop.run("run shell --args @absent.json", "");
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.starts_with("error: cannot read the arguments from absent.json: "), "{ran}");
}

#[test]
fn what_does_not_complete_exits_with_1_and_leaves_a_receipt() {
    let shop = Shop::new(&[]);
    for (line, arguments, status, category) in [
        ("run shell --yes", r#"{"command": "exit 3"}"#, "failed", "PermanentFailure"),
        ("run shell --yes", r#"{"command": "sudo ls"}"#, "denied", "PolicyBlocked"),
        ("run shell", r#"{"command": "touch x"}"#, "denied", "ConfirmationRequired"),
        ("run shel", r#"{"command": "ls"}"#, "refused", "ToolNotFound"),
        ("run shell", r#"{"command": 3}"#, "refused", "TypeMismatch"),
        ("run shell", "nonsense", "refused", "InvalidParameters"),
        ("run shell --yes", r#"{"command": "sleep 60", "timeout_secs": 1}"#, "timeout", "Timeout"),
    ] {
        let (code, whole) = shop.json(&format!("{line} --json"), arguments);
        assert_eq!(code, 1, "{arguments}: {whole:#}");
        assert_eq!(
            (whole["status"].as_str(), whole["category"].as_str()),
            (Some(status), Some(category)),
            "{arguments}: {whole:#}"
        );
        assert_eq!(whole["receipt"]["status"], status, "{whole:#}");
    }
    assert!(!shop.0.path().join("x").exists(), "nobody agreed");
}

#[test]
fn the_receipt_names_who_agreed() {
    let shop = Shop::new(&[]);
    let (code, whole) = shop.json("run shell --yes --json", r#"{"command": "touch x"}"#);
    assert_eq!(code, 0, "{whole:#}");
    // The account, and not what a variable says.
    let who = whole["receipt"]["permit"]["who"].as_str().unwrap();
    assert!(who.ends_with(" (--yes)") && !who.starts_with("someone-else"), "{whole:#}");
    assert!(shop.0.path().join("x").exists());
}

#[test]
fn a_quota_is_counted_across_runs() {
    let shop = Shop::new(&[("counterfoil.toml", "[tools]\nmax_tool_calls_per_session = 1\n")]);
    let line = "run shell --yes --json --session s1";
    let (code, first) = shop.json(line, r#"{"command": "true"}"#);
    assert_eq!(code, 0, "{first:#}");
    let (code, second) = shop.json(line, r#"{"command": "true"}"#);
    assert_eq!((code, &second["receipt"]["codes"][0]), (1, &"quota_blocked".into()), "{second:#}");
}

#[test]
fn the_tools_and_who_may_use_them() {
    let shop = Shop::new(&[(
        "counterfoil.toml",
        "[tools.dependencies]\nenabled = true\n[tools.dependencies.rules.bash]\nrequires = [\"shell\"]\n",
    )]);
    assert_snapshot!(shop.run("tools", ""), @"
    exit 0
     TOOL            FROM      EFFECTS                     PARAMETERS                                 OFFERED
     bash            built in  reads, writes, network      command, cwd?, timeout_secs?, background?  no: waits for shell
     edit_file       built in  reads, writes               path, old, new, all?                       yes
     fetch           built in  reads, network, repeatable  url                                        yes
     find_files      built in  reads, repeatable           pattern, path?                             yes
     grep            built in  reads, repeatable           pattern, path?, glob?                      yes
     list_directory  built in  reads, repeatable           path                                       yes
     read_file       built in  reads, repeatable           path, offset?, limit?                      yes
     read_overflow   built in  reads, repeatable           id, offset?, limit?                        yes
     scrape          built in  reads, network, repeatable  url                                        yes
     shell           built in  reads, writes, network      command, cwd?, timeout_secs?, background?  yes
     shell_output    built in  reads                       run                                        yes
     shell_stop      built in  reads, writes               run                                        yes
     write_file      built in  reads, writes, repeatable   path, content                              yes
    ");
    let line = "run shell --yes --session s1";
    assert_eq!(shop.run(line, r#"{"command": "true"}"#).code, 0);
    let (_, rows) = shop.json("tools --session s1 --format json", "");
    let offered: Vec<(&str, bool)> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["offered"].as_bool().unwrap()))
        .collect();
    let names = [
        "bash",
        "edit_file",
        "fetch",
        "find_files",
        "grep",
        "list_directory",
        "read_file",
        "read_overflow",
        "scrape",
        "shell",
        "shell_output",
        "shell_stop",
        "write_file",
    ];
    assert_eq!(offered, names.map(|name| (name, true)));
    assert_eq!(shop.run("tools --session s2", "").code, 2);
    assert_eq!(shop.run("stats --session s2", "").code, 2, "looking begins no session");
}

#[test]
fn files_are_read_and_written_with_receipts() {
    let shop = Shop::new(&[("notes.txt", "one\ntwo\n"), (".env", "KEY=1")]);
    let ran = shop.run("run read_file --session s1", r#"{"path": "notes.txt", "offset": 2}"#);
    assert_eq!((ran.code, ran.out.as_str()), (0, "two\n"), "{ran}");
    let (code, whole) =
        shop.json("run write_file --json", r#"{"path": "new/x.txt", "content": "hello"}"#);
    assert_eq!(code, 0, "nobody is asked inside the workspace: {whole:#}");
    let wrote: Vec<&str> = whole["receipt"]["side_effects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|effect| effect["wrote"].as_str().unwrap())
        .collect();
    let folder = shop.0.path().canonicalize().unwrap();
    let expected = ["new", "new/x.txt"].map(|name| folder.join(name).to_str().unwrap().to_owned());
    assert_eq!(wrote, expected);
    assert_eq!(std::fs::read_to_string(folder.join("new/x.txt")).unwrap(), "hello");
    for (tool, arguments, category) in [
        ("read_file", r#"{"path": ".env"}"#, "PolicyBlocked"),
        ("read_file", r#"{"path": "/etc/passwd"}"#, "PolicyBlocked"),
        ("read_file", r#"{"path": "state/ledger.db"}"#, "PolicyBlocked"),
        ("write_file", r#"{"path": "state/audit.jsonl", "content": "forged"}"#, "PolicyBlocked"),
        ("write_file", r#"{"path": "counterfoil.toml", "content": ""}"#, "PolicyBlocked"),
        ("read_file", r#"{"path": "absent"}"#, "PermanentFailure"),
        ("read_file", r#"{"path": "notes.txt", "limit": 0}"#, "InvalidParameters"),
        ("edit_file", r#"{"path": "notes.txt", "old": "x", "new": "y"}"#, "InvalidParameters"),
    ] {
        let (code, whole) = shop.json(&format!("run {tool} --yes --json"), arguments);
        assert_eq!((code, whole["category"].as_str()), (1, Some(category)), "{whole:#}");
    }
    let (_, whole) = shop
        .json("run write_file --json --trust untrusted", r#"{"path": "y", "content": "hello"}"#);
    assert_eq!(whole["category"], "ConfirmationRequired", "{whole:#}");
    assert!(!folder.join("y").exists());
}

/// Starts a local server that greets every client; returns its port and the number of clients.
fn greeter() -> (u16, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let came = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&came);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<p>hello</p>",
            );
        }
    });
    (port, came)
}

#[test]
fn pages_are_fetched_where_the_operator_says_so_and_past_every_proxy() {
    let (port, came) = greeter();
    let (proxy, proxied) = greeter();
    let url = format!(r#"{{"url": "http://127.0.0.1:{port}/"}}"#);
    let run = |desk: &Desk, words: &[&str]| {
        let proxy = format!("http://127.0.0.1:{proxy}");
        let variables: Vec<(&str, &str)> = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
            .into_iter()
            .map(|name| (name, proxy.as_str()))
            .chain([("COUNTERFOIL_STATE", "state"), ("USER", "someone-else")])
            .collect();
        desk.spawn(&variables, words, "")
    };
    let closed = Desk::with(&[]);
    let ran = run(&closed, &["run", "fetch", "--yes", "--args", &url]);
    assert!(ran.code == 1 && ran.err.starts_with("failed"), "{ran}");
    let unapproved =
        run(&closed, &["run", "fetch", "--args", r#"{"url": "https://example.com/"}"#]);
    assert!(
        unapproved.code == 1 && unapproved.err.starts_with("denied"),
        "nobody agreed: {unapproved}"
    );
    assert_eq!(came.load(std::sync::atomic::Ordering::SeqCst), 0);

    let file = format!("[tools.web]\nallow_private_hosts = [\"127.0.0.1:{port}\"]\n");
    let opened = Desk::with(&[("counterfoil.toml", &file)]);
    let ran = run(&opened, &["run", "scrape", "--json", "--args", &url]);
    assert_eq!(ran.code, 0, "{ran}");
    let whole: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(whole["result"], "hello");
    assert_eq!(whole["receipt"]["side_effects"][0]["reached"], format!("127.0.0.1:{port}"));
    let log = std::fs::read_to_string(opened.path().join("state/audit.jsonl")).unwrap();
    let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(
        line["egress"],
        serde_json::json!([{
            "host": format!("127.0.0.1:{port}"), "address": "127.0.0.1", "method": "GET",
            "status": 200, "bytes": 12
        }])
    );
    assert_eq!(came.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(proxied.load(std::sync::atomic::Ordering::SeqCst), 0, "a proxy was asked");
}

#[test]
fn what_was_called_is_counted() {
    let shop = Shop::new(&[]);
    let missing = shop.run("stats", "");
    assert!(missing.code == 2 && missing.err.starts_with("error: nothing has been recorded yet"));
    for (line, arguments) in [
        ("run shell --yes --session a", r#"{"command": "true"}"#),
        ("run shell --yes --session a", r#"{"command": "exit 3"}"#),
        ("run shel --session b", "{}"),
        ("run shel --session b", "{}"),
        ("run find_everything --session b", "{}"),
        ("run shell --session b", r#"{"command": "sudo ls"}"#),
    ] {
        shop.run(line, arguments);
    }
    assert_snapshot!(shop.run("stats", ""), @"
    exit 0
    6 calls in 2 sessions: 1 completed, 1 denied, 1 failed, 3 refused

     TOOL             CALLS  COMPLETED  DENIED  FAILED  REFUSED
     shell                3          1       1       1        -
     shel                 2          -       -       -        2
     find_everything      1          -       -       -        1

     MODEL    CALLS  COMPLETED  DENIED  FAILED  REFUSED
     unknown      6          1       1       1        3

     REJECTED FOR     CALLS
     UNKNOWN_TOOL         3
     blocked_command      1

     RESULT FILTER  CHANGED
     feedback             1

     TOOLS THAT DO NOT EXIST  CALLED  CLAIMED
     shel                          2        0
     find_everything               1        0
    ");
    let (code, counted) = shop.json("stats --session b --format json", "");
    assert_eq!((code, &counted["calls"], &counted["sessions"]), (0, &4.into(), &1.into()));
    let shel = serde_json::json!({"tool": "shel", "calls": 2, "claims": 0});
    assert_eq!(counted["hallucinated_tools"][0], shel);
    assert_eq!(shop.run("stats --session c", "").code, 2);
}

#[test]
fn a_recorded_session_is_checked() {
    let shop = Shop::new(&[]);
    shop.run("run shell --yes --session s1", r#"{"command": "exit 3"}"#);
    let ran = shop.run("check --session s1", "");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("1 transcript"), "{ran}");
    for (answer, code) in [
        ("All tests pass.", 1),
        ("I have cancelled order #W1.", 1),
        ("The command ended with exit code 3.", 0),
    ] {
        let ran = shop.0.run_with("--state state check --session s1 --answer -", answer);
        assert_eq!(ran.code, code, "{answer}: {ran}");
    }
    let ran = shop.run("check --session s2", "");
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error: the ledger has no session `s2`
    ");
}

#[test]
fn a_state_that_cannot_be_used_runs_nothing() {
    let desk = Desk::with(&[("file", "")]);
    for (state, expected) in [("file", "is not a folder"), ("file/below", "is a file")] {
        let words = ["run", "shell", "--yes", "--args", r#"{"command": "touch ran"}"#];
        let ran = desk.spawn(&[("COUNTERFOIL_STATE", state)], &words, "");
        assert!(ran.code == 2 && ran.err.contains(expected), "{ran}");
    }
    assert!(!desk.path().join("ran").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupted_call_is_recorded_as_cancelled() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    let desk = Desk::with(&[]);
    let fifo = desk.path().join("started");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let arguments = r#"{"command": "{ echo on; sleep 600; } > started"}"#;
    let child = Command::new(env!("CARGO_BIN_EXE_counterfoil"))
        .args(["run", "shell", "--yes", "--json", "--args", arguments])
        .current_dir(desk.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("COUNTERFOIL_STATE", desk.path().join("state"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut held = BufReader::new(std::fs::File::open(&fifo).unwrap());
    let mut begun = String::new();
    held.read_line(&mut begun).unwrap();
    assert_eq!(begun, "on\n");
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    // The file ends only when no process holds it open: nothing is left running.
    assert_eq!(std::io::Read::read_to_end(&mut held, &mut Vec::new()).unwrap(), 0);
    let whole: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&whole["status"], &whole["category"], &whole["receipt"]["status"]),
        (&"cancelled".into(), &"Cancelled".into(), &"cancelled".into()),
        "{whole:#}"
    );
}

/// The command outlives the call that started it, so the call does not show how it ended.
#[test]
fn what_was_started_in_the_background_has_not_passed() {
    let shop = Shop::new(&[]);
    let arguments = r#"{"command": "cargo test", "background": true}"#;
    let started = shop.run("run shell --yes --session s1", arguments);
    assert_eq!(started.code, 0, "{started}");
    let line = "--state state check --session s1 --answer -";
    let ran = shop.0.run_with(line, "All tests pass.");
    assert!(ran.to_string().contains("(1 claim: 1 not checkable; coverage 0%)"), "{ran}");
    let audited = shop.0.run("--state state audit query --session s1 --format jsonl").out;
    let audited: Value = serde_json::from_str(&audited).unwrap();
    assert_eq!(audited["exit_code_missing"], "the command is still running in the background");
    let id = audited["execution_id"].as_str().unwrap();
    for (claim, finding) in [
        ("The command completed successfully", "CS004"),
        ("I started the tests in the background", "no findings"),
    ] {
        let ran = shop.0.run_with(line, &format!("{claim} (execution_id: {id})."));
        assert!(ran.to_string().contains(finding), "{ran}");
    }
}

/// With a window, an answer given now may cite only recent executions.
#[test]
fn an_answer_cites_within_the_window() {
    let shop = Shop::new(&[]);
    let made = shop.run("run shell --yes --json --session s1", r#"{"command": "true"}"#);
    let receipt: Value = serde_json::from_str(&made.out).unwrap();
    let claim =
        format!("It is done (execution_id: {}).", receipt["execution_id"].as_str().unwrap());
    std::thread::sleep(Duration::from_millis(2_100));
    for (window, code) in [(1, "CS003"), (600, "no findings")] {
        let line =
            format!("--state state check --session s1 --answer - --execution-window {window}");
        let ran = shop.0.run_with(&line, &claim);
        assert!(ran.to_string().contains(code), "{ran}");
    }
}

/// Repetition is counted per session, whichever process makes the call.
#[test]
fn the_same_failing_call_is_refused_in_another_process_too() {
    let desk = Desk::with(&[]);
    let call = |session: &str| {
        let arguments = r#"{"path":"none.txt"}"#;
        let words = [
            "run",
            "read_file",
            "--session",
            session,
            "--from-agent",
            "--json",
            "--args",
            arguments,
        ];
        let ran = desk.spawn(&[("COUNTERFOIL_STATE", "state")], &words, "");
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        answer["category"].as_str().unwrap_or_default().to_owned()
    };
    let ends: Vec<String> = (0..8).map(|_| call("one")).collect();
    assert_ne!(ends.first(), ends.last(), "{ends:?}");
    assert_eq!(Some(&call("another")), ends.first());
}

#[test]
fn arguments_are_also_given_as_words() {
    let shop = Shop::new(&[("notes.txt", "one\ntwo\n")]);
    assert_eq!(shop.run("run shell --yes -- printf %s! hello", "").out, "hello!\n");
    assert_eq!(shop.run("run shell --yes command=pwd", "").code, 0);
    assert!(shop.run("run read_file path=notes.txt limit=1", "").out.contains("one"));
    assert_snapshot!(shop.run("run read_file notes.txt", ""), @"
    exit 2
    --- stderr
    error: expected KEY=VALUE, got `notes.txt`
      help: to pass a command line, put it after `--`
    ");
    assert_snapshot!(shop.run("run read_file -- notes.txt", ""), @"
    exit 2
    --- stderr
    error: `read_file` does not accept a command line
      help: pass its arguments as `KEY=VALUE`
    ");
}

#[test]
fn a_call_is_recorded_with_its_surroundings_and_repetition_is_counted() {
    let shop = Shop::new(&[]);
    let line = "run shell --yes --json --session s1 --model m1 --phase verifier --caller helper";
    for _ in 0..4 {
        let (_, whole) = shop.json(line, r#"{"command": "cat nothing"}"#);
        let receipt = &whole["receipt"];
        let context = (&receipt["model"], &receipt["phase"], &receipt["caller_id"]);
        assert_eq!(context, (&"m1".into(), &"verifier".into(), &"helper".into()), "{receipt:#}");
    }
    let (_, counted) = shop.json("stats --format json", "");
    assert_eq!(counted["by_model"]["m1"]["failed"], 4);
    let repeated = &counted["repetitions"][0];
    assert_eq!((&repeated["tool"], &repeated["count"]), (&"shell".into(), &4.into()));
    assert_eq!(counted["repetitions"].as_array().unwrap().len(), 1);
}

#[test]
fn repetition_across_runs_is_reported_counted_and_refused() {
    let config = "[tools.fixation]\nstreak = 2\nwindow = 3\n";
    let shop = Shop::new(&[("counterfoil.toml", config)]);
    let repetition = |session: &str| {
        let (_, counted) = shop.json(&format!("stats --session {session} --format json"), "");
        let all = counted["repetitions"].as_array().unwrap().clone();
        assert_eq!(all.len(), 1, "{all:?}");
        (all[0]["count"].as_u64().unwrap(), all[0]["refused"].as_bool().unwrap())
    };
    for n in 1..=5 {
        let (_, whole) = shop.json(&format!("run shell --yes --json --session f -- echo {n}"), "");
        let nudge = whole["nudge"].as_str().unwrap_or_default();
        assert_eq!(nudge.starts_with("You have called `shell`"), n > 1, "{whole:#}");
    }
    assert_eq!(repetition("f"), (5, false));
    std::fs::write(shop.0.path().join("there.txt"), "hi").unwrap();
    for n in 1..=4 {
        let (_, whole) = shop.json("run read_file --json --session s path=there.txt", "");
        let nudge = whole["nudge"].as_str().unwrap_or_default();
        let expected = nudge.starts_with(&format!("You have called `read_file` {n} times with"));
        assert_eq!(expected, n > 2, "{whole:#}");
    }
    for n in 1..=6 {
        let ran = shop.run("run read_file --session g path=nope.txt", "");
        assert_eq!(ran.err.contains("REPEATED_CALL"), n > 2, "{ran}");
    }
    assert_eq!(repetition("g"), (6, true));
    let (_, whole) = shop.json("run read_file --json --session g path=nope.txt", "");
    let nudge = whole["nudge"].as_str().unwrap_or_default();
    assert!(nudge.starts_with("You have called `read_file` 7 times"), "{whole:#}");
}

#[test]
fn no_one_is_asked_about_a_time_limit_that_the_shell_refuses() {
    let shop = Shop::new(&[]);
    for (seconds, refused) in [(600, false), (601, true)] {
        let arguments = json!({ "command": "touch x", "timeout_secs": seconds }).to_string();
        let (_, whole) = shop.json("run shell --json --from-agent", &arguments);
        let result = whole["result"].as_str().unwrap();
        assert_eq!(result.contains("must be at most 600, got 601"), refused, "{whole:#}");
        assert_eq!(whole["status"] == "refused", refused, "{whole:#}");
    }
}

#[test]
fn the_id_of_an_execution_is_shown_as_configured() {
    for (way, expected) in [("metadata", false), ("trailer", true), ("embed", true)] {
        let config = format!("[tools]\nshow_id = \"{way}\"\n");
        let shop = Shop::new(&[("counterfoil.toml", &config)]);
        let ran = shop.run("run shell --yes -- echo hello", "");
        assert_eq!(ran.out.contains("execution_id"), expected, "{way}: {ran}");
    }
}

#[test]
fn what_replaces_a_false_answer_is_reported() {
    let shop = Shop::new(&[("answer.txt", "I cancelled your order.")]);
    shop.run("run shell --yes --session s1 -- echo hello", "");
    let ran = shop.run("check --session s1 --answer answer.txt", "");
    assert!(ran.err.contains("replacement for the answer:"), "{ran}");
    assert!(ran.err.contains("I apologize: my answer said things"), "{ran}");
}

/// One of our own servers takes the place of any other.
#[test]
fn the_tools_of_configured_servers_are_ours() {
    let program = env!("CARGO_BIN_EXE_counterfoil");
    let server = format!(
        "command = [\"{program}\", \"--state\", \"inner\", \"mcp\", \"--builtin\", \"file\"]"
    );
    let denied = "[[tools.permissions.rules]]\ntool = \"own__write_*\"\naction = \"deny\"\n";
    let config = format!(
        "[mcp.servers.own]\n{server}\n[mcp.servers.dead]\ncommand = [\"/nowhere/server\"]\n\
         [mcp.servers.off]\nenabled = false\n{server}\n{denied}"
    );
    let user = "home/.config/counterfoil/counterfoil.toml";
    let shop = Shop::new(&[(user, config.as_str()), ("notes.txt", "one\n")]);
    let ran = shop.run("tools", "");
    assert!(ran.out.contains("own__read_file") && ran.out.contains("MCP server own"), "{ran}");
    assert!(!ran.out.contains("off__") && !ran.out.contains("dead__"), "{ran}");
    assert!(ran.err.contains("note: the MCP server `dead`: "), "{ran}");
    let (code, whole) = shop.json("run own__read_file --json --yes", r#"{"path": "notes.txt"}"#);
    assert_eq!((code, &whole["receipt"]["tool"]), (0, &"own__read_file".into()), "{whole:#}");
    assert!(whole["result"].as_str().unwrap().contains("one"), "{whole:#}");
    let ran = shop.run("run own__read_file --yes", r#"{"path": 7}"#);
    assert!(ran.code == 1 && ran.out.contains("[WRONG_TYPE]"), "{ran}");
    let ran = shop.run("run own__write_file --yes", r#"{"path": "a", "content": "b"}"#);
    assert!(ran.code == 1 && ran.err.contains("denied"), "{ran}");
    let ran = shop.run("run dead__x", "{}");
    assert!(ran.code == 2 && ran.err.contains("the MCP server `dead`"), "{ran}");
}
