//! Decides which of a client's tools are passed on to the model, and in which form.

use std::collections::BTreeSet;

use counterfoil_guard::{Guard, Offer};
use counterfoil_model::Digest;
use hyper::body::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::options::ProxySettings;
use crate::request::ModelRequest;
use crate::sessions::Seen;
use crate::shown::Shown;

/// A changed tool list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offered {
    /// The list that is passed on.
    pub(crate) tools: Bytes,
    /// What was changed.
    pub(crate) summary: String,
}

/// Whether the tools of a request may have to be changed.
pub(crate) fn may_change(guard: &Guard, request: &ModelRequest) -> bool {
    let Some(list) = request.tools.as_ref().and_then(|tools| entries(tools)) else { return false };
    guard.chooses_tools()
        || list.iter().any(|raw| name(raw).is_some_and(|name| guard.never_runs(&name).is_some()))
}

/// The tools that replace those of the client; `None` if the client's are passed on.
pub(crate) async fn offered(
    settings: &ProxySettings,
    request: &ModelRequest,
    shown: &Shown,
    seen: &Seen,
) -> Option<Offered> {
    let own = request.tools.as_ref()?;
    let digest = Digest::of_bytes(own);
    let offer = seen.session.offer_listed(&shown.tools, &shown.query()).await;
    let mut names: BTreeSet<String> = offer.tools.iter().map(|tool| tool.name.clone()).collect();
    let mut state = seen.state();
    if let Some((_, before)) = state.pinned.take_if(|(known, _)| *known == digest)
        && settings.pin_tools
    {
        // The list may grow, but never shrink.
        names.extend(before);
    }
    state.pinned = Some((digest, names.clone()));
    drop(state);
    rewritten(own, &offer, &names)
}

fn rewritten(own: &[u8], offer: &Offer, names: &BTreeSet<String>) -> Option<Offered> {
    let list = entries(own)?;
    let (all, mut kept, mut thinking) = (list.len(), Vec::new(), 0);
    for raw in list {
        let name = name(raw);
        let out = name.as_ref().and_then(|name| offer.excluded.iter().find(|o| o.tool == *name));
        if out.is_some_and(|out| out.denied.is_some() || !names.contains(&out.tool)) {
            continue;
        }
        match name.filter(|name| offer.thinking.contains(name)) {
            Some(name) => {
                thinking += 1;
                kept.push(with_schema(raw, offer, &name)?);
            }
            None => kept.push(raw.get().to_owned()),
        }
    }
    if kept.len() == all && thinking == 0 {
        return None;
    }
    let summary = match thinking {
        0 => format!("{} of {all}", kept.len()),
        _ => format!("{} of {all}, {thinking} with thinking enabled", kept.len()),
    };
    Some(Offered { tools: Bytes::from(format!("[{}]", kept.join(","))), summary })
}

fn entries(tools: &[u8]) -> Option<Vec<&RawValue>> {
    serde_json::from_slice(tools).ok()
}

/// The name of a tool that a client runs.
fn name(raw: &RawValue) -> Option<String> {
    let entry: Value = serde_json::from_str(raw.get()).ok()?;
    let name = entry.pointer("/function/name").or_else(|| entry.get("name"));
    name.and_then(Value::as_str).map(str::to_owned)
}

/// The tool with the schema that is offered.
fn with_schema(raw: &RawValue, offer: &Offer, name: &str) -> Option<String> {
    let schema = offer.tools.iter().find(|tool| tool.name == name)?.parameters.clone()?;
    let mut entry: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
    let inner = match entry.get_mut("function").and_then(Value::as_object_mut) {
        Some(inner) => inner,
        None => &mut entry,
    };
    let member = if inner.contains_key("input_schema") { "input_schema" } else { "parameters" };
    inner.insert(member.to_owned(), schema);
    serde_json::to_string(&entry).ok()
}
