//! The operator's rules, and the rules of an authorization, which can only restrict them further.

mod facts;
mod options;
mod rule;

use counterfoil_tools::{Over, PatternError, glob};
use globset::{GlobSet, GlobSetBuilder};
use regex::{RegexSet, RegexSetBuilder};
use serde_json::Value;

use super::idle::RuleTools;
use super::names::other_name;
use rule::Compiled;
pub(super) use rule::{Globs, Wrong};

pub(super) use facts::Facts;
pub use options::{AuthorizationOptions, Effect, ExampleCall, PolicyOptions, PolicyRule};

/// The maximum number of rules, in policy and authorization together.
const MOST_RULES: usize = 256;

/// Validated rules.
#[derive(Debug, Clone, Default)]
pub struct PolicySettings {
    /// `None` when the policy is not in force.
    policy: Option<(Rules, Effect)>,
    /// `None` when the authorization is not in force.
    authorization: Option<Rules>,
}

/// Rules that are matched together.
#[derive(Debug, Clone, Default)]
struct Rules {
    rules: Vec<Compiled>,
    /// The tool patterns of all rules, in order.
    tools: GlobSet,
    /// The `args_match` expressions of all rules, in order. A rule without one has an expression
    /// that never matches.
    expressions: RegexSet,
}

/// What the rules say about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ruling<'s> {
    /// No rules are in force.
    NotInForce,
    /// This rule allows the call, and none denies it.
    Allowed { rule: &'s str },
    /// No rule matches the call, and the default allows it.
    AllowedByDefault,
    /// This rule denies it.
    Denied { rule: &'s str, reason: Option<&'s str> },
    /// No rule matches the call, and the default denies it.
    DeniedByDefault,
}

/// Why rules are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// There are too many rules.
    #[error("policy and authorization have {count} rules in total; the maximum is {MOST_RULES}")]
    TooManyRules {
        /// The number of rules.
        count: usize,
    },
    /// A pattern of a rule is invalid.
    #[error("{rule}: {key}: {error}")]
    Pattern {
        /// The rule: its name or its position.
        rule: String,
        /// The full key in the file: `tools.policy.rules[3].paths[0]`.
        at: String,
        /// The key in the rule.
        key: String,
        /// What is wrong with it.
        error: PatternError,
    },
    /// An example that the rule must match does not match.
    #[error("{rule}: match[{index}] should match, but the rule does not cover `{call}`")]
    MissesExample {
        /// The rule: its name or its position.
        rule: String,
        /// The key in the file.
        at: String,
        /// The index of the example, from 0.
        index: usize,
        /// The example in one line.
        call: String,
    },
    /// An example that the rule must not match does match.
    #[error("{rule}: not_match[{index}] should not match, but the rule covers `{call}`")]
    CatchesExample {
        /// The rule: its name or its position.
        rule: String,
        /// The key in the file.
        at: String,
        /// The index of the example, from 0.
        index: usize,
        /// The example in one line.
        call: String,
    },
    /// A rule allows, but does not name its tools.
    #[error("{rule}: the rule allows calls but does not name any tools")]
    AllowsAnything {
        /// The rule: its name or its position.
        rule: String,
        /// The key in the file.
        at: String,
    },
    /// An example does not name its tool, and the rule's tool is a pattern.
    #[error("{rule}: an example does not name a tool")]
    NoTool {
        /// The rule: its name or its position.
        rule: String,
        /// The key in the file.
        at: String,
    },
}

impl PolicyError {
    /// The key in the file: `tools.policy.rules[3].match[0]`.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::TooManyRules { .. } => "tools.policy.rules",
            Self::Pattern { at, .. }
            | Self::MissesExample { at, .. }
            | Self::CatchesExample { at, .. }
            | Self::AllowsAnything { at, .. }
            | Self::NoTool { at, .. } => at,
        }
    }

    /// Advice on how to fix it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::TooManyRules { .. } => "merge rules that differ only in their patterns",
            Self::Pattern { .. } => {
                "`*` matches any characters; in paths it stops at `/`, but `**` does not"
            }
            Self::MissesExample { .. } => {
                "widen the rule so that it covers this call, or move the call to `not_match`"
            }
            Self::CatchesExample { .. } => {
                "narrow the rule so that it excludes this call, or move the call to `match`"
            }
            Self::AllowsAnything { .. } => "add `tool = \"…\"`; `\"*\"` matches every tool",
            Self::NoTool { .. } => "add `tool = \"…\"` to the example",
        }
    }
}

