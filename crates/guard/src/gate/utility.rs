use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use counterfoil_tools::{RecentCall, Scene};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::admitted::Admitted;

/// `[tools.utility]`: skips calls of read-only tools that are not worth their cost.
///
/// `score = gain_weight × gain − cost_weight × cost − redundancy_weight × redundancy +
/// exploration_bonus`, the first three between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UtilityOptions {
    /// Whether calls are scored. Off by default.
    pub enabled: bool,
    /// Calls below this score are skipped.
    pub threshold: f64,
    /// The weight of the expected gain, which is 1 if the user named the tool, and lower if recent
    /// calls to the tool failed.
    pub gain_weight: f64,
    /// The weight of the expected number of tokens; 8000 or more count as 1.
    pub cost_weight: f64,
    /// The weight of the similarity to a recent call; an identical call counts as 1. Calls made
    /// before the last call that may have changed something do not count.
    pub redundancy_weight: f64,
    /// What is added to the score of a tool that was not called recently.
    pub exploration_bonus: f64,
    /// Tools that are never skipped, by name. `invoke_skill` and `load_skill` are never skipped,
    /// even if they are not listed.
    pub exempt_tools: Vec<String>,
}

/// An agent that cannot load a skill cannot use it, so these are never skipped, whatever is
/// configured.
const ALWAYS: [&str; 2] = ["invoke_skill", "load_skill"];

fn exempt(named: &[String]) -> BTreeSet<String> {
    named.iter().cloned().chain(ALWAYS.map(str::to_owned)).collect()
}

impl Default for UtilityOptions {
    fn default() -> Self {
        Self {
            enabled: false,
            threshold: 0.0,
            gain_weight: 1.0,
            cost_weight: 0.3,
            redundancy_weight: 1.0,
            exploration_bonus: 0.1,
            exempt_tools: ALWAYS.map(str::to_owned).to_vec(),
        }
    }
}

/// Why the options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UtilityOptionsError {
    /// A value is not a number, or out of range.
    #[error("tools.utility.{key} is `{value}`; it must be a number from {least} to 100")]
    Number {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// The minimum.
        least: i32,
    },
}

impl UtilityOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// When a number is invalid.
    pub fn resolve(self) -> Result<UtilitySettings, UtilityOptionsError> {
        for (key, number, least) in [
            ("threshold", self.threshold, -100),
            ("gain_weight", self.gain_weight, 0),
            ("cost_weight", self.cost_weight, 0),
            ("redundancy_weight", self.redundancy_weight, 0),
            ("exploration_bonus", self.exploration_bonus, 0),
        ] {
            if !(f64::from(least)..=100.0).contains(&number) {
                return Err(UtilityOptionsError::Number { key, value: number.to_string(), least });
            }
        }
        let exempt = exempt(&self.exempt_tools);
        Ok(UtilitySettings { options: self, exempt, estimator: None })
    }
}

/// Validated settings: which calls are worth their cost.
#[derive(Debug, Clone)]
pub struct UtilitySettings {
    options: UtilityOptions,
    exempt: BTreeSet<String>,
    estimator: Option<Arc<dyn GainEstimator>>,
}

impl Default for UtilitySettings {
    fn default() -> Self {
        let options = UtilityOptions::default();
        let exempt = exempt(&options.exempt_tools);
        Self { options, exempt, estimator: None }
    }
}

/// Estimates what a call may gain, for hosts that have a model of relevance.
pub trait GainEstimator: Send + Sync + fmt::Debug {
    /// Returns the expected gain, from 0 to 1.
    ///
    /// # Errors
    /// When it cannot be estimated. The call does not run then.
    fn gain(&self, call: &Admitted, scene: &Scene<'_>) -> Result<f64, UtilityError>;
}

/// Why a call cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the call cannot be scored: {0}")]
pub struct UtilityError(pub String);

/// The score of a call and its components.
#[derive(Debug, Clone, PartialEq)]
pub struct UtilityScore {
    /// Expected gain, 0 to 1.
    pub gain: f64,
    /// Expected cost, 0 to 1.
    pub cost: f64,
    /// Similarity to a recent call, 0 to 1.
    pub redundancy: f64,
    /// The bonus for a tool that was not called recently.
    pub exploration: f64,
    /// The score.
    pub total: f64,
    /// The most similar recent call.
    pub like: Option<String>,
}

/// Scores calls.
#[derive(Debug, Clone, Copy)]
pub struct UtilityScorer<'s> {
    settings: &'s UtilitySettings,
}

/// The number of latest calls that count as recent for exploration.
const LATELY: usize = 10;
/// The assumed size of a result when nothing is known about it, in tokens.
const USUAL_TOKENS: f64 = 250.0;
/// The result size that counts as the full cost, in tokens.
const FULL_TOKENS: f64 = 8_000.0;

