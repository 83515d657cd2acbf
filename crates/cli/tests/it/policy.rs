//! `policy check`, `explain` and `replay`; runs the examples of `docs/policy.md`.

use insta::assert_snapshot;

use crate::{Desk, Ran};

const PAGE: &str = include_str!("../../../../docs/policy.md");

/// Three calls, replayed in `docs/policy.md`.
const SESSION: &str = r#"{"messages":[
{"role":"user","content":"publish it"},
{"role":"assistant","content":null,"tool_calls":[
 {"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"deploy/server.pem\"}"}},
 {"id":"c2","type":"function","function":{"name":"read","arguments":"{\"path\":\"src/main.rs\"}"}},
 {"id":"c3","type":"function","function":{"name":"shell","arguments":"{\"command\":\"git push\"}"}}]},
{"role":"tool","tool_call_id":"c1","content":"..."},
{"role":"tool","tool_call_id":"c2","content":"fn main() {}"},
{"role":"tool","tool_call_id":"c3","content":"done"}]}"#;

/// Returns the code blocks of the page in this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    let blocks = PAGE.split(&begin).skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

/// Creates a desk with the page's files.
fn desk() -> Desk {
    Desk::with(&[("counterfoil.toml", blocks("toml")[0]), ("session.json", SESSION)])
}

/// Splits a command line into words; single quotes group them.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part);
        } else {
            words.extend(part.split_whitespace());
        }
    }
    words
}

fn explain(desk: &Desk, line: &str) -> Ran {
    desk.spawn(&[], &words(&format!("policy explain {line}")), "")
}

#[test]
fn the_examples_of_the_page_are_what_comes_out() {
    let desk = desk();
    let examples = blocks("console");
    assert!(examples.len() >= 3);
    for example in examples {
        let (command, expected) = example.split_once('\n').unwrap();
        let line = command.strip_prefix("$ counterfoil ").unwrap();
        let ran = desk.spawn(&[], &words(line), "");
        let out = ran.out.replace(&format!("{}/", desk.path().display()), "");
        assert_eq!((out.trim(), ran.err.as_str()), (expected.trim(), ""), "{command}");
    }
}

