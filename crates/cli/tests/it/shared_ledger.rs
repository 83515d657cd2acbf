//! The ledger on PostgreSQL, from the command line: migrated, written, read, verified.

#[path = "../../../ledger/tests/it/ledger/postgres/server.rs"]
#[expect(dead_code, clippy::panic, reason = "the tests of the ledger use all of it")]
mod server;

use serde_json::{Value, json};
use server::Server;

use crate::Desk;

const CALL: &str = r#"{"command": "printf hello"}"#;

#[expect(clippy::print_stderr, reason = "a test that was skipped says so")]
pub(crate) fn start() -> Option<Server> {
    match Server::start(&["fsync=off"]) {
        Ok(server) => Some(server),
        Err(why) => {
            eprintln!("SKIPPED: the commands were not tried on PostgreSQL: {why}");
            None
        }
    }
}

fn in_state<'r>(url: &'r str, state: &'r str) -> [(&'r str, &'r str); 3] {
    [("COUNTERFOIL_STATE", state), ("COUNTERFOIL_LEDGER", url), ("USER", "kim")]
}

#[test]
fn a_ledger_moves_and_two_replicas_go_on_with_it() {
    let Some(server) = start() else { return };
    let (desk, url) = (Desk::with(&[]), server.schema("agents"));
    let call = ["run", "shell", "--json", "--yes", "--session", "s1", "--args", CALL];
    let ran = desk.spawn(&[("COUNTERFOIL_STATE", "one"), ("USER", "kim")], &call, "");
    assert_eq!(ran.code, 0, "{ran}");
    let moved =
        desk.spawn(&[("COUNTERFOIL_STATE", "one")], &["audit", "migrate", "--to", &url], "");
    assert_eq!(moved.code, 0, "{moved}");
    assert!(moved.out.contains(" to postgres:///postgres?host="), "{moved}");
    let again =
        desk.spawn(&[("COUNTERFOIL_STATE", "one")], &["audit", "migrate", "--to", &url], "");
    assert_eq!(again.code, 2, "{again}");
    assert!(again.err.contains("already contains a ledger"), "{again}");

    // Another replica has its own state folder and a copy of the key.
    std::fs::create_dir(desk.path().join("two")).unwrap();
    let key = |state: &str| desk.path().join(state).join("ledger.db.key");
    std::fs::copy(key("one"), key("two")).unwrap();
    for state in ["one", "two"] {
        let ran = desk.spawn(&in_state(&url, state), &call, "");
        assert_eq!(ran.code, 0, "{ran}");
        let verified = desk.spawn(&in_state(&url, state), &["audit", "verify"], "");
        assert_eq!(verified.code, 0, "{verified}");
    }
    let stats = desk.spawn(&in_state(&url, "two"), &["stats", "--format", "json"], "");
    let stats: Value = serde_json::from_str(&stats.out).unwrap();
    assert_eq!(stats["calls"], 3, "{stats:#}");
    let doctor = desk.spawn(&in_state(&url, "two"), &["doctor"], "");
    assert!(doctor.out.contains("shared ledger"), "{doctor}");

    // An auditor has neither state nor key.
    let verify = ["audit", "verify", "--ledger", &url];
    let verified = desk.spawn(&[("COUNTERFOIL_STATE", "nowhere")], &verify, "");
    assert_eq!(verified.code, 0, "{verified}");
    assert!(verified.out.contains("events from 1 session"), "{verified}");
    server.sql("SET session_replication_role = replica; DELETE FROM agents.events WHERE seq = 1");
    let broken = desk.spawn(&[("COUNTERFOIL_STATE", "nowhere")], &verify, "");
    assert_eq!(broken.code, 1, "{broken}");
    assert!(broken.out.contains("event 1: it is missing"), "{broken}");
}

#[test]
fn bundles_and_witnessed_checkpoints_are_made_from_it() {
    let Some(server) = start() else { return };
    let (desk, url) = (Desk::with(&[]), server.schema("proved"));
    let audit = |state: &str, words: &str| {
        let words = ["audit"].into_iter().chain(words.split_whitespace()).collect::<Vec<_>>();
        desk.spawn(&in_state(&url, state), &words, "")
    };
    let run = || {
        let call = ["run", "shell", "--yes", "--session", "s1", "--args", CALL];
        let ran = desk.spawn(&in_state(&url, "one"), &call, "");
        assert_eq!(ran.code, 0, "{ran}");
    };
    let none = audit("one", "bundle --session s1 -o none.html");
    assert!(none.code == 2 && none.err.contains("no ledger at `postgres://"), "{none}");
    let begun = server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'proved'");
    assert_eq!(begun, "0", "looking begins nothing");
    run();
    let key = audit("one", "key");
    std::fs::write(desk.path().join("ledger.pub"), &key.out).unwrap();
    let made = audit("one", "bundle --session s1 --with-results -o s1.html");
    assert_eq!(made.code, 0, "{made}");
    let verified = desk.run("audit verify-bundle s1.html --public-key ledger.pub");
    assert!(verified.code == 0 && verified.out.contains("VERIFIED"), "{verified}");
    for notice in ["first checkpoint of this ledger", "no new events since the last checkpoint"] {
        let sent = audit("one", "witness --to ./kept.txt");
        assert!(sent.code == 0 && sent.err.contains(notice), "{sent}");
    }
    run();
    let sent = audit("one", "witness --to ./kept.txt");
    assert!(sent.code == 0 && sent.err.contains("continues the last checkpoint"), "{sent}");
    let verified = audit("one", "verify --witnessed kept.txt --public-key ledger.pub");
    assert!(verified.code == 0, "{verified}");
    // Without the key, a ledger can be verified but not signed.
    let verified = audit("nowhere", "verify --witnessed kept.txt");
    assert!(
        verified.code == 0 && verified.out.contains("matches the saved checkpoint"),
        "{verified}"
    );
    let refused = audit("nowhere", "bundle --session s1 -o none.html");
    assert!(refused.code == 2 && refused.err.contains("is missing"), "{refused}");
}

