use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_admission::AdmissionSettings;
use counterfoil_formats::{ToolListError, read_lenient, read_tools};
use counterfoil_guard::HostTools;
use counterfoil_model::{Origin, Tool};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::described::List;
use super::looks::{oddities, oddities_of};
use super::members::Members;
use super::pins::{Pins, PinsError};

/// The most tools of one server that are looked at.
pub(super) const MOST_TOOLS: usize = 10_000;

/// Members of a tool that a client or a model reads.
const READ: [&str; 6] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// The tools that a server offers, as far as the client has asked for them. Each page of the list is
/// looked at when it comes: a list need not end.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    /// The pages of the list so far.
    pages: Vec<Page>,
    /// The definitions of the list so far, by name.
    definitions: BTreeMap<String, Value>,
    /// Tools that wait until a person has looked at them.
    held: BTreeSet<String>,
    /// The definitions of a list that is the first one ever seen.
    pinning: Option<Vec<Value>>,
    /// Lists of prompts and resources that are the first ones ever seen.
    pub(super) pinning_lists: BTreeSet<List>,
    /// What was said about the tools already.
    told: BTreeSet<String>,
    /// The whole list; `None` while nobody has seen all of it.
    whole: Option<Arc<HostTools>>,
}

/// One page.
#[derive(Debug)]
struct Page {
    tools: Vec<Tool>,
    known: Arc<HostTools>,
}

/// Where a page stands in its list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// It was asked for without a cursor.
    pub(crate) first: bool,
    /// No other page follows.
    pub(crate) last: bool,
}

/// Against what a list of tools is held.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) pins: Pins,
    /// Tools that changed do not run.
    pub(crate) hold: bool,
}

/// An entry of a list.
struct Entry {
    at: usize,
    tool: Tool,
    definition: Value,
    /// The list did not have it before.
    new: bool,
}

impl Offered {
    /// Against what a call of this tool is held; `None` while the page with it has not been seen.
    pub(crate) fn known(&self, name: &str) -> Option<Arc<HostTools>> {
        let page = || self.pages.iter().find(|page| page.known.get(name).is_some());
        self.whole.clone().or_else(|| Some(Arc::clone(&page()?.known)))
    }

    pub(crate) fn is_held(&self, name: &str) -> bool {
        self.held.contains(name)
    }

    /// What was known is no longer true.
    pub(crate) fn forget(&mut self) {
        let told = std::mem::take(&mut self.told);
        let pinning_lists = std::mem::take(&mut self.pinning_lists);
        *self = Self { told, pinning_lists, ..Self::default() };
    }

    /// Takes note of one page of `tools/list`, and gives the places of the entries that the client
    /// does not get.
    pub(crate) fn page(
        &mut self,
        entries: &[&RawValue],
        place: Place,
        server: &str,
        settings: &AdmissionSettings,
        watch: Option<&Watch>,
    ) -> BTreeSet<usize> {
        if place.first {
            self.forget();
        }
        let hold = watch.is_some_and(|watch| watch.hold);
        let (read, mut left_out) = self.read(entries, server, hold);
        let definitions: Vec<Value> = read.iter().map(|entry| entry.definition.clone()).collect();
        let changed = self.watched(&definitions, place, server, watch);
        self.held.extend(changed);
        let held = read.iter().filter(|entry| self.held.contains(&entry.tool.name));
        left_out.extend(held.map(|entry| entry.at));
        let origin = Origin::Mcp { server: server.to_owned() };
        let new = read.into_iter().filter(|entry| entry.new);
        let tools = new.map(|entry| Tool { origin: origin.clone(), ..entry.tool }).collect();
        self.ready(tools, place, server, settings);
        if hold { left_out } else { BTreeSet::new() }
    }

    /// Reads the entries of a page. Gives those that are no tools, too: what cannot be read cannot
    /// be compared.
    fn read(
        &mut self,
        entries: &[&RawValue],
        server: &str,
        hold: bool,
    ) -> (Vec<Entry>, BTreeSet<usize>) {
        let (mut read, mut odd) = (Vec::new(), BTreeSet::new());
        let mut here = BTreeSet::new();
        for (at, raw) in entries.iter().enumerate() {
            let entry = match self.definitions.len() < MOST_TOOLS {
                true => self::entry(at, raw),
                false => Err(format!("only {MOST_TOOLS} tools of a server are looked at")),
            };
            let Entry { tool, definition, .. } = match entry {
                Ok(entry) => entry,
                Err(why) => {
                    self.tell(format!("entry {at} of the tools of `{server}` is odd: {why}"));
                    odd.insert(at);
                    continue;
                }
            };
            let before = self.definitions.get(&tool.name);
            // A page that is asked for again has the same tools.
            let (new, again) = (before.is_none(), before == Some(&definition));
            if !here.insert(tool.name.clone()) || !new && !again {
                let name = &tool.name;
                self.tell(format!("`{server}` has more than one tool of the name `{name}`"));
                if hold {
                    self.held.insert(name.clone());
                }
            }
            if new {
                self.definitions.insert(tool.name.clone(), definition.clone());
            }
            read.push(Entry { at, tool, definition, new });
        }
        (read, odd)
    }

