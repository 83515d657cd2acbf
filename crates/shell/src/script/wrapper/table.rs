//! `wrappers.txt`: the programs that run the command line in their arguments.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::super::command::{Position, Word};
use super::super::status::Status;
use super::inner::{Inner, split};
use super::options::{past_options, past_options_to};

/// A program that runs the command line in its arguments.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) program: &'static str,
    /// The sub-command words that must precede the options, in order.
    pub(super) sub: Vec<&'static str>,
    /// Options that take the next word, between the words of the sub-command.
    global: Vec<&'static str>,
    /// Options that take the next word, after the sub-command.
    pub(super) valued: Vec<&'static str>,
    /// The number of words to skip after the options.
    pub(super) skip: usize,
    /// Whether assignments such as `A=1` may precede the command.
    pub(super) assigns: bool,
    position: Position,
    /// Whether options may precede the sub-command.
    early: bool,
    /// Whether `-m NAME` runs a module of Python.
    module: bool,
    /// Whether a version may follow the program: `jest@29`.
    version: bool,
}

struct Table {
    rules: Vec<Rule>,
    lists: BTreeMap<&'static str, Vec<&'static str>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { rules: Vec::new(), lists: BTreeMap::new() };
    for line in lines() {
        match line.strip_prefix('$').and_then(|line| line.split_once(": ")) {
            Some((name, options)) => {
                let options = table.options(options);
                table.lists.insert(name, options);
            }
            None => table.add(line),
        }
    }
    table
});

fn lines() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("wrappers.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Table {
    fn options(&self, text: &'static str) -> Vec<&'static str> {
        let words = text.split_whitespace();
        let options = words.map(|word| match word.strip_prefix('$') {
            Some(name) => self.lists.get(name).cloned().unwrap_or_default(),
            None => vec![word],
        });
        options.flatten().collect()
    }

    /// Adds the rules of a row, one for each combination of its alternatives.
    fn add(&mut self, row: &'static str) {
        let mut columns = row.split(';');
        let head = columns.next().unwrap_or_default();
        let valued = self.options(columns.next().unwrap_or_default());
        let (marks, words): (Vec<_>, Vec<_>) =
            head.split_whitespace().partition(|word| word.starts_with('@'));
        let has = |mark: &str| marks.contains(&mark);
        let position = if has("@remote") { Position::Remote } else { Position::Wrapper };
        let mut all: Vec<Vec<&str>> = vec![Vec::new()];
        for word in words {
            let longer = |begun: Vec<&'static str>| {
                word.split('|').map(move |one| [begun.as_slice(), &[one]].concat())
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        for words in all {
            let Some((program, sub)) = words.split_first() else { continue };
            self.rules.push(Rule {
                program,
                sub: sub.to_vec(),
                global: self.lists.get(&*format!("{program}-global")).cloned().unwrap_or_default(),
                valued: valued.clone(),
                skip: usize::from(has("@skip")),
                assigns: has("@assigns"),
                position,
                early: has("@early"),
                module: has("@module"),
                version: has("@version"),
            });
        }
    }
}

/// The rules of a program, in the order of the table.
pub(super) fn rules(program: &str) -> impl Iterator<Item = &'static Rule> {
    TABLE.rules.iter().filter(move |rule| rule.program == program)
}

/// A list of options that take the next word.
pub(super) fn list(name: &str) -> &'static [&'static str] {
    TABLE.lists.get(name).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn by_table(program: &str, args: &[Word]) -> Option<Inner> {
    let (rule, rest) = rules(program).find_map(|rule| Some((rule, after_sub(rule, args)?)))?;
    let mut rest = if rule.module {
        past_options_to(rest, &rule.valued, rule.skip, rule.assigns, "-m")
    } else {
        past_options(rest, &rule.valued, rule.skip, rule.assigns)
    };
    let mut words = Vec::with_capacity(rest.len());
    // `uv run -m pytest` and `pdm run -m …` name a module.
    if let [flag, module, tail @ ..] = rest
        && rule.module
        && flag.text == "-m"
    {
        words.extend([Word::fixed("python"), flag.clone(), module.clone()]);
        rest = tail;
    }
    words.extend_from_slice(rest);
    let first = words.first_mut()?;
    if rule.version
        && let Some(at) = first.text.rfind('@').filter(|at| *at > 0)
    {
        first.text.truncate(at);
    }
    Some(Inner { position: rule.position, ..split(words, Status::Decides) })
}

/// The words after the sub-command, if it is the one in the rule.
pub(super) fn after_sub<'a>(rule: &Rule, args: &'a [Word]) -> Option<&'a [Word]> {
    let mut rest = args;
    for (i, sub) in rule.sub.iter().enumerate() {
        if i > 0 || rule.early {
            rest = past_options(rest, &rule.global, 0, false);
        }
        let (first, tail) = rest.split_first()?;
        if first.text != *sub {
            // `nix develop .#x -c cmd`: an option as the last word of a sub-command may come later.
            let at = rest.iter().position(|word| word.text == *sub && sub.starts_with('-'))?;
            rest = rest.get(at + 1..)?;
            continue;
        }
        rest = tail;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::super::Body;
    use super::*;

    /// The case of each row runs `make`, by that row.
    #[test]
    fn each_row_has_a_case() {
        let rows = lines().filter(|line| !line.starts_with('$'));
        for row in rows {
            let [head, _, case] = row.split(';').collect::<Vec<_>>().try_into().unwrap();
            let mut words = case.split_whitespace().map(Word::fixed);
            let program = words.next().unwrap().text;
            let args: Vec<Word> = words.collect();
            let inner = by_table(&program, &args).unwrap();
            let Body::Words(runs) = inner.script else { panic!("{row}") };
            let runs: Vec<&str> = runs.iter().map(|word| word.text.as_str()).collect();
            assert_eq!(runs, ["make"], "{row}");
            assert_eq!(inner.position == Position::Remote, head.contains("@remote"), "{row}");
            let taken = rules(&program).find(|rule| after_sub(rule, &args).is_some()).unwrap();
            let mut own = Table { rules: Vec::new(), lists: TABLE.lists.clone() };
            own.add(row);
            let same = |rule: &Rule| rule.program == taken.program && rule.sub == taken.sub;
            assert!(own.rules.iter().any(same), "{row}: another row is taken");
        }
    }

    #[test]
    fn marks_and_lists_are_known() {
        for line in lines() {
            for word in line.split_whitespace() {
                let known = match word.strip_prefix('$') {
                    Some(name) => TABLE.lists.contains_key(name.trim_end_matches(':')),
                    None => {
                        !word.starts_with('@')
                            || "@skip @assigns @remote @early @module @version".contains(word)
                    }
                };
                assert!(known, "{line}: `{word}`");
            }
        }
    }
}
