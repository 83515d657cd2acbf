//! The worked examples of the FK taxonomy, when they lie beside the repository.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::Desk;

/// The rules whose rows are compared.
const RULES: [&str; 2] = ["FK010", "FK014"];

/// The codes found, by the id of the row.
fn found(desk: &Desk, file: &str) -> BTreeMap<String, Vec<String>> {
    let ran = desk.run(&format!("check {file} --format jsonl"));
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in ran.out.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["type"] == "finding" {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let codes = found.entry(text(&record["transcript"]["id"])).or_default();
            codes.push(text(&record["rule"]["code"]));
        }
    }
    found
}

#[test]
fn worked_examples_give_their_rule_or_nothing() {
    let path =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/fk_cases.jsonl"));
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: fk_cases.jsonl is not here");
        return;
    };
    let rows: Vec<(Value, &str)> = text
        .lines()
        .map(|line| (serde_json::from_str::<Value>(line).unwrap(), line))
        .filter(|(row, _)| RULES.iter().any(|rule| row["rule"] == *rule))
        .collect();
    assert!(!rows.is_empty());
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (row, _) in &rows {
        if let Some(code) = row["expectedViolation"].as_str() {
            expected.insert(row["id"].as_str().unwrap().to_owned(), vec![code.to_owned()]);
        }
    }
    let array = format!("[{}]", rows.iter().map(|(_, line)| *line).collect::<Vec<_>>().join(","));
    assert_eq!(found(&Desk::with(&[("rows.json", &array)]), "rows.json"), expected);
    let mut one_by_one = BTreeMap::new();
    for (_, line) in &rows {
        one_by_one.append(&mut found(&Desk::with(&[("row.json", line)]), "row.json"));
    }
    assert_eq!(one_by_one, expected);
}
