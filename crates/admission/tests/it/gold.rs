//! Tests admission on valid calls, and on the same calls with errors introduced.

use std::collections::BTreeMap;

use counterfoil_admission::{Admission, AdmissionSettings, CallReport};
use counterfoil_model::Arguments;
use serde_json::{Value, json};

use crate::datasets;

/// Gold calls with a value that their own schema forbids: a wrong type, a value outside the `enum`,
/// or a missing required parameter. The test prints what and where.
const LIVE: &[&str] = &[
    "live_simple_106-63-0",
    "live_simple_112-68-0",
    "live_multiple_87-38-4",
    "live_multiple_301-131-0",
    "live_multiple_302-131-1",
    "live_multiple_303-131-2",
    "live_multiple_304-131-3",
    "live_multiple_306-131-5",
    "live_multiple_307-131-6",
    "live_multiple_308-131-7",
    "live_multiple_507-149-4",
    "live_multiple_552-153-1",
    "live_multiple_553-153-2",
    "live_multiple_595-158-1",
    "live_multiple_596-158-2",
    "live_multiple_731-167-2",
    "live_multiple_732-167-3",
    "live_multiple_733-167-4",
    "live_multiple_734-167-5",
    "live_multiple_735-167-6",
    "live_multiple_736-167-7",
    "live_multiple_737-167-8",
    "live_multiple_750-169-5",
    "live_multiple_756-169-11",
    "live_multiple_835-178-10",
    "live_multiple_871-182-8",
    "live_multiple_947-197-0",
    "live_multiple_964-207-0",
    "live_parallel_multiple_2-2-0",
];
/// Gold calls with a value that their own schema forbids.
const ENGLISH: &[&str] = &[
    "normal_atom_object_deep_14",
    "normal_atom_object_deep_25",
    "normal_atom_object_deep_28",
    "normal_atom_object_deep_35",
    "normal_preference_38",
    "normal_single_turn_parallel_function_22",
    "normal_single_turn_parallel_function_68",
    "normal_single_turn_parallel_function_84",
    "normal_single_turn_single_function_50",
    "normal_single_turn_single_function_85",
];

/// Flagged rows of one kind.
#[derive(Default)]
struct Tally {
    rows: usize,
    calls: usize,
    flagged: Vec<String>,
    warned: usize,
}

impl Tally {
    fn share(&self) -> f64 {
        self.flagged.len() as f64 / self.rows.max(1) as f64
    }
}

fn admission(row: &Value) -> Admission {
    Admission::compile(&datasets::catalog(row), AdmissionSettings::default()).0
}

fn admit(admission: &Admission, name: &str, arguments: &Value) -> CallReport {
    admission.admit_parts(name, &Arguments::from(arguments), None)
}

/// Counts, by kind, the rows with a flagged call.
fn flagged(
    file: &str,
    calls: &str,
    kind: impl Fn(&Value) -> Option<&'static str>,
) -> BTreeMap<&'static str, Tally> {
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for row in datasets::rows(file) {
        let Some(kind) = kind(&row) else { continue };
        let tally = tallies.entry(kind).or_default();
        let admission = admission(&row);
        tally.rows += 1;
        let mut wrong = Vec::new();
        for call in row["labels"][calls].as_array().into_iter().flatten() {
            tally.calls += 1;
            let report =
                admit(&admission, call["name"].as_str().unwrap_or_default(), &call["arguments"]);
            tally.warned += report.warnings().count();
            for i in report.warnings() {
                println!("W {} {} {}", row["id"], i.code, i.message);
            }
            wrong.extend(report.blocking().map(|i| format!("{} {}", i.code, i.message)));
        }
        if !wrong.is_empty() {
            tally.flagged.push(format!(
                "{}: {}",
                row["id"].as_str().unwrap_or_default(),
                wrong.join("; ")
            ));
        }
    }
    for (kind, tally) in &tallies {
        let Tally { rows, calls, warned, flagged } = tally;
        println!(
            "{kind}: {rows} rows, {calls} calls, {} rows flagged ({:.2} %), {warned} warnings",
            flagged.len(),
            tally.share() * 100.0
        );
        flagged.iter().for_each(|row| println!("  {row}"));
    }
    tallies
}

