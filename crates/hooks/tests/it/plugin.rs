//! The plugin for Claude Code installs what `hook install` installs.

use counterfoil_hooks::{Agent, SettingsForm, command_line, enabled_plugin, install, plugin_hooks};
use serde_json::{Value, json};

const MANIFEST: &str = include_str!("../../../../plugins/claude-code/.claude-plugin/plugin.json");
const HOOKS: &str = include_str!("../../../../plugins/claude-code/hooks/hooks.json");
const MARKETPLACE: &str = include_str!("../../../../.claude-plugin/marketplace.json");

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_plugins_hooks_are_those_that_install_writes() {
    let command = command_line(Agent::ClaudeCode, "counterfoil");
    let edit = install(Agent::ClaudeCode, SettingsForm::Json, None, &command).unwrap();
    let installed = parsed(&edit.text.unwrap());
    let plugin = parsed(HOOKS);
    assert_eq!(plugin["hooks"], installed["hooks"]);
    assert_eq!(plugin["hooks"], plugin_hooks());
    assert_eq!(
        plugin.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["description", "hooks"],
        "the published members of the file"
    );
}

#[test]
fn the_manifest_names_the_plugin_and_this_version() {
    let manifest = parsed(MANIFEST);
    assert_eq!(manifest["name"], "counterfoil");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let marketplace = parsed(MARKETPLACE);
    assert_eq!(marketplace["plugins"][0]["name"], manifest["name"]);
    assert_eq!(marketplace["plugins"][0]["description"], manifest["description"]);
    assert_eq!(marketplace["plugins"][0]["source"], "./plugins/claude-code");
}

#[test]
fn an_enabled_plugin_is_seen_in_the_settings() {
    for (plugins, expected) in [
        (json!({ "counterfoil@counterfoil": true }), true),
        (json!({ "counterfoil@elsewhere": true, "x@y": false }), true),
        (json!({ "counterfoil@counterfoil": false }), false),
        (json!({ "counterfoiled@x": true }), false),
        (json!([]), false),
    ] {
        let text = json!({ "enabledPlugins": plugins }).to_string();
        assert_eq!(enabled_plugin(&text), expected, "{text}");
    }
    assert!(!enabled_plugin("{"));
}
