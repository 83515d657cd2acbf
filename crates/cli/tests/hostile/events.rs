//! Hook events that hide a call from the gates.

use crate::stage::Stage;

const AGENTS: [(&str, &str, &str); 3] = [
    ("claude-code", "PreToolUse", "Bash"),
    ("codex", "PreToolUse", "Bash"),
    ("gemini", "BeforeTool", "run_shell_command"),
];

#[test]
fn hook_events_do_not_hide_a_call() {
    let mut stage = Stage::new();
    for on_failure in ["open", "closed"] {
        stage.write(
            "dev/.config/counterfoil/counterfoil.toml",
            format!("[hooks]\non_failure = \"{on_failure}\"\n"),
        );
        for (agent, event, tool) in AGENTS {
            for (name, mark, input) in inputs() {
                let mut sent = mark.to_vec();
                let head = format!(
                    "{{\"session_id\":\"s1\",\"cwd\":\"{}\",\"hook_event_name\":\"{event}\",\
                     \"tool_name\":\"{tool}\",\"tool_use_id\":\"t1\",\"tool_input\":",
                    stage.work().display()
                );
                sent.extend(head.bytes());
                sent.extend(input);
                sent.push(b'}');
                let ran = stage.run(&["hook", agent], sent);
                let name = format!("{agent}, {on_failure}: {name}");
                stage.tried(name, ran.out.contains("\"deny\""), || ran.shown());
            }
        }
    }
    stage.end();
}

/// Returns a name, the bytes before the event, and the tool's input; each hides `rm -rf /`.
fn inputs() -> Vec<(String, &'static [u8], Vec<u8>)> {
    let call = |more: String| format!("{{\"command\":\"rm -rf /\"{more}}}").into_bytes();
    let mut inputs: Vec<(String, &'static [u8], Vec<u8>)> = vec![
        ("nothing hidden".into(), b"", call(String::new())),
        ("a byte-order mark".into(), b"\xef\xbb\xbf", call(String::new())),
        ("half a surrogate pair".into(), b"", call(r#","description":"\ud800""#.into())),
        ("half a pair in a comment".into(), b"", br#"{"command":"rm -rf / #\udfff"}"#.to_vec()),
        ("half a pair in a key".into(), b"", call(r#","\ud83d":1"#.into())),
        ("a byte that is not UTF-8".into(), b"", b"{\"command\":\"rm -rf / #\xff\"}".to_vec()),
        ("a surrogate in bytes".into(), b"", b"{\"command\":\"rm -rf / #\xed\xa0\x80\"}".to_vec()),
        ("1e999".into(), b"", call(",\"t\":1e999".into())),
        (
            "the last of two commands".into(),
            b"",
            br#"{"command":"ls","command":"rm -rf /"}"#.to_vec(),
        ),
        ("input is JSON in a text".into(), b"", br#""{\"command\":\"rm -rf /\"}""#.to_vec()),
        ("input is a text".into(), b"", br#""rm -rf /""#.to_vec()),
        ("input is a list".into(), b"", br#"["rm -rf /"]"#.to_vec()),
        ("an empty key".into(), b"", call(",\"\":\"\"".into())),
    ];
    for depth in [50, 64, 70, 100, 126, 128, 5_000] {
        let deep = format!(",\"x\":{}{}", "[".repeat(depth), "]".repeat(depth));
        inputs.push((format!("{depth} levels beside it"), b"", call(deep)));
        let deep = format!(",\"x\":{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        inputs.push((format!("{depth} objects beside it"), b"", call(deep)));
    }
    for kilobytes in [256, 1_100, 5_000] {
        let long = format!(",\"description\":\"{}\"", "x".repeat(kilobytes * 1_000));
        inputs.push((format!("{kilobytes} kB beside it"), b"", call(long)));
    }
    let header = concat!("-----BEGIN ", "PRIVATE KEY-----");
    for count in [1_000, 36_000] {
        let keys = format!(",\"description\":\"{}\"", header.repeat(count));
        inputs.push((format!("{count} headers of keys beside it"), b"", call(keys)));
    }
    inputs
}
