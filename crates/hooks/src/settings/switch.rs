//! Finds settings of the agent that switch hooks off.

use jsonc_parser::ast::{Object, Value as Node};

use super::{SettingsError, SettingsForm, json, toml};
use crate::Agent;

/// The setting in this file that keeps installed hooks from running; `None` if there is none.
///
/// # Errors
/// When the file is broken.
pub fn switched_off(
    agent: Agent,
    form: SettingsForm,
    text: &str,
) -> Result<Option<&'static str>, SettingsError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match form {
        SettingsForm::Toml => {
            let document = toml::parsed(text)?;
            let features = document.get("features").and_then(toml_edit::Item::as_table_like);
            let off = |name: &str| {
                features.and_then(|f| f.get(name)).and_then(toml_edit::Item::as_bool) == Some(false)
            };
            Ok(match agent {
                Agent::Codex if off("hooks") => Some("`features.hooks` is false"),
                Agent::Codex if off("codex_hooks") => Some("`features.codex_hooks` is false"),
                _ => None,
            })
        }
        SettingsForm::Json | SettingsForm::JsonWithComments => {
            let root = json::parsed(text, form == SettingsForm::JsonWithComments)?;
            Ok(root.as_object().and_then(|root| in_json(agent, root)))
        }
    }
}

/// Whether Claude Code's settings enable our plugin.
#[must_use]
pub fn enabled_plugin(text: &str) -> bool {
    let Ok(root) = json::parsed(text, false) else { return false };
    let plugins = root.as_object().and_then(|root| root.get_object("enabledPlugins"));
    plugins.is_some_and(|plugins| {
        plugins.properties.iter().any(|plugin| {
            let on = plugin.value.as_boolean_lit().is_some_and(|value| value.value);
            on && plugin.name.as_str().split('@').next() == Some("counterfoil")
        })
    })
}

fn in_json(agent: Agent, root: &Object<'_>) -> Option<&'static str> {
    let is = |object: Option<&Object<'_>>, name: &str, value: bool| {
        object.and_then(|o| o.get_boolean(name)).is_some_and(|found| found.value == value)
    };
    let names_us = |object: Option<&Object<'_>>| {
        object.and_then(|o| o.get_array("disabled")).is_some_and(|names| {
            let mut names = names.elements.iter().filter_map(Node::as_string_lit);
            names.any(|name| name.value == "counterfoil")
        })
    };
    match agent {
        Agent::ClaudeCode => {
            is(Some(root), "disableAllHooks", true).then_some("`disableAllHooks` is true")
        }
        Agent::Codex => None,
        Agent::Gemini => {
            let (config, hooks) = (root.get_object("hooksConfig"), root.get_object("hooks"));
            let off = [
                (is(config, "enabled", false), "`hooksConfig.enabled` is false"),
                (names_us(config), "`hooksConfig.disabled` names `counterfoil`"),
                (is(hooks, "enabled", false), "`hooks.enabled` is false"),
                (names_us(hooks), "`hooks.disabled` names `counterfoil`"),
                (
                    is(root.get_object("tools"), "enableHooks", false),
                    "`tools.enableHooks` is false",
                ),
            ];
            off.into_iter().find_map(|(is_off, why)| is_off.then_some(why))
        }
    }
}
