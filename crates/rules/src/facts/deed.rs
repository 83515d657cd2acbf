//! What each execution did: its families, its status, and the files that it touched.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use counterfoil_model::{Catalog, Family, Origin, Outcome, Status};
use counterfoil_record::{Execution, RunEnd, names_shell};

use super::arguments::Members;
use super::families::{Families, of_arguments, of_parts, of_tool, words_of_tool};
use super::index::Memo;
use super::shell_work::ShellWork;
use super::upshot::{CallFacts, Upshot};
use crate::prose::sets;

/// What one execution did.
#[derive(Debug)]
pub(crate) struct Deed<'t> {
    /// The name of the tool; for a meta-tool, of the inner one.
    pub(crate) tool: Cow<'t, str>,
    /// What the tool's name says.
    named: Rc<Named>,
    /// The families of action; empty if the name says nothing.
    pub(crate) families: Families,
    /// The arguments of the call.
    arguments: &'t str,
    /// The result.
    outcome: Option<&'t Outcome>,
    /// The upshot of the call, computed on demand.
    upshot: OnceCell<Upshot>,
    /// Files written, as named in the arguments.
    pub(crate) written: Vec<String>,
    /// Whether it may have done more than its name and arguments show.
    pub(crate) opaque: bool,
    /// Whether it delegated work to another agent.
    pub(crate) delegates: bool,
    /// Whether it only keeps the agent's own to-do list or thoughts.
    pub(crate) is_note: bool,
    /// Whether it shows more of a command that was started earlier: `write_stdin`, `BashOutput`.
    pub(crate) continues: bool,
    /// What its command line did, if it is a shell call.
    pub(crate) shell: Option<ShellWork<'t>>,
}

/// The deed of each execution, computed on demand.
#[derive(Debug, Default)]
pub(crate) struct Deeds<'t> {
    deeds: Vec<OnceCell<Deed<'t>>>,
    /// Cached by name, because a log has many calls and few tools.
    names: Memo<String, Rc<Named>>,
}

/// What the name of a tool says.
#[derive(Debug)]
struct Named {
    /// Its words, lower case.
    words: Vec<String>,
    families: Families,
    /// The families from the name alone, without the description.
    own_families: Families,
    shell: bool,
    /// Whether it runs what it is given.
    runs: bool,
    delegates: bool,
    continues: bool,
    note: bool,
    /// Whether it is our own tool or goes through our gates, so that everything it does has its own
    /// record.
    own: bool,
    acts: bool,
    edits: bool,
}

impl Named {
    fn new(tool: &str, catalog: &Catalog) -> Self {
        let words = words_of_tool(tool);
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let own_families = of_parts(&words);
        let origin = catalog.get(tool).map(|known| &known.origin);
        let own = origin.is_some_and(|o| matches!(o, Origin::Builtin | Origin::Skill { .. }));
        let note = has(&["todo", "todos", "think", "thought", "sequentialthinking"])
            || sets::HARNESS.list.contains(&tool);
        Self {
            families: of_tool(own_families, catalog.get(tool)),
            own_families,
            shell: words.iter().any(|word| names_shell(word)),
            runs: words.len() == 1 && has(sets::RUNS_COMMANDS.list) || has(&["ssh"]),
            delegates: !note && !own && has(&["task", "agent", "subagent", "delegate"]),
            continues: has(&["stdin", "output", "poll", "wait"]),
            note,
            own,
            acts: has(sets::SCREEN_ACTS.list),
            edits: has(&["edit", "multiedit", "write", "patch", "replace", "notebook"]),
            words,
        }
    }
}

impl<'t> Deeds<'t> {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            deeds: std::iter::repeat_with(OnceCell::new).take(count).collect(),
            names: Memo::default(),
        }
    }

    /// The deed of the execution at `index`.
    pub(crate) fn get(
        &self,
        index: usize,
        execution: &Execution<'t>,
        catalog: &Catalog,
    ) -> Option<&Deed<'t>> {
        let named =
            |tool: &str| self.names.get(tool.to_owned(), || Rc::new(Named::new(tool, catalog)));
        Some(self.deeds.get(index)?.get_or_init(|| Deed::new(execution, named)))
    }
}

