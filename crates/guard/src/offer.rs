use std::collections::BTreeMap;

use counterfoil_model::Tool;
use serde::Serialize;

use crate::gate::{Available, Turn, available};
use crate::guard::Guard;
use crate::session::Session;

/// Which tools the model may see in this turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Those it may see, by name.
    pub tools: Vec<Tool>,
    /// What preferred tools add to the score of each, where something.
    pub boosts: BTreeMap<String, f64>,
    /// Those it may not see, with the reason.
    pub excluded: Vec<Excluded>,
    /// Every tool waited for another one, so dependencies are off in this turn.
    pub deadlock: bool,
}

/// A tool that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excluded {
    /// Its name.
    pub tool: String,
    /// What has to succeed first.
    pub waits_for: Vec<String>,
}

impl Guard {
    /// Which tools the model may see now. Nothing that is offered is denied for a dependency: the
    /// gate asks the same function.
    #[must_use]
    pub fn offer(&self, session: &Session) -> Offer {
        let held = session.hold(self);
        let turn =
            Turn { tools: &held.tools, completed: &held.completed, mentioned: &held.mentioned };
        let Available { offered, excluded, deadlock } =
            available(&self.settings().dependencies, &turn);
        let catalog = self.catalog();
        let tools = offered.keys().filter_map(|name| catalog.get(name)).cloned().collect();
        let boosts = offered.into_iter().filter(|(_, boost)| *boost > 0.0).collect();
        let excluded =
            excluded.into_iter().map(|(tool, waits_for)| Excluded { tool, waits_for }).collect();
        Offer { tools, boosts, excluded, deadlock }
    }
}
