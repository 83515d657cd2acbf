//! `validate`: checks calls against a list of tools.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Desk;

const TOOLS: &str = r#"[{"name":"get_order","parameters":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}]"#;
const CALLS: &str = r#"{"name":"get_order","arguments":{"id":"7"}}
nonsense

{"id":"c1","type":"function","function":{"name":"get_ordr","arguments":"{\"id\":7}"}}
{"type":"tool_use","id":"c2","name":"get_order","input":{"id":7}}
"#;

#[test]
fn verdicts_as_json() {
    let desk = Desk::with(&[("tools.json", TOOLS), ("calls.jsonl", CALLS)]);
    assert_snapshot!(desk.run("validate --tools tools.json calls.jsonl"), @r#"
    exit 2
    {"line":1,"valid":false,"tool":"get_order","issues":[{"code":"WRONG_TYPE","severity":"block","message":"`/id` must be integer, got \"7\"","tool":"get_order","parameter":"/id","expected":"integer","actual":"\"7\""}]}
    {"line":4,"id":"c1","valid":false,"tool":"get_ordr","issues":[{"code":"UNKNOWN_TOOL","severity":"block","message":"there is no tool `get_ordr`; did you mean `get_order`? Available: `get_order`","tool":"get_ordr","expected":"get_order","actual":"get_ordr"}]}
    {"line":5,"id":"c2","valid":true,"tool":"get_order","issues":[]}
    --- stderr
    error: calls.jsonl:2: invalid JSON: unknown word (column 2)
    "#);
}

#[test]
fn corrected_arguments_as_text() {
    let desk = Desk::with(&[("tools.json", TOOLS)]);
    let ran = desk.run_with("validate --tools tools.json --coerce --format text", CALLS);
    assert_snapshot!(ran, @r#"
    exit 2
    get_order: valid
      warning [WRONG_TYPE] `/id` must be integer, got "7"; corrected
      corrected: {"id":7}
    get_ordr: BLOCKED
      [UNKNOWN_TOOL] there is no tool `get_ordr`; did you mean `get_order`? Available: `get_order`
    get_order: valid
    --- stderr
    error: -:2: invalid JSON: unknown word (column 2)
    "#);
}

#[test]
fn the_answer_to_the_model() {
    let desk = Desk::with(&[("tools.json", TOOLS)]);
    let call = r#"{"id":"c1","name":"get_order","arguments":"{}"}"#;
    assert_snapshot!(desk.run_with("validate --tools tools.json --as-tool-result", call), @r#"
    exit 1
    {"role":"tool","tool_call_id":"c1","content":"Tool call rejected: get_order; nothing was executed.\n\nIssues:\n- [MISSING_REQUIRED] `/id` is required but missing; expected integer\n\nCorrect the arguments named above and make the call once more. Do not report this call as done."}
    "#);
}

#[test]
fn hidden_thinking_is_printed_nowhere() {
    let call = |arguments: &str| json!({ "name": "get_order", "arguments": arguments }).to_string();
    let calls = [
        call(r#"{"_tafc_think":"a thought","id":"7"}"#),
        call(r#"{"_TAFC_THINK":"a thought","id":7}"#),
        call(r#"{"id":7,"_tafc_think":"a thought"#),
    ];
    let tools = r#"[{"name":"get_order","parameters":{"type":"object","properties":{"_tafc_think":{"type":"string"},"id":{"type":"integer"}},"required":["_tafc_think","id"]}}]"#;
    let message = |call: &String| {
        let function: Value = serde_json::from_str(call).unwrap();
        let call = json!({ "id": "c1", "type": "function", "function": function });
        json!({ "role": "assistant", "content": null, "tool_calls": [call] })
    };
    let messages: Vec<Value> = calls.iter().map(message).collect();
    let log = json!({ "messages": messages }).to_string();
    let files = [("tools.json", tools), ("calls.jsonl", &calls.join("\n")), ("log.json", &log)];
    let desk = Desk::with(&files);
    for line in [
        "validate calls.jsonl",
        "validate calls.jsonl --format text",
        "validate calls.jsonl --as-tool-result",
        "check log.json --why --show-supported",
        "check log.json --format json",
        "check log.json --format sarif",
        "check log.json --format html",
    ] {
        let ran = desk.run(&format!("{line} --tools tools.json"));
        let printed = format!("{}{}", ran.out, ran.err);
        assert!(ran.code == 1 && printed.contains("the arguments are incomplete"), "{ran}");
        assert!(!printed.contains("thought") && !printed.contains("MISSING_REQUIRED"), "{ran}");
    }
}

#[test]
fn the_configuration_and_flags_say_how_strictly() {
    let long = format!(r#"{{"name":"note","arguments":{{"text":"{}"}}}}"#, "word ".repeat(30));
    let tools = r#"[{"name":"note","parameters":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}}}}]"#;
    let strict = "[tools.admission]\nlongest_text = 100\n";
    let ample = "[tools.admission]\nlongest_text = 100\n[tools.admission.longest_text_of.note]\ntext = 1000\n";
    let found = |config: &str, flags: &str| {
        let desk = Desk::with(&[("tools.json", tools), ("counterfoil.toml", config)]);
        let ran = desk.run_with(&format!("validate --tools tools.json {flags}"), &long);
        assert_eq!(ran.code, 0, "{ran}");
        (ran.out.contains("SUSPICIOUS_LENGTH"), ran.out.contains(r#""model":"m1""#))
    };
    assert_eq!(found("", ""), (false, false));
    assert_eq!(found("", "--longest-text 100 --model m1"), (true, true));
    assert_eq!(found("", "--longest-text 100 --longest-text note.text=1000"), (false, false));
    assert_eq!(found(strict, ""), (true, false));
    assert_eq!(found(ample, ""), (false, false));
    let desk = Desk::with(&[
        ("tools.json", tools),
        ("counterfoil.toml", "[tools.admission]\ncoerce = true\n"),
    ]);
    let ran =
        desk.run_with("validate --tools tools.json", r#"{"name":"note","arguments":{"n":"7"}}"#);
    assert!(ran.code == 0 && ran.out.contains(r#""corrected_arguments":{"n":7}"#), "{ran}");
    assert_snapshot!(desk.run("validate --tools tools.json --longest-text note=5"), @"
    exit 2
    --- stderr
    error: `note` does not name a parameter
      help: write the parameter as TOOL.PARAMETER
    ");
}

/// Calls are JSON values, wherever their lines break.
#[test]
fn calls_over_several_lines_and_in_lists() {
    let pretty = "{\n  \"name\": \"get_order\",\n  \"arguments\": {\n    \"id\": 7\n  }\n}\n";
    let list = format!("[\n{pretty},\n{{\"name\":\"get_order\",\"arguments\":{{\"id\":8}}}}\n]\n");
    let desk = Desk::with(&[("tools.json", TOOLS)]);
    let run = |calls: &str| desk.run_with("validate --tools tools.json", calls);
    assert_snapshot!(run(&format!("{pretty}\n{list}")), @r#"
    exit 0
    {"line":1,"valid":true,"tool":"get_order","issues":[]}
    {"line":9,"valid":true,"tool":"get_order","issues":[]}
    {"line":16,"valid":true,"tool":"get_order","issues":[]}
    "#);
    let comma = pretty.replace("7\n", "7,\n");
    assert_snapshot!(run(&format!("{pretty}{comma}{pretty}")), @r#"
    exit 2
    {"line":1,"valid":true,"tool":"get_order","issues":[]}
    --- stderr
    error: -:11: invalid JSON: trailing comma (column 3); the calls after this were not read
    "#);
    // A cut line costs only itself.
    assert_snapshot!(run("{\"name\":\"get_or\n{\"name\":\"get_order\",\"arguments\":{\"id\":7}}\n"), @r#"
    exit 2
    {"line":2,"valid":true,"tool":"get_order","issues":[]}
    --- stderr
    error: -:1: invalid JSON: the text ends inside a string (column 15)
    "#);
}

#[test]
fn a_wrong_number_says_what_is_expected() {
    let desk = Desk::with(&[]);
    for (line, message) in [
        ("check x --execution-window abc", "`--execution-window` takes a whole number, got `abc`"),
        ("check x --execution-window=-4", "`--execution-window` takes a whole number, got `-4`"),
        (
            "check x --execution-window 99999999999999999999",
            "`--execution-window` takes a smaller number, got `99999999999999999999`",
        ),
    ] {
        let ran = desk.run(line);
        let expected = format!("error: {message}\n\nFor more information, try '--help'.\n");
        assert_eq!((ran.code, ran.err.as_str()), (2, expected.as_str()), "{line}");
    }
}
