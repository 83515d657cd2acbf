//! `doctor` on a machine that can confine, and on one with problems.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::Desk;

fn checks(desk: &Desk, line: &str) -> (i32, Value) {
    let ran = desk.run(&format!("--state state {line} doctor --format json"));
    (ran.code, serde_json::from_str(&ran.out).map_err(|_| ran.to_string()).unwrap())
}

fn status<'v>(whole: &'v Value, name: &str) -> &'v str {
    let checks = whole["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap()["status"].as_str().unwrap()
}

#[test]
fn a_healthy_machine_is_healthy() {
    let desk = Desk::with(&[]);
    let (code, whole) = checks(&desk, "--no-config");
    if whole["checks"].as_array().unwrap().iter().any(|check| {
        ["Landlock", "seccomp"].iter().any(|name| check["name"] == *name)
            && check["status"] == "fail"
    }) {
        println!("not checked: a healthy machine, which this one is not: {whole:#}");
        assert_eq!((code, &whole["healthy"]), (1, &false.into()));
        return;
    }
    assert_eq!(
        (code, &whole["healthy"], &whole["profile"]),
        (0, &true.into(), &"workspace".into()),
        "{whole:#}"
    );
    for name in ["configuration", "state folder", "signing keys", "kernel", "trial"] {
        assert_eq!(status(&whole, name), "ok", "{whole:#}");
    }
    assert!(!desk.path().join("state").exists(), "looking makes nothing");
    let ran = desk.run("--no-config --state state doctor");
    assert!(ran.code == 0 && ran.out.contains("\nok    trial "), "{ran}");
    assert!(ran.out.contains("ok    agents' hooks     no agent has the hook"), "{ran}");
}

#[test]
fn what_is_wrong_is_named_with_what_to_do() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::with(&[
        ("off.toml", "[tools.sandbox]\nprofile = \"off\"\nallow_unconfined = true\n"),
        ("wrong.toml", "[tools.sandbox]\nprofile = \"off\"\n"),
        ("state/ledger.db.key", "not a key"),
    ]);
    let key = desk.path().join("state/ledger.db.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let state = desk.path().join("state");
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    let (code, whole) = checks(&desk, "--config off.toml");
    assert_eq!((code, &whole["profile"]), (1, &"off".into()), "{whole:#}");
    for name in ["trial", "signing keys"] {
        assert_eq!(status(&whole, name), "fail", "{whole:#}");
    }
    // A changed mode is restored.
    assert_eq!(status(&whole, "state folder"), "ok", "{whole:#}");
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    let (code, whole) = checks(&desk, "--config wrong.toml");
    assert_eq!((code, status(&whole, "configuration")), (1, "fail"), "{whole:#}");
    for check in whole["checks"].as_array().unwrap() {
        assert!(check["status"] == "ok" || check["help"].is_string(), "{check:#}");
    }
}
