//! Prompts and resources. Their descriptions also reach the model, so the entries of these lists
//! are pinned like tools.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use serde_json::value::RawValue;

use super::gateway::Gateway;
use super::lists::List;
use super::looks::oddities;
use super::message::Message;
use super::pins::{Pins, PinsError, SERVER, of_entry};
use super::results::{members, unreadable};
use super::tools::{MOST_TOOLS, Offered, Watch};

impl Gateway {
    /// A list of prompts or resources; entries that changed are left out if changes are held.
    pub(super) fn described(
        &self,
        message: &Message<'_>,
        text: &str,
        id: &str,
        (list, first): (List, bool),
    ) -> String {
        let whole = || self.without_forged_ids(message, text);
        let (Some(watch), Some(raw)) = (self.watch.as_deref(), message.members.get("result"))
        else {
            return whole();
        };
        let read = members(raw.get(), &[list.member(), "nextCursor", "_meta"]).and_then(|result| {
            let entries = result.get(list.member()).map_or("[]", RawValue::get);
            let entries: Vec<&RawValue> =
                serde_json::from_str(entries).map_err(|error| error.to_string())?;
            Ok((result, entries))
        });
        let (result, entries) = match read {
            Ok(read) => read,
            Err(why) => return unreadable(id, &why),
        };
        let same = self.shared().offered.described((list, first), &entries, &self.server, watch);
        let all_same = same.iter().all(|same| *same) && !self.says_more(&result, list.member());
        if !watch.hold || all_same {
            return whole();
        }
        let left = entries.iter().zip(&same).filter(|(_, same)| **same);
        let left: Vec<&str> = left.map(|(entry, _)| entry.get()).collect();
        let result = self.list_of(&result, list.member(), &left);
        message.members.with("result", &self.cleaned(&result, false).unwrap_or(result))
    }

    /// Why a resource is held, if changes are: it changed, or it is not known yet whether it did.
    pub(super) fn resource_held(&self, named: &Value) -> Option<String> {
        let watch = self.watch.as_deref().filter(|watch| watch.hold)?;
        let one = named.get("uri").and_then(Value::as_str);
        let several = named.get("uris").and_then(Value::as_array).into_iter().flatten();
        let listed = |uri: &str| self.shared().offered.resources.get(uri).copied();
        let pinned = LazyCell::new(|| watch.pins.described(List::Resources));
        for uri in one.into_iter().chain(several.filter_map(Value::as_str)) {
            let why = match listed(uri) {
                Some(true) => continue,
                Some(false) => "it is new or has changed since the server was first seen",
                None => match &*pinned {
                    Ok(Some(pinned)) if pinned.contains_key(uri) => {
                        "it is not known whether it has changed; list the resources first"
                    }
                    Ok(_) => continue,
                    Err(_) => "the pinned resources cannot be read",
                },
            };
            return Some(format!("`{uri}` is blocked: {why}"));
        }
        None
    }
}

impl Offered {
    /// Whether each entry of a page is unchanged since it was first seen.
    fn described(
        &mut self,
        (list, first): (List, bool),
        entries: &[&RawValue],
        server: &str,
        watch: &Watch,
    ) -> Vec<bool> {
        let entries = entries.iter().map(|raw| serde_json::from_str(raw.get()).ok());
        let entries: Vec<Option<Value>> = entries.collect();
        let named: Vec<Option<(&str, &Value)>> = entries
            .iter()
            .map(|entry| {
                entry.as_ref().and_then(|entry| Some((entry.get(list.key())?.as_str()?, entry)))
            })
            .collect();
        for (name, entry) in named.iter().flatten() {
            for odd in oddities(entry) {
                self.tell(format!("{} of `{server}`: `{name}`: {odd}", list.member()));
            }
        }
        match self.compared_list((list, first), &named, watch) {
            Ok(same) => {
                if list == List::Resources {
                    // A blocked resource stays so until the server lists it unchanged.
                    if first {
                        self.resources.retain(|_, same| !*same);
                        self.listed.clear();
                    }
                    // A resource that is listed twice is the same only if both are.
                    let known = named.iter().zip(&same);
                    for (uri, same) in known.filter_map(|(named, same)| Some(((*named)?.0, *same)))
                    {
                        let known = self.resources.entry(uri.to_owned()).or_insert(true);
                        let fresh = self.listed.insert(uri.to_owned());
                        *known = same && (fresh || *known);
                    }
                }
                for ((named, same), at) in named.iter().zip(&same).zip(1..) {
                    if !same {
                        let name = named
                            .map_or_else(|| format!("entry {at}"), |(name, _)| format!("`{name}`"));
                        self.tell(format!(
                            "{} of `{server}`: {name} has changed since the server was first seen",
                            list.member()
                        ));
                    }
                }
                same
            }
            Err(error) => {
                self.tell(format!("{} of `{server}`: {error}", list.member()));
                // It is unknown whether anything changed, so everything is held.
                vec![false; named.len()]
            }
        }
    }