impl PolicySettings {
    /// Validates both sets of rules and all their examples, including those of sections that are
    /// off.
    ///
    /// # Errors
    /// When there are too many rules, a pattern is invalid, or a rule gets an example wrong.
    pub fn resolve(
        policy: PolicyOptions,
        authorization: AuthorizationOptions,
    ) -> Result<Self, PolicyError> {
        let count = policy.rules.len() + authorization.rules.len();
        if count > MOST_RULES {
            return Err(PolicyError::TooManyRules { count });
        }
        let rules = Rules::compile(&policy.rules, "policy")?;
        let narrowing = Rules::compile(&authorization.rules, "authorization")?;
        Ok(Self {
            policy: policy.enabled.then_some((rules, policy.default_effect)),
            authorization: authorization.enabled.then_some(narrowing),
        })
    }

    /// Replaces the authorization with that of another policy. The authorization is fixed when a
    /// guard is built.
    pub(crate) fn authorized_as(self, other: &Self) -> Self {
        Self { authorization: other.authorization.clone(), ..self }
    }

    /// Returns why every call of this tool is denied, whatever its arguments; `None` if some call
    /// may be allowed.
    pub(crate) fn always_denies(&self, tool: &str) -> Option<String> {
        let policy = self.policy.as_ref().map(|(rules, _)| rules);
        let all = policy.into_iter().chain(&self.authorization);
        if let Some(rule) = all
            .flat_map(|rules| rules.on(tool))
            .map(|(_, rule)| rule)
            .find(|rule| rule.effect == Effect::Deny && rule.is_unconditional())
        {
            return Some(format!("`{}` denies it", rule.name));
        }
        let (rules, default) = self.policy.as_ref()?;
        let may_be_allowed = rules.on(tool).any(|(_, rule)| rule.effect == Effect::Allow);
        (*default == Effect::Deny && !may_be_allowed)
            .then(|| "no rule of `tools.policy` allows it".to_owned())
    }

    /// The tools of each rule that is in force.
    pub(super) fn tools(&self) -> impl Iterator<Item = RuleTools<'_>> {
        let policy = self.policy.as_ref().map(|(rules, _)| rules);
        let all = policy.into_iter().chain(&self.authorization).flat_map(|rules| &rules.rules);
        all.map(|rule| (rule.name.clone(), &rule.tool, rule.tool.as_str()))
    }

    pub(super) fn rule_on(&self, facts: &Facts<'_>) -> Ruling<'_> {
        let none = (None, None);
        let policy = self.policy.as_ref().map_or(none, |(rules, _)| rules.about(facts));
        let narrowing = self.authorization.as_ref().map_or(none, |rules| rules.about(facts));
        let denied = policy.1.or(narrowing.1);
        // INVARIANT: an allowance of the authorization is ignored.
        match (denied, policy.0, &self.policy) {
            (Some(rule), _, _) => {
                Ruling::Denied { rule: &rule.name, reason: rule.reason.as_deref() }
            }
            (None, Some(rule), _) => Ruling::Allowed { rule: &rule.name },
            (None, None, Some((_, Effect::Deny))) => Ruling::DeniedByDefault,
            (None, None, Some((_, Effect::Allow))) => Ruling::AllowedByDefault,
            (None, None, None) if self.authorization.is_some() => Ruling::AllowedByDefault,
            (None, None, None) => Ruling::NotInForce,
        }
    }
}

impl Rules {
    fn compile(rules: &[PolicyRule], section: &str) -> Result<Self, PolicyError> {
        let mut compiled = Vec::with_capacity(rules.len());
        let mut tools = GlobSetBuilder::new();
        for (i, rule) in rules.iter().enumerate() {
            let at = format!("tools.{section}.rules[{i}]");
            let name = rule.name.clone().unwrap_or_else(|| format!("{section}.rules[{i}]"));
            if rule.effect == Effect::Allow && rule.tool.is_empty() {
                return Err(PolicyError::AllowsAnything { rule: name, at });
            }
            let one = compiled_rule(rule, &name, &at)?;
            check_examples(rule, &one, &at)?;
            if let Ok(tool) = glob(rule.tools(), Over::Text) {
                tools.add(tool);
            }
            compiled.extend(one.rules);
        }
        let whole = |reason: String| PolicyError::Pattern {
            rule: section.to_owned(),
            at: format!("tools.{section}.rules"),
            key: "all patterns together".to_owned(),
            error: PatternError::Syntax { pattern: "…".to_owned(), reason },
        };
        let tools = tools.build().map_err(|error| whole(error.kind().to_string()))?;
        let expressions = expressions(rules).map_err(whole)?;
        Ok(Self { rules: compiled, tools, expressions })
    }

