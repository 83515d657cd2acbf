//! `audit`: lines are shown, counted and verified.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use counterfoil_ledger::{
    AuditEntry, AuditLog, AuditResult, AuditSettings, Draft, ExitCode, Ledger, LedgerSettings,
};
use counterfoil_model::ToolErrorCategory;
use insta::assert_snapshot;
use serde_json::json;

use crate::steady::{Fixed, Ticking};
use crate::{Desk, Ran};

fn entries() -> Vec<AuditEntry> {
    let call = |command: &str| json!({ "command": command });
    let failed = |message: &str, category| AuditResult::Error { message: message.into(), category };
    vec![
        AuditEntry {
            exit_code: ExitCode::Code(0),
            session_id: Some("s1".into()),
            execution_id: Some("shell_1793620800000_00000001".into()),
            approved_by: Some("auto".into()),
            ..AuditEntry::new("shell", call("cargo test"), AuditResult::Success)
        },
        AuditEntry {
            exit_code: ExitCode::Code(101),
            session_id: Some("s1".into()),
            ..AuditEntry::new(
                "shell",
                call("cargo test \u{1b}[2J"),
                failed("3 tests failed\nand more", ToolErrorCategory::PermanentFailure),
            )
        },
        AuditEntry {
            exit_code: ExitCode::Missing("it was blocked".into()),
            session_id: Some("s2".into()),
            policy_match: Some("blocklist".into()),
            ..AuditEntry::new(
                "shell",
                call("sudo true"),
                AuditResult::Blocked {
                    reason: "`sudo` is never run".into(),
                    category: ToolErrorCategory::PolicyBlocked,
                },
            )
        },
        AuditEntry::new("fetch", json!({ "url": "https://example.org" }), AuditResult::Timeout),
    ]
}

/// Creates a state folder with four calls, and a ledger beside them.
fn recorded() -> Desk {
    let desk = Desk::with(&[("state/.keep", "")]);
    let state = desk.path().join("state");
    record(&state, &entries());
    desk
}

fn record(state: &Path, entries: &[AuditEntry]) {
    // 2026-11-02T12:00:00Z
    let clock = Arc::new(Ticking::from(1_793_620_800_000));
    let log = AuditLog::open(&state.join("audit.jsonl"), AuditSettings::default(), clock.clone());
    let log = log.unwrap();
    entries.iter().for_each(|entry| log.append(entry).unwrap());
    let settings = LedgerSettings::default();
    let ledger = Ledger::open(&state.join("ledger.db"), settings, clock, Arc::new(Fixed(7)));
    let (ledger, _) = ledger.unwrap();
    ledger.append("s1", Draft::Ended, Vec::new()).wait().unwrap();
}

fn run(desk: &Desk, line: &str) -> Ran {
    let mut ran = desk.run(&format!("audit {line} --state state"));
    let folder = desk.path().display().to_string();
    for text in [&mut ran.out, &mut ran.err] {
        *text = text.replace(&folder, "[desk]");
    }
    ran
}

