use counterfoil_formats::{Options, ReadError};
use counterfoil_model::{Format, Gap};

use crate::shown::{fixture, read_all};

/// All problems, including those without a session, and all gaps.
fn problems(bytes: &[u8], options: &Options) -> (Vec<String>, Vec<Gap>, usize) {
    let (summary, readings) = read_all(bytes, options).unwrap();
    let mut reported: Vec<String> =
        summary.problems.iter().chain(&summary.broken).map(|p| p.message.clone()).collect();
    let mut gaps = Vec::new();
    let mut messages = 0;
    for reading in readings {
        reported.extend(reading.problems.iter().map(|p| format!("{}: {}", p.line, p.message)));
        gaps.extend(reading.transcript.completeness.gaps().iter().map(|(gap, _)| *gap));
        messages += reading.transcript.messages.len();
    }
    (reported, gaps, messages)
}

fn forced(format: Format) -> Options {
    Options { format: Some(format), ..Options::new("bad") }
}

#[test]
fn every_fixture_is_detected() {
    for format in Format::ALL {
        let (summary, readings) = read_all(fixture(format).as_bytes(), &Options::new("x")).unwrap();
        assert_eq!(summary.format, format);
        assert!(!readings.is_empty(), "{}", format.name());
        assert_eq!(summary.sessions, readings.len());
    }
}

