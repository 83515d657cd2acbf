//! The values of variables, as far as the script sets them.

use std::collections::BTreeSet;

use counterfoil_shell::{Assignment, Command, Script, Word, WordKind};

/// The maximum number of values that are checked one by one.
const MOST: usize = 64;
/// The maximum depth of variables that refer to others.
const DEEPEST: usize = 4;

/// The position of a word.
#[derive(Clone)]
pub struct Site<'s> {
    /// The script.
    pub script: &'s Script,
    /// The source text of the script.
    pub text: &'s str,
    /// The index of its command.
    pub at: usize,
    /// The absolute directory in which it runs, if known.
    pub working: Option<String>,
}

/// The words that a word with variables may expand to; `None` if the script does not determine
/// them.
///
/// A variable may have every value that the script assigns to it; with `unset`, also the empty
/// value if it may be unassigned.
#[must_use]
pub fn values_of(word: &Word, site: &Site<'_>, unset: bool) -> Option<Vec<Word>> {
    // Escapes are not resolved here, and other separators split words differently.
    if !word.text.contains('$') || word.text.contains('\\') || site.text.contains("IFS") {
        return None;
    }
    let search = Search { site, unset };
    let texts = search.expanded(&word.text, site.at, site.working.as_deref(), 0)?;
    let kind = |text: &str| match text.contains(['*', '?', '[', '{']) {
        true => WordKind::Pattern,
        false => WordKind::Literal,
    };
    Some(texts.into_iter().map(|text| Word { kind: kind(&text), text }).collect())
}

struct Search<'s> {
    site: &'s Site<'s>,
    unset: bool,
}

impl Search<'_> {
    fn expanded(
        &self,
        text: &str,
        at: usize,
        working: Option<&str>,
        depth: usize,
    ) -> Option<BTreeSet<String>> {
        let mut texts = BTreeSet::from([String::new()]);
        let mut rest = text;
        while let Some((before, after_sign)) = rest.split_once('$') {
            let (name, after) = name_in(after_sign)?;
            let values = self.values(name, at, working, depth)?;
            let longer = |text: &String| {
                let text = format!("{text}{before}");
                values.iter().map(|value| format!("{text}{value}")).collect::<Vec<_>>()
            };
            texts = texts.iter().flat_map(longer).collect();
            if texts.len() > MOST {
                return None;
            }
            rest = after;
        }
        if rest.contains('`') {
            return None;
        }
        Some(texts.into_iter().map(|text| text + rest).collect())
    }

    fn values(
        &self,
        name: &str,
        at: usize,
        working: Option<&str>,
        depth: usize,
    ) -> Option<BTreeSet<String>> {
        let commands = self.site.script.commands();
        let in_words = ["{!".to_owned(), format!("{{{name}:="), format!("{{{name}=")];
        let hidden = in_words.iter().any(|assigns| self.site.text.contains(assigns));
        if depth > DEEPEST || hidden || commands.iter().any(|c| may_assign(c, name)) {
            return None;
        }
        let mut found = BTreeSet::new();
        let mut certain = false;
        for (index, command) in commands.iter().enumerate() {
            let named = |a: &&Assignment| a.name.split('[').next() == Some(name);
            for assignment in command.assignments.iter().filter(named) {
                let value = &assignment.value;
                found.extend(match value.kind {
                    _ if assignment.append || assignment.name.contains('[') => return None,
                    WordKind::Literal => BTreeSet::from([value.text.clone()]),
                    WordKind::Dynamic if index <= at && !value.text.contains('\\') => {
                        let from = command.directory.as_deref().and(working);
                        self.expanded(&value.text, index, from, depth + 1)?
                    }
                    _ => return None,
                });
                certain |= index < at && command.always && command.name.is_none();
            }
        }
        match working {
            Some(working) if found.is_empty() && name == "PWD" => {
                return Some(BTreeSet::from([working.to_owned()]));
            }
            _ if found.is_empty() => return None,
            _ => {}
        }
        if self.unset && !certain {
            found.insert(String::new());
        }
        let plain = |value: &String| !value.contains(char::is_whitespace) && value.len() < 4096;
        (found.len() <= MOST && found.iter().all(plain)).then_some(found)
    }
}

/// The name after a `$`, and the text after it. Accepts plain names only.
fn name_in(text: &str) -> Option<(&str, &str)> {
    if let Some(inside) = text.strip_prefix('{') {
        let (name, after) = inside.split_once('}')?;
        return is_name(name).then_some((name, after));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, after) = text.split_at_checked(end)?;
    is_name(name).then_some((name, after))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Built-ins that assign variables whose names are among the arguments.
const BY_NAME: [&str; 8] =
    ["declare", "export", "local", "readonly", "typeset", "unset", "read", "getopts"];
/// Built-ins that may assign any variable.
const ANY: [&str; 5] = ["source", ".", "eval", "mapfile", "readarray"];

/// Whether a command may assign the variable a value that the script does not contain.
fn may_assign(command: &Command, name: &str) -> bool {
    let Some(program) = command.program() else { return false };
    if ANY.contains(&program) || matches!(program, "let" | "coproc" | "wait") {
        return true;
    }
    let named = |word: &Word| {
        let begins = word.text.split(['=', '+', '[']).next();
        begins == Some(name) || word.text.starts_with('$') || word.text.starts_with('`')
    };
    let prints = program == "printf"
        && command.args.first().is_some_and(|w| w.literal().is_none() || w.text.starts_with("-v"));
    let refers = command.args.iter().any(|word| word.text == "-n") && program != "read";
    prints || BY_NAME.contains(&program) && (refers || command.args.iter().any(named))
}
