//! Schemas as people write them: meaningful parts are checked, meaningless ones are reported, and
//! the rest of the tool is unaffected.

use counterfoil_admission::{Admission, AdmissionSettings, CallReport, IssueSeverity};
use counterfoil_model::{Arguments, Catalog, Tool};
use serde_json::{Value, json};

fn admission(schema: &Value, coerce: bool) -> (Admission, Vec<String>) {
    let tool = Tool {
        description: "Does it.".to_owned(),
        parameters: Some(schema.clone()),
        ..Tool::named("act")
    };
    let (catalog, _) = Catalog::known([tool]);
    let settings = AdmissionSettings { coerce, ..AdmissionSettings::default() };
    let (admission, issues) = Admission::compile(&catalog, settings);
    let odd = issues.into_iter().filter(|issue| {
        issue.severity == IssueSeverity::Block || issue.code.0 == "UNCHECKED_KEYWORD"
    });
    (admission, odd.map(|issue| format!("{} {}", issue.code, issue.place)).collect())
}

/// `valid`, or the codes of the blocking issues.
fn verdict_of(report: &CallReport) -> String {
    let codes: Vec<&str> = report.blocking().map(|issue| issue.code.0).collect();
    if codes.is_empty() { "valid".to_owned() } else { codes.join(" ") }
}

/// An object with one required member `a`, and an integer `n`.
fn object(member: Value) -> Value {
    json!({
        "type": "object", "required": ["a"],
        "properties": { "a": member, "n": { "type": "integer" } },
    })
}