impl<'t> Deed<'t> {
    fn new(execution: &Execution<'t>, named: impl FnOnce(&str) -> Rc<Named>) -> Self {
        let emitted = execution.tool();
        let members =
            execution.call.map(|c| Members::parse(c.arguments.as_str())).unwrap_or_default();
        let inner = inner_tool(emitted, &members);
        let tool = inner.unwrap_or(Cow::Borrowed(emitted));
        let named = named(&tool);
        let mut written: Vec<String> =
            written_path(&named, &members).map(Cow::into_owned).into_iter().collect();
        written.extend(patched_paths(&members));
        let mut families = named.families;
        if !written.is_empty() {
            families = families.with(Family::Update).with(Family::Create);
        }
        let shell = is_shell(&named, &members)
            .then(|| ShellWork::new(&members, execution.outcome))
            .flatten();
        let delegates = is_delegation(&named, &members);
        // A request to a service may do anything there.
        let asks = members.text("method").is_some_and(|method| {
            ["POST", "PUT", "PATCH", "DELETE"].iter().any(|m| method.eq_ignore_ascii_case(m))
        });
        let mut opaque = delegates || asks;
        let arguments = execution.arguments();
        if let Some(work) = &shell {
            families = families_of_shell(work);
            written.extend(work.written.iter().cloned());
            opaque |= work.opaque;
        } else {
            opaque |= families.has(Family::Run) && !named.note && !named.own;
            let tells = named.note || named.continues || named.own || delegates;
            if families.is_empty() && !tells {
                families = of_arguments(arguments);
                opaque |=
                    named.acts || families.meets(Families::changing()) || is_instructed(&members);
            }
        }
        // A call that was not executed hides nothing.
        opaque &= !execution.outcome.is_some_and(|outcome| outcome.refused);
        let continues = named.continues;
        let is_note = named.note;
        Self {
            tool,
            named,
            families,
            arguments,
            outcome: execution.outcome,
            upshot: OnceCell::new(),
            written,
            opaque,
            delegates,
            is_note,
            continues,
            shell,
        }
    }

    /// The upshot of the call, including what the result's own words say.
    pub(crate) fn upshot(&self) -> Upshot {
        *self.upshot.get_or_init(|| {
            let call = CallFacts {
                changes: self.changes(),
                looks: self.families.meets(families![Read, Search]),
                words: self.words(),
                arguments: self.arguments,
                command: self.shell.as_ref().map(|work| work.command.as_str()),
                found_nothing: self.shell.as_ref().is_some_and(|work| work.found_nothing),
            };
            Upshot::new(&call, self.outcome)
        })
    }

    /// The status that its receipt would have.
    pub(crate) fn status(&self) -> Status {
        self.upshot().status()
    }

    /// Whether it is a call of a service that does what its name says: no command line, no file, no
    /// other agent.
    pub(crate) fn is_plain_call(&self) -> bool {
        self.shell.is_none() && !self.opaque && !self.delegates && self.written.is_empty()
    }

    /// How the part of it that belongs to these families ended.
    pub(crate) fn status_for(&self, wanted: Families) -> Status {
        let runs = self.shell.iter().flat_map(|work| &work.runs);
        let mut ended = runs.filter(|run| wanted.has(run.family)).map(|run| status_of(run.end()));
        match ended.next() {
            None => self.status(),
            Some(first) if first.succeeded() => first,
            Some(first) => ended.find(|status| status.succeeded()).unwrap_or(first),
        }
    }

    /// The words of its tool's name, in lower case.
    pub(crate) fn words(&self) -> &[String] {
        &self.named.words
    }

