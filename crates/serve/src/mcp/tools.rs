use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use counterfoil_admission::AdmissionSettings;
use counterfoil_formats::{ToolListError, read_lenient, read_tools};
use counterfoil_guard::{Guard, HostTools};
use counterfoil_model::{Origin, Tool};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::lists::List;
use super::looks::{oddities, oddities_of};
use super::members::Members;
use super::pins::{GreetingChange, Pins, PinsError, UNREACHABLE};
use super::unchecked::{unchecked, unchecked_in};

/// Maximum number of tools per server.
pub(super) const MOST_TOOLS: usize = 10_000;

/// Members of a tool that clients and models read.
const READ: [&str; 6] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// The tools that a server offers, as far as the client has listed them. Pages are processed as
/// they arrive, because a list need not end.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    /// The pages of the list so far.
    pages: Vec<Page>,
    /// The definitions in the list so far, by name.
    definitions: BTreeMap<String, Value>,
    /// Tools that are held until a person has reviewed them.
    held: BTreeSet<String>,
    /// The definitions of the very first list, while it is being pinned.
    pinning: Option<Vec<Value>>,
    /// Lists of prompts and resources that are being pinned for the first time, and their servers,
    /// if there are several.
    pub(super) pinning_lists: BTreeSet<(List, String)>,
    /// The listed resources, and whether each is unchanged.
    pub(super) resources: BTreeMap<String, bool>,
    /// The resources in the list that is being read, page by page.
    pub(super) listed: BTreeSet<String>,
    /// Of several servers, those without an answer when the client was greeted or got a list.
    pub(super) away: Vec<String>,
    /// Messages that were already logged.
    logged: BTreeSet<String>,
    /// The complete list; `None` until all of it has been seen.
    whole: Option<Arc<HostTools>>,
    /// The server did not list its tools when they were requested.
    given_up: bool,
}

/// One page of the list.
#[derive(Debug)]
struct Page {
    tools: Vec<Tool>,
    known: Arc<HostTools>,
}

/// The position of a page in its list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Whether it was requested without a cursor.
    pub(crate) first: bool,
    /// Whether no other page follows.
    pub(crate) last: bool,
}

/// The pins that tools are compared with.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) pins: Pins,
    /// Whether changed tools are kept from running.
    pub(crate) hold: bool,
}

/// An entry of a list.
struct Entry {
    at: usize,
    tool: Tool,
    definition: Value,
    /// Whether it is new in the list.
    new: bool,
    /// Why its arguments cannot be validated, if its definition cannot be read.
    unread: Option<String>,
}

impl Offered {
    /// The tools against which a call is validated; `None` until the page with this tool has been
    /// seen.
    pub(crate) fn known(&self, name: &str) -> Option<Arc<HostTools>> {
        let page = || self.pages.iter().find(|page| page.known.get(name).is_some());
        self.whole.clone().or_else(|| Some(Arc::clone(&page()?.known)))
    }

    pub(crate) fn is_held(&self, name: &str) -> bool {
        self.held.contains(name)
    }

    /// Whether the whole list is known, or the server was asked for it in vain.
    pub(crate) fn is_settled(&self) -> bool {
        self.whole.is_some() || self.given_up
    }

    /// The server was asked for its tools in vain.
    pub(crate) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Forgets everything after the server's tools changed.
    pub(crate) fn forget(&mut self) {
        let logged = std::mem::take(&mut self.logged);
        let pinning_lists = std::mem::take(&mut self.pinning_lists);
        let resources = std::mem::take(&mut self.resources);
        let listed = std::mem::take(&mut self.listed);
        let away = std::mem::take(&mut self.away);
        *self = Self { logged, pinning_lists, resources, listed, away, ..Self::default() };
    }

    /// Processes one page of `tools/list`. Returns the indexes of the entries to keep from the
    /// client.
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