#[test]
fn the_last_lines() {
    assert_snapshot!(run(&recorded(), "tail"), @r#"
    exit 0
    2026-11-02 12:00:00Z  success   shell  {"command":"cargo test"}
                          id shell_1793620800000_00000001 · session s1 · allowed by the gates, without asking the user
    2026-11-02 12:00:01Z  error     shell  exit 101  {"command":"cargo test \u001b[2J"}
                          PermanentFailure: 3 tests failed and more
                          session s1
    2026-11-02 12:00:02Z  blocked   shell  {"command":"sudo true"}
                          PolicyBlocked: `sudo` is never run
                          session s2 · rule blocklist
    2026-11-02 12:00:03Z  timeout   fetch  {"url":"https://example.org"}
                          Timeout
    "#);
    assert_snapshot!(run(&recorded(), "tail -n 1"), @r#"
    exit 0
    2026-11-02 12:00:03Z  timeout   fetch  {"url":"https://example.org"}
                          Timeout
    "#);
}

#[test]
fn lines_as_they_stand_in_the_file() {
    let desk = recorded();
    let file = std::fs::read_to_string(desk.path().join("state/audit.jsonl")).unwrap();
    assert_eq!(run(&desk, "query --format jsonl").out, file);
    let array: Vec<serde_json::Value> =
        serde_json::from_str(&run(&desk, "query --format json").out).unwrap();
    assert_eq!(array.len(), 4);
    assert_eq!(run(&desk, "query --tool absent --format json").out, "[]\n");
}

#[test]
fn queries() {
    let desk = recorded();
    let tools = |line: &str| {
        let ran = run(&desk, &format!("query {line} --format jsonl"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}");
        let seq =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64();
        ran.out.lines().map(|line| seq(line).unwrap()).collect::<Vec<u64>>()
    };
    for (line, expected) in [
        ("", &[0, 1, 2, 3][..]),
        ("--tool shell", &[0, 1, 2]),
        ("--result blocked", &[2]),
        ("--session s1", &[0, 1]),
        ("--category Timeout", &[3]),
        ("--execution-id shell_1793620800000_00000001", &[0]),
        ("--since 2026-11-02T12:00:01Z --until 2026-11-02T12:00:03Z", &[1, 2]),
        ("--since 2026-11-03", &[]),
        ("--tool shell --limit 2", &[1, 2]),
    ] {
        assert_eq!(tools(line), expected, "{line}");
    }
    assert_snapshot!(run(&desk, "query --result sucess"), @r#"
    exit 2
    --- stderr
    error: invalid value 'sucess' for '--result <RESULT>'
      [possible values: success, blocked, error, timeout, rollback]

      tip: a similar value exists: 'success'

    For more information, try '--help'.
    "#);
    assert_snapshot!(run(&desk, "query --since yesterday"), @r#"
    exit 2
    --- stderr
    error: invalid value 'yesterday' for '--since <WHEN>': expected a date (2026-11-02), a time (2026-11-02T12:00:00Z) or an age (90m, 24h, 7d)

    For more information, try '--help'.
    "#);
    assert_snapshot!(run(&desk, "query --caller nobody"), @r#"
    exit 0
    --- stderr
    no matching calls
    "#);
}

#[test]
fn counts() {
    assert_snapshot!(run(&recorded(), "stats"), @r#"
    exit 0
    4 calls, 2026-11-02 12:00Z to 2026-11-02 12:00Z
    3 failed, 1 of them rejected before they ran

     TOOL   CALLS  SUCCESS  BLOCKED  ERROR  TIMEOUT  ROLLBACK
     shell      3        1        1      1        -         -
     fetch      1        -        -      -        1         -

     CATEGORY          CALLS
     PermanentFailure      1
     PolicyBlocked         1
     Timeout               1

     HOUR            CALLS
     2026-11-02T12Z      4  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
    "#);
    assert_snapshot!(run(&recorded(), "stats --tool shell --format json"), @r#"
    exit 0
    {
      "calls": 3,
      "ran_ahead": 0,
      "rejected": 1,
      "failed": 2,
      "missed": 0,
      "first": 1793620800000,
      "last": 1793620802000,
      "by_tool": {
        "shell": {
          "blocked": 1,
          "error": 1,
          "success": 1
        }
      },
      "by_result": {
        "blocked": 1,
        "error": 1,
        "success": 1
      },
      "by_category": {
        "PermanentFailure": 1,
        "PolicyBlocked": 1
      },
      "by_hour": {
        "2026-11-02T12Z": 3
      }
    }
    "#);
}

#[test]
fn a_sound_log() {
    let desk = recorded();
    assert_snapshot!(run(&desk, "verify"), @r"
    exit 0
    audit  [desk]/state/audit.jsonl
      holds   4 lines in 1 file: all unmodified, each linked to the previous one
      open    no separately kept checkpoint was given: a log truncated or rewritten together with its ledger would go undetected
    ledger  [desk]/state/ledger.db
      holds   1 event from 1 session, 1 of them signed; 0 stored results
      open    no separately kept checkpoint was given: events removed from the end would go undetected
      open    no separately kept public key was given: a replaced key would go undetected
    ");
    let kept = run(&desk, "checkpoint");
    assert_eq!(kept.code, 0, "{kept}");
    std::fs::write(desk.path().join("kept.txt"), kept.out).unwrap();
    let clock = Arc::new(Ticking::from(1_793_620_900_000));
    let path = desk.path().join("state/ledger.db");
    let ledger =
        Ledger::open(&path, LedgerSettings::default(), clock, Arc::new(Fixed(7))).unwrap().0;
    std::fs::write(desk.path().join("key.pem"), ledger.public_key().to_string()).unwrap();
    drop(ledger);
    record(&desk.path().join("state"), &entries());
    assert_snapshot!(run(&desk, "verify --checkpoint kept.txt"), @r#"
    exit 0
    audit  [desk]/state/audit.jsonl
      holds   8 lines in 1 file: all unmodified, each linked to the previous one
      holds   the log continues the saved checkpoint (4 lines); newer lines: 4
      open    the saved checkpoint is signed by the ledger's own key; without a public key obtained separately, a replaced key would go undetected
    ledger  [desk]/state/ledger.db
      holds   2 events from 1 session, 2 of them signed; 0 stored results
      holds   the ledger matches the saved checkpoint
      open    no separately kept public key was given: a replaced key would go undetected
    "#);
    assert_snapshot!(run(&desk, "verify --checkpoint kept.txt --public-key key.pem"), @r#"
    exit 0
    audit  [desk]/state/audit.jsonl
      holds   8 lines in 1 file: all unmodified, each linked to the previous one
      holds   the log continues the saved checkpoint (4 lines); newer lines: 4
      holds   the saved checkpoint is signed by the given public key
    ledger  [desk]/state/ledger.db
      holds   2 events from 1 session, 2 of them signed; 0 stored results
      holds   the ledger matches the saved checkpoint
      holds   the ledger matches the saved public key
    "#);
    assert_snapshot!(run(&desk, "verify --checkpoint kept.txt --public-key key.pem --format json"), @r#"
    exit 0
    {
      "audit": {
        "lines": 8,
        "files": 1,
        "missing_before": 0,
        "size": 8,
        "head": "68b577afadd60b79da57ac5ede7b39887a190f478bd933f1060875bd8ec1604d",
        "broken": null,
        "checkpoints": [
          {
            "size": 4,
            "origin": "counterfoil/ledger/0707070707070707/audit",
            "compared": {
              "is": "continues",
              "newer": 4
            },
            "signed_by": "given key"
          }
        ],
        "ledger": {
          "calls": 0,
          "without_a_line": 0,
          "with_another_outcome": 0,
          "never_ended": 0
        }
      },
      "ledger": [
        {
          "events": 2,
          "sessions": 1,
          "signed": 2,
          "checkpoints": 1,
          "results": 0,
          "checkpoint": "fits",
          "public_key": "fits",
          "broken": null
        }
      ],
      "sound": true
    }
    "#);
}

#[test]
fn keys_that_are_not_the_ledgers_and_keys_that_were() {
    let desk = recorded();
    let open = |key| {
        let clock = Arc::new(Ticking::from(1_793_620_900_000));
        let path = desk.path().join("state/ledger.db");
        Ledger::open(&path, LedgerSettings::default(), clock, Arc::new(Fixed(key))).unwrap().0
    };
    let ledger = open(8);
    std::fs::write(desk.path().join("old.pem"), ledger.public_key().to_string()).unwrap();
    let strange = Ledger::in_memory(Arc::new(Ticking::from(0)), Arc::new(Fixed(9)));
    let strange = strange.unwrap().public_key().to_string();
    std::fs::write(desk.path().join("strange.pem"), strange).unwrap();
    std::fs::write(desk.path().join("kept.txt"), run(&desk, "checkpoint").out).unwrap();
    assert_snapshot!(run(&desk, "verify --checkpoint kept.txt --public-key strange.pem"), @"
    exit 1
    audit  [desk]/state/audit.jsonl
      holds   4 lines in 1 file: all unmodified, each linked to the previous one
      holds   the log continues the saved checkpoint (4 lines); newer lines: 0
      BROKEN  the saved checkpoint is not signed by the given public key
    ledger  [desk]/state/ledger.db
      BROKEN  none of its keys is one of the separately obtained public keys
      BROKEN  the ledger does not match the saved checkpoint
      BROKEN  the ledger does not match the saved public key
    ");

    // The old key signs the new one.
    ledger.rotate_key().unwrap();
    drop(ledger);
    std::fs::write(desk.path().join("newer.txt"), run(&desk, "checkpoint").out).unwrap();
    assert_snapshot!(run(&desk, "verify --checkpoint newer.txt --public-key old.pem"), @r#"
    exit 0
    audit  [desk]/state/audit.jsonl
      holds   4 lines in 1 file: all unmodified, each linked to the previous one
      holds   the log continues the saved checkpoint (4 lines); newer lines: 0
      holds   the saved checkpoint is signed by a key that the given public key endorsed
    ledger  [desk]/state/ledger.db
      holds   1 event from 1 session, 1 of them signed; 0 stored results
      holds   the ledger matches the saved checkpoint
      holds   the ledger matches the saved public key
    "#);
    assert_snapshot!(run(&desk, "verify --checkpoint kept.txt"), @r#"
    exit 1
    audit  [desk]/state/audit.jsonl
      holds   4 lines in 1 file: all unmodified, each linked to the previous one
      holds   the log continues the saved checkpoint (4 lines); newer lines: 0
      BROKEN  the saved checkpoint is not signed by the ledger's current key: pass the key used at that time with `--public-key`
    ledger  [desk]/state/ledger.db
      holds   1 event from 1 session, 1 of them signed; 0 stored results
      holds   the ledger matches the saved checkpoint
      open    no separately kept public key was given: a replaced key would go undetected
    "#);
}

#[test]
fn a_log_that_was_changed() {
    let desk = recorded();
    let kept = run(&desk, "checkpoint").out;
    std::fs::write(desk.path().join("kept.txt"), &kept).unwrap();
    let path = desk.path().join("state/audit.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();

    std::fs::write(&path, text.replace("3 tests", "0 tests")).unwrap();
    assert_snapshot!(run(&desk, "verify --checkpoint kept.txt"), @"
    exit 1
    audit  [desk]/state/audit.jsonl
      BROKEN  [desk]/state/audit.jsonl:2: the digest of the line does not match its content
      open    unmodified before that line: 1 line; the lines after it prove nothing
      open    the saved checkpoint (4 lines) refers to lines after the broken one
      open    the saved checkpoint is signed by the ledger's own key; without a public key obtained separately, a replaced key would go undetected
    ledger  [desk]/state/ledger.db
      holds   1 event from 1 session, 1 of them signed; 0 stored results
      holds   the ledger matches the saved checkpoint
      open    no separately kept public key was given: a replaced key would go undetected
    ");
    assert_snapshot!(run(&desk, "query --session s1"), @r#"
    exit 1
    2026-11-02 12:00:00Z  success   shell  {"command":"cargo test"}
                          id shell_1793620800000_00000001 · session s1 · allowed by the gates, without asking the user
    --- stderr
    error: [desk]/state/audit.jsonl:2: the digest of the line does not match its content
    "#);
    assert_snapshot!(run(&desk, "checkpoint"), @r#"
    exit 1
    --- stderr
    error: [desk]/state/audit.jsonl:2: the digest of the line does not match its content
    "#);

    let cut: String = text.split_inclusive('\n').take(2).collect();
    std::fs::write(&path, cut).unwrap();
    assert_eq!(run(&desk, "verify").code, 0);
    assert_snapshot!(run(&desk, "verify --checkpoint kept.txt"), @r#"
    exit 1
    audit  [desk]/state/audit.jsonl
      holds   2 lines in 1 file: all unmodified, each linked to the previous one
      BROKEN  truncated: the saved checkpoint covers 4 lines, but the log has only 2
      open    the saved checkpoint is signed by the ledger's own key; without a public key obtained separately, a replaced key would go undetected
    ledger  [desk]/state/ledger.db
      holds   1 event from 1 session, 1 of them signed; 0 stored results
      holds   the ledger matches the saved checkpoint
      open    no separately kept public key was given: a replaced key would go undetected
    "#);

    std::fs::remove_file(&path).unwrap();
    assert_snapshot!(run(&desk, "verify"), @r#"
    exit 1
    audit  [desk]/state/audit.jsonl
      BROKEN  there is no audit log `[desk]/state/audit.jsonl`
    ledger  [desk]/state/ledger.db
      holds   1 event from 1 session, 1 of them signed; 0 stored results
      open    no separately kept checkpoint was given: events removed from the end would go undetected
      open    no separately kept public key was given: a replaced key would go undetected
    "#);

    // Signed by another key, and not signed at all.
    std::fs::write(&path, &text).unwrap();
    let forged = kept.replacen("4\n", "3\n", 1);
    std::fs::write(desk.path().join("forged.txt"), forged).unwrap();
    assert_snapshot!(run(&desk, "verify --checkpoint forged.txt"), @r#"
    exit 1
    audit  [desk]/state/audit.jsonl
      holds   4 lines in 1 file: all unmodified, each linked to the previous one
      BROKEN  not the same log: line 3 does not match the saved checkpoint
      BROKEN  the saved checkpoint is not signed by the ledger's current key: pass the key used at that time with `--public-key`
    ledger  [desk]/state/ledger.db
      holds   1 event from 1 session, 1 of them signed; 0 stored results
      holds   the ledger matches the saved checkpoint
      open    no separately kept public key was given: a replaced key would go undetected
    "#);
}

#[test]
fn what_is_missing_is_reported() {
    let desk = Desk::with(&[("state/.keep", ""), ("nonsense.txt", "nonsense")]);
    assert_snapshot!(run(&desk, "tail"), @r"
    exit 2
    --- stderr
    error: there is no audit log `[desk]/state/audit.jsonl`
      help: the first call creates it; use `--state DIR` for a different state folder
    ");
    assert_snapshot!(desk.run("audit tail --state absent").to_string().replace(&desk.path().display().to_string(), "[desk]"), @r#"
    exit 2
    --- stderr
    error: nothing has been recorded yet: `[desk]/absent` does not exist
      help: `counterfoil run` records the calls it makes; use `--state DIR` for another folder
    "#);
    let desk = recorded();
    std::fs::write(desk.path().join("nonsense.txt"), "nonsense").unwrap();
    assert_snapshot!(run(&desk, "verify --checkpoint nonsense.txt"), @r#"
    exit 2
    --- stderr
    error: `nonsense.txt` contains no checkpoint
      help: `counterfoil audit checkpoint` prints a checkpoint
    "#);
    assert_snapshot!(run(&desk, "verify --public-key nonsense.txt"), @r#"
    exit 2
    --- stderr
    error: `nonsense.txt`: not an Ed25519 public key in PEM format
    "#);
}

/// The ledger shows which lines the log should have.
#[test]
fn a_log_that_was_cut_or_emptied_shows_beside_its_ledger() {
    let desk = Desk::with(&[]);
    for _ in 0..4 {
        desk.run("--state state run list_directory --args {\"path\":\".\"} --session s1");
    }
    let log = desk.path().join("state/audit.jsonl");
    let whole = std::fs::read_to_string(&log).unwrap();
    let verify = || desk.run("audit verify --state state");
    let sound = verify();
    assert!(
        sound.out.contains("the log has a line for each of the ledger's 4 finished calls"),
        "{}",
        sound.out
    );
    assert_eq!(sound.code, 0, "{}", sound.out);
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    std::fs::write(&log, lines[..2].concat()).unwrap();
    let cut = verify();
    assert_eq!(cut.code, 1, "{}", cut.out);
    assert!(
        cut.out
            .contains("truncated or rewritten: it has no line for 2 finished calls in the ledger"),
        "{}",
        cut.out
    );
    std::fs::write(&log, "").unwrap();
    assert_eq!(verify().code, 1);
    // Rewritten from the second line on, with digests that fit.
    let mut before = None;
    let rewritten = lines.iter().map(|line| {
        let (body, end) = line.split_once(r#","digest":"#).unwrap();
        let (body, previous) = body.rsplit_once(r#""previous":"#).unwrap();
        let failed = body.replace(r#""success","error_category":null"#, FAILED);
        let (body, previous) = match &before {
            Some(before) => (failed, format!("\"{before}\"")),
            None => (body.to_owned(), previous.to_owned()),
        };
        let body = format!(r#"{body}"previous":{previous}"#);
        let digest = counterfoil_model::Digest::of_bytes(body.as_bytes()).to_string();
        assert!(before.is_some() || end.contains(&digest), "{line}");
        before = Some(digest.clone());
        format!("{body},\"digest\":\"{digest}\"}}\n")
    });
    std::fs::write(&log, rewritten.collect::<String>()).unwrap();
    let other = verify();
    let row = "the ledger has another outcome for 3 calls; the first is `list_directory_";
    assert!(other.code == 1 && other.out.contains(row), "{}", other.out);
}

const FAILED: &str = r#""timeout","error_category":"Timeout""#;

/// The calls as a table, as read by a CSV reader.
#[test]
fn calls_as_a_table() {
    let desk = recorded();
    let ran = run(&desk, "export --csv calls.csv");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{ran}");
    let rows = |file: &str| {
        let mut reader = csv::Reader::from_path(desk.path().join(file)).unwrap();
        let rows = reader.deserialize::<HashMap<String, String>>();
        rows.collect::<Result<Vec<_>, _>>().unwrap()
    };
    let all = rows("calls.csv");
    assert_eq!(all.len(), 4);
    let picked = |row: &HashMap<String, String>| {
        let names = [
            "seq",
            "tool",
            "result",
            "message",
            "exit_code",
            "session_id",
            "truncated",
            "speculative",
        ];
        format!("{:?}", names.map(|name| row[name].as_str()))
    };
    assert_snapshot!(all.iter().map(picked).collect::<Vec<_>>().join("\n"), @r#"
    ["0", "shell", "success", "", "0", "s1", "false", "false"]
    ["1", "shell", "error", "3 tests failed\nand more", "101", "s1", "false", "false"]
    ["2", "shell", "blocked", "`sudo` is never run", "", "s2", "false", "false"]
    ["3", "fetch", "timeout", "", "", "", "false", "false"]
    "#);
    assert_eq!(all[0]["ts"], "2026-11-02T12:00:00Z");
    assert_eq!(all[0]["call"], r#"{"command":"cargo test"}"#);
    let ran = run(&desk, "export --session s2 --csv two.csv");
    assert_eq!((ran.code, rows("two.csv").len()), (0, 1), "{ran}");
    // An existing file is never overwritten.
    assert_snapshot!(run(&desk, "export --csv calls.csv"), @"
    exit 2
    --- stderr
    error: `calls.csv` already exists
      help: use another file name, or delete the existing file first
    ");
    let empty = run(&desk, "export --session none --csv none.csv");
    assert_eq!((empty.code, rows("none.csv").len()), (0, 0), "{empty}");
}

/// A broken line is reported and left out, and sets the exit code.
#[test]
fn a_table_without_the_broken_line() {
    let desk = recorded();
    let log = desk.path().join("state/audit.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.replacen("cargo test", "cargo tesd", 1)).unwrap();
    let ran = run(&desk, "export --csv calls.csv");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.err.contains("audit.jsonl:1"), "{ran}");
}
