//! The examples: each has exactly the findings listed for it.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::Desk;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// Returns the example sessions and their expected findings. The subfolders contain programs.
fn sessions() -> Vec<DirEntry> {
    let entries = std::fs::read_dir(EXAMPLES).unwrap().flatten();
    entries.filter(|entry| entry.file_type().unwrap().is_file()).collect()
}

/// Creates a desk with a copy of the examples.
fn desk() -> Desk {
    let mut files = Vec::new();
    for entry in sessions() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        files.push((entry.file_name().into_string().unwrap(), text));
    }
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    Desk::with(&files)
}

#[test]
fn every_example_gives_what_is_listed() {
    let listed = std::fs::read_to_string(Path::new(EXAMPLES).join("expected.json")).unwrap();
    let expected: BTreeMap<String, Vec<String>> = serde_json::from_str(&listed).unwrap();
    let desk = desk();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in expected.keys() {
        let ran = desk.run(&format!("check {name} --format jsonl"));
        let codes = found.entry(name.clone()).or_default();
        for line in ran.out.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            if record["type"] == "finding" {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                codes.push(format!(
                    "{} {}",
                    text(&record["rule"]["code"]),
                    text(&record["severity"])
                ));
            }
        }
        codes.sort();
        assert!(ran.code < 2, "{name}: {ran}");
    }
    assert_eq!(found, expected);
}

#[test]
fn every_example_is_listed_and_described() {
    let listed = std::fs::read_to_string(Path::new(EXAMPLES).join("expected.json")).unwrap();
    let readme = std::fs::read_to_string(Path::new(EXAMPLES).join("README.md")).unwrap();
    for entry in sessions() {
        let name = entry.file_name().into_string().unwrap();
        if name == "README.md" || name == "expected.json" {
            continue;
        }
        assert!(listed.contains(&format!("\"{name}\"")), "{name} is not in expected.json");
        assert!(readme.contains(&format!("`{name}`")), "{name} is not in README.md");
    }
}

#[test]
fn a_wrong_order_as_people_see_it() {
    assert_snapshot!(desk().run("check openai-chat-wrong-order.json"), @r##"
    exit 1
    error[FK010]: the agent says `#B20481` was cancelled, but the call to `cancel_order` was for `#B20418`
    --> openai-chat-wrong-order.json:20 (support-20260311-07, turn 10, some-model)
     |
     | Order #B20481 has been cancelled. Your hedge trimmer stays as it is and should ship tomorr…
     | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ contradicted
     |
     = record: cancel_order (call_a3), line 19: {"order_id": "#B20418", "status": "cancelled", "refund…
     = help: name the object of the actual call, or make the call for the object you named

    1 error in 1 transcript (7 claims: 2 supported, 1 contradicted, 4 not judged; coverage 43%)
    "##);
}
