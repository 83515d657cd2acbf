use counterfoil_model::{Origin, Tool};
use counterfoil_tools::{Over, Pattern, PatternError, Spelled, in_order};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::idle::RuleTools;
use super::names::any_name;

/// `[tools.permissions]`: what runs without asking, what a person has to agree to, and what never
/// runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PermissionOptions {
    /// What happens to calls that no rule matches: `allow` (the default), `ask` or `deny`.
    pub default: Action,
    /// The rules. Among those that match, `deny` beats `ask` beats `allow`.
    pub rules: Vec<PermissionRule>,
    /// Tools that are internal to the agent, by name or pattern. In the `autonomous` phase, they
    /// need no approval, if they are built in and declared to have no outside effects.
    pub internal: Vec<String>,
    /// The time, in seconds, within which an approved call must be made.
    pub approval_secs: u64,
}

/// What happens to a call.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It runs, as far as permissions are concerned.
    #[default]
    Allow,
    /// A person has to agree.
    Ask,
    /// It does not run.
    Deny,
}

/// A permission rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionRule {
    /// The tools, as a name or a pattern.
    pub tool: String,
    /// A pattern for a whole string in the arguments, or for one command of a shell command line.
    /// `*` matches any characters. An `allow` applies only if every command of the line, or every
    /// string, matches. Without a pattern, the rule applies to every call to the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What happens to matching calls.
    pub action: Action,
}

impl Default for PermissionOptions {
    fn default() -> Self {
        Self {
            default: Action::Allow,
            rules: Vec::new(),
            internal: ["compress_context", "memory_search", "load_skill"]
                .map(str::to_owned)
                .to_vec(),
            approval_secs: PermissionSettings::APPROVAL_LIFETIME.as_secs(),
        }
    }
}

/// Why the permissions are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermissionOptionsError {
    /// The pattern of a rule is invalid.
    #[error("tools.permissions.rules[{index}]: {error}")]
    Rule {
        /// The rule's index in the list, from 0.
        index: usize,
        /// What is wrong.
        error: PatternError,
    },
    /// A pattern in `internal` is invalid.
    #[error("tools.permissions.internal[{index}]: {error}")]
    Internal {
        /// The pattern's index in the list, from 0.
        index: usize,
        /// What is wrong.
        error: PatternError,
    },
    /// The lifetime of approvals is zero.
    #[error("tools.permissions.approval_secs is 0, so every approval would expire immediately")]
    NoTime,
}

impl PermissionOptions {
    /// Validates the permissions.
    ///
    /// # Errors
    /// When a pattern is invalid, or approvals have no lifetime.
    pub fn resolve(self) -> Result<PermissionSettings, PermissionOptionsError> {
        if self.approval_secs == 0 {
            return Err(PermissionOptionsError::NoTime);
        }
        let rules = self.rules.iter().enumerate().map(|(index, rule)| {
            let wrong = |error| PermissionOptionsError::Rule { index, error };
            let pattern = rule.pattern.as_deref().map(|pattern| Pattern::new(pattern, Over::Text));
            Ok(Compiled {
                tool: Pattern::new(&rule.tool, Over::Text).map_err(wrong)?,
                pattern: pattern.transpose().map_err(wrong)?,
                in_order: rule.pattern.as_deref().and_then(|pattern| {
                    let words: Vec<&str> = pattern.split(' ').collect();
                    Pattern::new(&in_order(&words), Over::Text).ok()
                }),
                action: rule.action,
                name: match &rule.pattern {
                    Some(pattern) => format!("{}: {pattern}", rule.tool),
                    None => rule.tool.clone(),
                },
            })
        });
        let internal = self.internal.iter().enumerate().map(|(index, pattern)| {
            Pattern::new(pattern, Over::Text)
                .map_err(|error| PermissionOptionsError::Internal { index, error })
        });
        Ok(PermissionSettings {
            default: self.default,
            rules: rules.collect::<Result<_, PermissionOptionsError>>()?,
            internal: internal.collect::<Result<_, PermissionOptionsError>>()?,
            approval_lifetime: std::time::Duration::from_secs(self.approval_secs),
        })
    }
}

/// Validated permissions.
#[derive(Debug, Clone)]
pub struct PermissionSettings {
    pub(super) default: Action,
    rules: Vec<Compiled>,
    internal: Vec<Pattern>,
    /// How long an approval is valid before its call is made.
    pub approval_lifetime: std::time::Duration,
}

