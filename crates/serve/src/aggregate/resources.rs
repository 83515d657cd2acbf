//! Entries of lists as shown to the client, and requests about resources.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::merge::List;
use super::request::{ParsedRequest, Wrong};
use super::{Aggregate, BETWEEN, text_of};
use crate::client::Reconnecting;
use crate::mcp::{Members as Object, SERVER, code, twice};

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
            tracing::warn!("`{}`: omitted an entry from its {}: {why}", member.name, list.member());
            None
        };
        if let Some(name) = twice(text) {
            return left_out(format!("the member `{name}` appears twice"));
        }
        let Ok(members) = serde_json::from_str::<Object<'_>>(text) else {
            return left_out("it is not an object".to_owned());
        };
        let member_text = |name: &str| members.get(name).and_then(text_of);
        if !self.prefixed {
            return Some(text.to_owned());
        }
        if list.is_named() {
            let Some(name) = member_text("name") else { return Some(text.to_owned()) };
            let name = Value::from(format!("{}{BETWEEN}{name}", member.name));
            return Some(members.with("name", &name.to_string()));
        }
        let key = if list == List::Templates { "uriTemplate" } else { "uri" };
        let Some(uri) = member_text(key) else { return left_out(format!("it has no `{key}`")) };
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
    pub(super) async fn resource(
        &self,
        request: &ParsedRequest,
        uri: &str,
    ) -> Result<String, Wrong> {
        match self.owner_of(uri).await {
            Some(member) => self.pass(&member, request, &request.params).await,
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
            owners.fitting(uri).filter(|_| owners.all_listed)
        };
        if fitting.is_some() {
            return fitting;
        }
        for list in [List::Resources, List::Templates] {
            self.list(list).await;
        }
        let mut owners = self.owners();
        owners.all_listed = true;
        owners.listed(uri).or_else(|| owners.fitting(uri))
    }
}
