use std::collections::HashMap;

use counterfoil_model::{Catalog, Effects, Tool};
use strsim::normalized_damerau_levenshtein;

use crate::needle::words;

/// Minimum similarity for a "did you mean" suggestion.
const SIMILAR: f64 = 0.7;

/// Names that models use for the same kind of tool.
const ALIASES: [&[&str]; 3] = [
    &["terminal", "shell", "bash", "run_command", "execute_command", "run_shell_command"],
    &["read_file", "open_file", "view_file", "cat"],
    &["web_search", "search_web", "google_web_search"],
];

/// The names of a catalog, for resolving misspelt calls.
#[derive(Debug, Default)]
pub(crate) struct Names {
    available: Vec<Name>,
    by_folded: HashMap<String, Vec<Writing>>,
}

/// The name of an available tool, split into words.
#[derive(Debug)]
struct Name {
    name: String,
    words: Vec<String>,
}

/// One of several tools whose names differ only in spelling.
#[derive(Debug)]
struct Writing {
    name: String,
    available: bool,
    effects: Effects,
}

impl Names {
    /// The names of a catalog.
    pub(crate) fn from_catalog(catalog: &Catalog) -> Self {
        let mut names = Self::default();
        for Tool { name, available, effects, .. } in catalog.iter() {
            let (name, available, effects) = (name.clone(), *available, *effects);
            if available {
                let words = words(&name).collect();
                names.available.push(Name { name: name.clone(), words });
            }
            let place = names.by_folded.entry(folded(&name)).or_default();
            place.push(Writing { name, available, effects });
        }
        names
    }

    /// The available tool whose name differs only in spelling: case, separators, a wrapper, a
    /// trailing `_tool`. `None` if there is none or more than one, or if a disabled tool with other
    /// effects could be meant.
    pub(crate) fn resolve(&self, emitted: &str) -> Option<&str> {
        let name = folded(bare(emitted));
        let short = name.strip_suffix("_tool").filter(|short| !short.is_empty());
        let mut found: Vec<&Writing> = Vec::new();
        for candidate in [Some(name.as_str()), short].into_iter().flatten() {
            found.extend(self.by_folded.get(candidate).into_iter().flatten());
        }
        let mut available = found.iter().filter(|writing| writing.available);
        let only = available.next().filter(|_| available.next().is_none())?;
        let one_class = found.iter().all(|writing| writing.effects == only.effects);
        one_class.then_some(only.name.as_str())
    }

    /// Up to ten offered names, and how many of them (at most three) the emitted name may have
    /// meant. These come first, the most similar first; the others are sorted by name.
    pub(crate) fn ranked(
        &self,
        emitted: &str,
        offers: &dyn Fn(&str) -> bool,
    ) -> (Vec<&str>, usize) {
        let parts: Vec<String> = words(leading_name(emitted)).collect();
        let mut scored: Vec<(f64, &str)> = self
            .available
            .iter()
            .filter(|known| offers(&known.name))
            .map(|known| (similarity(&parts, &known.words), known.name.as_str()))
            .collect();
        // Equal scores keep the order of the names.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let similar = scored.iter().take(3).take_while(|(score, _)| *score >= SIMILAR).count();
        let mut ranked: Vec<&str> = scored.into_iter().take(10).map(|(_, name)| name).collect();
        if let Some((_, others)) = ranked.split_at_mut_checked(similar) {
            others.sort_unstable();
        }
        (ranked, similar)
    }

    /// The number of tools that are offered.
    pub(crate) fn count(&self, offers: &dyn Fn(&str) -> bool) -> usize {
        self.available.iter().filter(|known| offers(&known.name)).count()
    }
}

/// A name without what models put around it.
fn bare(emitted: &str) -> &str {
    let bare = emitted.trim();
    let mut wrappers = ["functions.", "tool:"].into_iter();
    wrappers.find_map(|wrapper| bare.strip_prefix(wrapper)).unwrap_or(bare)
}

/// The names of tools that a call may mean which differ from its own only in writing, as far as they
/// are usual: case, separators, a wrapper, a trailing `_tool`.
pub fn writings(emitted: &str) -> impl Iterator<Item = String> {
    let whole: Vec<String> = words(bare(emitted)).collect();
    let short = whole.split_last().filter(|(last, rest)| *last == "tool" && !rest.is_empty());
    let short = short.map(|(_, rest)| rest.to_vec());
    std::iter::once(whole).chain(short).flat_map(|words| {
        let capital = |word: &String| {
            let mut chars = word.chars();
            chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect::<String>()
        };
        let pascal: String = words.iter().map(capital).collect();
        let first = words.first().cloned().unwrap_or_default();
        let camel = first + &words.iter().skip(1).map(capital).collect::<String>();
        let mut all = vec![pascal, camel];
        for separator in ["_", "-", ".", "/", ":", " ", ""] {
            let joined = words.join(separator);
            all.push(joined.to_uppercase());
            all.push(joined);
        }
        all
    })
}

