//! Benchmark: admission of one call, compared with the minimum: a bare parse and a bare validation
//! of the same arguments. What counts is the ratio within one run:
//! `cargo bench -p counterfoil-admission`.
#![expect(clippy::expect_used, reason = "a bench stops by panicking")]

use counterfoil_admission::{Admission, AdmissionSettings};
use counterfoil_model::{Arguments, Catalog, Tool};
use divan::{Bencher, black_box};
use serde_json::{Value, json};

const ARGUMENTS: &str = r#"{
    "user_id": "sara_doe_496", "origin": "SFO", "destination": "JFK", "cabin": "economy",
    "flights": [{"flight_number": "HAT001", "date": "2024-05-01"},
                {"flight_number": "HAT213", "date": "2024-05-09"}],
    "passengers": [{"first_name": "Sara", "last_name": "Doe", "dob": "1990-04-05"}],
    "total_bags": 3, "insurance": false
}"#;

fn main() {
    divan::main();
}

fn parameters() -> Value {
    let text = || json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {
            "user_id": text(),
            "origin": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "destination": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "cabin": {"type": "string", "enum": ["business", "economy", "basic_economy"]},
            "flights": {"type": "array", "minItems": 1, "items": {
                "type": "object",
                "properties": {"flight_number": text(), "date": text()},
                "required": ["flight_number", "date"]
            }},
            "passengers": {"type": "array", "items": {
                "type": "object",
                "properties": {"first_name": text(), "last_name": text(), "dob": text()},
                "required": ["first_name", "last_name", "dob"]
            }},
            "total_bags": {"type": "integer", "minimum": 0},
            "insurance": {"type": "boolean"}
        },
        "required": ["user_id", "origin", "destination", "cabin", "flights", "passengers"]
    })
}

fn admission(tools: usize) -> Admission {
    let tool = |n| Tool {
        description: "Books a flight.".to_owned(),
        parameters: Some(parameters()),
        ..Tool::named(format!("mcp_airline_{n}_book_flight"))
    };
    let (catalog, _) = Catalog::known((0..tools).map(tool));
    Admission::compile(&catalog, AdmissionSettings::default()).0
}

/// A plain parse and a plain validation, as the baseline.
#[divan::bench(sample_count = 2000)]
fn bare_parse_and_validation(bencher: Bencher<'_, '_>) {
    let validator = jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .should_validate_formats(false)
        .build(&parameters())
        .expect("the schema compiles");
    bencher.bench_local(|| {
        let value: Value = serde_json::from_str(black_box(ARGUMENTS)).expect("the arguments parse");
        assert!(validator.is_valid(&value));
        value
    });
}

/// A valid call.
#[divan::bench(args = [1, 1_000, 10_000], sample_count = 2000)]
fn admit(bencher: Bencher<'_, '_>, tools: usize) {
    let admission = admission(tools);
    let name = format!("mcp_airline_{}_book_flight", tools / 2);
    let arguments = Arguments::raw(ARGUMENTS);
    bencher.bench_local(|| {
        let report = admission.admit_parts(black_box(&name), black_box(&arguments), None);
        assert!(report.issues.is_empty());
        report
    });
}

/// A call with wrong arguments, including the explanation.
#[divan::bench]
fn refuse(bencher: Bencher<'_, '_>) {
    let admission = admission(1_000);
    let arguments = Arguments::raw(ARGUMENTS.replace("\"total_bags\": 3", "\"total_bags\": \"3\""));
    bencher.bench_local(|| {
        let report = admission.admit_parts("mcp_airline_7_book_flight", &arguments, None);
        assert!(!report.valid());
        report
    });
}

/// A call of an unknown tool, with suggestions.
#[divan::bench(args = [1_000, 10_000], sample_count = 20)]
fn suggest(bencher: Bencher<'_, '_>, tools: usize) {
    let admission = admission(tools);
    let arguments = Arguments::raw("{}");
    bencher.bench_local(|| admission.admit_parts("mcp_airline_7_book_fligth", &arguments, None));
}