impl UtilitySettings {
    /// Uses this estimator instead of the history of calls.
    #[must_use]
    pub fn estimated_by(mut self, estimator: impl GainEstimator + 'static) -> Self {
        self.estimator = Some(Arc::new(estimator));
        self
    }

    /// A scorer with these settings.
    #[must_use]
    pub fn scorer(&self) -> UtilityScorer<'_> {
        UtilityScorer { settings: self }
    }

    pub(crate) fn enabled(&self) -> bool {
        self.options.enabled
    }

    pub(super) fn threshold(&self) -> f64 {
        self.options.threshold
    }

    pub(super) fn exempts(&self, tool: &str) -> bool {
        self.exempt.contains(tool)
    }
}

impl UtilityScorer<'_> {
    /// Scores the call in this scene.
    ///
    /// # Errors
    /// When the estimator fails, or the score is not a number.
    pub fn score(&self, call: &Admitted, scene: &Scene<'_>) -> Result<UtilityScore, UtilityError> {
        let options = &self.settings.options;
        let tool = call.tool().name.as_str();
        let gain = match &self.settings.estimator {
            Some(estimator) => estimator.gain(call, scene)?,
            None => expected_gain(call, scene),
        };
        if !(0.0..=1.0).contains(&gain) {
            return Err(UtilityError(format!(
                "the estimated gain is `{gain}`, which is not a number from 0 to 1"
            )));
        }
        let cost = expected_cost(call, scene);
        let (redundancy, like) = redundancy(call, scene);
        let lately = scene.recent.iter().rev().take(LATELY);
        let new = lately.into_iter().all(|recent| recent.tool != tool);
        let exploration = if new { options.exploration_bonus } else { 0.0 };
        let total = options.gain_weight * gain
            - options.cost_weight * cost
            - options.redundancy_weight * redundancy
            + exploration;
        if !total.is_finite() {
            return Err(UtilityError(format!("its score `{total}` is not a finite number")));
        }
        Ok(UtilityScore { gain, cost, redundancy, exploration, total, like })
    }
}

/// The expected gain, from the outcomes of this tool's recent calls.
fn expected_gain(call: &Admitted, scene: &Scene<'_>) -> f64 {
    let tool = call.tool();
    let before = if tool.effects.retrieves == Some(true) { 0.8 } else { 0.6 };
    let (mut calls, mut good) = (0.0_f64, 0.0_f64);
    for recent in scene.recent.iter().filter(|recent| recent.tool == tool.name) {
        calls += 1.0;
        good += if recent.succeeded { 1.0 } else { 0.0 };
    }
    before * (good + 1.0) / (calls + 1.0)
}

/// The expected cost, from the length of this tool's recent results.
fn expected_cost(call: &Admitted, scene: &Scene<'_>) -> f64 {
    let (mut calls, mut tokens) = (0.0_f64, 0.0_f64);
    for recent in scene.recent.iter().filter(|recent| recent.tool == call.tool().name) {
        calls += 1.0;
        tokens += in_tokens(recent.result_chars);
    }
    let result = if calls > 0.0 { tokens / calls } else { USUAL_TOKENS };
    let argument_tokens = in_tokens(call.call().arguments.as_str().len());
    ((result + argument_tokens) / FULL_TOKENS).min(1.0)
}

fn in_tokens(chars: usize) -> f64 {
    f64::from(u32::try_from(chars).unwrap_or(u32::MAX)) / 4.0
}

/// The similarity to the most similar recent call whose result is still current.
fn redundancy(call: &Admitted, scene: &Scene<'_>) -> (f64, Option<String>) {
    let words = words(call.arguments());
    let mut most: (f64, Option<&str>) = (0.0, None);
    let holds = |recent: &&RecentCall| {
        recent.succeeded && !recent.outdated && recent.tool == call.tool().name
    };
    for recent in scene.recent.iter().filter(holds) {
        let alike =
            if recent.digest == call.digest() { 1.0 } else { shared(&words, &recent.words) };
        if alike > most.0 {
            most = (alike, Some(&recent.execution_id));
        }
    }
    (most.0, most.1.map(str::to_owned))
}

/// The share of words that two texts have in common. It stays below 1, because the calls are not
/// identical.
fn shared(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let both = one.intersection(other).count();
    let all = one.len() + other.len() - both;
    if all == 0 { 0.0 } else { (count(both) / count(all)).min(0.9) }
}

/// The words in the values of arguments.
pub(crate) fn words(arguments: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, words: &mut BTreeSet<String>) {
        match value {
            Value::String(text) => words.extend(
                text.split(|c: char| !c.is_alphanumeric())
                    .filter(|word| !word.is_empty())
                    .map(str::to_lowercase),
            ),
            Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
            Value::Object(members) => members.values().for_each(|item| collect(item, words)),
            Value::Number(_) | Value::Bool(_) => {
                words.insert(value.to_string());
            }
            Value::Null => {}
        }
    }
    let mut words = BTreeSet::new();
    collect(arguments, &mut words);
    words
}