/// Whether a log is one document or one object per line is decided by parsing it, not by how many
/// of its lines happen to be complete objects.
#[test]
fn documents_with_a_message_a_line() {
    let user = r#"{"role":"user","content":"Hi."}"#;
    let agent = r#"{"role":"assistant","content":"Hello."}"#;
    let tool = r#"{"name":"look"}"#;
    let session = format!(r#"{{"messages":[{user},{agent}]}}"#);
    // Longer than the head that detection looks at.
    let long = format!(r#"{{"messages":[{user},{agent}],"note":"{}"}}"#, "x".repeat(300_000));
    for (text, sessions, messages) in [
        (format!("{{\"messages\":[\n{user},\n{agent}\n]}}"), 1, 2),
        (format!("{{\"messages\":[\n{user}\n,\n{agent}\n]}}"), 1, 2),
        (format!("{{\"tools\":[\n{tool}\n],\"messages\":[\n{user}\n,\n{agent}\n]}}\n"), 1, 2),
        (format!("{{\n\"messages\":\n[\n{user}\n,\n{agent}\n]\n}}"), 1, 2),
        (format!("[{user}\n,\n{agent}\n,\n{user}\n]"), 1, 3),
        (format!("[\n{user}\n,\n{agent}\n]"), 1, 2),
        (format!("{session}\n{session}\n"), 2, 4),
        (format!("{session}\n"), 1, 2),
        (format!("{long}\n{session}\n{long}\n"), 3, 6),
        (format!("{long}\n"), 1, 2),
        (long.clone(), 1, 2),
        // The first line was cut off when the log was rotated.
        (format!("{{\"messages\":[{{\"ro\n{session}\n{session}\n"), 2, 4),
        (format!("ser\",\"content\":\"Hi.\"}}]}}\n{session}\n{session}\n"), 2, 4),
    ] {
        let (summary, readings) = read_all(text.as_bytes(), &Options::new("x")).unwrap();
        let read: usize = readings.iter().map(|r| r.transcript.messages.len()).sum();
        assert_eq!((summary.sessions, read), (sessions, messages), "{text}");
    }
}

#[test]
fn nothing_and_nothing_known() {
    for empty in ["", "\u{feff}", "  \n\n", "\0\0\0"] {
        let error = read_all(empty.as_bytes(), &Options::new("x")).unwrap_err();
        assert!(matches!(error, ReadError::Empty), "{empty:?}: {error}");
    }
    for unknown in ["hello", "{\"a\":1}", "[1,2]", "# A heading", "name,age\nx,3", "[2026-01-01] {"]
    {
        let error = read_all(unknown.as_bytes(), &Options::new("x")).unwrap_err();
        assert!(matches!(&error, ReadError::UnknownForm { .. }), "{unknown:?}: {error}");
    }
}

#[test]
fn what_begins_like_json_and_is_none_says_where() {
    for (broken, line) in
        [("{", 1), ("{\"messages\":[\n", 2), ("{\"a\": 1,\n\"b\": }", 2), ("[{]", 1)]
    {
        let error = read_all(broken.as_bytes(), &Options::new("x")).unwrap_err();
        assert!(matches!(error, ReadError::NotJson(_)), "{broken:?}: {error}");
        assert_eq!(error.problem().line, line, "{broken:?}: {error}");
    }
}

/// A log that is cut in the middle still yields what comes before the cut, and reports the cut.
#[test]
fn a_cut_log_keeps_its_beginning() {
    for format in Format::ALL {
        if matches!(format, Format::Specstory | Format::Aider) {
            continue;
        }
        let text = fixture(format).trim_end();
        let cut = text.get(..text.floor_char_boundary(text.len() - 20)).unwrap();
        let (reported, gaps, messages) = problems(cut.as_bytes(), &forced(format));
        assert!(reported.iter().any(|p| p.contains("cut off")), "{}: {reported:?}", format.name());
        assert!(gaps.contains(&Gap::CutEnd), "{}", format.name());
        // Spans are read as a whole or not at all.
        assert!(messages > 0 || format == Format::Otel, "{}", format.name());
    }
}

/// A document is there as a whole or not; a line costs only itself.
#[test]
fn a_document_must_be_readable_to_its_end() {
    let user = r#"{"role":"user","content":"Hi."}"#;
    let agent = r#"{"role":"assistant","content":"Hello."}"#;
    for (text, broken, messages) in [
        (
            format!("[\n{user},\n{agent}"),
            Some("the JSON document is cut off: the text ends inside a list (line 3, column 39)"),
            2,
        ),
        (
            format!("{{\"messages\":[{user},{{\"role\":\"assi"),
            Some("the JSON document is cut off: the text ends inside a string (line 1, column 58)"),
            1,
        ),
        (
            format!("[\n{user},\n{agent},\n]"),
            Some("not valid JSON: trailing comma (line 4, column 1)"),
            0,
        ),
        (
            format!("{{\"messages\":\n[{user}]}}\n{{\"messages\":\n[{agent},]}}"),
            Some("not valid JSON: expected a value (line 4, column 42)"),
            1,
        ),
        (format!("{user}\n{agent}\n{{\"role\":\"us"), None, 2),
        (format!("{user}\n{{\"role\":\"us\n{agent}\n"), None, 2),
    ] {
        let (summary, readings) = read_all(text.as_bytes(), &Options::new("x")).unwrap();
        let read: usize = readings.iter().map(|r| r.transcript.messages.len()).sum();
        let reported = summary.broken.map(|problem| problem.message);
        assert_eq!((reported.as_deref(), read), (broken, messages), "{text}");
    }
}

/// The arguments of the last call may be incomplete, so it is not read; an earlier call is.
#[test]
fn a_call_that_is_cut_off_is_left_out() {
    let call = r#"{"type":"tool_use","id":"a","name":"act","input":{"x":1,"y":2}}"#;
    let answer = |part: &str| format!(r#"{{"role":"assistant","content":[{part}]}}"#);
    let result =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"done"}]}"#;
    for (text, calls) in [
        (format!("[{},{}", answer(call), answer(&call.replace("\"a\"", "\"b\""))), 1),
        (format!("[{},{result}", answer(call)), 1),
        (format!("{}\n{result}\n{}", answer(call), answer(call).get(..90).unwrap()), 1),
        (format!("{}\n{}", answer(call), result.get(..60).unwrap()), 1),
        (format!("{}\n{{\"role\":", answer(call)), 1),
    ] {
        let (_, readings) = read_all(text.as_bytes(), &Options::new("x")).unwrap();
        let messages = readings.iter().flat_map(|reading| &reading.transcript.messages);
        assert_eq!(messages.map(|message| message.calls.len()).sum::<usize>(), calls, "{text}");
    }
}