/// Checks the limits for rows whose gold call satisfies its own schema. The other rows are listed
/// by id and must be flagged: a listed row that passes is a miss.
fn check(tallies: &BTreeMap<&'static str, Tally>, limits: &[(&str, f64, &[&str])]) {
    for (kind, limit, contradictory) in limits {
        let Some(tally) = tallies.get(kind) else { continue };
        let listed =
            |row: &&String| contradictory.iter().any(|id| row.contains(&format!("/{id}: ")));
        let (known, other): (Vec<_>, Vec<_>) = tally.flagged.iter().partition(listed);
        let share = other.len() as f64 / tally.rows as f64;
        println!(
            "{kind}: {:.2} % flagged, of which {} rows contradict their schema; {:.2} % without",
            tally.share() * 100.0,
            known.len(),
            share * 100.0
        );
        assert!(share <= *limit, "{kind}: {share} is more than {limit}: {other:#?}");
        assert_eq!(known.len(), contradictory.len(), "{kind}: a listed row is not flagged");
    }
}

#[test]
fn right_calls_of_recorded_dialogues_pass() {
    let tallies = flagged("tau1.jsonl.gz", "gold_actions", |_| Some("tau"));
    check(&tallies, &[("tau", 0.0, &[])]);
}

#[test]
fn right_calls_of_single_turns_pass() {
    let tallies = flagged("bfcl_gold.jsonl.gz", "gold_calls", |row| {
        let category = row["category"].as_str()?;
        if row["labels"]["valid"] != json!(true) {
            return None;
        }
        Some(match category {
            "simple_java" => "java",
            "simple_javascript" => "javascript",
            live if live.starts_with("live") => "live",
            _ => "python",
        })
    });
    check(&tallies, &[("python", 0.004, &[]), ("live", 0.01, LIVE)]);
}

#[test]
fn right_calls_of_the_second_collection_pass() {
    let tallies = flagged("acebench_en.jsonl.gz", "gold_calls", |row| {
        (row["labels"]["valid"] == json!(true)).then_some("english")
    });
    check(&tallies, &[("english", 0.008, ENGLISH)]);
}

#[test]
fn wrong_calls_are_caught() {
    let (mut made, mut missed) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for row in datasets::rows("bfcl_gold.jsonl.gz") {
        for call in row["labels"]["gold_calls"].as_array().into_iter().flatten() {
            let name = call["name"].as_str().unwrap_or_default();
            let arguments = &call["arguments"];
            let admission = admission(&row);
            if !admit(&admission, name, arguments).valid() {
                continue;
            }
            for (kind, code, row, name, arguments) in wrong(&row, name, arguments) {
                *made.entry(kind).or_default() += 1;
                let report = admit(&self::admission(&row), &name, &arguments);
                if !report.blocking().any(|issue| issue.code.0 == code) {
                    missed.push(format!("{kind}: {name} {arguments}"));
                }
            }
        }
    }
    println!("made wrong: {made:?}, missed {}", missed.len());
    assert!(missed.is_empty(), "{missed:#?}");
}

type Mutation = (&'static str, &'static str, Value, String, Value);

/// The same call with an error introduced in each way that certainly violates its schema.
fn wrong(row: &Value, name: &str, arguments: &Value) -> Vec<Mutation> {
    let tools = row["tools"].as_array().unwrap();
    let at = tools.iter().position(|tool| tool["name"] == name).unwrap();
    let parameters = &tools[at]["parameters"];
    let mut made = vec![(
        "renamed",
        "UNKNOWN_TOOL",
        row.clone(),
        format!("{name}_quickly"),
        arguments.clone(),
    )];
    let mut closed = row.clone();
    closed["tools"][at]["parameters"]["additionalProperties"] = json!(false);
    let mut more = arguments.clone();
    more["surplus_argument"] = json!(1);
    made.push(("surplus", "UNKNOWN_PARAM", closed, name.to_owned(), more));
    for required in parameters["required"].as_array().into_iter().flatten() {
        let key = required.as_str().unwrap();
        let mut fewer = arguments.clone();
        if fewer.as_object_mut().unwrap().shift_remove(key).is_some() {
            made.push(("dropped", "MISSING_REQUIRED", row.clone(), name.to_owned(), fewer));
        }
    }
    for key in arguments.as_object().unwrap().keys() {
        let other = match parameters["properties"][key]["type"].as_str() {
            Some("string" | "integer" | "number" | "boolean") => json!({"unexpected": []}),
            Some("array" | "object") => json!(17),
            _ => continue,
        };
        let mut changed = arguments.clone();
        changed[key] = other;
        made.push(("mistyped", "WRONG_TYPE", row.clone(), name.to_owned(), changed));
        if parameters["properties"][key]["type"] == "integer" {
            let mut changed = arguments.clone();
            changed[key] = json!(true);
            made.push(("boolean as integer", "WRONG_TYPE", row.clone(), name.to_owned(), changed));
        }
    }
    made
}