    /// Makes ready what calls are held against.
    fn ready(&mut self, new: Vec<Tool>, place: Place, server: &str, settings: &AdmissionSettings) {
        let held = &self.held;
        let ready = |tools: &[Tool]| {
            let tools = tools.iter().map(|tool| {
                let available = tool.available && !held.contains(&tool.name);
                Tool { available, ..tool.clone() }
            });
            Arc::new(HostTools::new(tools, settings))
        };
        for page in &mut self.pages {
            let is_stale = |tool: &Tool| {
                held.contains(&tool.name)
                    && page.known.get(&tool.name).is_some_and(|known| known.available)
            };
            if page.tools.iter().any(is_stale) {
                page.known = ready(&page.tools);
            }
        }
        if !new.is_empty() {
            let known = ready(&new);
            self.pages.push(Page { tools: new, known });
        }
        if place.last || self.whole.is_some() {
            let all: Vec<Tool> = self.pages.iter().flat_map(|page| page.tools.clone()).collect();
            let whole = ready(&all);
            for issue in whole.issues() {
                tracing::info!("tool `{}` of `{server}`: {}", issue.tool, issue.message);
            }
            self.whole = Some(whole);
        }
    }

    /// Says what is odd about tools, and what changed in them; gives those that are held.
    fn watched(
        &mut self,
        raw: &[Value],
        place: Place,
        server: &str,
        watch: Option<&Watch>,
    ) -> BTreeSet<String> {
        oddities_of(server, raw).into_iter().for_each(|odd| self.tell(odd));
        let Some(watch) = watch else { return BTreeSet::new() };
        match self.compared(raw, place, server, &watch.pins) {
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

    /// Compares a page with what was seen first. Of the first list ever, each page is pinned when it
    /// comes.
    fn compared(
        &mut self,
        raw: &[Value],
        place: Place,
        server: &str,
        pins: &Pins,
    ) -> Result<(Vec<String>, BTreeSet<String>), PinsError> {
        if place.first {
            self.pinning = (!pins.have_tools()?).then(Vec::new);
        }
        let Some(all) = &mut self.pinning else { return pins.changed(server, raw) };
        all.extend_from_slice(raw);
        pins.accept(all)?;
        Ok((Vec::new(), BTreeSet::new()))
    }

    /// Looks at what a server says when it is greeted. Whether its instructions are held: they are
    /// not what they were.
    pub(crate) fn greeting(&mut self, said: &Value, server: &str, watch: Option<&Watch>) -> bool {
        let instructions = said.get("instructions").and_then(Value::as_str);
        for odd in oddities(&json!({ "instructions": said.get("instructions") })) {
            self.tell(format!("instructions of `{server}`: {odd}"));
        }
        let Some(watch) = watch else { return false };
        let changed = match watch.pins.instructions_changed(instructions) {
            Ok(false) => return false,
            Ok(true) => "they are not what they were when it was first seen".to_owned(),
            Err(error) => error.to_string(),
        };
        self.tell(format!("instructions of `{server}`: {changed}"));
        watch.hold
    }

    /// Once.
    pub(super) fn tell(&mut self, what: String) {
        if !self.told.contains(&what) && self.told.len() < MOST_TOOLS {
            tracing::warn!("{what}");
            self.told.insert(what);
        }
    }
}

/// Reads one entry of a list.
///
/// # Errors
/// What is wrong with it: readers would take it for different tools, or for none.
fn entry(at: usize, raw: &RawValue) -> Result<Entry, String> {
    let members: Members<'_> = serde_json::from_str(raw.get()).map_err(|e| e.to_string())?;
    if let Some(odd) = members.lookalike(&READ) {
        return Err(odd);
    }
    let definition = read_lenient(raw.get().as_bytes()).map_err(|error| error.to_string())?;
    let name = definition.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or("it has no name")?.to_owned();
    let tool = match read_tools(&Value::Array(vec![definition.clone()])) {
        Ok(tools) => tools.into_iter().find(|tool| tool.name == name),
        // Its calls are judged all the same, but not validated.
        Err(ToolListError::Wrong { .. }) => Some(Tool::named(&name)),
        Err(error) => return Err(error.to_string()),
    };
    let tool = tool.ok_or("it is no definition of a tool")?;
    Ok(Entry { at, tool, definition, new: true })
}
