//! Which server a resource belongs to: the first that lists it, or the one whose template it fits.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::merge::List;
use crate::client::Reconnecting;

/// The maximum number of resources, and of templates, of all servers together.
const MOST_ENTRIES: usize = 100_000;

/// The servers of resources and of templates, by URI.
#[derive(Default)]
pub(super) struct Owners {
    resources: BTreeMap<String, Arc<Reconnecting>>,
    templates: BTreeMap<String, Arc<Reconnecting>>,
    /// Whether all servers were asked what they have.
    pub(super) all_listed: bool,
}

impl Owners {
    /// Notes that a server lists this.
    ///
    /// # Errors
    /// When another server listed it before, or too much is listed.
    pub(super) fn note(
        &mut self,
        list: List,
        uri: String,
        member: &Arc<Reconnecting>,
    ) -> Result<(), String> {
        let known = match list {
            List::Templates => &mut self.templates,
            List::Resources | List::Tools | List::Prompts => &mut self.resources,
        };
        let full = known.len() >= MOST_ENTRIES;
        let owner = match known.entry(uri) {
            Entry::Occupied(owner) => owner.into_mut(),
            Entry::Vacant(_) if full => return Err(format!("more than {MOST_ENTRIES} are listed")),
            Entry::Vacant(free) => free.insert(Arc::clone(member)),
        };
        if Arc::ptr_eq(owner, member) {
            return Ok(());
        }
        Err(format!("another server, `{}`, has it", owner.name))
    }

    pub(super) fn listed(&self, uri: &str) -> Option<Arc<Reconnecting>> {
        self.resources.get(uri).or_else(|| self.templates.get(uri)).cloned()
    }

    /// The server of the template that begins like this URI, for the longest such beginning.
    pub(super) fn fitting(&self, uri: &str) -> Option<Arc<Reconnecting>> {
        let beginning = |template: &str| template.split('{').next().unwrap_or_default().len();
        let fits = |template: &&String| {
            let plain = template.get(..beginning(template)).unwrap_or_default();
            !plain.is_empty() && uri.starts_with(plain)
        };
        let fitting = self.templates.iter().filter(|(template, _)| fits(template));
        fitting.max_by_key(|(template, _)| beginning(template)).map(|(_, owner)| Arc::clone(owner))
    }
}
