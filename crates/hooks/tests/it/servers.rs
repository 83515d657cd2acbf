//! MCP servers of clients: putting them behind the gateway and releasing them.

use counterfoil_hooks::{
    Reached, SettingsChange, SettingsForm, guard_servers, listed_servers, release_servers,
};
use insta::assert_snapshot;

const KEYS: &[&str] = &["mcpServers"];

#[track_caller]
fn there_and_back(form: SettingsForm, keys: &[&str], text: &str) -> String {
    let there = guard_servers(form, keys, text, "counterfoil", &[]).unwrap();
    let guarded = there.text.unwrap();
    let again = guard_servers(form, keys, &guarded, "counterfoil", &[]).unwrap();
    assert_eq!((again.text.as_deref(), again.changes.len()), (Some(&*guarded), 0), "twice");
    let back = release_servers(form, keys, &guarded, &[]).unwrap();
    assert_eq!(back.text.as_deref(), Some(text), "from:\n{guarded}");
    assert_eq!(back.changes.len(), there.changes.len());
    guarded
}

#[test]
fn what_is_started_as_a_command_goes_behind_the_gateway() {
    let text = r#"{
  "theme": "dark",
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],
      "env": { "A": "1" }
    },
    "long": { "args": [
        "-m",
        "server"
      ], "command": "/usr/bin/python3" },
    "bare": { "command": "time-server" },
    "web": { "type": "http", "url": "https://example.com/mcp" }
  }
}
"#;
    assert_snapshot!(there_and_back(SettingsForm::Json, KEYS, text), @r#"
    {
      "theme": "dark",
      "mcpServers": {
        "files": {
          "command": "counterfoil",
          "args": ["mcp", "--name", "files", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "."],
          "env": { "A": "1" }
        },
        "long": { "args": [
            "mcp", "--name", "long", "--", "/usr/bin/python3", "-m",
            "server"
          ], "command": "counterfoil" },
        "bare": { "command": "counterfoil", "args":["mcp","--name","bare","--","time-server"] },
        "web": { "type": "http", "url": "https://example.com/mcp" }
      }
    }
    "#);
}

#[test]
fn comments_and_toml_stay() {
    let text = "{\n  // mine\n  \"servers\": {\n    \"a\": { \"type\": \"stdio\", \"command\": \"x\", \"args\": [ \"1\" ] } // here\n  }\n}\n";
    assert_snapshot!(there_and_back(SettingsForm::JsonWithComments, &["servers"], text), @r#"
    {
      // mine
      "servers": {
        "a": { "type": "stdio", "command": "counterfoil", "args": [ "mcp", "--name", "a", "--", "x", "1" ] } // here
      }
    }
    "#);
    let text = "model = \"m\" # mine\n\n[mcp_servers.files]\ncommand = \"npx\" # why\nargs = [\"-y\", \"x\"]\nenv = { A = \"1\" }\n\n[mcp_servers.bare]\ncommand = \"y\"\n\n[mcp_servers.many]\ncommand = \"z\"\nargs = [\n  \"1\", # one\n  \"2\",\n]\n\n[mcp_servers.web]\nurl = \"https://example.com\"\n";
    assert_snapshot!(there_and_back(SettingsForm::Toml, &["mcp_servers"], text), @r#"
    model = "m" # mine

    [mcp_servers.files]
    command = "counterfoil" # why
    args = ["mcp", "--name", "files", "--", "npx", "-y", "x"]
    env = { A = "1" }

    [mcp_servers.bare]
    command = "counterfoil"
    args = ["mcp", "--name", "bare", "--", "y"]

    [mcp_servers.many]
    command = "counterfoil"
    args = [
      "mcp", "--name", "many", "--", "z", "1", # one
      "2",
    ]

    [mcp_servers.web]
    url = "https://example.com"
    "#);
}

#[test]
fn one_of_several_and_another_program() {
    let text = r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y", "args": []}}}"#;
    let only = ["b".to_owned()];
    let edit = guard_servers(SettingsForm::Json, KEYS, text, "/old/counterfoil", &only).unwrap();
    assert_eq!(edit.changes, [SettingsChange::Added { entry: "b".to_owned() }]);
    let text = edit.text.unwrap();
    let edit = guard_servers(SettingsForm::Json, KEYS, &text, "counterfoil", &only).unwrap();
    let from = "/old/counterfoil".to_owned();
    assert_eq!(edit.changes, [SettingsChange::Updated { entry: "b".to_owned(), from }]);
    assert_snapshot!(edit.text.unwrap(), @r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "counterfoil", "args": ["mcp", "--name", "b", "--", "y"]}}}"#);
}

#[test]
fn what_no_edit_understands_is_named() {
    let text = r#"{"mcpServers": {
        "odd": {"command": 7}, "texts": {"command": "x", "args": [1]}, "none": {}, "no": 1,
        "ours": {"command": "counterfoil", "args": ["mcp", "--builtin", "shell"]}}}"#;
    let edit = guard_servers(SettingsForm::Json, KEYS, text, "counterfoil", &[]).unwrap();
    assert_eq!((edit.text.as_deref(), edit.changes.len()), (Some(text), 0));
    let back = release_servers(SettingsForm::Json, KEYS, text, &[]).unwrap();
    assert_eq!((back.text.as_deref(), back.changes.len()), (Some(text), 0));
    let servers = listed_servers(SettingsForm::Json, KEYS, text).unwrap();
    let otherwise = servers.iter().filter(|one| matches!(one.reached, Reached::Otherwise(_)));
    assert_eq!(otherwise.count(), 4, "{servers:?}");
    for (text, what) in [
        (r#"{"mcpServers": []}"#, "`mcpServers` must be an object, got a list"),
        (r#"{"mcpServers": {"a": {}, "a": {}}}"#, "duplicate key `a`"),
        ("{", "the text ends inside an object"),
    ] {
        let error = guard_servers(SettingsForm::Json, KEYS, text, "counterfoil", &[]).unwrap_err();
        assert_eq!(error.to_string(), what);
    }
}
