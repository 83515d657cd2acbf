//! Rules for a tool that is not offered, but whose name is similar to one that is.

use std::fmt;

use counterfoil_admission::similar_name;
use counterfoil_tools::Pattern;

use super::names::any_name;
use crate::settings::GuardSettings;

/// A rule whose tool matches none of the tools that are offered, although a similar name does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleRule {
    /// The rule: its name, or its place in the configuration.
    pub rule: String,
    /// Its tool, as a name or a pattern.
    pub tool: String,
    /// The offered tool that is probably meant.
    pub meant: String,
}

impl fmt::Display for IdleRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, tool, meant } = self;
        write!(f, "the rule `{rule}` for `{tool}` matches no tool; did you mean `{meant}`?")
    }
}

impl GuardSettings {
    /// The rules of policy, authorization and permissions whose tool matches none of these, but is
    /// similar to one. A rule for anything else may be for the tools of another command. `away`
    /// names the servers whose tools are not listed, because they cannot be reached.
    #[must_use]
    pub fn idle_rules(&self, tools: &[&str], away: &[String]) -> Vec<IdleRule> {
        let permissions = self.permissions.tools();
        let rules = self.policy.tools().chain(permissions);
        let idle = rules.filter_map(|(rule, pattern, tool)| {
            let matches = |name: &&str| any_name(name, |name| pattern.is_match(name));
            let is_away = |server: &String| {
                tool.strip_prefix(server.as_str()).is_some_and(|rest| rest.starts_with("__"))
            };
            if tools.iter().any(matches) || away.iter().any(is_away) {
                return None;
            }
            let meant = similar_name(tool, tools)?.to_owned();
            Some(IdleRule { rule, tool: tool.to_owned(), meant })
        });
        idle.collect()
    }
}

/// A rule's name, its pattern for tools, and that pattern as it is written.
pub(super) type RuleTools<'s> = (String, &'s Pattern, &'s str);

#[cfg(test)]
mod tests {
    use crate::GuardOptions;

    /// The warnings about rules for these tools: permissions, then rules of the policy.
    fn idle(permissions: &[&str], policy: &[&str], tools: &[&str], away: &[&str]) -> Vec<String> {
        let permissions: Vec<_> = permissions
            .iter()
            .map(|tool| serde_json::json!({ "tool": tool, "action": "ask" }))
            .collect();
        let policy: Vec<_> = policy
            .iter()
            .map(|tool| serde_json::json!({ "name": "mine", "tool": tool, "effect": "deny" }))
            .collect();
        let options = serde_json::json!({ "tools": {
            "policy": { "enabled": true, "rules": policy },
            "permissions": { "rules": permissions },
        }});
        let options: GuardOptions = serde_json::from_value(options).unwrap();
        let away: Vec<String> = away.iter().map(|name| (*name).to_owned()).collect();
        let found = options.resolve().unwrap().idle_rules(tools, &away);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_rule_that_matches_no_tool_is_named_with_the_tool_that_is_meant() {
        let tools = ["orders__cancel_order", "orders__list_orders"];
        let warnings =
            idle(&["cancel_order", "orders__*", "shell"], &["*order", "refund"], &tools, &[]);
        assert_eq!(
            warnings,
            ["the rule `tools.permissions.rules[0]` for `cancel_order` matches no tool; did you \
                 mean `orders__cancel_order`?"]
        );
    }

    #[test]
    fn a_rule_for_the_tools_of_something_else_is_not_reported() {
        let several = ["orders__cancel_order"];
        for tool in ["shell", "bash", "read_*", "web_*", "Bash", "mcp__notes__*", "*"] {
            assert_eq!(idle(&[tool], &[tool], &several, &[]), [""; 0], "{tool}");
        }
        let similar = ["orders__cancel_ordr"];
        assert_eq!(idle(&similar, &[], &several, &["orders"]), [""; 0]);
        assert_eq!(idle(&similar, &[], &several, &[]).len(), 1);
        // One server's tools have no prefix.
        assert_eq!(idle(&["notes__*"], &[], &["get_time"], &[]), [""; 0]);
        assert_eq!(idle(&["orders__cancel_order"], &[], &["cancel_order"], &[]).len(), 1);
        // Nothing is known yet.
        assert_eq!(idle(&["cancel_order"], &[], &[], &[]), [""; 0]);
    }
}
