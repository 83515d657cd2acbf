//! The examples in `docs/audit.md` work.

use std::process::{Command, Output};

use counterfoil_redact::Redactor;

use super::Shelf;

const PAGE: &str = include_str!("../../../../../docs/audit.md");

/// Runs the page's verifier on the log; `None` if Python is not installed.
fn verified(shelf: &Shelf) -> Option<Output> {
    let script = PAGE.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    Command::new("python3").arg("-c").arg(script).arg(shelf.path()).output().ok()
}

#[test]
fn the_pages_verifier_agrees() {
    let shelf = Shelf::filled(4);
    let Some(sound) = verified(&shelf) else {
        println!("not checked: there is no python3 here");
        return;
    };
    let head = shelf.verify(None).head;
    assert_eq!(String::from_utf8(sound.stdout).unwrap(), format!("4 {}\n", head.digest));
    let text = std::fs::read_to_string(shelf.path()).unwrap();
    for changed in [
        text.replace("fault 2", "fault 3"),
        text.replace("\"digest\":\"", "\"digest\": \""),
        text.split_inclusive('\n').skip(1).collect(),
        text.split_inclusive('\n').rev().collect(),
    ] {
        std::fs::write(shelf.path(), changed).unwrap();
        assert!(!verified(&shelf).unwrap().status.success());
        assert!(!shelf.verify(None).sound());
    }
}

#[test]
fn the_page_names_every_member_and_every_pattern() {
    let shelf = Shelf::filled(1);
    let line = std::fs::read_to_string(shelf.path()).unwrap();
    let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).unwrap();
    let patterns = Redactor::patterns();
    let names = members.keys().cloned();
    let names = names.chain(patterns.flat_map(|(n, c)| [n.to_owned(), c.name().to_owned()]));
    for name in
        names.chain(["egress", "exit_code_missing", "missed", "set_aside"].map(str::to_owned))
    {
        assert!(PAGE.contains(&format!("`{name}`")), "{name}");
    }
}