    /// Reads the entries of a page. Also returns the indexes of invalid entries, which cannot be
    /// compared.
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
                false => Err(format!("only {MOST_TOOLS} tools of a server are read")),
            };
            let Entry { tool, definition, unread, .. } = match entry {
                Ok(entry) => entry,
                Err(why) => {
                    self.tell(format!("entry {at} in the tools of `{server}` is invalid: {why}"));
                    odd.insert(at);
                    continue;
                }
            };
            let before = self.definitions.get(&tool.name);
            // A page that is requested again has the same tools.
            let (new, again) = (before.is_none(), before == Some(&definition));
            if !here.insert(tool.name.clone()) || !new && !again {
                let name = &tool.name;
                self.tell(format!("`{server}` has more than one tool named `{name}`"));
                if hold {
                    self.held.insert(name.clone());
                }
            }
            if let Some(why) = &unread {
                self.tell(unchecked_in(server, &tool.name, why));
            }
            if new {
                self.definitions.insert(tool.name.clone(), definition.clone());
            }
            read.push(Entry { at, tool, definition, new, unread });
        }
        (read, odd)
    }

    /// Compiles the tools against which calls are validated.
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
            for (tool, why) in unchecked(whole.issues()) {
                self.tell(unchecked_in(server, tool, why));
            }
            self.whole = Some(whole);
        }
    }

    /// Reports the rules that match none of the tools in the whole list.
    pub(crate) fn report_idle_rules(&mut self, guard: &Guard) {
        if self.whole.is_none() {
            return;
        }
        let names: Vec<&str> = self.definitions.keys().map(String::as_str).collect();
        let idle = guard.idle_rules(&names, &self.away);
        idle.into_iter().for_each(|rule| self.tell(rule.to_string()));
    }

    /// Reports oddities and changes of tools, and returns the names of those to hold.
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
            Ok((messages, changed)) => {
                messages.into_iter().for_each(|change| self.tell(change));
                if watch.hold { changed } else { BTreeSet::new() }
            }
            Err(error) => {
                self.tell(format!("tools of `{server}`: {error}"));
                // It is unknown whether anything changed, so everything is held.
                let names = raw.iter().filter_map(|tool| tool.get("name")?.as_str());
                if watch.hold { names.map(str::to_owned).collect() } else { BTreeSet::new() }
            }
        }
    }

    /// Compares a page with the pins. Each page of the very first list is pinned as it arrives.
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

    /// Checks a server's greeting. Returns the changes that must be held; an error if it is unknown
    /// what has changed, so that everything must be.
    pub(crate) fn greeting(
        &mut self,
        greeting: &Value,
        server: &str,
        watch: Option<&Watch>,
    ) -> Result<Vec<GreetingChange>, PinsError> {
        for odd in oddities(&json!({ "instructions": greeting.get("instructions") })) {
            self.tell(format!("instructions of `{server}`: {odd}"));
        }
        self.away = unreachable(greeting.get("_meta"));
        let Some(watch) = watch else { return Ok(Vec::new()) };
        let changes = watch.pins.greeting_changes(greeting);
        match &changes {
            Ok(changes) => changes.iter().for_each(|one| self.tell(format!("`{server}`: {one}"))),
            Err(error) => self.tell(format!("texts of `{server}`: {error}")),
        }
        if watch.hold { changes } else { Ok(Vec::new()) }
    }

    /// Logs a message once.
    pub(super) fn tell(&mut self, what: String) {
        if !self.logged.contains(&what) && self.logged.len() < MOST_TOOLS {
            tracing::warn!("{what}");
            self.logged.insert(what);
        }
    }
}

/// The servers that are away, according to the `_meta` of several servers as one.
pub(crate) fn unreachable(meta: Option<&Value>) -> Vec<String> {
    let away = meta.and_then(|meta| meta.get(UNREACHABLE)?.as_array());
    away.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Reads one entry of a list.
///
/// # Errors
/// When readers could take it for different tools, or for none.
fn entry(at: usize, raw: &RawValue) -> Result<Entry, String> {
    let members: Members<'_> = serde_json::from_str(raw.get()).map_err(|e| e.to_string())?;
    if let Some(odd) = members.lookalike(&READ) {
        return Err(odd);
    }
    let definition = read_lenient(raw.get().as_bytes()).map_err(|error| error.to_string())?;
    let name = definition.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or("it has no name")?.to_owned();
    let mut unread = None;
    let tool = match read_tools(&Value::Array(vec![definition.clone()])) {
        Ok(tools) => tools.into_iter().find(|tool| tool.name == name),
        // Its calls are judged, but not validated.
        Err(wrong @ ToolListError::Wrong { .. }) => {
            unread = Some(wrong.to_string());
            Some(Tool::named(&name))
        }
        Err(error) => return Err(error.to_string()),
    };
    let tool = tool.ok_or("it is not a tool definition")?;
    Ok(Entry { at, tool, definition, new: true, unread })
}