#[test]
fn bytes_that_are_not_text_are_replaced() {
    for format in Format::ALL {
        let bytes: Vec<u8> = fixture(format)
            .bytes()
            .map(|byte| if byte == b'M' || byte == b'R' { 0xff } else { byte })
            .collect();
        if bytes == fixture(format).as_bytes() {
            continue;
        }
        let (reported, ..) = problems(&bytes, &forced(format));
        assert!(
            reported.iter().any(|p| p.contains("invalid UTF-8")),
            "{}: {reported:?}",
            format.name()
        );
    }
}

#[test]
fn a_line_over_the_limit_is_skipped() {
    for format in [Format::ClaudeCode, Format::Codex, Format::OpenaiChat, Format::Mcp] {
        let options = Options { max_line: 120, ..forced(format) };
        let (reported, ..) = problems(fixture(format).as_bytes(), &options);
        assert!(
            reported.iter().any(|p| p.contains("more than the limit of 120")),
            "{}: {reported:?}",
            format.name()
        );
    }
}

/// A hundred thousand brackets neither overflow the stack nor stop the reading.
#[test]
fn deep_nesting_is_no_danger() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for format in Format::ALL {
        let bare = read_all(deep.as_bytes(), &forced(format));
        assert!(bare.is_ok(), "{}", format.name());
    }
    let inside = [
        (
            Format::OpenaiChat,
            format!(r#"{{"tools":{deep},"messages":[{{"role":"user","content":"x"}}]}}"#),
        ),
        (
            Format::ClaudeCode,
            format!(
                r#"{{"type":"user","uuid":"u","message":{{"role":"user","content":"x"}},"toolUseResult":{deep}}}"#
            ),
        ),
        (Format::Otel, format!(r#"{{"resourceSpans":{deep}}}"#)),
        (
            Format::Fk,
            format!(
                r#"{{"output":"x","toolRegistry":{deep},"receipts":[{{"id":"r","status":"ok","result":{deep}}}]}}"#
            ),
        ),
    ];
    for (format, text) in inside {
        let (reported, _, messages) = problems(text.as_bytes(), &forced(format));
        assert!(messages == 1 || format == Format::Otel, "{}", format.name());
        assert!(
            format == Format::ClaudeCode || reported.iter().any(|p| p.contains("recursion limit")),
            "{}: {reported:?}",
            format.name()
        );
    }
}

#[test]
fn damage_in_the_middle_loses_one_line() {
    let text = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":oops}\n{\"role\":\"user\",\"content\":\"b\"}\n";
    let (reported, gaps, messages) = problems(text.as_bytes(), &Options::new("x"));
    assert_eq!(messages, 2);
    assert_eq!(gaps, [Gap::Unreadable]);
    assert!(reported[0].starts_with("2: not JSON"), "{reported:?}");
}

#[test]
fn a_result_without_a_call_is_kept_and_reported() {
    let text = r#"{"messages":[{"role":"tool","tool_call_id":"ghost","content":"boo"}]}"#;
    let (_, readings) = read_all(text.as_bytes(), &Options::new("x")).unwrap();
    assert_eq!(readings[0].transcript.messages[0].outcomes[0].text, "boo");
    assert_eq!(readings[0].problems[0].message, "a result refers to an unrecorded call: `ghost`");
}

#[test]
fn parents_in_a_circle() {
    let line = |id: &str, parent: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{id}\",\"parentUuid\":\"{parent}\",\"sessionId\":\"s\",\
             \"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}}}\n"
        )
    };
    let circle = [line("a", "c"), line("b", "a"), line("c", "b")].concat();
    let (reported, _, messages) = problems(circle.as_bytes(), &Options::new("x"));
    assert_eq!(messages, 3);
    assert!(reported[0].contains("forms a cycle"), "{reported:?}");
    let later = [line("b", "a"), line("a", "")].concat();
    let (reported, ..) = problems(later.as_bytes(), &Options::new("x"));
    assert_eq!(reported, [] as [&str; 0]);
}