/// A schema, a valid value, an invalid one, and the place that is not checked.
type Case = (Value, Value, Value, Option<&'static str>);

fn cases() -> Vec<Case> {
    let mut all = odd_references();
    all.extend(odd_words());
    all
}

/// References without a target: only what they would have checked is left unchecked.
fn odd_references() -> Vec<Case> {
    let fits = || json!({ "a": 1, "n": 1 });
    let not = || json!({ "a": 1, "n": "x" });
    let of = |member: Value, place| (object(member), fits(), not(), Some(place));
    let nowhere = || json!({ "$ref": "#/$defs/none" });
    vec![
        of(json!({ "$ref": "#a%zz" }), "/properties/a/$ref"),
        of(json!({ "$ref": "#nobody" }), "/properties/a/$ref"),
        of(json!({ "$ref": "https://nowhere.example/x.json#/y" }), "/properties/a/$ref"),
        of(json!({ "$ref": 5 }), "/properties/a/$ref"),
        of(json!({ "$dynamicRef": "#nobody" }), "/properties/a/$dynamicRef"),
        of(json!({ "not": nowhere() }), "/properties/a/not"),
        of(json!({ "oneOf": [nowhere(), { "type": "integer" }] }), "/properties/a/oneOf"),
        of(json!({ "if": nowhere(), "then": { "type": "string" } }), "/properties/a/if"),
        (
            json!({
                "type": "object", "properties": { "n": { "type": "integer" } },
                "allOf": [nowhere()], "unevaluatedProperties": false,
            }),
            json!({ "n": 1, "b": 2 }),
            not(),
            Some("/allOf/0/$ref"),
        ),
        (
            json!({
                "type": "object", "properties": { "a": { "$ref": "#/$defs/Page/Of~X" } },
                "$defs": { "Page/Of~X": { "type": "string" } },
            }),
            json!({ "a": "x" }),
            json!({ "a": 1 }),
            None,
        ),
    ]
}

fn odd_words() -> Vec<Case> {
    vec![
        (
            object(json!({ "type": "integer", "minimum": 0, "exclusiveMinimum": true })),
            json!({ "a": 1 }),
            json!({ "a": 0 }),
            None,
        ),
        (
            object(
                json!({ "type": "array", "items": [{ "type": "number" }, { "type": "number" }] }),
            ),
            json!({ "a": [1, 2] }),
            json!({ "a": ["x", 2] }),
            None,
        ),
        (object(json!({ "type": "STRING" })), json!({ "a": "x" }), json!({ "a": 1 }), None),
        (object(json!({ "type": "dict" })), json!({ "a": {} }), json!({ "a": 1 }), None),
        (object(json!({ "type": "float" })), json!({ "a": 1.5 }), json!({ "a": "x" }), None),
        (object(json!("object")), json!({ "a": {} }), json!({ "a": 1 }), None),
        (
            json!({ "type": "object", "properties": { "a": { "type": "string", "required": true } } }),
            json!({ "a": "x" }),
            json!({}),
            None,
        ),
        (
            object(json!({ "type": "string", "required": false })),
            json!({ "a": "x" }),
            json!({}),
            None,
        ),
        (
            object(json!({ "type": "string", "pattern": "^(?!x).*$" })),
            json!({ "a": "x" }),
            json!({ "a": "x", "n": "y" }),
            Some("/properties/a/pattern"),
        ),
        (
            object(json!({ "type": "string", "pattern": "^{[0-9]+}$" })),
            json!({ "a": "{12}" }),
            json!({ "a": "12" }),
            None,
        ),
        (
            object(json!({ "type": "strng" })),
            json!({ "a": 7 }),
            json!({ "a": 7, "n": "y" }),
            Some("/properties/a/type"),
        ),
        (
            object(json!({ "$ref": "#/$defs/Gone" })),
            json!({ "a": 7 }),
            json!({ "a": 7, "n": "y" }),
            Some("/properties/a/$ref"),
        ),
        (
            json!({
                "type": "object", "properties": { "a": { "$ref": "#/$defs/Page[int]" } },
                "$defs": { "Page[int]": { "type": "integer" } },
            }),
            json!({ "a": 7 }),
            json!({ "a": "x" }),
            None,
        ),
        (
            object(json!({ "type": "string", "nullable": true, "enum": ["x"] })),
            json!({ "a": null }),
            json!({ "a": "y" }),
            None,
        ),
        (
            object(json!({ "oneOf": [
                { "type": "string", "format": "date" }, { "type": "string", "format": "date-time" },
            ] })),
            json!({ "a": "2026-01-02" }),
            json!({ "a": 7 }),
            None,
        ),
    ]
}

#[test]
fn the_rest_of_an_odd_schema_is_checked() {
    for (schema, fits, does_not, unchecked) in cases() {
        let (admission, odd) = admission(&schema, false);
        let expected: Vec<String> =
            unchecked.iter().map(|place| format!("UNCHECKED_KEYWORD {place}")).collect();
        assert_eq!(odd, expected, "{schema}");
        let report = |value: &Value| admission.admit_parts("act", &Arguments::from(value), None);
        assert_eq!(verdict_of(&report(&fits)), "valid", "{schema} {fits}");
        assert_ne!(verdict_of(&report(&does_not)), "valid", "{schema} {does_not}");
    }
}

#[test]
fn an_unknown_type_is_named() {
    let schema = object(json!({ "type": "strng" }));
    let tool = Tool { parameters: Some(schema), ..Tool::named("act") };
    let (catalog, _) = Catalog::known([tool]);
    let (_, issues) = Admission::compile(&catalog, AdmissionSettings::default());
    let messages: Vec<String> = issues.into_iter().map(|issue| issue.message).collect();
    let expected = "the schema's `/properties/a/type` cannot be checked: \"strng\" is not a JSON \
                    Schema type; the rest is checked";
    assert!(messages.iter().any(|message| message == expected), "{messages:?}");
}

#[test]
fn what_cannot_be_checked_is_never_valid() {
    let (admission, odd) = admission(&json!({ "$ref": "https://example.com/gone.json" }), false);
    assert_eq!(odd, ["INVALID_SCHEMA "]);
    let report = admission.admit_parts("act", &Arguments::raw("{}"), None);
    assert_eq!(verdict_of(&report), "INVALID_SCHEMA");
}

#[test]
fn no_arguments_are_none() {
    let nothing = json!({ "type": "object", "properties": {} });
    for text in ["", "  ", "null", "\"\"", "{}"] {
        let arguments = Arguments::raw(text);
        let report = admission(&nothing, false).0.admit_parts("act", &arguments, None);
        assert_eq!(
            (verdict_of(&report), report.arguments),
            ("valid".to_owned(), Some(json!({}).into()))
        );
        let asks = object(json!({ "type": "string" }));
        let report = admission(&asks, false).0.admit_parts("act", &arguments, None);
        assert_ne!(verdict_of(&report), "valid", "{text:?}");
    }
}

#[test]
fn corrections_invent_nothing() {
    let list = object(json!({ "type": ["array", "null"], "items": { "type": "string" } }));
    let (admission, _) = admission(&list, true);
    for (arguments, corrected) in [
        (r#"{"a":"x"}"#, Some(json!({ "a": ["x"] }))),
        (r#"{"a":"[\"x\"]"}"#, Some(json!({ "a": ["x"] }))),
        (r#"{"a":"null"}"#, None),
        (r#"{"a":"[\"x\", \"y"}"#, None),
        (r#"{"a":"{x}"}"#, None),
        (r#"{"a":""}"#, None),
        (r#"{"a":"x,y"}"#, None),
        (r#"{"a":"\"[1]\""}"#, None),
        (r#""{\"a\":[\"x\"]}""#, Some(json!({ "a": ["x"] }))),
        (r#""{\"a\":[\"x\"""#, None),
    ] {
        let report = admission.admit_parts("act", &Arguments::raw(arguments), None);
        assert_eq!(report.corrected_arguments.as_deref(), corrected.as_ref(), "{arguments}");
        assert_eq!(report.valid(), corrected.is_some(), "{arguments}");
    }
}

#[test]
fn what_the_schema_names_is_no_placeholder() {
    let schema = object(json!({ "type": "string", "default": "127.0.0.1" }));
    for (host, issues) in [("127.0.0.1", 0), ("example.com", 1)] {
        let arguments = Arguments::from(&json!({ "a": host }));
        let report = admission(&schema, false).0.admit_parts("act", &arguments, None);
        assert_eq!(report.issues.len(), issues, "{host}: {report}");
    }
}

/// Rows next to the repository: schemas of real servers, with the expected verdict for a call.
#[test]
#[expect(clippy::disallowed_methods, reason = "rows that are not in the repository")]
fn rows_beside_the_repository_are_decided_as_they_say() {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/third/validate.jsonl");
    let Ok(rows) = std::fs::read_to_string(place) else { return };
    let mut wrong = Vec::new();
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let (admission, odd) = admission(&row["tools"][0]["inputSchema"], false);
        let arguments = match &row["call"]["arguments"] {
            Value::Null => Arguments::raw(""),
            given => Arguments::from(given),
        };
        let verdict = verdict_of(&admission.admit_parts("act", &arguments, None));
        if (verdict == "valid") != (row["expect"] == "accept") {
            wrong.push(format!("{} is {verdict} {odd:?}", row["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Alternatives that refer to themselves multiply with the depth of a value. What cannot be checked
/// is refused, in bounded time; ordinary values are checked.
#[test]
fn a_recursive_schema_is_checked_in_bounded_time() {
    let again = json!({ "required": ["l"], "properties": { "l": { "$ref": "#/$defs/t" } } });
    let bomb = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/t" } },
        "$defs": { "t": { "type": "object", "anyOf": [again, again, { "required": ["z"] }] } } });
    let sides = json!({ "left": { "$ref": "#/$defs/e" }, "right": { "$ref": "#/$defs/e" } });
    let of = |op: &str| {
        let mut properties = sides.clone();
        properties["op"] = json!({ "const": op });
        json!({ "type": "object", "required": ["op", "left", "right"], "properties": properties })
    };
    let arithmetic = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/e" } },
        "$defs": { "e": { "anyOf": [{ "type": "number" }, of("add"), of("sub"), of("mul")] } } });
    let nested = |depth: usize, last: Value| (0..depth).fold(last, |l, _| json!({ "l": l }));
    let sum = |depth: usize, last: Value| {
        (0..depth).fold(last, |l, _| json!({ "op": "mul", "left": l, "right": 1 }))
    };
    for (schema, value, valid) in [
        (&bomb, nested(4, json!({ "z": 1 })), true),
        (&bomb, nested(4, json!({})), false),
        (&bomb, nested(14, json!({ "z": 1 })), true),
        (&bomb, nested(16, json!({})), false),
        (&bomb, nested(100, json!({ "z": 1 })), false),
        (&arithmetic, sum(6, json!(2)), true),
        (&arithmetic, sum(8, json!(2)), true),
        (&arithmetic, sum(6, json!("2")), false),
        (&arithmetic, sum(60, json!("2")), false),
    ] {
        let (admission, odd) = admission(schema, false);
        assert_eq!(odd, Vec::<String>::new());
        let began = std::time::Instant::now();
        let report = admission.admit_parts("act", &Arguments::from(&json!({ "a": value })), None);
        assert_eq!(verdict_of(&report) == "valid", valid, "{value}");
        assert!(began.elapsed().as_secs() < 20, "{value}: {:?}", began.elapsed());
    }
    // A long value is explained as well as a short one.
    let tree = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/t" } }, "$defs": {
        "t": { "type": "object", "properties": { "v": { "type": "integer" },
            "xs": { "type": "array", "items": { "$ref": "#/$defs/t" } } } } } });
    let mut items = vec![json!({ "v": 1 }); 6_000];
    items[5] = json!({ "v": [] });
    let arguments = Arguments::from(&json!({ "a": { "xs": items } }));
    let report = admission(&tree, false).0.admit_parts("act", &arguments, None);
    let places: Vec<_> = report.issues.iter().map(|i| i.parameter.as_str()).collect();
    assert_eq!(places, ["/a/xs/5/v"]);
}
