//! Agents' settings: what is added, and that removing it restores the text.

use counterfoil_hooks::{
    Agent, SettingsChange, SettingsForm, command_line, install, installed, missing_events,
    switched_off, uninstall,
};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const JSON: SettingsForm = SettingsForm::Json;

fn with_hooks(form: SettingsForm, agent: Agent, text: Option<&str>) -> String {
    install(agent, form, text, &command_line(agent, "counterfoil")).unwrap().text.unwrap()
}

#[test]
fn a_new_file_for_claude_code() {
    assert_snapshot!(with_hooks(JSON, Agent::ClaudeCode, None), @r#"
    {
      "hooks": {
        "PreToolUse": [
          {
            "matcher": "*",
            "hooks": [
              {
                "type": "command",
                "command": "counterfoil hook claude-code",
                "timeout": 10
              }
            ]
          }
        ],
        "PostToolUse": [
          {
            "matcher": "*",
            "hooks": [
              {
                "type": "command",
                "command": "counterfoil hook claude-code",
                "timeout": 10
              }
            ]
          }
        ],
        "PostToolUseFailure": [
          {
            "matcher": "*",
            "hooks": [
              {
                "type": "command",
                "command": "counterfoil hook claude-code",
                "timeout": 10
              }
            ]
          }
        ],
        "UserPromptSubmit": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "counterfoil hook claude-code",
                "timeout": 10
              }
            ]
          }
        ],
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "counterfoil hook claude-code",
                "timeout": 30
              }
            ]
          }
        ],
        "SubagentStop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "counterfoil hook claude-code",
                "timeout": 30
              }
            ]
          }
        ],
        "SessionEnd": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "counterfoil hook claude-code",
                "timeout": 10
              }
            ]
          }
        ]
      }
    }
    "#);
}

