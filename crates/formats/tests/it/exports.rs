//! Exports of frameworks and agents: messages, calls, and how the calls ended.

use counterfoil_formats::Options;
use counterfoil_model::{Format, Gap};

use crate::shown::{fixture, read_all, shown};

fn check(format: Format) -> String {
    shown(fixture(format).as_bytes(), &Options::new("fixture"))
}

#[test]
fn strands() {
    insta::assert_snapshot!(check(Format::Strands), @r##"
    strands fixture, tools unknown
    0 :1 User @1769940000000 "Close ticket 7."
    1 :2 Assistant @1769940001000 "Closing."
        call `c1` close_ticket {"id": 7}
        call `c2` list_tickets {}
    2 :3 Tool @1769940002000 ""
        result `c1` "no such ticket" error true
        result `c2` "{\"open\": 0}" error false
    3 :4 Assistant @1769940003000 "There is no ticket 7."
    "##);
}

#[test]
fn semantic_kernel() {
    insta::assert_snapshot!(check(Format::SemanticKernel), @r##"
    semantic-kernel fixture, tools unknown
    from 0 on by m
    0 :3 System "Be brief."
    1 :4 User "Close 7 and 8."
    2 :5 Assistant ""
        call `c1` desk-close {"id": 7}
        call `c2` desk-close {"id": 8}
        call `c3` desk-list {}
    3 :10 Tool ""
        result `c1` "closed"
        result `c2` "no such ticket" error true
        result `c3` "" unread
    4 :15 Assistant "7 is closed; there is no 8."
    gaps [(UnreadParts, 4)]
    skipped 1 call with unknown ending: missing or unreadable outcome
    skipped 1 message item hologram
    "##);
}

#[test]
fn crush() {
    insta::assert_snapshot!(check(Format::Crush), @r##"
    crush s-1, tools unknown
    from 0 on by some-model
    0 :1 User @1769940000000 "Mend a.py."
    1 :2 Assistant/Reasoning @1769940001000 "Run first."
    2 :2 Assistant @1769940001000 "Running."
        call `c1` bash {"command": "make"}
        call `c2` view {"file_path": "a.py"}
    3 :3 Tool @1769940003000 ""
        result `c1` "2 failed" error true
        result `c2` "x = 1" error false
    4 :4 Assistant ""
        call `c3` edit {}
    5 :5 Tool ""
        result `c3` "" unread
    6 :6 Assistant "It is not mended."
    gaps [(UnreadParts, 6)]
    skipped 1 call with unknown ending: missing or unreadable content
    skipped 3 message part finish
    skipped 1 message part hologram
    skipped 1 unknown field answer
    "##);
}

#[test]
fn pi() {
    insta::assert_snapshot!(check(Format::Pi), @r##"
    pi pi-1, tools unknown
    from 0 on by some-model
    0 :3 User @1769940001000 "Mend a.py."
    1 :4 Assistant/Reasoning @1769940002000 "Run first."
    2 :4 Assistant @1769940002000 "Running."
        call `c1` bash {"command": "make"}
        call `c2` read {"path": "a.py"}
        call `c3` edit {}
    3 :5 Tool @1769940003000 ""
        result `c1` "2 failed\n\nCommand exited with code 1" error true
    4 :6 Tool @1769940004000 ""
        result `c2` "x = 1" error false
    5 :7 Tool @1769940005000 ""
        result `c3` "" unread
    6 :8 User/Injected @1769940006000 "ls\na.py"
    7 :9 System/Summary @1769940007000 "make failed"
    8 :11 Assistant @1769940009000 "It is not mended."
    gaps [(Compacted, 7), (UnreadParts, 8)]
    skipped 1 call with unknown ending: missing or unreadable content
    skipped 1 content block hologram
    skipped 1 line type label
    skipped 1 unknown field answer
    "##);
}

#[test]
fn letta() {
    insta::assert_snapshot!(check(Format::Letta), @r##"
    letta fixture, tools unknown
    0 :2 System @1769940000000 "Be brief."
    1 :3 User @1769940001000 "Close 7, 8 and 9."
    2 :4 Assistant/Reasoning @1769940002000 "One by one."
    3 :5 Assistant @1769940003000 ""
        call `c1` close {"id": 7}
        call `c2` close {"id": 8}
    4 :9 Tool @1769940004000 ""
        result `c1` "no such ticket\nlookup failed" error true
    5 :10 Tool @1769940005000 ""
        result `c2` "closed" error false
    6 :11 Assistant @1769940006000 ""
        call `c3` close {"id": 9}
    7 :12 Tool @1769940007000 ""
        result `c3` "not that one" refused
    8 :13 Assistant @1769940008000 ""
        call `c4` list {}
    9 :14 Tool @1769940009000 ""
        result `c4` "" unread
    10 :16 Assistant @1769940011000 "Only 8 is closed."
    gaps [(UnreadParts, 10)]
    skipped 1 call with unknown ending: missing or unreadable content
    skipped 1 call with unknown ending: missing or unreadable tool_return
    skipped 1 message type hologram_message
    skipped 1 unknown field answer
    skipped 1 unknown field id
    "##);
}

#[test]
fn dify() {
    insta::assert_snapshot!(check(Format::Dify), @r##"
    dify dify-1, tools unknown
    0 :5 User @1769940000000 "Close 7 and 8."
    1 :5 Assistant/Reasoning @1769940000000 "Both at once."
    2 :5 Assistant @1769940000000 ""
        call `t1-1` close {"id": 8}
        call `t1-2` reopen {"id": 7}
    3 :5 Tool @1769940000000 ""
        result `t1-1` "closed"
        result `t1-2` "tool invoke error: no such ticket" error true
    4 :5 Assistant @1769940000000 ""
        call `t2-1` list {}
    5 :5 Tool @1769940000000 ""
        result `t2-1` "" unread
    6 :5 Assistant @1769940000000 ""
        call `t3-1` ring {"to": "ada"}
    7 :5 Tool @1769940000000 ""
        result `t3-1` "rang"
    8 :5 Assistant @1769940000000 "Only 8 is closed."
    9 :11 User @1769940009000 "Thanks."
    10 :11 Assistant @1769940009000 "You are welcome."
    gaps [(UnreadParts, 10)]
    skipped 1 call with unknown ending: missing or unreadable observation
    skipped 1 message without the agent's thoughts
    "##);
}

#[test]
fn copilot_cli() {
    insta::assert_snapshot!(check(Format::CopilotCli), @r##"
    copilot-cli cp-1, tools unknown
    from 0 on by some-model
    0 :2 User @1769940001000 "Mend a.py and push it."
    1 :4 Assistant/Reasoning @1769940002000 "Run first."
    2 :4 Assistant @1769940002000 "Running."
        call `c1` bash {"command": "make"}
        call `c2` bash {"command": "git push"}
    3 :6 Tool @1769940004000 ""
        result `c1` "2 failed\n<exited with exit code 1>" error false exit 1
    4 :7 Tool @1769940005000 ""
        result `c2` "no permission" error true refused
    5 :8 Assistant @1769940006000 ""
        call `c3` view {"path": "a.py"}
    6 :9 Tool @1769940007000 ""
        result `c3` "" error false unread
    7 :11 Assistant @1769940009000 "It is not mended."
    gaps [(UnreadParts, 7)]
    skipped 1 call with unknown ending: missing or unreadable result
    skipped 1 event assistant.turn_start
    skipped 1 event hologram
    "##);
}

/// Mastra stores the parts of a message in an object as its content.
#[test]
fn mastra() {
    let log = r#"[
 {"id": "u1", "role": "user", "createdAt": "2026-02-01T10:00:00Z", "threadId": "t", "resourceId": "r", "content": {"format": 2, "parts": [{"type": "text", "text": "Close 7, 8 and 9."}], "content": "Close 7, 8 and 9."}},
 {"id": "a1", "role": "assistant", "createdAt": "2026-02-01T10:00:04Z", "threadId": "t", "resourceId": "r", "content": {"format": 2, "parts": [
  {"type": "step-start"},
  {"type": "reasoning", "reasoning": "One by one.", "details": []},
  {"type": "tool-invocation", "toolInvocation": {"state": "result", "toolCallId": "c1", "toolName": "close", "args": {"id": 7}, "result": {"error": true, "message": "no such ticket"}}},
  {"type": "tool-invocation", "toolInvocation": {"state": "result", "toolCallId": "c2", "toolName": "close", "args": {"id": 8}, "result": {"closed": 8, "error": false}}},
  {"type": "tool-invocation", "toolInvocation": {"state": "result", "toolCallId": "c3", "toolName": "close", "args": {"id": 9}, "answer": {"closed": false}}},
  {"type": "tool-invocation", "toolInvocation": {"state": "call", "toolCallId": "c4", "toolName": "list", "args": {}}},
  {"type": "hologram"},
  {"type": "text", "text": "Only 8 is closed."}
 ], "toolInvocations": [{"state": "result", "toolCallId": "c1", "toolName": "close", "args": {"id": 7}, "result": {"error": true, "message": "no such ticket"}}]}},
 {"id": "a2", "role": "assistant", "threadId": "t", "resourceId": "r", "content": {"format": 2, "parts": [], "content": "Bye.", "toolInvocations": [{"state": "result", "toolCallId": "c5", "toolName": "leave", "args": {}, "result": "left"}]}}
]"#;
    insta::assert_snapshot!(shown(log.as_bytes(), &Options::new("fixture")), @r##"
    vercel-ai t, tools unknown
    0 :2 User @1769940000000 "Close 7, 8 and 9."
    1 :3 Assistant/Reasoning @1769940004000 "One by one."
    2 :3 Assistant @1769940004000 ""
        call `c1` close {"id": 7}
    3 :3 Tool @1769940004000 ""
        result `c1` "{\"error\": true, \"message\": \"no such ticket\"}" error true
    4 :3 Assistant @1769940004000 ""
        call `c2` close {"id": 8}
    5 :3 Tool @1769940004000 ""
        result `c2` "{\"closed\": 8, \"error\": false}"
    6 :3 Assistant @1769940004000 ""
        call `c3` close {"id": 9}
    7 :3 Tool @1769940004000 ""
        result `c3` "" unread
    8 :3 Assistant @1769940004000 "Only 8 is closed."
        call `c4` list {}
    9 :13 Assistant ""
        call `c5` leave {}
    10 :13 Tool ""
        result `c5` "left"
    11 :13 Assistant "Bye."
    gaps [(UnreadParts, 8)]
    skipped 1 call with unknown ending: missing or unreadable content
    skipped 1 message part hologram
    "##);
}

/// Rows of several sessions are kept apart, in lines and in lists, in any order.
#[test]
fn rows_of_several_sessions() {
    let crush = |session: &str, text: &str| {
        format!(
            r#"{{"id":"m","session_id":"{session}","role":"user","parts":[{{"type":"text","data":{{"text":"{text}"}}}}]}}"#
        )
    };
    let mastra = |thread: &str, text: &str| {
        format!(
            r#"{{"role":"user","threadId":"{thread}","content":{{"format":2,"parts":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let dify = |conversation: &str, text: &str| {
        format!(
            r#"{{"conversation_id":"{conversation}","query":"{text}","answer":"","agent_thoughts":[]}}"#
        )
    };
    let rows = |row: &dyn Fn(&str, &str) -> String| [row("a", "1"), row("b", "2"), row("a", "3")];
    for rows in [rows(&crush), rows(&mastra), rows(&dify)] {
        for log in [rows.join("\n"), format!("[{}]", rows.join(","))] {
            let (_, readings) = read_all(log.as_bytes(), &Options::new("x")).unwrap();
            let read: Vec<(&str, Vec<&str>)> = readings
                .iter()
                .map(|r| &r.transcript)
                .map(|t| (t.id.as_str(), t.messages.iter().map(|m| m.text.as_str()).collect()))
                .collect();
            assert_eq!(read, [("a", vec!["1", "3"]), ("b", vec!["2"])], "{log}");
        }
        // An unreadable row may belong to either session.
        let log = format!("{}\n{{\"damaged\n{}", rows[..2].join("\n"), rows[2]);
        let (_, readings) = read_all(log.as_bytes(), &Options::new("x")).unwrap();
        let gaps = readings.iter().map(|r| r.transcript.completeness.gaps());
        assert!(gaps.clone().all(|gaps| gaps.iter().any(|(gap, _)| *gap == Gap::Unreadable)));
        assert_eq!(gaps.len(), 2, "{log}");
    }
}

/// The runs of one LangSmith trace are one session, however they are exported: an agent that says
/// something once says it once.
#[test]
fn runs_of_a_trace() {
    let run = |id: &str, kind: &str, ended: &str, io: &str| {
        let root = if id == "r" { "null" } else { "\"r\"" };
        format!(
            r#"{{"id":"{id}","trace_id":"r","parent_run_id":{root},"name":"book","run_type":"{kind}","end_time":"2026-11-28T10:00:{ended}",{io}}}"#
        )
    };
    let request = r#"{"type":"human","content":"Book it."}"#;
    let called = r#"{"type":"ai","content":"","tool_calls":[{"id":"c","name":"book","args":{}}]}"#;
    let failed = r#"{"type":"tool","content":"Error: full","tool_call_id":"c","status":"error"}"#;
    let answer = r#"{"type":"ai","content":"Booked."}"#;
    let generation = |message: &str| format!(r#"{{"generations":[[{{"message":{message}}}]]}}"#);
    let runs = [
        run(
            "r",
            "chain",
            "09.5",
            &format!(
                r#""inputs":{{"messages":[{{"role":"user","content":"Book it."}}]}},"outputs":{{"messages":[{request},{called},{failed},{answer}]}}"#
            ),
        ),
        run(
            "a",
            "llm",
            "02",
            &format!(r#""inputs":{{"messages":[[{request}]]}},"outputs":{}"#, generation(called)),
        ),
        run("b", "tool", "03", r#""inputs":{"input":"{}"},"outputs":null,"error":"full""#),
        run(
            "d",
            "llm",
            "09",
            &format!(
                r#""inputs":{{"messages":[[{request},{called},{failed}]]}},"outputs":{}"#,
                generation(answer)
            ),
        ),
    ];
    let mut backwards = runs.clone();
    backwards.reverse();
    for runs in [runs.clone(), backwards] {
        for log in [
            runs.join("\n"),
            format!("[{}]", runs.join(",")),
            format!("{{\"runs\":[{}]}}", runs.join(",\n")),
        ] {
            let (_, readings) = read_all(log.as_bytes(), &Options::new("x")).unwrap();
            let [only] = readings.as_slice() else { panic!("{} sessions: {log}", readings.len()) };
            assert_eq!(only.problems, [], "{log}");
            let transcript = &only.transcript;
            assert!(transcript.completeness.gaps().is_empty(), "{:?}", transcript.completeness);
            let texts: Vec<&str> = transcript.messages.iter().map(|m| m.text.as_str()).collect();
            assert_eq!(texts, ["Book it.", "", "", "Booked."], "{log}");
            let results: Vec<_> = transcript.messages.iter().flat_map(|m| &m.outcomes).collect();
            let results: Vec<_> = results.iter().map(|o| (o.text.as_str(), o.is_error)).collect();
            assert_eq!(results, [("Error: full", Some(true))], "{log}");
            assert_eq!(transcript.id, "r");
        }
    }
    // A single run is enough, and so is a tool run whose call no message contains.
    for (log, messages) in [(format!("[{}]", runs[0]), 4), (format!("[{}]", runs[2]), 2)] {
        let (_, readings) = read_all(log.as_bytes(), &Options::new("x")).unwrap();
        let lengths: Vec<usize> = readings.iter().map(|r| r.transcript.messages.len()).collect();
        assert_eq!(lengths, [messages], "{log}");
    }
}

/// A session whose answer is in a form that no reader knows is not a session without claims.
#[test]
fn an_unread_answer_is_a_problem() {
    let request = r#"{"messages":[{"role":"user","content":"Book it."}]}"#;
    for (log, member) in [
        (format!(r#"[{{"inputs":{request},"outputs":{{"said":"Booked."}}}}]"#), "outputs"),
        (format!(r#"{{"request":{request},"response":{{"said":"Booked."}}}}"#), "response"),
        (format!(r#"{{"answer":"Booked.",{}"#, request.trim_start_matches('{')), "answer"),
        (
            format!(
                r#"[{{"run_type":"chain","trace_id":"r","inputs":{request},"outputs":{{"output":"Booked."}}}}]"#
            ),
            "output",
        ),
    ] {
        let (summary, readings) = read_all(log.as_bytes(), &Options::new("x")).unwrap();
        assert!(summary.broken.is_some(), "{log}");
        let problems: Vec<&str> =
            readings.iter().flat_map(|r| &r.problems).map(|p| p.message.as_str()).collect();
        let expected = format!("`{member}` contains no readable answer or call");
        assert_eq!(problems, [expected], "{log}");
    }
    // Only the request was kept.
    let (_, readings) = read_all(request.as_bytes(), &Options::new("x")).unwrap();
    assert!(readings.iter().all(|reading| reading.problems.is_empty()));
}