#[test]
fn the_page_names_every_key_of_a_rule() {
    let schema = Desk::with(&[]).run("config schema").out;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let keys = schema.pointer("/$defs/PolicyRule/properties").unwrap().as_object().unwrap();
    for key in keys.keys() {
        assert!(PAGE.contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn exit_codes() {
    let desk = desk();
    let cases = [
        ("--tool read --args '{\"path\": \"src/a.rs\"}'", 0),
        ("--tool read --args '{\"path\": \"a.pem\"}'", 1),
        ("--tool shell --args '{\"command\": \"git push\"}'", 1),
        ("--tool shell --args '{\"command\": \"git pull\"}' --trust untrusted", 1),
        ("--tool write --phase planner", 1),
        ("--tool write --phase executor", 0),
        ("--tool read --calls-made 200", 1),
        ("--tool read --args '[]'", 2),
        ("--tool read --args nonsense", 2),
        ("--tool read --trust complete", 2),
    ];
    for (line, code) in cases {
        assert_eq!(explain(&desk, line).code, code, "{line}");
    }
}

#[test]
fn hidden_thinking_is_not_shown() {
    for name in ["_tafc_think", "_TAFC_THINK"] {
        for format in ["text", "json"] {
            let arguments = format!("{{\"{name}\": \"a thought\", \"path\": \"src/a.rs\"}}");
            let ran =
                explain(&desk(), &format!("--tool read --args '{arguments}' --format {format}"));
            assert!(ran.out.contains("src/a.rs") && !ran.out.contains("thought"), "{ran}");
        }
    }
}

#[test]
fn a_call_that_is_only_thinking_would_not_run() {
    for tool in ["read_file", "unknown", "Bash --agent claude-code"] {
        let ran = explain(&desk(), &format!("--tool {tool} --args '{{\"_tafc_think\": \"x\"}}'"));
        assert_eq!(ran.code, 1, "{ran}");
        assert!(ran.out.contains("only your thoughts"), "{ran}");
        assert!(!ran.out.contains("required"), "{ran}");
    }
}

#[test]
fn an_explanation_as_json() {
    let ran = explain(&desk(), "--tool read --args '{\"path\": \".env\"}' --format json");
    assert_snapshot!(ran, @r#"
    exit 1
    {
      "version": 1,
      "tool": "read",
      "arguments": {
        "path": ".env"
      },
      "scene": {
        "trust": "provisional",
        "phase": "executor",
        "caller": null
      },
      "verdict": "deny",
      "tool_of_run": false,
      "gates": [
        {
          "gate": "blocklist",
          "verdict": "allow"
        },
        {
          "gate": "protected",
          "verdict": "allow"
        },
        {
          "gate": "quota",
          "verdict": "allow"
        },
        {
          "gate": "policy",
          "verdict": "deny",
          "code": "policy_denied",
          "message": "keys are none of the agent's business",
          "rule": "no keys",
          "help": "choose another approach; only the operator can change the policy"
        },
        {
          "gate": "dependency",
          "verdict": "allow"
        },
        {
          "gate": "trust",
          "verdict": "allow"
        },
        {
          "gate": "permission",
          "verdict": "allow"
        },
        {
          "gate": "secrets",
          "verdict": "allow"
        },
        {
          "gate": "utility",
          "verdict": "allow"
        },
        {
          "gate": "adversarial",
          "verdict": "allow"
        }
      ]
    }
    "#);
}

#[test]
fn a_rule_that_gets_its_example_wrong_is_named_with_its_line() {
    let policy = "[tools.policy]\nenabled = true\n\n[[tools.policy.rules]]\nname = \"keys\"\n\
                  effect = \"deny\"\ntool = \"read\"\npaths = [\"*.pem\"]\n\
                  match = [{ args = { path = \"a.pem\" } }, { args = { path = \"b/a.pem\" } }]\n";
    let desk = Desk::with(&[("new.toml", policy)]);
    assert_snapshot!(desk.run("policy check new.toml"), @r#"
    exit 2
    --- stderr
    error: new.toml:9: keys: match[1] should match, but the rule does not cover `read {"path":"b/a.pem"}`
      help: widen the rule so that it covers this call, or move the call to `not_match`
    "#);
}

#[test]
fn a_replay_of_the_same_policy_changes_nothing() {
    let desk = desk();
    let ran = desk.run("policy replay --policy counterfoil.toml session.json");
    assert_eq!((ran.code, ran.out.trim()), (0, "3 calls: 3 unchanged"));
}

#[test]
fn a_replay_as_json() {
    let ran = desk()
        .run_with("--no-config policy replay --policy counterfoil.toml --format json -", SESSION);
    assert_snapshot!(ran, @r#"
    exit 1
    {
      "version": 1,
      "calls": 3,
      "unreadable": 0,
      "changes": [
        {
          "log": "-",
          "line": 4,
          "session": "stdin",
          "tool": "read",
          "arguments": {
            "path": "deploy/server.pem"
          },
          "before": "allow",
          "after": "deny",
          "gates": [
            {
              "gate": "blocklist",
              "verdict": "allow"
            },
            {
              "gate": "protected",
              "verdict": "allow"
            },
            {
              "gate": "quota",
              "verdict": "allow"
            },
            {
              "gate": "policy",
              "verdict": "deny",
              "code": "policy_denied",
              "message": "keys are none of the agent's business",
              "rule": "no keys",
              "help": "choose another approach; only the operator can change the policy"
            },
            {
              "gate": "dependency",
              "verdict": "allow"
            },
            {
              "gate": "trust",
              "verdict": "allow"
            },
            {
              "gate": "permission",
              "verdict": "allow"
            },
            {
              "gate": "secrets",
              "verdict": "allow"
            },
            {
              "gate": "utility",
              "verdict": "allow"
            },
            {
              "gate": "adversarial",
              "verdict": "allow"
            }
          ]
        },
        {
          "log": "-",
          "line": 6,
          "session": "stdin",
          "tool": "shell",
          "arguments": {
            "command": "git push"
          },
          "before": "allow",
          "after": "ask",
          "gates": [
            {
              "gate": "blocklist",
              "verdict": "allow"
            },
            {
              "gate": "protected",
              "verdict": "allow"
            },
            {
              "gate": "quota",
              "verdict": "allow"
            },
            {
              "gate": "policy",
              "verdict": "allow",
              "rule": "default_effect"
            },
            {
              "gate": "dependency",
              "verdict": "allow"
            },
            {
              "gate": "trust",
              "verdict": "allow"
            },
            {
              "gate": "permission",
              "verdict": "ask",
              "message": "the rule `shell: git push*` requires the user's approval"
            },
            {
              "gate": "secrets",
              "verdict": "allow"
            },
            {
              "gate": "utility",
              "verdict": "allow"
            },
            {
              "gate": "adversarial",
              "verdict": "allow"
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn a_looser_policy_says_what_no_longer_holds() {
    let desk = desk();
    std::fs::write(desk.path().join("loose.toml"), "").unwrap();
    let ran = desk.run("policy replay --policy loose.toml session.json");
    assert_snapshot!(ran, @r#"
    exit 1
    session.json:4  read {"path":"deploy/server.pem"}
        deny → allow  no longer policy: keys are none of the agent's business (no keys)

    session.json:6  shell {"command":"git push"}
        ask → allow  no longer permission: the rule `shell: git push*` requires the user's approval

    3 calls: 1 unchanged, 1 ask → allow, 1 deny → allow
    "#);
}

#[test]
fn a_log_that_cannot_be_read_is_an_error() {
    let desk = desk();
    std::fs::write(desk.path().join("noise.json"), "nothing of the kind").unwrap();
    for log in ["noise.json", "missing.json"] {
        let ran = desk.run(&format!("policy replay --policy counterfoil.toml {log}"));
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(log), "{}", ran.err);
    }
}

#[test]
fn a_tool_that_is_misspelt_is_named() {
    let desk = Desk::with(&[]);
    let ran = explain(&desk, "--tool shel --completed read_fil");
    assert!(
        ran.out.contains(
            "note: Counterfoil itself has no tool `shel`, so only its name was judged, as for a \
             tool of an MCP server; did you mean `shell`?"
        ),
        "{ran}"
    );
    assert!(
        ran.out.contains("`--completed` contains the unknown tool `read_fil`; did you mean"),
        "{ran}"
    );
}

#[test]
fn the_file_that_is_named_is_protected_and_a_shell_of_the_responses_is_one() {
    let desk = Desk::with(&[("mine.toml", "")]);
    for (tool, arguments, verdict) in [
        ("write_file", r#"{"path":"mine.toml","content":"x"}"#, "ask"),
        ("write_file", r#"{"path":"other.toml","content":"x"}"#, "allow"),
        ("local_shell", r#"{"type":"exec","command":["rm","-rf","/"]}"#, "deny"),
    ] {
        let words = ["--config", "mine.toml", "policy", "explain", "--tool", tool];
        let words = [&words[..], &["--args", arguments, "--format", "json"]].concat();
        let ran = desk.spawn(&[("COUNTERFOIL_STATE", "state")], &words, "");
        assert!(ran.out.contains(&format!("\"verdict\": \"{verdict}\"")), "{tool}: {ran}");
    }
}

/// A tool may refuse a call that every gate allows. No person is asked about such a call.
#[test]
fn what_the_tool_itself_refuses_is_reported() {
    let desk = Desk::with(&[("a.txt", "a")]);
    for (tool, arguments, expected) in [
        ("read_file", r#"{"path":"/etc/passwd"}"#, "`/etc/passwd` is outside the workspace"),
        ("read_file", r#"{"path":".env"}"#, "it matches `tools.file.deny_read`"),
        ("write_file", r#"{"path":"../x","content":"x"}"#, "is outside the workspace"),
        ("fetch", r#"{"url":"https://169.254.169.254/"}"#, "resolves to 169.254.169.254"),
        ("fetch", r#"{"url":"http://example.com/"}"#, "only `https:` is fetched"),
        ("shell", r#"{"command":"ls","cwd":"/etc"}"#, "`/etc` is outside the workspace"),
    ] {
        let ran = explain(&desk, &format!("--tool {tool} --args '{arguments}'"));
        let tool = ran.out.lines().find(|line| line.starts_with("  tool        deny")).unwrap();
        assert!(tool.contains(expected), "{ran}");
        assert!(!ran.out.contains(" ask "), "{ran}");
        let last = ran.out.trim_end().lines().last();
        assert_eq!((ran.code, last), (1, Some("the call would be denied")));
    }
    let ran = explain(&desk, r#"--tool read_file --args '{"path":"a.txt"}'"#);
    assert_eq!(
        (ran.code, ran.out.trim_end().lines().last()),
        (0, Some("the call would run")),
        "{ran}"
    );
    let ran = explain(&desk, "--tool nosuch");
    assert!(
        ran.out.contains("\nno gate would object\nnote: Counterfoil itself has no tool `nosuch`"),
        "{ran}"
    );
    // Which tools an MCP server has is not known here.
    let ran = explain(&desk, "--tool mcp__x__y --completed x__z");
    let note = "tool `mcp__x__y`, so only its name was judged, as for a tool of an MCP server; \
                pass its definition with `--tools FILE`\n";
    assert!(ran.out.ends_with(note), "{ran}");
}