/// The name among these that is most like `written`, if one is like it.
pub fn similar_name<'n>(written: &str, names: &[&'n str]) -> Option<&'n str> {
    let parts: Vec<String> = words(written).collect();
    let scored = names.iter().map(|name| {
        let known: Vec<String> = words(name).collect();
        (similarity(&parts, &known), *name)
    });
    let similar = scored.filter(|(score, _)| *score >= SIMILAR);
    similar.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

/// One writing for all: snake case, lower case.
fn folded(name: &str) -> String {
    words(name).collect::<Vec<_>>().join("_")
}

/// The name without call syntax that a model appended to it.
fn leading_name(emitted: &str) -> &str {
    let emitted = emitted.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '`');
    let end = emitted.find(['"', '<', '(', '{', ' ', '\n']).filter(|end| *end > 0);
    emitted.get(..end.unwrap_or(emitted.len())).unwrap_or(emitted)
}

/// The similarity of two names, from 0 to 1.
///
/// A shared prefix (`mcp_github_…`, `kanban_…`) shows where a tool comes from, not what it does, so
/// only the rest is compared.
fn similarity(emitted: &[String], name: &[String]) -> f64 {
    if emitted.is_empty() || name.is_empty() {
        return 0.0;
    }
    if emitted == name {
        return 1.0;
    }
    let (written, known) = (emitted.join("_"), name.join("_"));
    if emitted.ends_with(name) || name.ends_with(emitted) || is_doubled(&written, &known) {
        return 0.9;
    }
    let is_alias =
        |group: &&[&str]| group.contains(&written.as_str()) && group.contains(&known.as_str());
    if ALIASES.iter().any(is_alias) {
        return 0.8;
    }
    let shared = emitted.iter().zip(name).take_while(|(a, b)| a == b).count();
    let rest = |parts: &[String]| parts.get(shared..).unwrap_or_default().join("_");
    let (left, right) = (rest(emitted), rest(name));
    if left.is_empty() || right.is_empty() {
        // One is a prefix of the other: similar, but it is unclear which sibling was meant.
        return 0.6;
    }
    // Names of very different length cannot be similar; this skips most of a large catalog.
    if left.len() > 2 * right.len() || right.len() > 2 * left.len() {
        return 0.0;
    }
    normalized_damerau_levenshtein(&left, &right)
}

fn is_doubled(written: &str, known: &str) -> bool {
    written.len() == 2 * known.len()
        && written.strip_prefix(known).is_some_and(|second| second == known)
        || written.replace('_', "") == known.replace('_', "").repeat(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Names {
        Names::from_catalog(&Catalog::known(list.iter().map(|name| Tool::named(*name))).0)
    }

    #[test]
    fn resolves_only_what_is_lossless_and_unique() {
        let few = names(&["read_file", "patch", "web_search", "ReadFile2"]);
        for (emitted, expected) in [
            ("read-file", Some("read_file")),
            ("ReadFile", Some("read_file")),
            ("READ_FILE", Some("read_file")),
            ("read.file", Some("read_file")),
            ("read file", Some("read_file")),
            ("functions.read_file", Some("read_file")),
            ("tool:web-search", Some("web_search")),
            ("PatchTool", Some("patch")),
            ("ReadFile_tool", Some("read_file")),
            ("_tool", None),
            ("", None),
            ("read_fil", None),
            ("file_read", None),
        ] {
            assert_eq!(few.resolve(emitted), expected, "{emitted}");
        }
        for (emitted, name) in [
            ("read-file", "read_file"),
            ("functions.READ_FILE", "readFile"),
            ("readFileTool", "Read-File".to_lowercase().as_str()),
            ("read file", "READ_FILE"),
        ] {
            assert!(writings(emitted).any(|writing| writing == name), "{emitted}");
        }
        let clash = names(&["read_file", "read-file", "patch", "patch_tool"]);
        assert_eq!(clash.resolve("ReadFile"), None);
        assert_eq!(clash.resolve("PatchTool"), None);
    }

    #[test]
    fn suggests_by_what_tells_siblings_apart() {
        let tools = names(&[
            "kanban_link",
            "kanban_show",
            "mcp_knowledge_kb_get",
            "mcp_knowledge_kb_search",
            "terminal",
            "skill_view",
        ]);
        for (emitted, expected) in [
            ("kanban_list", &[] as &[&str]),
            ("mcp_knowledge_kb_serach", &["mcp_knowledge_kb_search"]),
            ("mcp_mcp_knowledge_kb_get", &["mcp_knowledge_kb_get"]),
            ("kb_search", &["mcp_knowledge_kb_search"]),
            ("terminall", &["terminal"]),
            ("\"terminal\"", &["terminal"]),
            ("terminal<|channel|>json", &["terminal"]),
            ("shell", &["terminal"]),
            ("skill_viewskill_view", &["skill_view"]),
            ("abcdefabcdef", &[]),
        ] {
            let (ranked, similar) = tools.ranked(emitted, &|_| true);
            let (meant, others) = ranked.split_at(similar);
            assert_eq!(meant, expected, "{emitted}");
            assert!(others.is_sorted(), "{emitted}: {others:?}");
        }
    }
}
