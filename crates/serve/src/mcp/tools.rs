use std::collections::BTreeSet;
use std::sync::Arc;

use counterfoil_formats::read_tools;
use counterfoil_guard::HostTools;
use counterfoil_model::{Origin, Tool};
use counterfoil_rules::AdmissionSettings;
use serde_json::Value;

use super::looks::oddities_of;
use super::pins::Pins;

/// The tools that a server offers, as far as the client has asked for them.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    /// The pages of a list that has not ended yet.
    pages: Vec<(Tool, Value)>,
    /// What was said about the tools already.
    told: BTreeSet<String>,
    /// The whole list; `None` while nobody has seen all of it.
    known: Option<Arc<Known>>,
}

/// A whole list.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) tools: HostTools,
    /// Tools that wait until a person has looked at what changed in them.
    held: BTreeSet<String>,
}

/// Against what a list of tools is held.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) pins: Pins,
    /// Tools that changed do not run.
    pub(crate) hold: bool,
}

impl Known {
    pub(crate) fn is_held(&self, name: &str) -> bool {
        self.held.contains(name)
    }
}

impl Offered {
    pub(crate) fn known(&self) -> Option<Arc<Known>> {
        self.known.clone()
    }

    /// What was known is no longer true.
    pub(crate) fn forget(&mut self) {
        self.known = None;
        self.pages.clear();
    }

    /// Takes note of one page of `tools/list`. `first`: it was asked for without a cursor.
    pub(crate) fn page(
        &mut self,
        result: &Value,
        first: bool,
        server: &str,
        settings: &AdmissionSettings,
        watch: Option<&Watch>,
    ) {
        if first {
            self.forget();
        }
        match read_tools(result) {
            Ok(tools) => {
                let listed = result.get("tools").and_then(Value::as_array).into_iter().flatten();
                let raw = |tool: &Tool| {
                    let mut listed = listed.clone();
                    let same = listed.find(|raw| raw.get("name").is_some_and(|n| *n == *tool.name));
                    same.cloned().unwrap_or_default()
                };
                self.pages.extend(tools.into_iter().map(|tool| {
                    let raw = raw(&tool);
                    (tool, raw)
                }));
            }
            Err(error) => {
                tracing::warn!(
                    "the tools of `{server}` cannot be read, so calls are not validated: {error}"
                );
                return self.forget();
            }
        }
        if result.get("nextCursor").is_some_and(Value::is_string) {
            return;
        }
        let origin = Origin::Mcp { server: server.to_owned() };
        let (tools, raw): (Vec<Tool>, Vec<Value>) =
            std::mem::take(&mut self.pages).into_iter().unzip();
        let held = self.watched(&raw, server, watch);
        let tools = tools.into_iter().map(|tool| {
            let available = tool.available && !held.contains(&tool.name);
            Tool { origin: origin.clone(), available, ..tool }
        });
        let tools = HostTools::new(tools, settings);
        for issue in tools.issues() {
            tracing::info!("tool `{}` of `{server}`: {}", issue.tool, issue.message);
        }
        self.known = Some(Arc::new(Known { tools, held }));
    }

    /// Says what is odd about tools, and what changed in them; gives those that are held.
    fn watched(&mut self, raw: &[Value], server: &str, watch: Option<&Watch>) -> BTreeSet<String> {
        oddities_of(server, raw).into_iter().for_each(|odd| self.tell(odd));
        let Some(watch) = watch else { return BTreeSet::new() };
        match watch.pins.changed(server, raw) {
            Ok((told, changed)) => {
                told.into_iter().for_each(|change| self.tell(change));
                if watch.hold { changed } else { BTreeSet::new() }
            }
            Err(error) => {
                self.tell(format!("tools of `{server}`: {error}"));
                // Whether something changed is not known: that holds everything.
                let names = raw.iter().filter_map(|tool| tool.get("name")?.as_str());
                if watch.hold { names.map(str::to_owned).collect() } else { BTreeSet::new() }
            }
        }
    }

    /// Once.
    fn tell(&mut self, what: String) {
        if !self.told.contains(&what) {
            tracing::warn!("{what}");
            self.told.insert(what);
        }
    }
}
