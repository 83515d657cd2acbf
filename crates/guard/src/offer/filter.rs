//! Which tools a request is shown, of many.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_model::Tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{Index, text_of};
use crate::executor::READ_OVERFLOW;
use crate::ports::{Embedder, EmbedderError};

/// `[agent.tool_filter]`: whether a model is shown every tool, or those that a request is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolFilterOptions {
    /// Whether tools are left out at all.
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

/// Chooses tools for a request: by the words of both, and by a model for meanings, where there is
/// one. Made for one set of tools.
pub(crate) struct ToolSchemaFilter {
    tools: Vec<Tool>,
    index: Index,
    /// Of each tool, where a model gives one; the same length as `tools`.
    embeddings: Option<Vec<Vec<f32>>>,
}

impl ToolSchemaFilter {
    /// Without meanings, where the model for them does not answer: then every tool is shown.
    pub(super) async fn of(tools: Vec<Tool>, embedder: Option<&dyn Embedder>) -> Self {
        let index = Index::of(&tools);
        let mut embeddings = None;
        if let Some(embedder) = embedder {
            let texts: Vec<String> = tools.iter().map(text_of).collect();
            match embedder.embed(&texts).await {
                Ok(found) if found.len() == tools.len() => embeddings = Some(found),
                Ok(found) => {
                    tracing::warn!("{} embeddings came for {} tools", found.len(), tools.len());
                }
                Err(error) => tracing::warn!("the tools have no embeddings: {error}"),
            }
        }
        Self { tools, index, embeddings }
    }

    pub(super) fn is_of(&self, tools: &[Tool]) -> bool {
        self.tools == tools
    }

    /// Which tools are shown. Every one, where the meaning of the request is wanted and cannot be
    /// had, and where nothing is asked.
    pub(super) async fn filter(
        &self,
        options: &ToolFilterOptions,
        asked: &Asked<'_>,
        embedder: Option<&dyn Embedder>,
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

    /// What each tool has in common with a request; `None` for one of which nothing is known.
    async fn scores(
        &self,
        query: &str,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Vec<Option<f64>>, EmbedderError> {
        let by_words = self.index.scores(query);
        // Without such a model the words are all there is to compare.
        let Some(embedder) = embedder else {
            return Ok(by_words.into_iter().map(Some).collect());
        };
        let embeddings = self.embeddings.as_ref();
        let embeddings =
            embeddings.ok_or_else(|| EmbedderError("the tools have no embeddings".to_owned()))?;
        let asked = embedder.embed(&[query.to_owned()]).await?;
        let asked = asked.first().filter(|one| !one.is_empty());
        let asked = asked.ok_or_else(|| EmbedderError("it gave nothing".to_owned()))?;
        let both = by_words.into_iter().zip(embeddings);
        // Half for the words, which names and numbers need, half for the meaning.
        Ok(both
            .map(|(words, tool)| Some(f64::midpoint(words, cosine(asked, tool)?.max(0.0))))
            .collect())
    }
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
