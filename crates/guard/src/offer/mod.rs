//! Selects the tools that the model may see, by the operator's rules, by dependencies and by the
//! request.

mod filter;
mod thinking;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_model::{Catalog, Tool};
use serde::Serialize;

use crate::gate::{Available, Turn, available};
use crate::guard::Guard;
use crate::host::HostTools;
use crate::named::named;
use crate::ports::Embedder;
use crate::session::{Held, Session, Surroundings};

pub(crate) use filter::LastFilter;
pub use filter::{InclusionReason, ToolFilterOptions, ToolFilterResult, cosine};
use filter::{ToolSchemaFilter, TurnContext};
pub use thinking::{TafcOptions, schema_complexity};

/// The tools that the model may see in this turn.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Offer {
    /// The tools that it may see, by name.
    pub tools: Vec<Tool>,
    /// What preferred tools add to each tool's score, if anything.
    pub boosts: BTreeMap<String, f64>,
    /// The tools whose schema has room to think (`[tools.tafc]`). What the model writes there is
    /// removed before its call is admitted.
    pub thinking: BTreeSet<String>,
    /// The tools that it may not see, with reasons.
    pub excluded: Vec<Excluded>,
    /// Why each tool is included, if the request was used to select tools; empty otherwise.
    pub reasons: BTreeMap<String, Vec<InclusionReason>>,
    /// Each tool's similarity to the request, from 0 to 1, plus what preferences add.
    pub scores: BTreeMap<String, f64>,
    /// Whether every tool waits for another one, so that dependencies are off in this turn.
    pub deadlock: bool,
}

/// A tool that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Excluded {
    /// The tool's name.
    pub tool: String,
    /// The tools that have to succeed first.
    pub waits_for: Vec<String>,
    /// Why every call of it would be denied, whatever its arguments.
    pub denied: Option<String>,
    /// Whether other tools are more similar to the request.
    pub unlike: bool,
}

impl Session {
    /// Returns the tools that the model may see now. The dependency gate uses the same function, so
    /// it denies no tool that is offered.
    #[must_use]
    pub fn offer(&self) -> Offer {
        let guard = self.guard();
        let held = self.hold(guard, &Surroundings::default());
        guard.all(&held, "", &held.tools, &guard.catalog())
    }

    /// Returns a host's tools that its model may see for this request.
    pub async fn offer_listed(&self, tools: &HostTools, query: &str) -> Offer {
        let guard = self.guard();
        let held = self.hold(guard, &Surroundings::default());
        let catalog = tools.catalog();
        let names = catalog.iter().map(|tool| tool.name.clone()).collect();
        let offer = guard.all(&held, query, &names, catalog);
        guard.chosen(self, &held, query, offer).await
    }

    /// Returns the tools that the model may see for one request. If the settings allow it, only
    /// tools similar to the request are offered. The others are marked [`unlike`](Excluded::unlike)
    /// and can still be called. Tools that the request names are offered as if it were the user's
    /// latest message.
    pub async fn offer_for(&self, query: &str) -> Offer {
        let guard = self.guard();
        let held = self.hold(guard, &Surroundings::default());
        let offer = guard.all(&held, query, &held.tools, &guard.catalog());
        guard.chosen(self, &held, query, offer).await
    }
}

impl Guard {
    /// Returns why the operator's rules deny every call of this tool, whatever its arguments;
    /// `None` if some call may run. Such a tool need not be offered.
    #[must_use]
    pub fn never_runs(&self, tool: &str) -> Option<String> {
        let policy = self.policy();
        let settings = &policy.settings;
        settings.policy.always_denies(tool).or_else(|| settings.permissions.always_denies(tool))
    }

    /// Whether the offer depends on more than the operator's rules: on earlier calls, on the
    /// request, or on how complex a tool's schema is.
    #[must_use]
    pub fn chooses_tools(&self) -> bool {
        let dependencies = self.policy().settings.dependencies.is_enabled();
        dependencies || self.settings().tool_filter.enabled || self.settings().tafc.enabled
    }

    fn augmented(&self, mut offer: Offer) -> Offer {
        offer.excluded.sort_by(|a, b| a.tool.cmp(&b.tool));
        let tafc = &self.settings().tafc;
        for tool in &mut offer.tools {
            let augmented = tool.parameters.as_ref().and_then(|schema| tafc.augmented(schema));
            if let Some(augmented) = augmented {
                tool.parameters = Some(augmented);
                offer.thinking.insert(tool.name.clone());
            }
        }
        offer
    }

    async fn chosen(&self, session: &Session, held: &Held, query: &str, mut offer: Offer) -> Offer {
        let options = &self.settings().tool_filter;
        let Some(embedder) = self.embedder().filter(|_| options.enabled) else { return offer };
        if query.trim().is_empty() {
            return offer;
        }
        let filter = self.filter_of(&offer.tools, embedder).await;
        let referenced = session.record().calls.referenced().clone();
        let named = named(query, offer.tools.iter().map(|tool| &tool.name));
        let turn =
            TurnContext { query, named: &named, referenced: &referenced, boosts: &offer.boosts };
        let result = filter.filter(options, &turn, embedder).await;
        let dependencies = &self.policy().settings.dependencies;
        offer.tools.retain(|tool| result.included.contains_key(&tool.name));
        offer.boosts.retain(|tool, _| result.included.contains_key(tool));
        offer.thinking.retain(|tool| result.included.contains_key(tool));
        offer.reasons = result.included;
        for (tool, reasons) in &mut offer.reasons {
            let met = dependencies.has_met(tool, &held.completed);
            reasons.extend(met.then_some(InclusionReason::DependencyMet));
        }
        offer.scores = result.scores;
        let unlike = |tool| Excluded { unlike: true, ..Excluded::named(tool) };
        offer.excluded.extend(result.excluded.into_iter().map(unlike));
        offer
    }

    /// Returns all tools that may be used, for a user who has just made this request.
    fn all(&self, held: &Held, query: &str, tools: &BTreeSet<String>, catalog: &Catalog) -> Offer {
        let mentioned = &*held.mentioned | &named(query, tools.iter());
        let turn = Turn { tools, completed: &held.completed, mentioned: &mentioned };
        let Available { offered, excluded, deadlock } =
            available(&self.policy().settings.dependencies, &turn);
        let mut offer = Offer { deadlock, ..Offer::default() };
        for (name, boost) in offered {
            if let Some(why) = self.never_runs(&name) {
                offer.excluded.push(Excluded { denied: Some(why), ..Excluded::named(name) });
                continue;
            }
            offer.tools.extend(catalog.get(&name).cloned());
            offer.boosts.extend((boost > 0.0).then_some((name, boost)));
        }
        let waiting = excluded.into_iter();
        let waiting =
            waiting.map(|(tool, waits_for)| Excluded { waits_for, ..Excluded::named(tool) });
        offer.excluded.extend(waiting);
        self.augmented(offer)
    }

    /// The filter for these tools, reused if the tools have not changed.
    async fn filter_of(&self, tools: &[Tool], embedder: &dyn Embedder) -> Arc<ToolSchemaFilter> {
        let mut last = self.last_filter().lock().await;
        if let Some(filter) = last.as_ref().filter(|filter| filter.is_of(tools)) {
            return Arc::clone(filter);
        }
        let filter = Arc::new(ToolSchemaFilter::new(tools.to_vec(), embedder).await);
        *last = Some(Arc::clone(&filter));
        filter
    }
}

impl Excluded {
    fn named(tool: String) -> Self {
        Self { tool, waits_for: Vec::new(), denied: None, unlike: false }
    }
}
