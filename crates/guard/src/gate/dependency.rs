use std::collections::{BTreeMap, BTreeSet};

use counterfoil_tools::Scene;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::executor::READ_OVERFLOW;

/// `[tools.dependencies]`: which tools have to succeed before others can be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DependencyOptions {
    /// Whether dependencies are checked. Off by default.
    pub enabled: bool,
    /// How much each preferred tool that has succeeded adds to a tool's score.
    pub boost_per_dep: f64,
    /// The maximum that all preferred tools together can add.
    pub max_total_boost: f64,
    /// Tools that need no other tool, whatever the rules say.
    pub always_on: Vec<String>,
    /// The dependencies, by tool.
    pub rules: BTreeMap<String, ToolDependency>,
}

/// What one tool depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolDependency {
    /// Tools that must have succeeded in this session.
    pub requires: Vec<String>,
    /// Tools that make this one more likely to be useful once they have succeeded.
    pub prefers: Vec<String>,
}

impl Default for DependencyOptions {
    fn default() -> Self {
        let always_on = ["memory_search", "memory_save", "load_skill", "scheduler"];
        Self {
            enabled: false,
            boost_per_dep: 0.15,
            max_total_boost: 0.20,
            always_on: always_on.map(str::to_owned).to_vec(),
            rules: BTreeMap::new(),
        }
    }
}

/// Why the dependencies are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DependencyOptionsError {
    /// A boost is not a number from 0 to 1.
    #[error("tools.dependencies.{key} is `{value}`; it must be a number from 0 to 1")]
    Boost {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
}

impl DependencyOptions {
    /// Validates the dependencies. Tools that wait for one another in a cycle are freed:
    /// [`ToolDependencyGraph::notice`] names them.
    ///
    /// # Errors
    /// When a boost is outside 0 to 1.
    pub fn resolve(self) -> Result<ToolDependencyGraph, DependencyOptionsError> {
        let boosts =
            [("boost_per_dep", self.boost_per_dep), ("max_total_boost", self.max_total_boost)];
        for (key, value) in boosts {
            if !(0.0..=1.0).contains(&value) {
                return Err(DependencyOptionsError::Boost { key, value: value.to_string() });
            }
        }
        let freed = circles(&self.rules);
        Ok(ToolDependencyGraph {
            enabled: self.enabled,
            boost_per_dep: self.boost_per_dep,
            max_total_boost: self.max_total_boost,
            // `read_overflow` alone does not let an agent do anything, so it must not hide a
            // deadlock.
            always_on: self.always_on.into_iter().chain([READ_OVERFLOW.to_owned()]).collect(),
            rules: self.rules,
            freed,
        })
    }
}

/// Validated dependencies between tools.
#[derive(Debug, Clone, Default)]
pub struct ToolDependencyGraph {
    enabled: bool,
    boost_per_dep: f64,
    max_total_boost: f64,
    always_on: BTreeSet<String>,
    rules: BTreeMap<String, ToolDependency>,
    freed: BTreeSet<String>,
}

/// The state of a turn that dependencies are checked against.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'t> {
    /// All tools that could be offered.
    pub tools: &'t BTreeSet<String>,
    /// Tools that succeeded in this session.
    pub completed: &'t BTreeSet<String>,
    /// Tools that the user named in this turn.
    pub mentioned: &'t BTreeSet<String>,
}

impl<'t> Turn<'t> {
    /// The turn of a scene.
    #[must_use]
    pub fn new(scene: &Scene<'t>) -> Self {
        Self { tools: scene.tools, completed: scene.completed, mentioned: scene.mentioned }
    }
}

/// Which tools can be used in a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Available {
    /// The tools that are offered, each with the score that preferred tools add.
    pub offered: BTreeMap<String, f64>,
    /// The tools that are not offered, each with the tools that have to succeed first.
    pub excluded: BTreeMap<String, Vec<String>>,
    /// Every tool would have been blocked, so none is.
    pub deadlock: bool,
}

/// Returns which tools can be used in this turn, and why the others cannot. The dependency gate
/// never denies a tool that is offered here.
#[must_use]
pub fn available(settings: &ToolDependencyGraph, turn: &Turn<'_>) -> Available {
    let deadlock = settings.deadlock(turn);
    if deadlock {
        tracing::warn!(
            "every tool is waiting for another one, so dependencies are ignored in this turn"
        );
    }
    let mut found = Available { deadlock, ..Available::default() };
    for tool in turn.tools {
        let missing = settings.missing(tool, turn);
        if missing.is_empty() {
            found.offered.insert(tool.clone(), settings.boost(tool, turn));
        } else {
            let missing = missing.into_iter().map(str::to_owned).collect();
            found.excluded.insert(tool.clone(), missing);
        }
    }
    found
}