    /// Whether its tool edits files.
    pub(crate) fn edits_files(&self) -> bool {
        self.shell.is_none() && self.changes() && self.named.edits
    }

    /// Whether the name of its tool says that it does such things. A description or arguments prove
    /// nothing.
    pub(crate) fn is_named_for(&self, wanted: Families) -> bool {
        self.shell.is_some() || self.named.own_families.meets(wanted)
    }

    /// Whether it changed anything, as far as is known.
    pub(crate) fn changes(&self) -> bool {
        self.families.meets(Families::changing())
    }
}

/// The status that the receipt of a run would have.
fn status_of(end: RunEnd) -> Status {
    match end {
        RunEnd::Passed | RunEnd::Unknown => Status::Completed,
        RunEnd::Failed | RunEnd::Empty => Status::Failed,
        RunEnd::Unfinished => Status::Open,
    }
}

/// The families of what a command line did.
fn families_of_shell(work: &ShellWork<'_>) -> Families {
    let mut families = families![Run, Read];
    for run in &work.runs {
        families = families.with(run.family);
    }
    if !work.written.is_empty() || work.writes_unnamed || work.changes_data {
        families = families.with(Family::Update).with(Family::Create);
    }
    if work.changes_data || work.deletes {
        families = families.with(Family::Delete);
    }
    if work.deletes {
        families = families.with(Family::Move);
    }
    families
}

/// Whether an argument tells the tool what to do, because its name does not.
fn is_instructed(members: &Members<'_>) -> bool {
    sets::INSTRUCTED_BY.list.iter().any(|name| members.has(name))
}

/// The tool that a meta-tool runs: `execute-tool {tool_name, params}`.
fn inner_tool<'t>(emitted: &str, members: &Members<'t>) -> Option<Cow<'t, str>> {
    let carries = sets::INNER_ARGUMENTS.list.iter().any(|name| members.has(name));
    if !carries {
        return None;
    }
    ["tool_name", "toolName", "tool", "name", "function", "action"]
        .iter()
        .find_map(|name| members.text(name))
        .filter(|inner| !inner.is_empty() && inner != emitted && !inner.contains(' '))
}

/// Whether the tool runs a command line.
fn is_shell(named: &Named, members: &Members<'_>) -> bool {
    let commanded =
        ["command", "cmd", "commands", "script", "action"].iter().any(|n| members.has(n));
    // `run {"cmd": …}`, `ssh_exec {"command": …}`
    let line = ["command", "cmd"].iter().any(|n| members.has(n));
    commanded && named.shell || line && named.runs
}

/// Whether the tool delegates work to another agent.
fn is_delegation(named: &Named, members: &Members<'_>) -> bool {
    named.delegates
        && (members.has("prompt") || members.has("subagent_type") || members.has("instructions"))
}

/// The file that a writing tool names.
fn written_path<'t>(named: &Named, members: &Members<'t>) -> Option<Cow<'t, str>> {
    let path = sets::WRITTEN_PATHS.list.iter().find_map(|name| members.text(name))?;
    let writes = named.own_families.meets(Families::changing())
        || sets::WRITTEN_CONTENTS.list.iter().any(|name| members.has(name));
    let reads = members.text("command").is_some_and(|c| c == "view");
    (writes && !reads).then_some(path)
}

/// The files named in a patch: `*** Update File: a.rs`, `+++ b/a.rs`.
fn patched_paths(members: &Members<'_>) -> Vec<String> {
    let mut paths = Vec::new();
    for name in ["input", "patch", "diff"] {
        let Some(text) = members.text(name) else { continue };
        for line in text.lines() {
            let path = [
                "*** Update File: ",
                "*** Add File: ",
                "*** Delete File: ",
                "*** Move to: ",
                "+++ b/",
            ]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
            if let Some(path) = path {
                paths.push(path.trim().to_owned());
            }
        }
    }
    paths
}
