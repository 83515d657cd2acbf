//! The machine-readable formats are what their schemas say.

use counterfoil_report::{Look, ReportFormat};
use serde_json::Value;

use crate::scene::{Scene, coding, look, render, support};

#[track_caller]
fn check(mut schema: Value, documents: impl IntoIterator<Item = String>) {
    // The standard's pattern for language tags ends in a stray bracket, which no regular
    // expression may.
    for kind in ["run", "toolComponent"] {
        let place = format!("/definitions/{kind}/properties/language");
        if let Some(language) = schema.pointer_mut(&place) {
            language.as_object_mut().unwrap().remove("pattern");
        }
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    for text in documents {
        let document: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{text}");
    }
}

fn every_look() -> [(Look, Vec<Scene>); 5] {
    [
        (look(), vec![]),
        (look(), vec![support(), coding()]),
        (Look { show_supported: true, ..look() }, vec![support(), coding()]),
        (Look { statistics: true, ..look() }, vec![support(), coding()]),
        (Look::default(), vec![coding(), support()]),
    ]
}

fn output_schema() -> Value {
    let schema = include_str!("../../../../schemas/check-output.schema.json");
    serde_json::from_str(schema).unwrap()
}

#[test]
fn json_is_what_the_published_schema_says() {
    check(
        output_schema(),
        every_look().map(|(look, scenes)| render(ReportFormat::Json, look, &scenes)),
    );
}

#[test]
fn every_line_of_jsonl_is_what_the_published_schema_says() {
    for (look, scenes) in every_look() {
        let text = render(ReportFormat::Jsonl, look, &scenes);
        check(output_schema(), text.lines().map(str::to_owned));
        assert!(text.lines().last().unwrap().starts_with(r#"{"type":"summary""#));
    }
}

#[test]
fn sarif_is_what_the_standard_says() {
    let schema = include_str!("../schema/sarif-schema-2.1.0.json");
    let schema = serde_json::from_str(schema).unwrap();
    check(schema, every_look().map(|(look, scenes)| render(ReportFormat::Sarif, look, &scenes)));
}
