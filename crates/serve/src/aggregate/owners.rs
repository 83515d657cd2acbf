//! Which server a resource belongs to: the first that lists it, or the one whose template it fits.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::merge::List;
use super::{Aggregate, Asked, BETWEEN, Object, Wrong, text_of};
use crate::client::Reconnecting;
use crate::mcp::{SERVER, code, twice};

/// The maximum number of resources, and of templates, of all servers together.
const MOST_ENTRIES: usize = 100_000;

/// The servers of resources and of templates, by URI.
#[derive(Default)]
pub(super) struct Owners {
    resources: BTreeMap<String, Arc<Reconnecting>>,
    templates: BTreeMap<String, Arc<Reconnecting>>,
    /// Whether all servers were asked what they have.
    asked: bool,
}

impl Owners {
    /// Notes that a server lists this.
    ///
    /// # Errors
    /// When another server listed it before, or too much is listed.
    fn note(&mut self, list: List, uri: String, member: &Arc<Reconnecting>) -> Result<(), String> {
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

    fn listed(&self, uri: &str) -> Option<Arc<Reconnecting>> {
        self.resources.get(uri).or_else(|| self.templates.get(uri)).cloned()
    }

    /// The server of the template that begins like this URI, for the longest such beginning.
    fn fitting(&self, uri: &str) -> Option<Arc<Reconnecting>> {
        let beginning = |template: &str| template.split('{').next().unwrap_or_default().len();
        let fits = |template: &&String| {
            let plain = template.get(..beginning(template)).unwrap_or_default();
            !plain.is_empty() && uri.starts_with(plain)
        };
        let fitting = self.templates.iter().filter(|(template, _)| fits(template));
        fitting.max_by_key(|(template, _)| beginning(template)).map(|(_, owner)| Arc::clone(owner))
    }
}

impl Aggregate {
    /// An entry of a list as shown to the client; `None` if it is that of another server, or if
    /// readers could take it for different entries.
    pub(super) fn shown(
        &self,
        list: List,
        member: &Arc<Reconnecting>,
        text: &str,
    ) -> Option<String> {
        let left_out = |why: String| {
            tracing::warn!("`{}`: omitted an entry of its {}: {why}", member.name, list.member());
            None
        };
        if let Some(name) = twice(text) {
            return left_out(format!("the member `{name}` appears twice"));
        }
        let Ok(members) = serde_json::from_str::<Object<'_>>(text) else {
            return left_out("it is not an object".to_owned());
        };
        let told = |name: &str| members.get(name).and_then(text_of);
        if !self.prefixed {
            return Some(text.to_owned());
        }
        if list.is_named() {
            let Some(name) = told("name") else { return Some(text.to_owned()) };
            let name = Value::from(format!("{}{BETWEEN}{name}", member.name));
            return Some(members.with("name", &name.to_string()));
        }
        let key = if list == List::Templates { "uriTemplate" } else { "uri" };
        let Some(uri) = told(key) else { return left_out(format!("it has no `{key}`")) };
        if let Err(why) = self.owners().note(list, uri.clone(), member) {
            return left_out(format!("`{uri}`: {why}"));
        }
        let meta = members.get("_meta").map_or("{}", RawValue::get);
        let name = Value::from(member.name.as_str()).to_string();
        let meta = match serde_json::from_str::<Object<'_>>(meta) {
            Ok(meta) => meta.with(SERVER, &name),
            Err(_) => format!("{{\"{SERVER}\":{name}}}"),
        };
        Some(members.with("_meta", &meta))
    }

    /// Passes on a request about a resource to the server that has it.
    pub(super) async fn resource(&self, asked: &Asked, uri: &str) -> Result<String, Wrong> {
        match self.owner_of(uri).await {
            Some(member) => self.pass(&member, asked, &asked.params).await,
            None => {
                let what = format!("no server has `{uri}`");
                Err(Wrong::ClientReply(code::INVALID_PARAMS, what))
            }
        }
    }

    async fn owner_of(&self, uri: &str) -> Option<Arc<Reconnecting>> {
        if !self.prefixed {
            return self.members().into_iter().next();
        }
        // A change of the servers forgets what they have.
        self.members();
        if let Some(owner) = self.owners().listed(uri) {
            return Some(owner);
        }
        let fitting = {
            let owners = self.owners();
            owners.fitting(uri).filter(|_| owners.asked)
        };
        if fitting.is_some() {
            return fitting;
        }
        for list in [List::Resources, List::Templates] {
            self.list(list).await.ok()?;
        }
        let mut owners = self.owners();
        owners.asked = true;
        owners.listed(uri).or_else(|| owners.fitting(uri))
    }
}
