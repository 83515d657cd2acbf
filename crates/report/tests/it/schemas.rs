//! The machine-readable formats conform to their schemas.

use counterfoil_model::{
    ActReading, ClauseReading, Family, NamedReading, Object, ObjectKind, Span,
};
use counterfoil_report::{Look, ReportFormat};
use serde_json::Value;

use crate::scene::{Scene, coding, evidence, look, render, support};

#[track_caller]
fn check(mut schema: Value, documents: impl IntoIterator<Item = String>) {
    // The standard's pattern for language tags ends in a stray bracket, which is invalid in a
    // regular expression.
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
fn a_clause_is_what_the_published_schema_says() {
    let span = Span::new(0, 9);
    let object = Object { kind: ObjectKind::Id, text: "W12".into() };
    let found = Some(evidence("call_1", "cancel_order", "", "W12", 14));
    let act = ActReading { verb: "sent".into(), family: Some(Family::Send), left: None };
    let other = ActReading { verb: "told".into(), family: None, left: Some("of no known kind") };
    let whole = ClauseReading {
        turn: 3,
        span,
        text: "I sent W12".into(),
        left: Some("a question"),
        acts: vec![act, other],
        named: vec![
            NamedReading { object: object.clone(), found },
            NamedReading { object, found: None },
        ],
    };
    let bare = ClauseReading { left: None, acts: Vec::new(), named: Vec::new(), ..whole.clone() };
    let scene = Scene { readings: vec![whole, bare], ..support() };
    let text = render(ReportFormat::Jsonl, look(), &[scene]);
    let clauses = text.lines().filter(|line| line.starts_with(r#"{"type":"clause""#)).count();
    assert_eq!(clauses, 2, "{text}");
    check(output_schema(), text.lines().map(str::to_owned));
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
