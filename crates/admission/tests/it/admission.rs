//! Tests of admitting one call.

use std::collections::BTreeMap;

use counterfoil_admission::{
    Admission, AdmissionSettings, Context, Corrections, RejectionLog, rejection,
};
use counterfoil_model::{Arguments, Catalog, ExactValue, Tool, ToolCall};
use serde_json::{Value, json};

fn tool(name: &str, parameters: Value) -> Tool {
    Tool { parameters: Some(parameters), description: "Does it.".to_owned(), ..Tool::named(name) }
}

fn tools() -> Catalog {
    let read = tool(
        "read_file",
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "lines": {"type": "integer", "minimum": 1},
                "encoding": {"type": "string", "enum": ["utf-8", "latin-1"], "default": "auto"},
                "since": {"type": "string", "format": "date"},
                "follow": {"type": ["boolean", "string"]},
                "filters": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "options": {
                    "type": "object",
                    "properties": {"a/b": {"type": "number"}, "strict": {"type": "boolean"}},
                    "required": ["strict"],
                    "additionalProperties": false
                }
            },
            "required": ["path"]
        }),
    );
    let off = Tool { available: false, ..tool("write_file", json!({"type": "object"})) };
    let draft4 = tool(
        "old",
        json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": {"n": {"maximum": 3, "exclusiveMaximum": true}}
        }),
    );
    let union = tool(
        "pay",
        json!({
            "type": "object",
            "properties": {"by": {"anyOf": [
                {"type": "string"},
                {"type": "object", "properties": {"card": {"type": "string"}}, "required": ["card"]}
            ]}}
        }),
    );
    Catalog::known([
        read,
        off,
        draft4,
        union,
        Tool::named("bare"),
        tool("broken", json!({"type": 1})),
    ])
    .0
}

/// The issues as `SEVERITY CODE pointer`.
fn issues(settings: AdmissionSettings, name: &str, arguments: &str) -> Vec<String> {
    let (admission, _) = Admission::compile(&tools(), settings);
    let report = admission.admit_parts(name, &Arguments::raw(arguments), None);
    let line = |i: &counterfoil_admission::Issue| {
        format!("{:?} {} {}", i.severity, i.code, i.parameter).trim_end().to_owned()
    };
    report.issues.iter().map(line).collect()
}

fn check(name: &str, arguments: &str, expected: &[&str]) {
    assert_eq!(
        issues(AdmissionSettings::default(), name, arguments),
        expected,
        "{name} {arguments}"
    );
}

