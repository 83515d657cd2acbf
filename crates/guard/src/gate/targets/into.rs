//! Copies, moves, links and downloads: what they write at their destination.

use counterfoil_shell::{Word, WordKind};

use super::arguments::Arguments;
use super::target::{Add, Change};

/// Whether whole folders are copied.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tree {
    Always,
    Never,
    /// Only with one of these options.
    With(&'static [&'static str]),
}

/// The sources and the destination of a transfer.
struct Transfer<'a> {
    sources: Vec<&'a Word>,
    to: Word,
    /// Whether the destination certainly is a folder.
    into_folder: bool,
}

impl<'a> Transfer<'a> {
    fn new(arguments: &Arguments<'a>) -> Self {
        let mut sources = arguments.operands.clone();
        if let Some(to) = arguments.values(&["-t", "--target-directory"]).pop() {
            return Self { sources, to, into_folder: true };
        }
        // `ln -s /elsewhere/settings.json` creates a link of the same name here.
        let last = if sources.len() > 1 { sources.pop().cloned() } else { None };
        let to = last.unwrap_or_else(|| Word::fixed("."));
        let is_folder =
            to.text.ends_with('/') || [".", "..", "~", "$HOME"].contains(&to.text.as_str());
        let into_folder = is_folder || sources.len() > 1;
        Self { sources, to, into_folder }
    }
}

/// Adds the sources that are moved away.
pub(super) fn sources(arguments: &Arguments<'_>, change: &Change, add: &mut Add<'_>) {
    let sources = Transfer::new(arguments).sources.into_iter();
    sources.filter(|word| !is_remote(word)).for_each(|word| add(word.clone(), change.clone()));
}

pub(super) fn target(arguments: &Arguments<'_>, tree: Tree, add: &mut Add<'_>) {
    let Transfer { sources, to, into_folder } = Transfer::new(arguments);
    if is_remote(&to) {
        return;
    }
    let whole = match tree {
        Tree::Always => true,
        Tree::Never => false,
        Tree::With(options) => options.iter().any(|option| arguments.has(option)),
    };
    let change = if whole { Change::Replaces } else { Change::Writes };
    for source in &sources {
        match name_of(source) {
            Some(name) => {
                let text = format!("{}/{name}", to.text.trim_end_matches('/'));
                let kind = if to.kind == WordKind::Literal { source.kind } else { to.kind };
                add(Word { text, kind }, change.clone());
            }
            // `cp -r x/. y`, `rsync x/ y/`, `cp x/* y`, `cp "$F" y`: files of unknown names.
            None => add(to.clone(), Change::Fills),
        }
    }
    if !into_folder {
        add(to, change);
    }
}

/// The name that a source gets at the destination, if known.
fn name_of(source: &Word) -> Option<&str> {
    let name = source.text.rsplit('/').next().unwrap_or_default();
    let unknown = matches!(name, "" | "." | ".." | "*")
        || source.kind == WordKind::Dynamic && name.contains(['$', '`', '{']);
    (!unknown).then_some(name)
}

/// `host:path`
fn is_remote(word: &Word) -> bool {
    word.text.split_once(':').is_some_and(|(host, _)| host.len() > 1 && !host.contains('/'))
}

/// Adds the file names at the end of URLs, in the folder that an option names, or in the working
/// directory.
pub(super) fn downloads(arguments: &Arguments<'_>, folder: &'static str, add: &mut Add<'_>) {
    let folders: &[&str] = if folder == "-P" { &["-P", "--directory-prefix"] } else { &[folder] };
    let folder = arguments.values(folders).pop().unwrap_or_else(|| Word::fixed("."));
    for url in
        arguments.operands.iter().map(|word| word.text.split(['?', '#']).next().unwrap_or_default())
    {
        if let Some((_, name)) = url.rsplit_once('/').filter(|(_, name)| !name.is_empty()) {
            let text = format!("{}/{name}", folder.text.trim_end_matches('/'));
            add(Word { text, kind: folder.kind }, Change::Writes);
        }
    }
}
