use std::collections::BTreeMap;

use counterfoil_model::Tool;
use serde::Serialize;

use crate::gate::{Available, Turn, available};
use crate::guard::Guard;
use crate::session::{Session, Surroundings};

/// Which tools the model may see in this turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Excluded {
    /// Its name.
    pub tool: String,
    /// What has to succeed first.
    pub waits_for: Vec<String>,
    /// Why no call of it would be let through, whatever is in it.
    pub denied: Option<String>,
}

impl Guard {
    /// Why no call of this tool would be let through, whatever is in it: by the rules of the
    /// operator. `None` where one may be. Such a tool need not be offered.
    #[must_use]
    pub fn never_runs(&self, tool: &str) -> Option<String> {
        let policy = self.policy();
        let settings = &policy.settings;
        settings.policy.always_denies(tool).or_else(|| settings.permissions.always_denies(tool))
    }

    /// Which tools the model may see now. Nothing that is offered is denied for a dependency: the
    /// gate asks the same function.
    #[must_use]
    pub fn offer(&self, session: &Session) -> Offer {
        let held = session.hold(self, &Surroundings::default());
        let turn =
            Turn { tools: &held.tools, completed: &held.completed, mentioned: &held.mentioned };
        let Available { offered, excluded, deadlock } =
            available(&self.policy().settings.dependencies, &turn);
        let catalog = self.catalog();
        let (mut tools, mut boosts, mut denied) = (Vec::new(), BTreeMap::new(), Vec::new());
        for (name, boost) in offered {
            if let Some(why) = self.never_runs(&name) {
                denied.push(Excluded { tool: name, waits_for: Vec::new(), denied: Some(why) });
                continue;
            }
            tools.extend(catalog.get(&name).cloned());
            boosts.extend((boost > 0.0).then_some((name, boost)));
        }
        let waiting = excluded.into_iter();
        let waiting = waiting.map(|(tool, waits_for)| Excluded { tool, waits_for, denied: None });
        let excluded = waiting.chain(denied).collect();
        Offer { tools, boosts, excluded, deadlock }
    }
}