    /// The rules for a tool, with their indices.
    fn on(&self, tool: &str) -> impl Iterator<Item = (usize, &Compiled)> {
        let mut places = self.tools.matches(tool);
        let own = places.len();
        places.extend(other_name(tool).into_iter().flat_map(|other| self.tools.matches(other)));
        let known = move |(nth, at): (usize, usize)| {
            let rule = self.rules.get(at)?;
            (nth < own || rule.effect == Effect::Deny).then_some((at, rule))
        };
        places.into_iter().enumerate().filter_map(known)
    }

    /// The first rule that allows the call, and the first one that denies it.
    fn about(&self, facts: &Facts<'_>) -> (Option<&Compiled>, Option<&Compiled>) {
        let mut found = (None, None);
        let mut expressions: Option<Vec<bool>> = None;
        for (at, rule) in self.on(facts.tool) {
            let place = match rule.effect {
                Effect::Allow => &mut found.0,
                Effect::Deny => &mut found.1,
            };
            if place.is_some() || !rule.is_about(facts) {
                continue;
            }
            let matched = !rule.has_expression
                || expressions
                    .get_or_insert_with(|| self.expressions_in(facts))
                    .get(at)
                    .copied()
                    .unwrap_or_default();
            if matched {
                *place = Some(rule);
            }
        }
        found
    }

    /// For each rule, whether its `args_match` is found in any text.
    fn expressions_in(&self, facts: &Facts<'_>) -> Vec<bool> {
        let mut found = vec![false; self.rules.len()];
        for text in facts.texts() {
            for at in self.expressions.matches(text) {
                if let Some(place) = found.get_mut(at) {
                    *place = true;
                }
            }
        }
        found
    }
}

fn compiled_rule(rule: &PolicyRule, name: &str, at: &str) -> Result<Rules, PolicyError> {
    let compiled = Compiled::new(rule, name.to_owned()).map_err(|wrong| PolicyError::Pattern {
        rule: name.to_owned(),
        at: format!("{at}.{}", wrong.key),
        key: wrong.key,
        error: wrong.error,
    })?;
    let whole = |reason: String| PolicyError::Pattern {
        rule: name.to_owned(),
        at: at.to_owned(),
        key: "tool".to_owned(),
        error: PatternError::Syntax { pattern: rule.tools().to_owned(), reason },
    };
    let mut tools = GlobSetBuilder::new();
    if let Ok(tool) = glob(rule.tools(), Over::Text) {
        tools.add(tool);
    }
    let tools = tools.build().map_err(|error| whole(error.kind().to_string()))?;
    let expressions = expressions(std::slice::from_ref(rule)).map_err(whole)?;
    Ok(Rules { rules: vec![compiled], tools, expressions })
}

/// One expression per rule; a rule without one gets an expression that never matches.
fn expressions(rules: &[PolicyRule]) -> Result<RegexSet, String> {
    const NOTHING: &str = r"[^\s\S]";
    const MEMORY: usize = 64 << 20;
    let all = rules.iter().map(|rule| rule.args_match.as_deref().unwrap_or(NOTHING));
    let set = RegexSetBuilder::new(all).size_limit(MEMORY).dfa_size_limit(MEMORY).build();
    set.map_err(|error| error.to_string())
}

fn check_examples(rule: &PolicyRule, compiled: &Rules, at: &str) -> Result<(), PolicyError> {
    let name = || rule.name.clone().unwrap_or_else(|| at.trim_start_matches("tools.").to_owned());
    let lists = [("match", &rule.matches, true), ("not_match", &rule.not_match, false)];
    for (list, examples, expected) in lists {
        for (index, example) in examples.iter().enumerate() {
            let at = format!("{at}.{list}[{index}]");
            let literal = !rule.tools().contains(['*', '?', '[', '{']);
            let tool = example.tool.as_deref().or(literal.then_some(rule.tools()));
            let Some(tool) = tool else {
                return Err(PolicyError::NoTool { rule: name(), at });
            };
            let arguments = Value::Object(example.args.clone());
            let found = compiled.about(&Facts::of_example(tool, &arguments, example));
            let matches = found.0.is_some() || found.1.is_some();
            if matches != expected {
                let call = format!("{tool} {arguments}");
                let rule = name();
                return Err(if expected {
                    PolicyError::MissesExample { rule, at, index, call }
                } else {
                    PolicyError::CatchesExample { rule, at, index, call }
                });
            }
        }
    }
    Ok(())
}
