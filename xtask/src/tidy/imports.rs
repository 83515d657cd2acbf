//! Which file of a crate imports which.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Macro, UseTree, Visibility};

type Module = Vec<String>;

/// How many re-exports are followed for one name.
const DEEPEST: usize = 8;

/// For each file of a crate, the files that it imports.
pub(super) struct Imports<'f>(BTreeMap<&'f str, BTreeSet<&'f str>>);

/// What one file names.
#[derive(Default)]
struct Named {
    /// Paths in code, and imports that are not handed on.
    paths: Vec<Module>,
    /// Names that the module has from elsewhere.
    aliases: BTreeMap<String, Module>,
    /// The aliases that other files may use.
    handed_on: BTreeSet<String>,
}

impl<'f> Imports<'f> {
    /// Reads the files of a crate, by path from its `src` folder.
    pub(super) fn read(sources: &BTreeMap<&'f str, &str>) -> Result<Self> {
        let modules = sources.keys().map(|file| (module(file), *file)).collect();
        let mut named = BTreeMap::new();
        for (file, text) in sources {
            let parsed = syn::parse_file(text).with_context(|| (*file).to_owned())?;
            let mut reading = Reading { module: module(file), inside: 0, named: Named::default() };
            reading.visit_file(&parsed);
            named.insert(*file, reading.named);
        }
        let crate_files = Files { modules, named };
        Ok(Self(sources.keys().map(|file| (*file, crate_files.imports(file))).collect()))
    }

    /// Returns the files of each circle, the largest circle first.
    pub(super) fn circles(&self) -> Vec<Vec<&'f str>> {
        let reached: BTreeMap<&str, _> =
            self.0.keys().map(|file| (*file, self.reached(file))).collect();
        let back = |from: &str, to: &str| reached.get(to).is_some_and(|there| there.contains(from));
        let circles: BTreeSet<Vec<&str>> = reached
            .iter()
            .map(|(from, there)| there.iter().copied().filter(|to| back(from, to)).collect())
            .collect();
        let mut circles: Vec<_> = circles.into_iter().filter(|circle| circle.len() > 1).collect();
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }

    /// Returns the files that a file imports directly or through others.
    fn reached(&self, from: &'f str) -> BTreeSet<&'f str> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(file) = open.pop() {
            let next = self.0.get(file).into_iter().flatten().copied();
            open.extend(next.filter(|to| reached.insert(*to)));
        }
        reached
    }
}

/// The module of a file: `a/mod.rs` and `a.rs` are `a`, `lib.rs` is the root.
fn module(file: &str) -> Module {
    let mut parts: Module = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

struct Files<'f> {
    modules: BTreeMap<Module, &'f str>,
    named: BTreeMap<&'f str, Named>,
}

impl<'f> Files<'f> {
    fn imports(&self, file: &str) -> BTreeSet<&'f str> {
        let own = module(file);
        let Some(named) = self.named.get(file) else { return BTreeSet::new() };
        let used: BTreeSet<&String> = named
            .paths
            .iter()
            .filter_map(|path| path.strip_prefix(own.as_slice())?.first())
            .collect();
        // A name that is only handed on is not imported.
        let aliases = named
            .aliases
            .iter()
            .filter(|(name, _)| !named.handed_on.contains(*name) || used.contains(name))
            .map(|(_, path)| path);
        let paths = named.paths.iter().chain(aliases);
        paths.filter_map(|path| self.file(path, 0)).filter(|to| *to != file).collect()
    }

    /// Returns the file that defines what a path names.
    fn file(&self, path: &[String], depth: usize) -> Option<&'f str> {
        let mut module = Module::new();
        let mut file = *self.modules.get(&module)?;
        for (name, after) in path.iter().zip(1..) {
            module.push(name.clone());
            if let Some(child) = self.modules.get(&module) {
                file = child;
                continue;
            }
            let alias = self.named.get(file)?.aliases.get(name).filter(|_| depth < DEEPEST);
            return match alias {
                Some(alias) => {
                    let rest = path.get(after..).unwrap_or_default();
                    self.file(&[alias.as_slice(), rest].concat(), depth + 1)
                }
                None => Some(file),
            };
        }
        Some(file)
    }
}

struct Reading {
    module: Module,
    /// How many modules within the file are open.
    inside: usize,
    named: Named,
}

impl Reading {
    /// Returns a path from the crate's root; `None` if it leads to another crate.
    fn absolute(&self, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let mut module = self.module.clone();
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest.to_vec()].concat()),
            "super" => {
                let up = path.iter().take_while(|name| *name == "super").count();
                // Modules within the file are not in `module`.
                module.truncate(module.len().checked_sub(up.saturating_sub(self.inside))?);
                Some([module, path.get(up..)?.to_vec()].concat())
            }
            // A child, a name from elsewhere, a name of this file, or another crate.
            _ => Some([module, path.to_vec()].concat()),
        }
    }

    /// Whether a path names something in the file's own module.
    fn is_own(&self, path: &[String]) -> bool {
        path.strip_prefix(self.module.as_slice()).is_some_and(|rest| rest.len() < 2)
    }

    fn import(&mut self, tree: &UseTree, prefix: &mut Vec<String>, handed_on: bool) {
        let (name, path) = match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.import(&path.tree, prefix, handed_on);
                prefix.pop();
                return;
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, prefix, handed_on);
                }
                return;
            }
            UseTree::Glob(_) => (None, prefix.clone()),
            UseTree::Name(name) if name.ident == "self" => (prefix.last().cloned(), prefix.clone()),
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                (Some(name.clone()), [prefix.as_slice(), &[name]].concat())
            }
            UseTree::Rename(rename) => {
                let path = [prefix.as_slice(), &[rename.ident.to_string()]].concat();
                (Some(rename.rename.to_string()), path)
            }
        };
        let Some(path) = self.absolute(&path) else { return };
        match name {
            // `self::child` has the name of the child itself.
            Some(name) if self.inside == 0 && !self.is_own(&path) => {
                if handed_on {
                    self.named.handed_on.insert(name.clone());
                }
                self.named.aliases.insert(name, path);
            }
            _ => self.named.paths.push(path),
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let meta = attribute.meta.require_list().ok();
        meta.is_some_and(|list| list.path.is_ident("cfg") && list.tokens.to_string() == "test")
    })
}

impl<'a> Visit<'a> for Reading {
    fn visit_item(&mut self, item: &'a Item) {
        match item {
            Item::Mod(module) if is_test(&module.attrs) => {}
            Item::Fn(function) if is_test(&function.attrs) => {}
            Item::Impl(block) if is_test(&block.attrs) => {}
            Item::Use(import) if is_test(&import.attrs) => {}
            Item::Use(import) => {
                let handed_on = !matches!(import.vis, Visibility::Inherited);
                self.import(&import.tree, &mut Vec::new(), handed_on);
            }
            Item::Mod(module) => {
                let inside = usize::from(module.content.is_some());
                self.inside += inside;
                visit::visit_item_mod(self, module);
                self.inside -= inside;
            }
            other => visit::visit_item(self, other),
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.named.paths.extend(self.absolute(&names));
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'a Visibility) {}

    fn visit_attribute(&mut self, _: &'a Attribute) {}

    fn visit_macro(&mut self, call: &'a Macro) {
        visit::visit_path(self, &call.path);
        let text = call.tokens.to_string().replace(" :: ", "::");
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':') {
            let path: Vec<String> = word.split("::").map(str::to_owned).collect();
            if path.len() > 1 {
                self.named.paths.extend(self.absolute(&path));
            }
        }
    }
}
