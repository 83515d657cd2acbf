//! Chooses which of many tools to show for a request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_model::Tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::executor::READ_OVERFLOW;
use crate::ports::{Embedder, EmbedderError};

/// `[agent.tool_filter]`: whether a model is shown all tools, or only those that suit the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolFilterOptions {
    /// Whether tools are filtered for a request. Needs an embedding model; without one, all tools
    /// are shown.
    pub enabled: bool,
    /// The number of tools that are shown because they are most similar to the request.
    pub top_k: usize,
    /// Tools whose descriptions have fewer words are always shown, because a description this short
    /// does not say enough about the tool.
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
    /// The configuration always shows it.
    AlwaysOn,
    /// The request names it.
    NameMentioned,
    /// The model has called it in this turn, so it must not disappear.
    Referenced,
    /// Its description is too short to tell what it does.
    ShortDescription,
    /// There is nothing to rank it by.
    NoEmbedding,
    /// It is among the tools most similar to the request.
    SimilarityRank,
    /// The tools that it requires have succeeded.
    DependencyMet,
    /// A tool that it prefers has succeeded, which raised its score.
    PreferenceBoost,
}

/// The tools that are shown, and why.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolFilterResult {
    /// The tools that are shown, each with all reasons.
    pub included: BTreeMap<String, Vec<InclusionReason>>,
    /// The tools that are not similar enough to the request.
    pub excluded: BTreeSet<String>,
    /// For each ranked tool, its similarity to the request, from 0 to 1, plus what preferences add.
    pub scores: BTreeMap<String, f64>,
}

/// What is known about the turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnContext<'a> {
    pub(super) query: &'a str,
    /// The tools that the request names.
    pub(super) named: &'a BTreeSet<String>,
    /// The tools that the model has called since the user's last message.
    pub(super) referenced: &'a BTreeSet<String>,
    /// What preferred tools add to each tool's score.
    pub(super) boosts: &'a BTreeMap<String, f64>,
}

/// Chooses tools by semantic similarity to a request. It is built for one set of tools.
pub(crate) struct ToolSchemaFilter {
    tools: Vec<Tool>,
    /// The embeddings, in the order of `tools`. `None` if the model returned none, which shows
    /// every tool.
    embeddings: Option<Vec<Vec<f32>>>,
}

impl ToolSchemaFilter {
    pub(super) async fn new(tools: Vec<Tool>, embedder: &dyn Embedder) -> Self {
        let texts: Vec<String> = tools.iter().map(text_of).collect();
        let embeddings = match embedder.embed(&texts).await {
            Ok(found) if found.len() == tools.len() => Some(found),
            Ok(found) => {
                tracing::warn!("got {} embeddings for {} tools", found.len(), tools.len());
                None
            }
            Err(error) => {
                tracing::warn!("could not compute embeddings for the tools: {error}");
                None
            }
        };
        Self { tools, embeddings }
    }

    pub(super) fn is_of(&self, tools: &[Tool]) -> bool {
        self.tools == tools
    }

    /// Returns which tools are shown: all of them if the request has no embedding.
    pub(super) async fn filter(
        &self,
        options: &ToolFilterOptions,
        turn: &TurnContext<'_>,
        embedder: &dyn Embedder,
    ) -> ToolFilterResult {
        let mut result = ToolFilterResult::default();
        let scores = self.scores(turn.query, embedder).await;
        let Ok(scores) = scores.inspect_err(|error| tracing::warn!("showing every tool: {error}"))
        else {
            let all = self.tools.iter();
            result.included =
                all.map(|tool| (tool.name.clone(), vec![InclusionReason::NoEmbedding])).collect();
            return result;
        };
        let mut ranked = Vec::new();
        for (tool, score) in self.tools.iter().zip(scores) {
            let boost = turn.boosts.get(&tool.name).copied().unwrap_or_default();
            let score = score.map(|score| score + boost);
            result.scores.extend(score.map(|score| (tool.name.clone(), score)));
            let mut reasons = shown(tool, options, turn);
            match score {
                None => reasons.push(InclusionReason::NoEmbedding),
                // A tool that is shown anyway does not use up a place.
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

    /// The similarity of each tool to a request, from 0 to 1; `None` for a tool without an
    /// embedding.
    async fn scores(
        &self,
        query: &str,
        embedder: &dyn Embedder,
    ) -> Result<Vec<Option<f64>>, EmbedderError> {
        let missing = || EmbedderError("the tools have no embeddings".to_owned());
        let embeddings = self.embeddings.as_ref().ok_or_else(missing)?;
        let query_embedding = embedder.embed(&[query.to_owned()]).await?;
        let query_embedding = query_embedding.first().filter(|one| !one.is_empty());
        let query_embedding =
            query_embedding.ok_or_else(|| EmbedderError("it returned no embedding".to_owned()))?;
        Ok(embeddings.iter().map(|tool| Some(cosine(query_embedding, tool)?.max(0.0))).collect())
    }
}

/// The text that is compared with a request: a tool's name, description and parameters.
fn text_of(tool: &Tool) -> String {
    let mut text = format!("{}: {}", tool.name, tool.description);
    let schema = tool.parameters.as_ref().and_then(|schema| schema.get("properties"));
    for (name, schema) in schema.and_then(Value::as_object).into_iter().flatten() {
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("\n{name}: {about}"));
    }
    text
}

/// The reasons to show a tool regardless of its similarity to the request.
fn shown(tool: &Tool, options: &ToolFilterOptions, turn: &TurnContext<'_>) -> Vec<InclusionReason> {
    let short = tool.description.split_whitespace().count() < options.min_description_words;
    let reasons = [
        // Any result may be cut, so this tool is needed whatever the request is about.
        (tool.name == READ_OVERFLOW, InclusionReason::AlwaysOn),
        (options.always_on.contains(&tool.name), InclusionReason::AlwaysOn),
        (turn.named.contains(&tool.name), InclusionReason::NameMentioned),
        (turn.referenced.contains(&tool.name), InclusionReason::Referenced),
        (short, InclusionReason::ShortDescription),
    ];
    reasons.into_iter().filter_map(|(is, reason)| is.then_some(reason)).collect()
}

/// The cosine similarity; `None` if a vector has no direction or their lengths differ.
#[must_use]
pub fn cosine(one: &[f32], other: &[f32]) -> Option<f64> {
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

/// The filter for the last set of tools, so that it is not rebuilt every turn.
pub(crate) type LastFilter = tokio::sync::Mutex<Option<Arc<ToolSchemaFilter>>>;