#[test]
fn duplicate_keys_stay_in_the_arguments() {
    let (_, readings) =
        read_all(fixture(Format::ClaudeCode).as_bytes(), &Options::new("x")).unwrap();
    let mut calls = readings[0].transcript.messages.iter().flat_map(|m| &m.calls);
    let call = calls.find(|call| call.id == "t1").unwrap();
    assert_eq!(call.arguments.as_str(), r#"{"command":"make test","command":"make check"}"#);
    assert!(call.arguments.parse().is_err());
}

#[test]
fn events_alone_are_read_when_there_is_nothing_else() {
    let text = concat!(
        r#"{"timestamp":"2026-02-01T10:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"hi"}}"#,
        "\n",
        r#"{"timestamp":"2026-02-01T10:00:01Z","type":"event_msg","payload":{"type":"agent_message","message":"hello"}}"#,
    );
    let (_, readings) = read_all(text.as_bytes(), &Options::new("x")).unwrap();
    let texts: Vec<_> = readings[0].transcript.messages.iter().map(|m| m.text.as_str()).collect();
    assert_eq!(texts, ["hi", "hello"]);
}

#[test]
fn openhands_events_of_version_one() {
    let text = r#"[
        {"kind": "SystemPromptEvent", "source": "agent", "system_prompt": {"type": "text", "text": "Help."}, "tools": []},
        {"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": [{"type": "text", "text": "go"}]}},
        {"kind": "ActionEvent", "source": "agent", "thought": [{"type": "text", "text": "I go."}], "tool_name": "terminal", "tool_call_id": "k1", "tool_call": {"id": "k1", "name": "terminal", "arguments": "{\"command\": \"ls\"}"}, "action": {"command": "ls"}},
        {"kind": "ObservationEvent", "source": "environment", "tool_name": "terminal", "tool_call_id": "k1", "observation": {"content": [{"type": "text", "text": "a"}], "is_error": false, "exit_code": 0}},
        {"kind": "ConversationStateUpdateEvent", "source": "environment"}
    ]"#;
    insta::assert_snapshot!(crate::shown::shown(text.as_bytes(), &Options::new("x")), @r##"
    openhands x, tools []
    0 :2 System "Help."
    1 :3 User "go"
    2 :4 Assistant "I go."
        call `k1` terminal {"command": "ls"}
    3 :5 Tool ""
        result `k1` "a" error false exit 0
    skipped 1 event ConversationStateUpdateEvent
    skipped 1 unknown field action
    skipped 4 unknown field source
    "##);
}

/// A part that may hold a call and is not understood is a gap; one known to hold none is not.
#[test]
fn calls_in_an_unknown_shape_leave_a_gap() {
    let user = r#"{"role":"user","content":"Cancel it."}"#;
    let answer = r#"{"role":"assistant","content":"It is cancelled."}"#;
    let with = |message: &str| format!(r#"{{"messages":[{user},{message},{answer}]}}"#);
    for (text, expected) in [
        (with(r#"{"role":"assistant","content":"Wait."}"#), None),
        (with(r#"{"role":"assistant","content":[{"type":"image","url":"x"}]}"#), None),
        (with(r#"{"role":"assistant","content":"","toolInvocations":[]}"#), None),
        (with(r#"{"role":"assistant","content":"","tool_choice":"auto"}"#), None),
        (
            with(r#"{"role":"assistant","content":[{"type":"tool-call","toolName":"cancel"}]}"#),
            Some(Gap::MissingResults),
        ),
        (
            with(r#"{"role":"assistant","content":[{"toolUse":{"name":"cancel"}}]}"#),
            Some(Gap::MissingResults),
        ),
        (
            with(r#"{"role":"assistant","content":"","toolInvocations":[{"toolName":"cancel"}]}"#),
            Some(Gap::UnreadParts),
        ),
        (with(r#"{"author":"robot","content":"x"}"#), Some(Gap::UnreadParts)),
        (
            with(r#"{"role":"user","content":"[cancel for 'A1'] Result:\ndone"}"#),
            Some(Gap::UnreadParts),
        ),
        (with(r#"{"role":"tool","tool_call_id":"c9","content":"done"}"#), Some(Gap::UnknownCalls)),
        (format!(r#"{{"messages":[{answer}]}}"#), Some(Gap::CutStart)),
        (
            format!(r#"{{"object":"chat.completion","choices":[{{"message":{answer}}}]}}"#),
            Some(Gap::CutStart),
        ),
    ] {
        let (_, gaps, _) = problems(text.as_bytes(), &Options::new("x"));
        assert_eq!(gaps.first().copied(), expected, "{text}");
    }
}
