//! `approve`: what can be approved, and how. What an approval does is tested in the guard.

use serde_json::{Value, json};

use crate::{Desk, Ran};

fn spawn(desk: &Desk, words: &[&str]) -> Ran {
    desk.spawn(&[("COUNTERFOIL_STATE", "state")], words, "")
}

#[test]
fn only_what_waits_for_somebody_is_approved() {
    let rule = "[[tools.permissions.rules]]\ntool = \"shell\"\naction = \"deny\"\n";
    let desk = Desk::with(&[("counterfoil.toml", rule)]);
    let args = json!({ "command": "echo x" }).to_string();
    let denied = spawn(&desk, &["run", "shell", "--json", "--args", &args]);
    let whole: Value = serde_json::from_str(&denied.out).unwrap();
    let id = whole["execution_id"].as_str().unwrap();
    for (id, expected) in [
        (id, "is not waiting for approval: "),
        ("shell_1_00000000", "no receipt for `shell_1_00000000`"),
    ] {
        let ran = spawn(&desk, &["approve", id]);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains(expected), "{ran}");
    }
}
