use counterfoil_formats::Options;
use counterfoil_model::Format;

use crate::shown::{fixture, read_all, shown};

fn check(format: Format) -> String {
    shown(fixture(format).as_bytes(), &Options::new("fixture"))
}

#[test]
fn anthropic() {
    insta::assert_snapshot!(check(Format::Anthropic), @r#"
    anthropic fixture, tools ["read_file with schema"]
    from 0 on by some-model
    0 :1 System "Be brief."
    1 :4 User "What does a.txt say?"
    2 :5 Assistant "Reading."
        call `tu_1` read_file {"path":"a.txt"}
    3 :6 Tool ""
        result `tu_1` "no such file" error true
    4 :7 Assistant "There is no a.txt."
    skipped 1 reasoning attached to a message
    skipped 1 unknown field max_tokens
    "#);
}

#[test]
fn claude_code() {
    insta::assert_snapshot!(check(Format::ClaudeCode), @r#"
    claude-code s-1, tools unknown
    from 0 on by some-model
    0 :2 User @1769940000000 "Run the tests"
    1 :3 User/Injected @1769940000000 "<system-reminder>Be careful.</system-reminder>"
    2 :4 Assistant/Reasoning @1769940001000 "tests first"
    3 :5 Assistant @1769940002000 ""
        call `t1` Bash {"command":"make test","command":"make check"}
    4 :6 Tool @1769940009000 ""
        result `t1` "Exit code 2\n3 failed" error true exit 2
    5 :7 Assistant @1769940010000 "Fixing."
        call `t2` Task {"prompt":"fix it"}
        call `t3` Bash {"command":"rm -rf build"}
    6 :8 Assistant of ag7 @1769940011000 "I am the sub-agent."
    7 :9 Tool @1769940060000 ""
        result `t2` "Fixed it." error false subagent calls 4
    8 :10 Tool @1769940061000 ""
        result `t3` "The user doesn't want to proceed with this tool use. The tool use was rejected." error true refused
    9 :10 User/Injected @1769940061000 "[Request interrupted by user for tool use]"
    10 :13 User/Summary "This session is being continued."
    11 :14 Assistant/Injected "API Error"
    gaps [(UnrecordedSubagent, 7), (Compacted, 10), (CutStart, 0)]
    skipped 1 line type file-history-snapshot
    skipped 1 line type hologram
    skipped 1 line type progress hook_progress
    skipped 1 line type system compact_boundary
    skipped 10 unknown field sessionId
    "#);
}

#[test]
fn codex() {
    insta::assert_snapshot!(check(Format::Codex), @r#"
    codex cx-1, tools unknown
    from 0 on by some-model
    0 :1 System "Follow the guide."
    1 :2 User/Injected @1769940000100 "<environment_context>\n</environment_context>"
    2 :3 User @1769940000200 "Build it"
    3 :5 Assistant/Reasoning @1769940001000 "build"
    4 :6 Assistant @1769940002000 ""
        call `c1` exec_command {"cmd":"make"}
    5 :7 Tool @1769940003000 ""
        result `c1` "Chunk ID: 1\nWall time: 1.0 seconds\nProcess running with session ID 77\nOutput:\n" running
    6 :8 Assistant @1769940004000 ""
        call `c2` write_stdin {"session_id":77}
    7 :9 Tool @1769940005000 ""
        result `c2` "Chunk ID: 2\nProcess exited with code 0\nOutput:\nok" exit 0
    8 :10 Assistant @1769940006000 ""
        call `c3` shell {"command":["ls"]}
    9 :11 Tool @1769940007000 ""
        result `c3` "no" exit 1
    10 :12 Assistant @1769940008000 ""
        call `c4` apply_patch {"input":"*** Begin Patch\n*** End Patch"}
    11 :13 Tool @1769940009000 ""
        result `c4` "Success" exit 0
    12 :15 System/Summary @1769940011000 "what happened so far"
    13 :16 Assistant @1769940012000 "Built."
    gaps [(Compacted, 12)]
    skipped 1 line type turn_context
    skipped 1 repeated by event_msg agent_message
    skipped 1 repeated by event_msg exec_command_end
    skipped 1 repeated by event_msg user_message
    skipped 1 unknown field encrypted_content
    skipped 1 unknown field status
    "#);
}

/// A sub-agent's log begins with its parent's history, and a call that a hook denied never ran.
#[test]
fn codex_subagent() {
    let log = r#"{"ordinal":0,"type":"session_meta","payload":{"id":"child","session_id":"parent","subagent_history_start_ordinal":7}}
{"ordinal":1,"type":"session_meta","payload":{"id":"parent"}}
{"ordinal":2,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Find it."}]}}
{"ordinal":3,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"p1"}}
{"ordinal":4,"type":"response_item","payload":{"type":"function_call_output","call_id":"p1","output":"seen by the parent"}}
{"ordinal":5,"type":"event_msg","payload":{"type":"agent_message","message":"All tests pass."}}
{"ordinal":6,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"All tests pass."}]}}
{"ordinal":7,"type":"response_item","payload":{"type":"agent_message","author":"main","recipient":"look","content":[{"type":"input_text","text":"Message Type: NEW_TASK\nPayload:"},{"type":"encrypted_content","encrypted_content":"gAAAA"}]}}
{"ordinal":8,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"rm -rf ~\"}","call_id":"c1"}}
{"ordinal":9,"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Command blocked by PreToolUse hook: no. Command: rm -rf ~"}}
{"ordinal":10,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It was denied."}]}}
"#;
    insta::assert_snapshot!(shown(log.as_bytes(), &Options::new("fixture")), @r##"
    codex parent, tools unknown
    0 :3 User/Injected of child "Find it."
    1 :4 User/Injected of child ""
    2 :5 User/Injected of child "seen by the parent"
    3 :7 User/Injected of child "All tests pass."
    4 :8 User of child "Message Type: NEW_TASK\nPayload:"
    5 :9 Assistant of child ""
        call `c1` exec_command {"cmd":"rm -rf ~"}
    6 :10 Tool of child ""
        result `c1` "Command blocked by PreToolUse hook: no. Command: rm -rf ~" refused
    7 :11 Assistant of child "It was denied."
    gaps [(UnknownCalls, 3)]
    skipped 1 content block encrypted_content
    skipped 1 line type event_msg from the parent
    skipped 1 unknown field id
    "##);
}

#[test]
fn fk() {
    insta::assert_snapshot!(check(Format::Fk), @r##"
    fk fixture, tools ["send (not available)"]
    0 :2 Assistant @1736029800000 ""
        call `invocation-1` send {}
        call `step-2` log {}
    1 :2 Tool ""
        result `invocation-1` ""
        result `step-2` "missing" error true
    2 :2 Assistant "I sent it."
    receipt r1 send Failed Some(1736029800000) None
    skipped 1 unknown field expectedViolation
    skipped 1 unknown field id
    skipped 1 unknown field note
    skipped 1 unknown field retrievals
    skipped 1 unknown field rule
    fk fixture#2, tools []
    0 :3 Assistant "Nothing happened."
    "##);
}

#[test]
fn gemini_cli() {
    insta::assert_snapshot!(check(Format::GeminiCli), @r#"
    gemini-cli g-1, tools unknown
    from 0 on by some-model
    0 :5 User @1769940000000 "List the files"
    1 :6 Assistant/Reasoning @1769940001000 "Listing\nI will list."
    2 :6 Assistant @1769940001000 "Listing."
        call `ls-1` run_shell_command {"command": "ls"}
        call `rm-1` run_shell_command {"command": "rm a"}
        call `rd-1` read_file {"path": "b"}
    3 :6 Tool @1769940001000 ""
        result `ls-1` "Command: ls\nOutput: a\nExit Code: 2\nSignal: 0" error false exit 2
        result `rm-1` "[Operation Cancelled] Reason: User cancelled the operation." refused
        result `rd-1` "not found" error true
    4 :17 Assistant "Done."
    skipped 1 message type info
    skipped 1 unknown field projectHash
    "#);
}

/// One message per line: each is repeated when its calls have ended, and results occur once more as
/// user messages.
#[test]
fn gemini_cli_in_lines() {
    let log = r#"{"sessionId":"g-2","projectHash":"abc","kind":"main"}
{"$set":{"messages":[{"id":"1","type":"user","content":[{"text":"<session_context>\nToday is Monday."}]}]}}
{"id":"2","type":"user","content":[{"text":"Run it."}]}
{"$set":{"lastUpdated":"2026-02-01T10:00:00.000Z"}}
{"id":"3","type":"gemini","content":"Running.","thoughts":[{"subject":"Run","description":"it"}]}
{"id":"3","type":"gemini","content":"Running.","thoughts":[{"subject":"Run","description":"it"}],"toolCalls":[{"id":"sh-1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"id":"sh-1","name":"run_shell_command","response":{"output":"built"}}}]}]}
{"id":"4","type":"user","content":[{"functionResponse":{"id":"sh-1","name":"run_shell_command","response":{"output":"built"}}}]}
{"id":"5","type":"gemini","content":"","toolCalls":[{"id":"ag-1","name":"invoke_agent","args":{"prompt":"Look."},"status":"success","result":[{"functionResponse":{"id":"ag-1","response":{"output":"looked"}}}],"resultDisplay":{"isSubagentProgress":true,"recentActivity":[{"type":"tool_call","content":"read_file"},{"type":"tool_call","content":"complete_task"}]}}]}
{"id":"6","type":"gemini","content":"","toolCalls":[{"id":"ct-1","name":"complete_task","args":{"result":{"response":"It is built."}},"status":"success","result":[{"functionResponse":{"id":"ct-1","response":{"output":"Task completed."}}}]}]}
"#;
    insta::assert_snapshot!(shown(log.as_bytes(), &Options::new("fixture")), @r##"
    gemini-cli g-2, tools unknown
    0 :2 User/Injected "<session_context>\nToday is Monday."
    1 :3 User "Run it."
    2 :5 Assistant/Reasoning "Run\nit"
    3 :5 Assistant "Running."
        call `sh-1` run_shell_command {"command":"make"}
    4 :6 Tool ""
        result `sh-1` "built" error false
    5 :8 Assistant ""
        call `ag-1` invoke_agent {"prompt":"Look."}
    6 :8 Tool ""
        result `ag-1` "looked" error false subagent calls 1
    7 :9 Assistant "It is built."
    gaps [(UnrecordedSubagent, 6)]
    skipped 1 unknown field kind
    skipped 1 unknown field lastUpdated
    skipped 1 unknown field projectHash
    "##);
}

#[test]
fn mcp() {
    insta::assert_snapshot!(check(Format::Mcp), @r##"
    mcp fixture, tools ["add with schema"]
    0 :5 Assistant ""
        call `x` add {"a":1}
    1 :7 Tool ""
        result `x` "1" error false
    2 :8 Assistant ""
        call `3` nope {}
    3 :9 Tool ""
        result `3` "unknown tool" error true
    skipped 1 message initialize
    skipped 1 message notifications/progress
    skipped 1 message tools/list
    skipped 1 response to initialize
    "##);
}

#[test]
fn mini_swe_agent() {
    insta::assert_snapshot!(check(Format::MiniSweAgent), @r#"
    mini-swe-agent toy-1, tools unknown
    from 0 on by some-model
    0 :4 System "You can use bash."
    1 :5 User "Fix it."
    2 :6 Assistant "THOUGHT: look\n\n```bash\ncat a.py\n```"
        call `step-2` bash {"command":"cat a.py"}
    3 :7 Tool ""
        result `step-2` "<returncode>1</returncode>\n<output>\nno such file\n</output>" exit 1
    4 :8 Assistant "Done."
        call `k1` bash {"command": "echo DONE"}
    5 :9 Tool ""
        result `k1` "diff"
    skipped 1 unknown field trajectory_format
    "#);
}

#[test]
fn openai_chat() {
    insta::assert_snapshot!(check(Format::OpenaiChat), @r##"
    openai-chat chat-1, tools ["get_order with schema", "refund"]
    0 :1 System "Be kind."
    1 :1 User "Where is\norder 17?"
    2 :1 Assistant ""
        call `c1` get_order {"id": "17"}
    3 :1 Tool ""
        result `c1` "{\"state\":\"shipped\"}" error false exit 0
    4 :1 System/Injected ""
    5 :1 Assistant "It was shipped."
    receipt get_order_1735999999123_9f3a01bc get_order Completed Some(1735999999123) Some(Object {"state": String("shipped")})
    skipped 1 content block image_url
    skipped 1 unknown field source
    problem 1: a message is not an object
    openai-chat fixture#2, tools []
    0 :2 User "hi"
    1 :2 Assistant ""
        call `unnamed-1` ping {"n":1,"n":2}
    2 :2 Tool ""
        result `unnamed-1` "pong" running subagent calls 3
    3 :2 User/Injected "go on"
    4 :2 User/Summary "earlier we pinged"
    "##);
}

#[test]
fn openai_responses() {
    insta::assert_snapshot!(check(Format::OpenaiResponses), @r##"
    openai-responses resp_1, tools ["lookup with schema", "web_search"]
    0 :4 System "Answer from the files."
    1 :6 User "Find the total."
    2 :8 Assistant/Reasoning "look it up"
    3 :9 Assistant ""
        call `call_1` lookup {"q":"total"}
    4 :10 Tool ""
        result `call_1` "42"
    5 :11 Assistant ""
        call `ws_1` web_search {"type": "search", "query": "total"}
        result `ws_1` "" error false
    6 :12 Assistant "The total is 42."
    gaps [(UnreadParts, 7)]
    skipped 1 item type brand_new_item
    skipped 1 unknown field annotations
    skipped 1 unknown field object
    "##);
}

#[test]
fn openhands() {
    insta::assert_snapshot!(check(Format::Openhands), @r##"
    openhands fixture, tools ["execute_bash with schema"]
    0 :2 System "You are an agent."
    1 :3 User @1769940000000 "Make a file"
    2 :4 Assistant "I make it."
        call `tc1` execute_bash {"command": "touch a"}
    3 :5 Tool ""
        result `tc1` "" error false exit 0
    4 :6 Assistant ""
        call `event-4` run {"command": "sleep 99"}
    5 :7 Tool ""
        result `event-4` "no new output" running
    6 :9 Assistant "The file is there."
    skipped 1 observation agent_state_changed
    "##);
}

#[test]
fn otel() {
    insta::assert_snapshot!(check(Format::Otel), @r#"
    otel conv-1, tools ["add with schema"]
    from 0 on by some-model
    0 :1 User @1770000000000 "2+3?"
    1 :1 Assistant @1770000001000 ""
        call `c1` add {"a":2,"b":3}
    2 :1 Tool @1770000003000 ""
        result `c1` "5" error false
    3 :1 Assistant @1770000005000 "It is 5."
    skipped 2 message repeated by a later span
    skipped 1 result repeated by a later span
    otel t2, tools unknown
    0 :1 Assistant @1770000009000 ""
        call `execute_tool drop-1770000009000000000` drop {}
    1 :1 Tool @1770000009500 ""
        result `execute_tool drop-1770000009000000000` "Timeout" error true
    skipped 1 span GET /
    "#);
}

#[test]
fn specstory() {
    insta::assert_snapshot!(check(Format::Specstory), @r#"
    specstory spec-1, tools unknown
    from 0 on by some-model
    0 :7 User @1769940000000 "Check the build."
    1 :15 Assistant/Reasoning @1769940002000 "I should build."
    2 :19 Assistant @1769940003000 "I build it."
    3 :25 Assistant @1769940004000 ""
        call `tool-use-1` Bash {"command":"make all"}
    4 :25 Tool @1769940004000 ""
        result `tool-use-1` "Exit code 2\nboom" error true exit 2
    5 :39 Assistant @1769940005000 ""
        call `tool-use-2` Read {"file_path":"./Makefile"}
    6 :44 Assistant @1769940006000 "It fails."
    gaps [(LossyFormat, 0)]
    skipped 2 line before the first heading
    "#);
}

#[test]
fn swe_agent() {
    insta::assert_snapshot!(check(Format::SweAgent), @r##"
    swe-agent fixture, tools unknown
    0 :4 System "SETTING: a shell"
    1 :5 User/Injected "a demonstration"
    2 :6 User "Fix the bug"
    3 :10 Assistant "Looking.\n```\nopen main.py\n```"
        call `step-3` open {"command":"open main.py"}
    4 :10 Tool ""
        result `step-3` "[File: main.py]"
    5 :11 Assistant "Running."
        call `step-5` bash {"command":"python main.py"}
    6 :11 Tool ""
        result `step-5` "8.2\n"
    7 :12 Assistant "hm"
    8 :12 User/Injected "Your output was not formatted correctly."
    skipped 1 unknown field environment
    skipped 1 unknown field info
    skipped 3 unknown field state
    "##);
}

#[test]
fn vercel_ai() {
    insta::assert_snapshot!(check(Format::VercelAi), @r##"
    vercel-ai fixture, tools unknown
    0 :2 User "Book table 4."
    1 :12 Assistant/Reasoning "The desk knows."
    2 :12 Assistant "One moment."
        call `c1` book_table {
         "table": 4
        }
    3 :12 Tool ""
        result `c1` "{\n     \"ok\": true\n    }"
    4 :12 Assistant ""
        call `c2` send_mail {
         "to": "a@example.com"
        }
    5 :12 Tool ""
        result `c2` "no such mailbox" error true
    6 :12 Assistant "Table 4 is booked; the mail did not go out."
        call `c3` ring {}
    7 :67 Assistant ""
        call `c4` pay {
         "sum": 7
        }
    8 :80 Tool ""
        result `c4` "the user said no" refused
    9 :94 Assistant ""
        call `c5` look {
         "at": 1
        }
    10 :94 Tool ""
        result `c5` "seen"
    11 :94 Assistant "Nothing was paid."
    gaps [(UnreadParts, 6)]
    skipped 1 message part hologram
    "##);
}

#[test]
fn langchain() {
    insta::assert_snapshot!(check(Format::Langchain), @r#"
    langchain fixture, tools unknown
    from 0 on by m
    0 :4 System "Be brief."
    1 :8 User "Close ticket 7."
    2 :20 Assistant "Closing."
        call `c1` close_ticket {
            "id": 7
           }
    3 :71 Tool ""
        result `c1` "no such ticket" error true
    4 :78 Assistant ""
        call `c2` close_ticket {"id":
    5 :96 Assistant "There is no ticket 7."
    gaps [(UnreadParts, 5)]
    skipped 1 message type hologram
    skipped 1 unknown field error
    skipped 1 unknown field metadata
    skipped 1 unknown field next
    problem 92: a message has the unknown type `hologram`
    "#);
}

#[test]
fn pydantic_ai() {
    insta::assert_snapshot!(check(Format::PydanticAi), @r#"
    pydantic-ai fixture, tools unknown
    from 0 on by m
    0 :2 System "Be brief."
    1 :2 User @1769940000000 "What is open?"
    2 :19 Assistant/Reasoning @1769940001000 "I look."
    3 :19 Assistant @1769940001000 ""
        call `c1` list_tickets {"state":"open"}
        call `c2` count {
         "of": 1
        }
    4 :44 Tool ""
        result `c1` "T-1" error false
        result `c2` "of has to be a text" error true
    5 :67 Assistant "T-1 is open."
    6 :76 User/Injected "Answer in JSON."
    gaps [(UnreadParts, 4)]
    skipped 1 message part hologram
    skipped 1 message part media
    "#);
}

#[test]
fn autogen() {
    insta::assert_snapshot!(check(Format::Autogen), @r##"
    autogen fixture, tools unknown
    0 :3 User "Count the files."
    1 :8 Assistant/Reasoning "I count."
    2 :13 Assistant ""
        call `c1` count {"in": "."}
    3 :24 Tool ""
        result `c1` "cannot open ." error true
    4 :36 Assistant/Injected "cannot open ."
    5 :43 Assistant "I could not count them."
    gaps [(UnreadParts, 6)]
    skipped 1 message type HologramEvent
    skipped 1 unknown field stop_reason
    "##);
}

#[test]
fn google_adk() {
    insta::assert_snapshot!(check(Format::GoogleAdk), @r##"
    google-adk adk-1, tools unknown
    0 :7 User @1769940000500 "Cancel 7."
    1 :33 Assistant/Reasoning "Cancelling."
    2 :33 Assistant ""
        call `f1` cancel {
            "id": 7
           }
    3 :55 Tool ""
        result `f1` "no order 7" error true
    4 :82 Assistant "There is no order 7."
    skipped 1 event without content
    skipped 1 partial event
    skipped 1 unknown field appName
    skipped 1 unknown field state
    skipped 1 unknown field userId
    "##);
}

#[test]
fn codex_exec() {
    insta::assert_snapshot!(check(Format::CodexExec), @r##"
    codex-exec th-1, tools unknown
    0 :4 Assistant ""
        call `i0` shell {"command":"make test"}
    1 :4 Tool ""
        result `i0` "2 failed\n" error true exit 2
    2 :5 Assistant ""
        call `i1` apply_patch {"changes":[{"path": "a.py", "kind": "update"}]}
    3 :5 Tool ""
        result `i1` "" error false
    4 :6 Assistant ""
        call `i2` mcp__desk__find {"q": "x"}
    5 :6 Tool ""
        result `i2` "found" error false
    6 :7 Assistant ""
        call `i3` web_search {"query":"x"}
    7 :7 Tool ""
        result `i3` ""
    8 :8 Assistant/Reasoning "Hm."
    9 :11 Assistant "Two tests fail."
    gaps [(CutStart, 0), (UnreadParts, 9)]
    skipped 1 event turn.completed
    skipped 1 event turn.started
    skipped 1 item hologram
    skipped 1 item todo_list
    "##);
}

#[test]
fn opencode() {
    insta::assert_snapshot!(check(Format::Opencode), @r#"
    opencode ses_1, tools unknown
    from 0 on by some-model
    0 :8 User @1769940000000 "Fix it."
    1 :28 Assistant/Reasoning "Run first."
    2 :28 Assistant ""
        call `c1` bash {
           "command": "make"
          }
    3 :28 Tool ""
        result `c1` "2 failed" error false exit 2
    4 :28 Assistant ""
        call `c2` edit {
           "filePath": "a"
          }
    5 :28 Tool ""
        result `c2` "no such file" error true
    6 :28 Assistant "It is not fixed."
        call `c3` read {
           "filePath": "b"
          }
    gaps [(UnreadParts, 6)]
    skipped 1 message part hologram
    skipped 1 message part step-start
    skipped 1 text inserted by the agent's harness
    "#);
}

#[test]
fn goose() {
    insta::assert_snapshot!(check(Format::Goose), @r##"
    goose fixture, tools unknown
    0 :2 User @1769940000000 "Fix it."
    1 :3 Assistant/Reasoning @1769940001000 "Run."
    2 :3 Assistant @1769940001000 "Running."
        call `c1` developer__shell {"command": "make"}
    3 :4 Tool @1769940002000 ""
        result `c1` "2 failed" error true
        result `c2` "bad arguments" error true
    4 :5 Assistant @1769940003000 "It is not fixed."
    gaps [(UnreadParts, 1), (UnreadParts, 4), (UnknownCalls, 3)]
    skipped 1 content block hologram
    skipped 1 content block toolRequest without a call
    skipped 1 session metadata line
    problem 4: a result refers to an unrecorded call: `c2`
    "##);
}

#[test]
fn sharegpt() {
    insta::assert_snapshot!(check(Format::Sharegpt), @r##"
    sharegpt s-1, tools ["close with schema"]
    0 :0 System "Be brief."
    1 :1 User "Close 7 and 8."
    2 :1 Assistant ""
        call `unnamed-1` close {"id": 7}
        call `unnamed-2` close {"id": 8}
    3 :1 Tool ""
        result `unnamed-1` "closed"
    4 :1 Tool ""
        result `unnamed-2` "no such ticket"
    5 :1 Assistant "7 is closed; there is no 8."
    sharegpt fixture#2, tools unknown
    0 :2 User "Close 7."
    1 :2 Assistant "<tool_call>\n{\"name\": \"close\", \"arguments\": {\"id\": 7}}\n</tool_call>"
        call `written-1` close {"id": 7}
    2 :2 Tool ""
        result `written-1` "closed"
    3 :2 Assistant "It is closed."
    gaps [(UnreadParts, 3)]
    skipped 1 message from hologram
    problem 2: a message has the unknown sender `hologram`
    "##);
}

#[test]
fn chatgpt() {
    insta::assert_snapshot!(check(Format::Chatgpt), @r#"
    chatgpt cg-1, tools unknown
    from 0 on by some-model
    0 :22 User @1769940000250 "Draw it."
    1 :62 Assistant ""
        call `unnamed-1` python {"code":"plot()"}
    2 :79 Tool ""
        result `unnamed-1` "ok"
    3 :97 Assistant/Reasoning "hm"
    4 :114 Assistant "Here it is."
    gaps [(LossyFormat, 0)]
    skipped 1 message part media
    "#);
}

#[test]
fn aider() {
    insta::assert_snapshot!(check(Format::Aider), @r#"
    aider fixture 2026-02-01 10:00:00, tools unknown
    from 0 on by m
    0 :4 System/Injected "/usr/bin/aider --model m\nModel: m with diff edit format"
    1 :7 User "fix the bug\nin a.py"
    2 :10 Assistant "I changed it.\n\nAll tests pass.\n"
    3 :14 System/Injected "Applied edit to a.py"
    gaps [(LossyFormat, 0)]
    aider fixture 2026-02-01 11:00:00, tools unknown
    0 :18 User "thanks"
    1 :20 Assistant "You are welcome."
    gaps [(LossyFormat, 0)]
    "#);
}

/// Requests with responses, evaluation results and spans, as loggers wrap them: the format they are
/// read as, and the number of messages.
#[test]
fn wrapped_conversations() {
    let question = r#"{"role":"user","content":"Close 7."}"#;
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"close","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"c1","content":"closed"}"#;
    let reply = r#"{"role":"assistant","content":"It is closed."}"#;
    let request = format!(r#"{{"messages":[{question},{call},{result}]}}"#);
    let answer = format!(r#"{{"choices":[{{"message":{reply}}}]}}"#);
    let text = |json: &str| serde_json::to_string(json).unwrap();
    let list = format!("[{question},{call},{result}]");
    let bare = r#"{"role":"user","content":[{"type":"text","text":"Close 7."}]}"#;
    let used = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"close","input":{}}]}"#;
    let returned = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"closed"}]}"#;
    let converse = r#"{"messages":[{"role":"user","content":[{"text":"Close 7."}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"close","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"json":{"ok":true}}],"status":"success"}}]},{"role":"assistant","content":[{"text":"It is closed."}]}]}"#;
    for (log, format, messages) in [
        (format!(r#"{{"request":{request},"response":{answer}}}"#), Format::OpenaiChat, 4),
        (format!(r#"{{"id":"b","custom_id":"c","body":{request}}}"#), Format::OpenaiChat, 3),
        (format!(r#"{{"messages":{list},"response":{answer}}}"#), Format::OpenaiChat, 4),
        (format!(r#"{{"id":"w","inputs":{request},"output":{answer}}}"#), Format::OpenaiChat, 4),
        (format!(r#"{{"input":{list},"output":[{{"message":{reply}}}]}}"#), Format::OpenaiChat, 4),
        (
            format!(r#"{{"input":{},"output":{}}}"#, text(&request), text(reply)),
            Format::OpenaiChat,
            4,
        ),
        (format!(r#"[{{"task_id":1,"traj":[{question},{call},{result},{reply}]}}]"#), Format::OpenaiChat, 4),
        (
            format!(r#"{{"request":{{"system":"x","messages":[{bare},{used},{returned}]}},"response":{reply}}}"#),
            Format::Anthropic,
            5,
        ),
        (converse.to_owned(), Format::OpenaiChat, 4),
        (
            format!(r#"{{"samples":[{{"id":1,"epoch":1,"messages":[{question},{call},{result},{reply}]}}]}}"#),
            Format::OpenaiChat,
            4,
        ),
        (
            format!(
                r#"{{"results":{{"results":[{{"prompt":{{"raw":{}}},"response":{{"output":"It is closed."}}}}]}}}}"#,
                text(&list)
            ),
            Format::OpenaiChat,
            4,
        ),
        (
            r#"[{"input":"Close 7.","actual_output":"It is closed.","tools_called":[{"name":"close","output":"closed"}]}]"#.to_owned(),
            Format::OpenaiChat,
            4,
        ),
        (
            format!(
                r#"{{"trace":{{"id":"t"}},"observations":[{{"traceId":"t","type":"GENERATION","startTime":"2026-01-01T00:00:00Z","input":[{question}],"output":{call}}},{{"traceId":"t","type":"TOOL","name":"close","startTime":"2026-01-01T00:00:01Z","input":{{}},"output":"closed"}},{{"traceId":"t","type":"GENERATION","startTime":"2026-01-01T00:00:02Z","input":{list},"output":{reply}}}]}}"#
            ),
            Format::Otel,
            4,
        ),
        (
            format!(
                r#"{{"data":{{"spans":[{{"trace_id":"t","attributes":{{"mlflow.spanType":"\"CHAT_MODEL\"","mlflow.spanInputs":{},"mlflow.spanOutputs":{}}}}}]}}}}"#,
                text(&request),
                text(&answer)
            ),
            Format::Otel,
            4,
        ),
        (r#"{"type":"result","is_error":false,"num_turns":2,"session_id":"s","result":"Done."}"#.to_owned(), Format::ClaudeCode, 1),
    ] {
        let (summary, readings) = read_all(log.as_bytes(), &Options::new("x")).unwrap();
        let read: usize = readings.iter().map(|r| r.transcript.messages.len()).sum();
        assert_eq!((summary.format, read), (format, messages), "{log}");
        assert!(readings.iter().all(|r| r.problems.is_empty()), "{log}: {:?}", readings[0].problems);
    }
}

/// A title is not part of the conversation; only a compaction loses something.
#[test]
fn the_title_of_a_session_is_no_compaction() {
    let log = |first: &str| {
        format!(
            "{first}\n{}\n{}\n",
            r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Go."}}"#,
            r#"{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}"#
        )
    };
    for (first, gaps) in [
        (r#"{"type":"summary","summary":"Run the tests","leafUuid":"elsewhere"}"#, 0),
        (r#"{"type":"system","subtype":"compact_boundary","uuid":"x"}"#, 1),
    ] {
        let (_, readings) = read_all(log(first).as_bytes(), &Options::new("x")).unwrap();
        let transcript = &readings[0].transcript;
        let texts: Vec<&str> = transcript.messages.iter().map(|m| m.text.as_str()).collect();
        assert_eq!(
            (texts, transcript.completeness.gaps().len()),
            (vec!["Go.", "Done."], gaps),
            "{first}"
        );
    }
}

#[test]
fn several_documents_and_wide_characters() {
    let one = "{\n \"messages\": [{\"role\": \"user\", \"content\": \"Hi.\"}]\n}\n";
    let (summary, _) = read_all(format!("{one}{one}").as_bytes(), &Options::new("x")).unwrap();
    assert_eq!(summary.sessions, 2);
    let wide: Vec<u8> =
        format!("\u{feff}{one}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let plain = counterfoil_formats::decompressed(wide.as_slice()).unwrap();
    let mut sessions = 0;
    counterfoil_formats::read(plain, &Options::new("x"), &mut |_| sessions += 1).unwrap();
    assert_eq!(sessions, 1);
}
