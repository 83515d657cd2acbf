use std::collections::BTreeMap;

use counterfoil_ledger::{Phase, TrustLevel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `[tools.policy]`: rules about which calls may run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyOptions {
    /// Whether the policy is applied.
    pub enabled: bool,
    /// What happens to calls that no rule matches: `deny` (the default) or `allow`.
    pub default_effect: Effect,
    /// The rules, 256 at most together with those of `[tools.authorization]`. Their order does not
    /// matter: any matching `deny` wins over any `allow`; if no rule matches, the default applies.
    pub rules: Vec<PolicyRule>,
}

/// `[tools.authorization]`: rules from another party, which can only restrict what the policy
/// allows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuthorizationOptions {
    /// Whether these rules are applied.
    pub enabled: bool,
    /// The rules, as in `[tools.policy]`. An `allow` here does not override any denial or default.
    pub rules: Vec<PolicyRule>,
}

/// The effect of a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The call runs, as far as the policy is concerned.
    Allow,
    /// The call does not run.
    #[default]
    Deny,
}

/// A rule. It matches a call that meets all its conditions; a rule without conditions denies every
/// call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// A name for messages and receipts. Defaults to the rule's position in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `allow` or `deny`.
    #[serde(default)]
    pub effect: Effect,
    /// The tools, as a name or a pattern; `*` matches any characters. A `deny` without it matches
    /// every tool; an `allow` has to name its tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Paths as globs; `*` stops at `/`, `**` does not. A relative glob starts at the root of the
    /// project. A `deny` matches a call with *at least one* matching path in its arguments; an
    /// `allow` matches a call with *only* matching paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Environment variables that must all be set: `NAME`, or `NAME=pattern` to match the value
    /// too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The trust level of the turn: a `deny` matches turns at this level *or lower*; an `allow`
    /// matches turns at this level *or higher*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust_level: Option<TrustLevel>,
    /// A regular expression that must match somewhere in at least one string of the arguments, at
    /// any depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_match: Option<String>,
    /// The sub-agent that makes the call: a name or a pattern. The main agent's name is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The phases in which the rule applies; all phases if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// What the model is told if the rule denies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Example calls that the rule must match; checked when the rules are loaded.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<ExampleCall>,
    /// Example calls that the rule must not match; checked when the rules are loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_match: Vec<ExampleCall>,
}

impl PolicyRule {
    /// The pattern of the rule's tools.
    pub(super) fn tools(&self) -> &str {
        if self.tool.is_empty() { "*" } else { &self.tool }
    }
}

/// An example of a call that a rule must match, or must not match.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExampleCall {
    /// The tool; required if the rule's `tool` is a pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The arguments.
    pub args: Map<String, Value>,
    /// The trust level of the turn.
    pub trust_level: TrustLevel,
    /// The sub-agent that makes the call; empty for the main agent.
    pub caller: String,
    /// The phase.
    pub phase: Phase,
    /// The environment.
    pub env: BTreeMap<String, String>,
}