impl ToolDependencyGraph {
    /// The tools that waited for one another in a cycle.
    #[must_use]
    pub fn freed(&self) -> &BTreeSet<String> {
        &self.freed
    }

    /// A notice for the operator that names the freed tools. Callers should show it once.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let mut notices = Vec::new();
        let mut left = self.freed.clone();
        while let Some(first) = left.pop_first().filter(|_| self.enabled) {
            let below = reached(&self.rules, &first);
            let (with, others): (BTreeSet<String>, _) = left.into_iter().partition(|tool| {
                below.contains(&**tool) && reached(&self.rules, tool).contains(&*first)
            });
            left = others;
            let names: Vec<String> = [first].into_iter().chain(with).collect();
            notices.push(match names.as_slice() {
                [only] => format!("`{only}` requires itself, so its requirements are ignored"),
                names => format!(
                    "these tools require one another in a cycle, so their requirements are \
                     ignored: {}",
                    names.join(", ")
                ),
            });
        }
        (!notices.is_empty()).then(|| notices.join("; "))
    }

    /// The tools that have to succeed before this tool can be used in this turn.
    #[must_use]
    pub fn missing<'s>(&'s self, tool: &str, turn: &Turn<'_>) -> Vec<&'s str> {
        let unmet = self.unmet(tool, turn);
        if unmet.is_empty() || self.bypasses(tool, turn) || self.deadlock(turn) {
            return Vec::new();
        }
        unmet
    }

    fn unmet<'s>(&'s self, tool: &str, turn: &Turn<'_>) -> Vec<&'s str> {
        let Some(rule) = self.rules.get(tool).filter(|_| self.enabled) else { return Vec::new() };
        if self.freed.contains(tool) {
            return Vec::new();
        }
        let requires = rule.requires.iter().map(String::as_str);
        requires.filter(|name| !turn.completed.contains(*name)).collect()
    }

    /// Whether this tool requires others, and all of them have succeeded.
    pub(crate) fn has_met(&self, tool: &str, completed: &BTreeSet<String>) -> bool {
        let rule = self.rules.get(tool).filter(|rule| self.enabled && !rule.requires.is_empty());
        rule.is_some_and(|rule| rule.requires.iter().all(|name| completed.contains(name)))
    }

    /// Whether dependencies are checked.
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn bypasses(&self, tool: &str, turn: &Turn<'_>) -> bool {
        self.always_on.contains(tool) || turn.mentioned.contains(tool)
    }

    /// Whether only tools that are always on could be used.
    fn deadlock(&self, turn: &Turn<'_>) -> bool {
        let mut others =
            turn.tools.iter().filter(|tool| !self.always_on.contains(*tool)).peekable();
        self.enabled
            && others.peek().is_some()
            && others
                .all(|tool| !turn.mentioned.contains(tool) && !self.unmet(tool, turn).is_empty())
    }

    fn boost(&self, tool: &str, turn: &Turn<'_>) -> f64 {
        let Some(rule) = self.rules.get(tool).filter(|_| self.enabled) else { return 0.0 };
        let met: BTreeSet<&String> =
            rule.prefers.iter().filter(|name| turn.completed.contains(*name)).collect();
        met.iter().fold(0.0_f64, |sum, _| sum + self.boost_per_dep).min(self.max_total_boost)
    }
}

/// The tools that are part of a cycle of `requires`.
fn circles(rules: &BTreeMap<String, ToolDependency>) -> BTreeSet<String> {
    rules.keys().filter(|tool| reached(rules, tool).contains(&***tool)).cloned().collect()
}

/// The tools that this one requires, directly or not.
fn reached<'r>(rules: &'r BTreeMap<String, ToolDependency>, start: &str) -> BTreeSet<&'r str> {
    let requires = |tool: &str| rules.get(tool).into_iter().flat_map(|rule| &rule.requires);
    let mut seen = BTreeSet::new();
    let mut open: Vec<&'r str> = requires(start).map(String::as_str).collect();
    while let Some(tool) = open.pop() {
        if seen.insert(tool) {
            open.extend(requires(tool).map(String::as_str));
        }
    }
    seen
}
