//! Which tools a request is shown, of many.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_model::Tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::executor::READ_OVERFLOW;
use crate::ports::{Embedder, EmbedderError};

/// `[agent.tool_filter]`: whether a model is shown every tool, or those that a request is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolFilterOptions {
    /// Whether tools are left out for a request. Needs an embedding model; without one, every
    /// tool is shown.
    pub enabled: bool,
    /// How many are kept for what they have in common with the request.
    pub top_k: usize,
    /// Tools whose description has fewer words are always shown: nobody can tell what they do.
    pub min_description_words: usize,
    /// Tools that are always shown.
    pub always_on: Vec<String>,
}

impl Default for ToolFilterOptions {
    fn default() -> Self {
        let always_on = ["memory_search", "memory_save", "load_skill", "scheduler"];
        Self {
            enabled: false,
            top_k: 10,
            min_description_words: 3,
            always_on: always_on.map(str::to_owned).to_vec(),
        }
    }
}

/// Why a tool is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InclusionReason {
    /// The configuration says so.
    AlwaysOn,
    /// The request names it.
    NameMentioned,
    /// The model has called it in this turn: what it knows must not vanish.
    Referenced,
    /// Its description is too short to tell what it does.
    ShortDescription,
    /// Nothing is known that it could be ranked by.
    NoEmbedding,
    /// It is among those that have most in common with the request.
    SimilarityRank,
    /// What it requires has succeeded.
    DependencyMet,
    /// What it prefers has succeeded, which counted for it.
    PreferenceBoost,
}

/// What is shown of many tools, and why.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolFilterResult {
    /// Tools that are shown, each with every reason.
    pub included: BTreeMap<String, Vec<InclusionReason>>,
    /// Tools that have too little in common with the request.
    pub excluded: BTreeSet<String>,
    /// What each ranked tool has in common with the request, from 0 to 1, and what preferences add.
    pub scores: BTreeMap<String, f64>,
}

/// What is known of the turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) query: &'a str,
    /// Tools that the model called since the user spoke.
    pub(super) referenced: &'a BTreeSet<String>,
    /// What preferred tools add to the score of each.
    pub(super) boosts: &'a BTreeMap<String, f64>,
}

/// Chooses tools for a request by what both mean. Made for one set of tools.
pub(crate) struct ToolSchemaFilter {
    tools: Vec<Tool>,
    /// Of each tool; the same length as `tools`. `None` if the model gave none: then every tool is
    /// shown.
    embeddings: Option<Vec<Vec<f32>>>,
}

impl ToolSchemaFilter {
    pub(super) async fn of(tools: Vec<Tool>, embedder: &dyn Embedder) -> Self {
        let texts: Vec<String> = tools.iter().map(text_of).collect();
        let embeddings = match embedder.embed(&texts).await {
            Ok(found) if found.len() == tools.len() => Some(found),
            Ok(found) => {
                tracing::warn!("{} embeddings came for {} tools", found.len(), tools.len());
                None
            }
            Err(error) => {
                tracing::warn!("the tools have no embeddings: {error}");
                None
            }
        };
        Self { tools, embeddings }
    }

    pub(super) fn is_of(&self, tools: &[Tool]) -> bool {
        self.tools == tools
    }

