//! The ledger on PostgreSQL, from the command line: moved there, written, read, verified.

#[path = "../../../guard/tests/it/ledger/postgres/server.rs"]
#[expect(dead_code, clippy::panic, reason = "the tests of the ledger use all of it")]
mod server;

use serde_json::Value;
use server::Server;

use crate::Desk;

const CALL: &str = r#"{"command": "printf hello"}"#;

#[expect(clippy::print_stderr, reason = "a test that was skipped says so")]
fn start() -> Option<Server> {
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
    assert!(moved.out.contains("copied to postgres:///postgres?host="), "{moved}");
    let again =
        desk.spawn(&[("COUNTERFOIL_STATE", "one")], &["audit", "migrate", "--to", &url], "");
    assert_eq!(again.code, 2, "{again}");
    assert!(again.err.contains("holds a ledger already"), "{again}");

    // Another replica has a state folder of its own, and a copy of the key.
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
    assert!(verified.out.contains("events of 1 session"), "{verified}");
    server.sql("SET session_replication_role = replica; DELETE FROM agents.events WHERE seq = 1");
    let broken = desk.spawn(&[("COUNTERFOIL_STATE", "nowhere")], &verify, "");
    assert_eq!(broken.code, 1, "{broken}");
    assert!(broken.out.contains("event 1: it is missing"), "{broken}");
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
