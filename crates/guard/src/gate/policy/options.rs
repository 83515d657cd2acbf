use std::collections::BTreeMap;

use counterfoil_ledger::{Phase, TrustLevel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `[tools.policy]`: rules about which calls may run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyOptions {
    /// Whether the policy is in force. Off by default, which changes nothing.
    pub enabled: bool,
    /// What happens to calls that no rule is about: `deny` (the default) or `allow`.
    pub default_effect: Effect,
    /// The rules, 256 at most together with those of `[tools.authorization]`. Their order does not
    /// matter: a denial wins wherever it stands, then an allowance, then the default.
    pub rules: Vec<PolicyRule>,
}

/// `[tools.authorization]`: rules from somebody else, who can only narrow what the policy allows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuthorizationOptions {
    /// Whether these rules are in force. Off by default, which changes nothing.
    pub enabled: bool,
    /// The rules, as in `[tools.policy]`. An `allow` here overrides nothing: no denial, no default.
    pub rules: Vec<PolicyRule>,
}

/// What a rule leads to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The call runs, as far as the policy goes.
    Allow,
    /// The call does not run.
    #[default]
    Deny,
}

/// One rule. It is about a call that meets everything it says; one that says nothing denies every
/// call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// A name for messages and receipts; the rule's place in the file otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `allow` or `deny`.
    #[serde(default)]
    pub effect: Effect,
    /// The tools: a name or a pattern; `*` stands for any characters. A `deny` without it is about
    /// every tool; an `allow` has to name its tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Paths as globs; `*` stops at `/`, `**` does not. Relative ones are seen from the project's
    /// root. A `deny` is about a call with *any* such path in its arguments, an `allow` about one
    /// with *only* such paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Environment variables that must all be set: `NAME`, or `NAME=pattern` for the value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// How far the turn is trusted: a `deny` is about turns trusted this far *or less*, an `allow`
    /// about turns trusted this far *or more*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust_level: Option<TrustLevel>,
    /// A regular expression that is found in any text of the arguments, at any depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_match: Option<String>,
    /// The sub-agent that calls: a name or a pattern. The main agent's name is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The phases in which the rule holds; all of them when nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// What the model is told when the rule denies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Calls that the rule must be about; checked when the rules are loaded.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<ExampleCall>,
    /// Calls that the rule must not be about; checked when the rules are loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_match: Vec<ExampleCall>,
}

impl PolicyRule {
    /// The pattern of the rule's tools.
    pub(super) fn tools(&self) -> &str {
        if self.tool.is_empty() { "*" } else { &self.tool }
    }
}

/// A call that shows what a rule is about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExampleCall {
    /// The tool; needed where the rule's `tool` is a pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The arguments.
    pub args: Map<String, Value>,
    /// How far the turn is trusted.
    pub trust_level: TrustLevel,
    /// The sub-agent that calls; empty for the main agent.
    pub caller: String,
    /// The phase.
    pub phase: Phase,
    /// The environment.
    pub env: BTreeMap<String, String>,
}