    /// Which tools are shown: every one if the request has no embedding.
    pub(super) async fn filter(
        &self,
        options: &ToolFilterOptions,
        asked: &Asked<'_>,
        embedder: &dyn Embedder,
    ) -> ToolFilterResult {
        let mut result = ToolFilterResult::default();
        let scores = self.scores(asked.query, embedder).await;
        let Ok(scores) = scores.inspect_err(|error| tracing::warn!("every tool is shown: {error}"))
        else {
            let all = self.tools.iter();
            result.included =
                all.map(|tool| (tool.name.clone(), vec![InclusionReason::NoEmbedding])).collect();
            return result;
        };
        let mut ranked = Vec::new();
        for (tool, score) in self.tools.iter().zip(scores) {
            let boost = asked.boosts.get(&tool.name).copied().unwrap_or_default();
            let score = score.map(|score| score + boost);
            result.scores.extend(score.map(|score| (tool.name.clone(), score)));
            let mut reasons = shown(tool, options, asked);
            match score {
                None => reasons.push(InclusionReason::NoEmbedding),
                // What is shown anyway takes no place.
                Some(score) if reasons.is_empty() => ranked.push((score, boost, tool)),
                Some(_) => {}
            }
            if !reasons.is_empty() {
                result.included.insert(tool.name.clone(), reasons);
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.name.cmp(&b.2.name)));
        for (place, (_, boost, tool)) in ranked.into_iter().enumerate() {
            if place >= options.top_k {
                result.excluded.insert(tool.name.clone());
                continue;
            }
            let mut reasons = vec![InclusionReason::SimilarityRank];
            reasons.extend((boost > 0.0).then_some(InclusionReason::PreferenceBoost));
            result.included.insert(tool.name.clone(), reasons);
        }
        result
    }

    /// What each tool has in common with a request, from 0 to 1; `None` for one without an
    /// embedding.
    async fn scores(
        &self,
        query: &str,
        embedder: &dyn Embedder,
    ) -> Result<Vec<Option<f64>>, EmbedderError> {
        let missing = || EmbedderError("the tools have no embeddings".to_owned());
        let embeddings = self.embeddings.as_ref().ok_or_else(missing)?;
        let asked = embedder.embed(&[query.to_owned()]).await?;
        let asked = asked.first().filter(|one| !one.is_empty());
        let asked = asked.ok_or_else(|| EmbedderError("it gave nothing".to_owned()))?;
        Ok(embeddings.iter().map(|tool| Some(cosine(asked, tool)?.max(0.0))).collect())
    }
}

/// What is compared with a request: a tool's name, description and parameters.
fn text_of(tool: &Tool) -> String {
    let mut text = format!("{}: {}", tool.name, tool.description);
    let schema = tool.parameters.as_ref().and_then(|schema| schema.get("properties"));
    for (name, schema) in schema.and_then(Value::as_object).into_iter().flatten() {
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("\n{name}: {about}"));
    }
    text
}

/// Why a tool is shown whatever it has in common with the request.
fn shown(tool: &Tool, options: &ToolFilterOptions, asked: &Asked<'_>) -> Vec<InclusionReason> {
    let short = tool.description.split_whitespace().count() < options.min_description_words;
    let reasons = [
        // What was cut is read by that one, whatever the request is about.
        (tool.name == READ_OVERFLOW, InclusionReason::AlwaysOn),
        (options.always_on.contains(&tool.name), InclusionReason::AlwaysOn),
        (names(asked.query, &tool.name), InclusionReason::NameMentioned),
        (asked.referenced.contains(&tool.name), InclusionReason::Referenced),
        (short, InclusionReason::ShortDescription),
    ];
    reasons.into_iter().filter_map(|(is, reason)| is.then_some(reason)).collect()
}

/// Whether a text names a tool, as a word of its own.
fn names(text: &str, tool: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    !tool.is_empty()
        && text.match_indices(tool).any(|(at, _)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + tool.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(part) && !after.is_some_and(part)
        })
}

/// `None` where one of them has no direction, or they are of two lengths.
fn cosine(one: &[f32], other: &[f32]) -> Option<f64> {
    let dot = |a: &[f32], b: &[f32]| {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
    };
    let norms = (dot(one, one) * dot(other, other)).sqrt();
    let cosine = dot(one, other) / norms;
    (one.len() == other.len() && cosine.is_finite()).then_some(cosine)
}

impl std::fmt::Debug for ToolSchemaFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolSchemaFilter").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}

/// The filter of the tools that there were last, so that it is not made for every turn.
pub(crate) type LastFilter = tokio::sync::Mutex<Option<Arc<ToolSchemaFilter>>>;