#[test]
fn a_new_file_for_gemini() {
    let text = with_hooks(SettingsForm::JsonWithComments, Agent::Gemini, None);
    assert_snapshot!(text.lines().take(16).collect::<Vec<_>>().join("\n"), @r#"
    {
      "hooks": {
        "BeforeTool": [
          {
            "matcher": "*",
            "hooks": [
              {
                "name": "counterfoil",
                "type": "command",
                "command": "counterfoil hook gemini",
                "timeout": 10000
              }
            ]
          }
        ],
        "AfterTool": [
    "#);
}

#[test]
fn what_is_there_stays_in_its_order() {
    let before = r#"{
	"model": "opus",
	"hooks": {
		"Stop": [
			{ "hooks": [{ "type": "command", "command": "say done" }] }
		],
		"PreToolUse": []
	},
	"env": { "A": "1" }
}
"#;
    let after = with_hooks(JSON, Agent::ClaudeCode, Some(before));
    let tools: String = after.lines().take(34).map(|line| format!("{line}\n")).collect();
    assert_snapshot!(tools, @r#"
    {
    	"model": "opus",
    	"hooks": {
    		"Stop": [
    			{ "hooks": [{ "type": "command", "command": "say done" }] },
    			{
    				"hooks": [
    					{
    						"type": "command",
    						"command": "counterfoil hook claude-code",
    						"timeout": 30
    					}
    				]
    			}
    		],
    		"PreToolUse": [

    			{
    				"matcher": "*",
    				"hooks": [
    					{
    						"type": "command",
    						"command": "counterfoil hook claude-code",
    						"timeout": 10
    					}
    				]
    			}
    		],
    		"PostToolUse": [
    			{
    				"matcher": "*",
    				"hooks": [
    					{
    						"type": "command",
    "#);
    assert_eq!(without_hooks(JSON, Agent::ClaudeCode, &after).as_deref(), Some(before));
}

#[test]
fn inline_tables_and_comments_of_codex() {
    let before = "\
# mine
model = \"gpt-5\" # the good one

[[hooks.Stop]]
# a bell

[[hooks.Stop.hooks]]
type = \"command\"
command = 'bell'

[features]
hooks = true
";
    let after = with_hooks(SettingsForm::Toml, Agent::Codex, Some(before));
    assert_snapshot!(after, @r#"
    # mine
    model = "gpt-5" # the good one

    [[hooks.Stop]]
    # a bell

    [[hooks.Stop.hooks]]
    type = "command"
    command = 'bell'

    [[hooks.Stop]]

    [[hooks.Stop.hooks]]
    type = "command"
    command = "counterfoil hook codex"
    timeout = 30

    [[hooks.PreToolUse]]
    matcher = "*"

    [[hooks.PreToolUse.hooks]]
    type = "command"
    command = "counterfoil hook codex"
    timeout = 10

    [[hooks.PostToolUse]]
    matcher = "*"

    [[hooks.PostToolUse.hooks]]
    type = "command"
    command = "counterfoil hook codex"
    timeout = 10

    [[hooks.UserPromptSubmit]]

    [[hooks.UserPromptSubmit.hooks]]
    type = "command"
    command = "counterfoil hook codex"
    timeout = 10

    [[hooks.SubagentStop]]

    [[hooks.SubagentStop.hooks]]
    type = "command"
    command = "counterfoil hook codex"
    timeout = 30

    [[hooks.SessionEnd]]

    [[hooks.SessionEnd.hooks]]
    type = "command"
    command = "counterfoil hook codex"
    timeout = 3

    [features]
    hooks = true
    "#);
    assert_eq!(without_hooks(SettingsForm::Toml, Agent::Codex, &after).as_deref(), Some(before));
}

#[test]
fn another_command_is_replaced_in_place() {
    let old = install(Agent::ClaudeCode, JSON, None, "/old/counterfoil hook claude-code").unwrap();
    let text = old.text.unwrap().replace("\"timeout\": 30", "\"timeout\": 99");
    let edit = install(Agent::ClaudeCode, JSON, Some(&text), "counterfoil hook claude-code");
    let edit = edit.unwrap();
    assert_eq!(edit.changes.len(), 7);
    assert_eq!(
        edit.changes.first(),
        Some(&SettingsChange::Updated {
            entry: "PreToolUse".to_owned(),
            from: "/old/counterfoil hook claude-code".to_owned(),
        })
    );
    let new = edit.text.unwrap();
    assert_eq!(new, text.replace("/old/counterfoil", "counterfoil"), "the time-out is the user's");
    let hooks = installed(Agent::ClaudeCode, JSON, &new).unwrap();
    assert_eq!(missing_events(Agent::ClaudeCode, &hooks), Vec::<&str>::new());
    assert_eq!(
        missing_events(Agent::ClaudeCode, hooks.get(2..).unwrap()),
        ["PreToolUse", "PostToolUse"]
    );
}

#[test]
fn others_in_our_group_stay() {
    let text = with_hooks(JSON, Agent::ClaudeCode, None);
    let text = text.replacen(
        "\"hooks\": [\n          {",
        "\"hooks\": [\n          { \"command\": \"theirs\" },\n          {",
        1,
    );
    assert_snapshot!(without_hooks(JSON, Agent::ClaudeCode, &text).unwrap(), @r#"
    {
      "hooks": {
        "PreToolUse": [
          {
            "matcher": "*",
            "hooks": [
              { "command": "theirs" }
            ]
          }
        ]
      }
    }
    "#);
}

#[test]
fn a_broken_file_is_left_alone_and_the_line_is_named() {
    let cases = [
        (JSON, Agent::ClaudeCode, "{\n  \"a\": 1,\n}"),
        (JSON, Agent::ClaudeCode, "{\n  // mine\n  \"a\": 1\n}"),
        (JSON, Agent::ClaudeCode, "[]"),
        (JSON, Agent::ClaudeCode, "{\n  \"hooks\": []\n}"),
        (JSON, Agent::ClaudeCode, "{\n  \"hooks\": { \"Stop\":\n 1 }\n}"),
        (JSON, Agent::ClaudeCode, "{\n  \"hooks\": {},\n  \"hooks\": {}\n}"),
        (SettingsForm::JsonWithComments, Agent::Gemini, "{\n  // mine\n  \"a\" 1\n}"),
        (SettingsForm::JsonWithComments, Agent::Gemini, "// mine\n"),
        (SettingsForm::Toml, Agent::Codex, "a = 1\nb = \n"),
        (SettingsForm::Toml, Agent::Codex, "a = 1\nhooks = 1\n"),
        (SettingsForm::Toml, Agent::Codex, "[hooks]\nStop = 1\n"),
    ];
    let errors: Vec<String> = cases
        .iter()
        .map(|(form, agent, text)| {
            let error = install(*agent, *form, Some(text), "counterfoil hook x").unwrap_err();
            format!("{text:?} line {}: {error}", error.line())
        })
        .collect();
    assert_snapshot!(errors.join("\n"), @r#"
    "{\n  \"a\": 1,\n}" line 3: key must be a string
    "{\n  // mine\n  \"a\": 1\n}" line 2: key must be a string
    "[]" line 1: the file must be an object, got a list
    "{\n  \"hooks\": []\n}" line 2: `hooks` must be an object, got a list
    "{\n  \"hooks\": { \"Stop\":\n 1 }\n}" line 3: `hooks.Stop` must be a list, got a number
    "{\n  \"hooks\": {},\n  \"hooks\": {}\n}" line 3: duplicate key `hooks`
    "{\n  // mine\n  \"a\" 1\n}" line 3: expected colon after the string or word in object property
    "// mine\n" line 2: the file contains nothing but comments
    "a = 1\nb = \n" line 2: string values must be quoted, expected literal string
    "a = 1\nhooks = 1\n" line 2: `hooks` must be a table, got a single value
    "[hooks]\nStop = 1\n" line 2: `hooks.Stop` must be a list, got a single value
    "#);
}

#[test]
fn what_switches_hooks_off() {
    let jsonc = SettingsForm::JsonWithComments;
    for (agent, form, text, expected) in [
        (Agent::ClaudeCode, JSON, "{\"disableAllHooks\":true}", Some("`disableAllHooks` is true")),
        (Agent::ClaudeCode, JSON, "{\"disableAllHooks\":false}", None),
        (
            Agent::Gemini,
            jsonc,
            "{\"hooksConfig\":{\"enabled\":false}}",
            Some("`hooksConfig.enabled` is false"),
        ),
        (
            Agent::Gemini,
            jsonc,
            "{\"hooks\":{\"disabled\":[\"counterfoil\"]}}",
            Some("`hooks.disabled` names `counterfoil`"),
        ),
        (Agent::Gemini, jsonc, "{\"hooks\":{\"disabled\":[\"other\"]}}", None),
        (
            Agent::Codex,
            SettingsForm::Toml,
            "[features]\nhooks = false\n",
            Some("`features.hooks` is false"),
        ),
        (Agent::Codex, SettingsForm::Toml, "[features]\nhooks = true\n", None),
        (Agent::Codex, JSON, "", None),
    ] {
        assert_eq!(switched_off(agent, form, text).unwrap(), expected, "{text}");
    }
}

fn without_hooks(form: SettingsForm, agent: Agent, text: &str) -> Option<String> {
    uninstall(agent, form, text).unwrap().text
}

/// Installing twice is the same as installing once, and uninstalling restores every byte.
fn check(form: SettingsForm, agent: Agent, before: Option<&str>) {
    let once = with_hooks(form, agent, before);
    let twice = with_hooks(form, agent, Some(&once));
    assert_eq!(twice, once, "{before:?}");
    let hooks = installed(agent, form, &once).unwrap();
    assert_eq!(missing_events(agent, &hooks), Vec::<&str>::new(), "{once}");
    assert_eq!(without_hooks(form, agent, &once).as_deref(), before, "{once}");
}

#[test]
fn odd_files_come_back_as_they_were() {
    for before in [
        "",
        " \n",
        "\n\n",
        "{}",
        "{ }",
        "{\n}",
        "{\n}\n",
        "{\r\n}\r\n",
        "\n{}\n",
        "{\n\n}",
        "{\n\n\n  }",
        r#"{"a":1}"#,
        r#"{ "a": 1 }"#,
        r#"{"hooks":{}}"#,
        r#"{"hooks":{ }}"#,
        "{\"hooks\":{\n\n}}",
        r#"{"hooks":{"Stop":[]}}"#,
        r#"{"hooks":{"Stop":[ ],"PreToolUse":[]},"z":[]}"#,
        r#"{"hooks":{"Stop":[{"hooks":[]}]}}"#,
        "{\"a\" : 1 , \"hooks\" :\n{ \"Stop\"\t: [ 1 ,2 ] } }",
        "{\r\n    \"a\": 1\r\n}",
        "{\n\t\"a\": {\n\t\t\"b\": []\n\t},\n\n\t\"hooks\": {}\n}\n",
        "{\"a\": \"x, // no \\\" comment\", \"b\": [\"}\"]}",
    ] {
        check(JSON, Agent::ClaudeCode, Some(before));
        check(JSON, Agent::Codex, Some(before));
    }
    for before in [
        "// all mine\n{\n  // one, two\n  \"a\": 1 // three, four\n}\n",
        "{ /* , */ }",
        "{\n  // none\n}",
        "{\"a\": 1 /* x */}",
        "{\"a\": 1 // x\n}",
        "{\n  \"hooks\": {\n    // none, yet\n  }\n} // end",
        "{\"hooks\": {\"BeforeTool\": [ /* none */ ]}}",
    ] {
        check(SettingsForm::JsonWithComments, Agent::Gemini, Some(before));
    }
    for before in [
        "",
        "a = 1",
        "[hooks]\n",
        "[hooks]\nStop = []\n",
        "# x\r\n[features]\r\nhooks = true\r\n",
        "[hooks.state]\nx = 1\n",
        "[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"x\" }]\n# end\n",
    ] {
        check(SettingsForm::Toml, Agent::Codex, Some(before));
    }
    check(JSON, Agent::ClaudeCode, None);
    check(SettingsForm::JsonWithComments, Agent::Gemini, None);
}

/// Realistic settings: some keys, perhaps with other hooks, in various styles.
fn documents() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é\\n\"\\\\]{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,4}", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    let event =
        prop_oneof![Just("Stop"), Just("PreToolUse"), Just("Notification"), Just("SessionStart")];
    let group = (any::<bool>(), 0usize..3).prop_map(|(matcher, count)| {
        let mut group = Map::new();
        if matcher {
            group.insert("matcher".to_owned(), json!("Bash|Edit"));
        }
        let handler = json!({ "type": "command", "command": "lint --hook claude-code" });
        group.insert("hooks".to_owned(), Value::from(vec![handler; count]));
        Value::Object(group)
    });
    let hooks = prop::collection::vec((event, prop::collection::vec(group, 0..3)), 0..3).prop_map(
        |events| events.into_iter().map(|(e, g)| (e.to_owned(), Value::from(g))).collect(),
    );
    let members = prop::collection::vec(("[a-z]{1,5}", value), 0..4);
    (members, prop::option::of(hooks), 0usize..4, prop::sample::select(vec!["", "\n"]), 0usize..4)
        .prop_map(|(members, hooks, at, end, style)| {
            let mut root: Map<String, Value> =
                members.into_iter().filter(|(k, _)| k != "hooks").collect();
            if let Some(hooks) = hooks {
                root.shift_insert(at.min(root.len()), "hooks".to_owned(), Value::Object(hooks));
            }
            written(&Value::Object(root), style) + end
        })
}

fn written(value: &Value, style: usize) -> String {
    use serde::Serialize as _;
    let indent: &[u8] = match style {
        0 => return value.to_string(),
        1 => b"  ",
        2 => b"\t",
        _ => b"    ",
    };
    let mut bytes = Vec::new();
    let pretty = serde_json::ser::PrettyFormatter::with_indent(indent);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, pretty)).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    if style == 3 { text.replace('\n', "\r\n") } else { text }
}

proptest! {
    #[test]
    fn uninstall_undoes_install_and_installing_twice_is_installing_once(before in documents()) {
        check(JSON, Agent::ClaudeCode, Some(&before));
        check(SettingsForm::JsonWithComments, Agent::Gemini, Some(&before));
        // Apart from our groups, the values are unchanged.
        let after: Value = serde_json::from_str(&with_hooks(JSON, Agent::Codex, Some(&before))).unwrap();
        let old: Value = serde_json::from_str(&before).unwrap();
        for (key, value) in old.as_object().unwrap() {
            if key != "hooks" {
                prop_assert_eq!(after.get(key), Some(value));
            }
        }
    }
}