    /// Compares a page with the pins; of several servers, with those of each.
    fn compared_list(
        &mut self,
        list: (List, bool),
        named: &[Option<(&str, &Value)>],
        watch: &Watch,
    ) -> Result<Vec<bool>, PinsError> {
        let Some(several) = watch.pins.several() else {
            return self.compared_own(list, "", named, &watch.pins, &BTreeMap::new());
        };
        let server_of = |named: &Option<(&str, &Value)>| {
            named.map_or_else(String::new, |(name, entry)| server_of(list.0, name, entry))
        };
        let servers: Vec<String> = named.iter().map(server_of).collect();
        let mut same = vec![false; named.len()];
        for server in servers.iter().collect::<BTreeSet<_>>() {
            let Some(pins) = several.named(server) else { continue };
            // What another server listed first is not this one's to offer.
            let others = several.described(list.0, |other| other != server)?;
            let of_it = || servers.iter().map(|of| of == server);
            let own = named.iter().zip(of_it()).filter(|(_, is_its)| *is_its);
            let own: Vec<_> = own.map(|(named, _)| *named).collect();
            let compared = self.compared_own(list, server, &own, &pins, &others)?;
            let all = same.iter_mut().zip(of_it()).filter(|(_, is_its)| *is_its);
            all.zip(compared).for_each(|((same, _), compared)| *same = compared);
        }
        Ok(same)
    }

    /// Compares a page with the pins of its server, apart from what `others` have. Each page of the
    /// very first list is pinned as it arrives.
    fn compared_own(
        &mut self,
        (list, first): (List, bool),
        server: &str,
        named: &[Option<(&str, &Value)>],
        pins: &Pins,
        others: &BTreeMap<String, String>,
    ) -> Result<Vec<bool>, PinsError> {
        let mut pinned = pins.described(list)?;
        let key = (list, server.to_owned());
        if first {
            self.pinning_lists.remove(&key);
            if pinned.is_none() {
                self.pinning_lists.insert(key.clone());
            }
        }
        let pinning = self.pinning_lists.contains(&key);
        let known: &mut BTreeMap<String, String> = pinned.get_or_insert_default();
        let same = named.iter().map(|named| {
            let Some((name, entry)) = named else { return false };
            let now = of_entry(entry);
            match known.get(*name) {
                Some(then) => *then == now,
                None if pinning && known.len() < MOST_TOOLS && !others.contains_key(*name) => {
                    known.insert((*name).to_owned(), now);
                    true
                }
                None => false,
            }
        });
        let same: Vec<bool> = same.collect();
        if pinning {
            pins.accept_described(list, pinned)?;
        }
        Ok(same)
    }
}

/// The server of an entry, if there are several: prompts have its name in theirs.
fn server_of(list: List, name: &str, entry: &Value) -> String {
    let server = match list {
        List::Prompts => name.split_once("__").map(|(server, _)| server),
        List::Resources | List::Templates => {
            entry.get("_meta").and_then(|meta| meta.get(SERVER)?.as_str())
        }
    };
    server.unwrap_or_default().to_owned()
}