#[test]
fn names() {
    check("read_file", r#"{"path":"a"}"#, &[]);
    check("read_fil", r#"{"path":"a"}"#, &["Block UNKNOWN_TOOL"]);
    check("write_file", "{}", &["Block UNKNOWN_TOOL"]);
    check("", "{}", &["Block UNKNOWN_TOOL"]);
    check("ReadFile", r#"{"path":"a"}"#, &["Warn UNKNOWN_TOOL"]);
    check("bare", r#"{"anything":[1]}"#, &[]);
    check("broken", r#"{"anything":[1]}"#, &[]);
}

#[test]
fn arguments() {
    check("read_file", "{}", &["Block MISSING_REQUIRED /path"]);
    check("read_file", r#"{"path":1}"#, &["Block WRONG_TYPE /path"]);
    check("read_file", r#"{"path":null}"#, &["Block WRONG_TYPE /path"]);
    check("read_file", r#"{"path":"a","lines":null,"options":null}"#, &[]);
    check("read_file", r#"{"path":"a","lines":2.0}"#, &[]);
    check("read_file", r#"{"path":"a","lines":2.5}"#, &["Block WRONG_TYPE /lines"]);
    check("read_file", r#"{"path":"a","lines":true}"#, &["Block WRONG_TYPE /lines"]);
    check("read_file", r#"{"path":"a","lines":0}"#, &["Block INVALID_VALUE /lines"]);
    check("read_file", r#"{"path":"a","encoding":"auto"}"#, &[]);
    check("read_file", r#"{"path":"a","encoding":"ebcdic"}"#, &["Block INVALID_VALUE /encoding"]);
    check("read_file", r#"{"path":"a","since":"today"}"#, &["Warn INVALID_FORMAT /since"]);
    check("read_file", r#"{"path":"a","follow":"all"}"#, &[]);
    check("read_file", r#"{"path":"a","follow":1}"#, &["Block WRONG_TYPE /follow"]);
    check("read_file", r#"{"path":"a","pth":1}"#, &["Warn UNKNOWN_PARAM /pth"]);
    check("read_file", r#"{"path":"a","filters":["a",1]}"#, &["Block WRONG_TYPE /filters/1"]);
    check(
        "read_file",
        r#"{"path":"a","filters":["a","b","c"]}"#,
        &["Block INVALID_VALUE /filters"],
    );
    check(
        "read_file",
        r#"{"path":"a","options":{"a/b":"x","more":1}}"#,
        &[
            "Block WRONG_TYPE /options/a~1b",
            "Block UNKNOWN_PARAM /options/more",
            "Block MISSING_REQUIRED /options/strict",
        ],
    );
    check("read_file", r#"{"path":"<path>"}"#, &["Warn PLACEHOLDER_VALUE /path"]);
    check(
        "read_file",
        r#"{"path":"a","filters":["TODO"]}"#,
        &["Warn PLACEHOLDER_VALUE /filters/0"],
    );
    check("old", r#"{"n":3}"#, &["Block INVALID_VALUE /n"]);
    check("pay", r#"{"by":{"cash":1}}"#, &["Block MISSING_REQUIRED /by/card"]);
    check("pay", r#"{"by":7}"#, &["Block WRONG_TYPE /by"]);
}

#[test]
fn malformed() {
    let deep = format!("{{\"path\":{}1{}}}", "[".repeat(64), "]".repeat(64));
    let large = format!("{{\"path\":\"{}\"}}", "a".repeat(1024 * 1024));
    for arguments in [
        "",
        "null",
        "[1]",
        "\"a\"",
        "{\"path\":\"a\"",
        "{\"path\":\"a\",}",
        "{'path':'a'}",
        "{\"path\":\"a\"}{\"path\":\"b\"}",
        "{\"path\":\"a\",\"path\":\"b\"}",
        "{\"path\":NaN}",
        deep.as_str(),
        large.as_str(),
    ] {
        let found = issues(AdmissionSettings::default(), "read_file", arguments);
        assert_eq!(found, ["Block MALFORMED_ARGUMENTS"], "{arguments:.40}");
    }
}

#[test]
fn long_texts() {
    let text = |n| json!({"path": "é".repeat(n)}).to_string();
    check("read_file", &text(10_000), &[]);
    check("read_file", &text(10_001), &["Warn SUSPICIOUS_LENGTH /path"]);
    let own = |limit| AdmissionSettings {
        longest_text_of: BTreeMap::from([(("read_file".to_owned(), "/path".to_owned()), limit)]),
        ..AdmissionSettings::default()
    };
    assert_eq!(issues(own(20_000), "read_file", &text(10_001)), Vec::<String>::new());
    assert_eq!(issues(own(5), "read_file", &text(6)), ["Warn SUSPICIOUS_LENGTH /path"]);
}

#[test]
fn lossless_corrections_when_enabled() {
    let settings = AdmissionSettings { coerce: true, ..AdmissionSettings::default() };
    let (admission, _) = Admission::compile(&tools(), settings);
    for (given, corrected, valid) in [
        (json!({"path": "a", "lines": "42"}), Some(json!({"path": "a", "lines": 42})), true),
        (json!({"path": "a", "lines": "042"}), None, false),
        (json!({"path": "a", "lines": "4.5"}), None, false),
        (json!({"path": "a", "lines": "0"}), Some(json!({"path": "a", "lines": 0})), false),
        (json!({"path": "a", "filters": "x"}), Some(json!({"path": "a", "filters": ["x"]})), true),
        (
            json!({"path": "a", "filters": "[\"x\"]"}),
            Some(json!({"path": "a", "filters": ["x"]})),
            true,
        ),
        (
            json!({"path": "a", "options": "{\"strict\":\"true\"}"}),
            Some(json!({"path": "a", "options": {"strict": true}})),
            true,
        ),
        (json!({"path": 7}), None, false),
        (json!({"path": "a"}), None, true),
    ] {
        let report = admission.admit_parts("read_file", &Arguments::from(&given), None);
        assert_eq!(
            (report.corrected_arguments.clone(), report.valid()),
            (corrected.map(ExactValue::from), valid),
            "{given}"
        );
        if report.corrected_arguments.is_some() {
            assert!(report.warnings().any(|i| i.code.0 == "WRONG_TYPE"), "{given}");
        }
    }
}

#[test]
fn names_are_listed_by_similarity() {
    let message = |catalog: &Catalog, name: &str| {
        let (admission, _) = Admission::compile(catalog, AdmissionSettings::default());
        let report = admission.admit_parts(name, &Arguments::raw("{}"), None);
        report.issues[0].message.clone()
    };
    let few = Catalog::known(["web_search", "read_file", "patch"].map(Tool::named)).0;
    assert_eq!(
        message(&few, "read_fil"),
        "there is no tool `read_fil`; did you mean `read_file`? \
         Available: `read_file`, `patch`, `web_search`"
    );
    assert_eq!(
        message(&few, "r\u{435}ad_file"),
        "there is no tool `r\u{435}ad_file` (its letter `\u{435}` is U+0435, not ASCII); \
         did you mean `read_file`? Available: `read_file`, `patch`, `web_search`"
    );
    let umlaut = Catalog::known(["prüfen"].map(Tool::named)).0;
    assert!(!message(&umlaut, "prüfe").contains("ASCII"));
    assert_eq!(message(&few, " "), "the call does not name a tool");
    assert_eq!(message(&Catalog::known([]).0, "x"), "there is no tool `x`; no tools are available");
    let many = Catalog::known((0..11).map(|n| Tool::named(format!("t{n}")))).0;
    let listed = message(&many, "nothing_like_it");
    assert!(listed.ends_with(", …") && listed.matches('`').count() == 2 + 20, "{listed}");
    let ten = Catalog::known((0..10).map(|n| Tool::named(format!("t{n}")))).0;
    assert!(!message(&ten, "nothing_like_it").contains('…'));
}

/// A context that contains only the given text.
struct TextContext(&'static str);

impl Context for TextContext {
    fn mentions(&self, text: &str) -> bool {
        self.0.to_lowercase().contains(&text.to_lowercase())
    }

    fn is_missing(&self, path: &str) -> bool {
        !path.starts_with("/exists/")
    }
}

#[test]
fn values_come_from_somewhere() {
    let (admission, _) = Admission::compile(&tools(), AdmissionSettings::default());
    for (context, name, arguments, expected) in [
        ("", "read_file", json!({"path": "<path>"}), &["PLACEHOLDER_VALUE"] as &[&str]),
        ("use <path>", "read_file", json!({"path": "<path>"}), &[]),
        ("", "read_file", json!({"path": "/made/up.rs"}), &["UNGROUNDED_PATH"]),
        ("up.rs", "read_file", json!({"path": "/made/up.rs"}), &[]),
        ("", "read_file", json!({"path": "/exists/up.rs"}), &[]),
        ("", "read_file", json!({"path": "up.rs"}), &[]),
        ("", "read_file", json!({"path": "s3://made/up.rs"}), &["UNGROUNDED_VALUE"]),
        ("", "bare", json!({"path": "/made/up.rs"}), &[]),
        ("", "bare", json!({"order_id": "#W1234"}), &["UNGROUNDED_VALUE"]),
        ("order w1234", "bare", json!({"order_id": "#W1234"}), &[]),
        ("", "bare", json!({"to": "ada@acme.org"}), &["UNGROUNDED_VALUE"]),
        ("", "bare", json!({"user_id": "mia_li_3668"}), &["UNGROUNDED_VALUE"]),
        (
            "",
            "bare",
            json!({"text": "ada@acme.org", "order_id": "latest", "id": "2024-05-01"}),
            &[],
        ),
    ] {
        let report =
            admission.admit_parts(name, &Arguments::from(&arguments), Some(&TextContext(context)));
        let codes: Vec<_> = report.issues.iter().map(|i| i.code.0).collect();
        assert_eq!(codes, expected, "{arguments}");
        assert!(report.valid());
    }
}

#[test]
fn reports_and_answers() {
    let (admission, issues) = Admission::compile(&tools(), AdmissionSettings::default());
    let codes: Vec<_> = issues.iter().map(|i| (i.tool.as_str(), i.code.0)).collect();
    assert_eq!(codes, [("broken", "UNCHECKED_KEYWORD")]);
    let call = |arguments: &str| ToolCall {
        id: "c1".to_owned(),
        tool: "read_file".to_owned(),
        arguments: Arguments::raw(arguments),
        line: 3,
    };
    let bad = call(r#"{"lines":"x","path":"TODO"}"#);
    let report = admission.admit(&bad, None);
    assert_eq!(
        report.to_string(),
        "read_file: BLOCKED\n  \
         [WRONG_TYPE] `/lines` must be integer, got \"x\"\n  \
         warning [PLACEHOLDER_VALUE] `/path` is a placeholder: `TODO`"
    );
    assert_eq!(admission.admit(&call(r#"{"path":"a"}"#), None).to_string(), "read_file: valid");
    let answer = rejection(&bad, &report);
    assert_eq!(
        (answer.call_id.as_str(), answer.is_error, answer.refused),
        ("c1", Some(true), true)
    );
    assert_eq!(
        answer.text,
        "Tool call rejected: read_file; nothing was executed.\n\nIssues:\n\
         - [WRONG_TYPE] `/lines` must be integer, got \"x\"\n\n\
         Correct the arguments named above and make the call once more. Do not report \
         this call as done."
    );
    let mut rounds = Corrections::default();
    assert_eq!([rounds.again(), rounds.again(), rounds.again()], [Ok(1), Ok(2), Ok(3)]);
    assert_eq!(
        rounds.again().unwrap_err().to_string(),
        "turn stopped: no valid tool call after 3 rounds of correction"
    );
}

#[test]
fn rejections_are_counted_for_ever_and_kept_for_a_while() {
    let (admission, _) = Admission::compile(&tools(), AdmissionSettings::default());
    let mut log = RejectionLog::default();
    let redact = |text: &str| text.replace("hunter2", "[redacted]");
    for n in 0..1_001 {
        let tool = if n % 2 == 0 { "made_up" } else { "read_file" };
        let arguments = Arguments::raw(json!({"password": "hunter2", "n": n}).to_string());
        let report = admission.admit_parts(tool, &arguments, None);
        log.record(n, (n == 0).then_some("m1"), &arguments, &report, &redact);
    }
    let fine = Arguments::raw(r#"{"path":"a"}"#);
    log.record(2_000, None, &fine, &admission.admit_parts("read_file", &fine, None), &redact);
    assert_eq!(log.entries().count(), 500);
    let newest = log.entries().next_back().unwrap();
    assert_eq!((newest.time, newest.model.as_str()), (1_000, "unknown"));
    assert_eq!(newest.arguments[0], ("password".to_owned(), "[redacted]".to_owned()));
    let counts = log.counts();
    assert_eq!(counts.total, 1_001);
    assert_eq!(
        counts.by_model,
        BTreeMap::from([("m1".to_owned(), 1), ("unknown".to_owned(), 1_000)])
    );
    assert_eq!(counts.by_tool["made_up"], 501);
    assert_eq!(counts.by_code["MISSING_REQUIRED"], 500);
    assert_eq!(counts.most_hallucinated(), [("made_up", 501)]);
}
