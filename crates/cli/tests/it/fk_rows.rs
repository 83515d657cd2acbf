//! The worked examples of the FK taxonomy, if they are in a folder beside the repository.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::Desk;

/// The rules whose examples are compared.
const RULES: [&str; 2] = ["FK010", "FK014"];

/// Returns the codes found, by transcript: `rows`, `rows#2`, ….
fn found(desk: &Desk, file: &str) -> BTreeMap<String, Vec<String>> {
    let ran = desk.run(&format!("check {file} --rule FK010,FK014 --format jsonl"));
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
    let wanted = |(row, _): &(Value, &str)| -> Vec<String> {
        row["expectedViolation"].as_str().map(str::to_owned).into_iter().collect()
    };
    let expected: Vec<Vec<String>> = rows.iter().map(wanted).collect();
    let lines: Vec<&str> = rows.iter().map(|(_, line)| *line).collect();

    let array = format!("[{}]", lines.join(","));
    let mut by_id = found(&Desk::with(&[("rows.json", &array)]), "rows.json");
    let mut nth = |n: usize| by_id.remove(&id("rows", n)).unwrap_or_default();
    let in_an_array: Vec<_> = (1..=rows.len()).map(&mut nth).collect();
    assert_eq!(in_an_array, expected);

    let alone = |line: &&str| {
        found(&Desk::with(&[("row.json", line)]), "row.json").remove("row").unwrap_or_default()
    };
    let one_by_one: Vec<_> = lines.iter().map(alone).collect();
    assert_eq!(one_by_one, expected);
}

fn id(stem: &str, n: usize) -> String {
    if n == 1 { stem.to_owned() } else { format!("{stem}#{n}") }
}
