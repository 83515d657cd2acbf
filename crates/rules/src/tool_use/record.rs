use std::collections::HashMap;

use counterfoil_model::{Role, Tool};

use super::names::{begins_with, resembles, same};
use crate::facts::{Deed, Execution, Facts, words_of};
use crate::values::{Leaf, Leaves};

/// What the catalog says about a name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known<'t> {
    /// A tool that the agent had.
    Tool(&'t Tool),
    /// A registered tool that was switched off.
    Unavailable(&'t Tool),
    /// There is no such tool.
    No,
    /// The log has no list of tools.
    Unknown,
}

/// What the record says about a use.
#[derive(Debug)]
pub(crate) enum Used<'f, 't> {
    /// It was called.
    Yes(&'f Execution<'t>),
    /// It was not called; `true` if the record would show it.
    No(bool),
}

/// Looks up a name in the catalog, ignoring case, separators and namespace.
pub(crate) fn known<'t>(facts: &Facts<'t>, name: &str) -> Known<'t> {
    let catalog = &facts.transcript().catalog;
    if !catalog.is_known() {
        return Known::Unknown;
    }
    match catalog.iter().find(|tool| same(&tool.name, name)) {
        Some(tool) if tool.available => Known::Tool(tool),
        Some(tool) => Known::Unavailable(tool),
        None => Known::No,
    }
}

/// Whether the tool was called before the message, directly or from a command line.
pub(crate) fn used<'f, 't>(facts: &'f Facts<'t>, name: &str, turn: usize) -> Used<'f, 't> {
    let count = facts.record().count_before(turn);
    let named = facts.index().named.get(name.to_owned(), || {
        let mut tools: HashMap<&str, bool> = HashMap::new();
        let mut is_named = |tool: &'f str| *tools.entry(tool).or_insert_with(|| same(tool, name));
        let uses = |at: &usize| {
            facts.deed(*at).is_some_and(|(execution, deed)| {
                let named = is_named(&deed.tool) || is_named(execution.tool());
                (named && deed.status().ran()) || in_command(deed, name)
            })
        };
        (0..facts.record().executions().len()).filter(uses).collect()
    });
    let latest = named.partition_point(|&at| at < count).checked_sub(1);
    if let Some((execution, _)) = latest.and_then(|n| facts.deed(*named.get(n)?)) {
        return Used::Yes(execution);
    }
    Used::No(facts.is_complete_before(turn) && !facts.delegates_before(turn))
}

/// Whether a tool that ran may be meant by this name: of its server or product, of one of its
/// arguments, with a word of its own name, or of one word, if it is a shell: "the Bash tool".
pub(crate) fn is_like_called(facts: &Facts<'_>, name: &str, turn: usize) -> bool {
    let plain = !name.contains('_') && words_of(name).len() == 1;
    let is_it = |text: &str| text.eq_ignore_ascii_case(name);
    let argued = |execution: &Execution<'_>| {
        Leaves::any(execution.arguments(), |node| {
            is_it(node.name) || matches!(node.leaf, Leaf::Text(text) if is_it(text))
        })
    };
    let mut called = (0..facts.record().count_before(turn)).filter_map(|at| facts.deed(at));
    called.any(|(execution, deed)| {
        let is_like = begins_with(execution.tool(), name)
            || resembles(execution.tool(), name)
            || resembles(&deed.tool, name)
            || plain && (deed.shell.is_some() || argued(execution));
        is_like && deed.status().ran()
    })
}

/// Whether a command line contains the name as a word.
fn in_command(deed: &Deed<'_>, name: &str) -> bool {
    let Some(work) = &deed.shell else { return false };
    work.command
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'))
        .any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether the name occurs in what the agent was given, so that it is a topic of the conversation.
pub(crate) fn is_talked_about(facts: &Facts<'_>, name: &str, turn: usize) -> bool {
    let first = facts.index().given.get(name.to_owned(), || {
        let finder = memchr::memmem::Finder::new(name.as_bytes());
        facts.transcript().messages.iter().position(|message| {
            (message.role != Role::Assistant && finder.find(message.text.as_bytes()).is_some())
                // A refusal repeats a name that the agent made up.
                || message
                    .outcomes
                    .iter()
                    .any(|o| !o.refused && finder.find(o.text.as_bytes()).is_some())
        })
    });
    first.is_some_and(|first| first < turn)
}
