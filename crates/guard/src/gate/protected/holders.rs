//! The folders that contain protected files: removing, moving or replacing such a folder affects
//! what is in it.

use std::path::Path;

use counterfoil_tools::{Over, glob};

use super::super::mentioned::Ground;

/// A protected place, as the names that lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    anchor: Anchor,
    /// The names from the anchor on, up to the first one with a wildcard.
    names: Vec<String>,
    /// The first name with a wildcard; `None` if there is none.
    wild: Option<String>,
}

/// Where the names of a place start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Project,
    Anywhere,
}

impl Holder {
    /// The folders above the places that a pattern matches.
    pub(super) fn of_pattern(pattern: &str) -> Self {
        let (anchor, rest) = match pattern {
            pattern if pattern.starts_with("**/") => {
                (Anchor::Anywhere, pattern.trim_start_matches("**/"))
            }
            pattern if pattern.starts_with('~') => (Anchor::Home, pattern.trim_start_matches('~')),
            pattern if pattern.starts_with('/') => (Anchor::Root, pattern),
            pattern => (Anchor::Project, pattern),
        };
        let mut all = rest.split('/').filter(|name| !matches!(*name, "" | "."));
        let mut names = Vec::new();
        let wild = all.find_map(|name| {
            let wild = name.contains(['*', '?', '[', '{']);
            if !wild {
                names.push(name.to_owned());
            }
            wild.then(|| name.to_owned())
        });
        Self { anchor, names, wild }
    }

    /// A folder with everything in it.
    pub(super) fn of_folder(folder: &Path) -> Self {
        Self::of_pattern(&format!("{}/**", folder.display()))
    }

    /// Whether such places are in the folder with these names.
    pub(super) fn lies_in(&self, above: &[&str], ground: &Ground<'_>) -> bool {
        let own = || self.names.iter().map(String::as_str);
        let from = |start: &str| begins(parts(start).chain(own()), above);
        match self.anchor {
            Anchor::Root => from("/"),
            Anchor::Home => from("~") || ground.home.is_some_and(from),
            Anchor::Project => from(&ground.root),
            Anchor::Anywhere => {
                let most = self.names.len() - usize::from(self.wild.is_none());
                (1..=most).any(|count| {
                    let from = above.len().checked_sub(count);
                    let tail = from.and_then(|from| above.get(from..));
                    tail.is_some_and(|tail| begins(own().take(count), tail))
                })
            }
        }
    }

    /// Whether a file of this name, somewhere in the folder, may be such a place.
    pub(super) fn has_in(&self, above: &[&str], name: &str, ground: &Ground<'_>) -> bool {
        let anywhere = self.anchor == Anchor::Anywhere;
        let last = self.names.last().filter(|_| self.wild.is_none());
        // `find . -name .envrc`, and hidden folders of such names.
        if anywhere && (last.is_some_and(|last| last == name) || self.is_hidden(name)) {
            return true;
        }
        let named = match &self.wild {
            // The place is everything in a folder, so any name matches.
            Some(wild) if wild.starts_with("**") => true,
            Some(wild) => same(name, &wild.replace(['*', '?'], "w")) || same(wild, name),
            None => last.is_some_and(|last| same(name, last)),
        };
        named && self.lies_in(above, ground)
    }

    fn is_hidden(&self, name: &str) -> bool {
        name.starts_with('.') && self.names.iter().any(|own| own == name)
    }
}

/// The names of a path.
pub(super) fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// Whether the names begin with the names of the folder.
fn begins<'n>(mut names: impl Iterator<Item = &'n str>, folder: &[&str]) -> bool {
    folder.iter().all(|pattern| names.next().is_some_and(|name| same(pattern, name)))
}

/// Whether a name, which may contain wildcards, matches another. `*` alone does not match hidden
/// files.
fn same(pattern: &str, name: &str) -> bool {
    if pattern == name {
        return true;
    }
    pattern.contains(['*', '?', '['])
        && (pattern.starts_with(['.', '[']) || !name.starts_with('.'))
        && glob(pattern, Over::Paths).is_ok_and(|glob| glob.compile_matcher().is_match(name))
}