/// A dashboard of one replica decides on calls of another.
#[cfg(unix)]
#[test]
fn a_dashboard_serves_it_and_its_decisions_hold_everywhere() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(server) = start() else { return };
    let policy = "[tools.permissions]\nrules = [{ tool = \"write_file\", action = \"ask\" }]";
    let files = [("counterfoil.toml", policy), ("tokens", "operate bbbbbbbbbbbbbbbb ada\n")];
    let (desk, url) = (Desk::with(&files), server.schema("served"));
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(desk.path().join("tokens"), private).unwrap();
    let args = json!({ "path": "a.txt", "content": "x" }).to_string();
    let run = || {
        let words = ["run", "write_file", "--from-agent", "--session", "s", "--json", "--args"];
        let ran = desk.spawn(&in_state(&url, "one"), &[&words[..], &[&args]].concat(), "");
        serde_json::from_str::<Value>(&ran.out).unwrap()
    };
    let denied = run();
    assert_eq!(denied["status"], "denied", "{denied}");
    std::fs::create_dir(desk.path().join("two")).unwrap();
    let key = |state: &str| desk.path().join(state).join("ledger.db.key");
    std::fs::copy(key("one"), key("two")).unwrap();
    let variables = in_state(&url, "two");
    let serving =
        crate::server::Server::start(&desk, "serve", &["--token-file", "tokens"], &variables);
    let bearer = "authorization: Bearer bbbbbbbbbbbbbbbb\r\ncontent-type: application/json\r\n";
    let ask = |method: &str, path: &str, body: &str| serving.ask(method, path, bearer, body);
    // The server reads the ledger shortly after it starts.
    let seen = (0..400).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(25));
        ask("GET", "/api/v1/health", "").contains("\"status\":\"ok\"")
    });
    assert!(seen, "{}", ask("GET", "/api/v1/health", ""));
    let decide = |call: &Value, what: &str| {
        let id = call["execution_id"].as_str().unwrap();
        ask("POST", &format!("/api/v1/approvals/{id}/{what}"), "{\"reason\":\"so be it\"}")
    };
    let response = decide(&denied, "grant");
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    let twice = decide(&denied, "grant");
    assert!(twice.starts_with("HTTP/1.1 409"), "{twice}");
    assert_eq!(run()["status"], "completed");
    let denied = run();
    assert_eq!(denied["status"], "denied", "used up");
    let response = decide(&denied, "refuse");
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    let refused = run();
    assert!(refused.to_string().contains("did not approve"), "{refused}");
    for (path, expected) in [
        ("/api/v1/sessions", "\"s\""),
        ("/api/v1/receipts", denied["execution_id"].as_str().unwrap()),
        ("/api/v1/sessions/s/events?limit=2", "\"next\":\""),
        ("/approvals", "write_file"),
    ] {
        let response = ask("GET", path, "");
        assert!(
            response.starts_with("HTTP/1.1 200") && response.contains(expected),
            "{path}: {response}"
        );
    }
    let verified = desk.spawn(&in_state(&url, "one"), &["audit", "verify"], "");
    assert_eq!(verified.code, 0, "{verified}");
}

#[test]
fn a_password_is_never_shown() {
    let desk =
        Desk::with(&[("config.toml", "[ledger]\nurl = \"postgres://me:s3cret@127.0.0.1:1/x\"\n")]);
    for line in [
        "config show --config config.toml",
        "doctor --config config.toml",
        "stats --config config.toml",
        "run shell --args {} --config config.toml",
        "audit verify --ledger postgres://me:s3cret@127.0.0.1:1/x",
        "audit migrate --to postgres://me:s3cret@127.0.0.1:1/x",
        "stats --ledger postgres://me:s3cret@db.example/x?sslmode=prefer",
        "run --help",
    ] {
        let variables = [
            ("COUNTERFOIL_STATE", "state"),
            ("COUNTERFOIL_LEDGER", "postgres://you:s3cret@127.0.0.1:1/y"),
            ("PGPASSWORD", "an0ther"),
        ];
        let variables = if line.contains("config.toml") { &variables[..1] } else { &variables };
        let ran = desk.run_in(variables, line).to_string();
        assert!(!ran.contains("s3cret") && !ran.contains("an0ther"), "{line}: {ran}");
    }
}