#[derive(Debug, Clone)]
struct Compiled {
    tool: Pattern,
    pattern: Option<Pattern>,
    /// The pattern with its short options sorted.
    in_order: Option<Pattern>,
    action: Action,
    name: String,
}

impl Compiled {
    fn is_about(&self, tool: &str) -> bool {
        match self.action {
            Action::Allow => self.tool.is_match(tool),
            Action::Ask | Action::Deny => any_name(tool, |name| self.tool.is_match(name)),
        }
    }
}

impl Default for PermissionSettings {
    fn default() -> Self {
        let nothing = Self {
            default: Action::Ask,
            rules: Vec::new(),
            internal: Vec::new(),
            approval_lifetime: Self::APPROVAL_LIFETIME,
        };
        PermissionOptions::default().resolve().unwrap_or(nothing)
    }
}

impl PermissionSettings {
    /// Ten minutes.
    pub(crate) const APPROVAL_LIFETIME: std::time::Duration = std::time::Duration::from_secs(600);

    /// Returns why every call of this tool is denied, whatever its arguments; `None` if some call
    /// may run.
    pub(crate) fn always_denies(&self, tool: &str) -> Option<String> {
        let mut rules = self.rules.iter().filter(|rule| rule.is_about(tool)).peekable();
        if rules.peek().is_none() && self.default == Action::Deny {
            return Some("`tools.permissions.default` denies it".to_owned());
        }
        let denies = |rule: &&Compiled| rule.action == Action::Deny && rule.pattern.is_none();
        rules.find(denies).map(|rule| format!("`tools.permissions` denies `{}`", rule.name))
    }

    /// The action for a call of this tool with these texts, and the rule that determines it.
    /// `texts` is called only when a rule needs it.
    pub(super) fn action<'s>(
        &'s self,
        tool: &str,
        texts: &dyn Fn() -> Vec<Spelled>,
    ) -> (Action, Option<&'s str>) {
        let mut found: Option<(Action, &str)> = None;
        let mut known: Option<Vec<Spelled>> = None;
        for rule in self.rules.iter().filter(|rule| rule.is_about(tool)) {
            let matches = match &rule.pattern {
                None => true,
                Some(pattern) => {
                    let texts = known.get_or_insert_with(texts);
                    if rule.action == Action::Allow {
                        let exact = |text: &Spelled| {
                            text.exact.as_ref().is_some_and(|text| pattern.is_match(text))
                        };
                        !texts.is_empty() && texts.iter().all(exact)
                    } else {
                        let ways = texts.iter().flat_map(|text| &text.ways);
                        let of = |way: &String| {
                            pattern.is_match(way)
                                || rule.in_order.as_ref().is_some_and(|p| p.is_match(way))
                        };
                        ways.into_iter().any(of)
                    }
                }
            };
            if matches && found.is_none_or(|(action, _)| rule.action > action) {
                found = Some((rule.action, rule.name.as_str()));
            }
        }
        match found {
            Some((action, rule)) => (action, Some(rule)),
            None => (self.default, None),
        }
    }

    /// The tools of each rule.
    pub(super) fn tools(&self) -> impl Iterator<Item = RuleTools<'_>> {
        self.rules.iter().enumerate().map(|(index, rule)| {
            let name = format!("tools.permissions.rules[{index}]");
            (name, &rule.tool, rule.tool.as_str())
        })
    }

    /// The commands and texts that rules allow for a tool.
    pub(super) fn allowed(&self, tool: &str) -> Vec<Pattern> {
        let rules = self.rules.iter().filter(|rule| rule.action == Action::Allow);
        let rules = rules.filter(|rule| rule.tool.is_match(tool));
        rules.filter_map(|rule| rule.pattern.clone()).collect()
    }

    /// Whether the agent may use this tool on its own: it is listed as internal, built in, and
    /// declared to have no effect on anything outside.
    pub(super) fn is_internal(&self, tool: &Tool) -> bool {
        tool.origin == Origin::Builtin
            && tool.effects.writes == Some(false)
            && tool.effects.network == Some(false)
            && self.internal.iter().any(|pattern| pattern.is_match(&tool.name))
    }
}
