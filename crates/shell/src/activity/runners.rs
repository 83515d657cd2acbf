//! `runners.txt`: what programs do, by their first words.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::call::{Call, Found, Options};
use super::kind::{ActivityKind, Git, Scope};

/// Rows of some programs.
struct Section {
    /// The options that take the next word, if options may precede the sub-command.
    global: Option<Vec<&'static str>>,
    rows: Vec<Row>,
}

struct Row {
    #[cfg(test)]
    line: &'static str,
    /// The alternatives of each word; empty for any arguments.
    words: Vec<Vec<&'static str>>,
    tests: Vec<Test>,
    then: Then,
}

/// A condition on the other arguments.
enum Test {
    After(Vec<&'static str>),
    Anywhere(Vec<&'static str>),
    Nowhere(Vec<&'static str>),
    Within(usize, Vec<&'static str>),
    Contains(&'static str),
}

enum Then {
    Does {
        kinds: Vec<ActivityKind>,
        options: Option<&'static str>,
        runner: &'static str,
    },
    /// The words after are arguments of this program.
    Becomes(&'static str),
}

#[derive(Default)]
struct Table {
    sections: Vec<Section>,
    /// The sections of each program, in order.
    programs: BTreeMap<&'static str, Vec<usize>>,
    options: BTreeMap<&'static str, Options>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    for line in lines() {
        match (line.strip_prefix('$'), line.strip_prefix('[')) {
            (Some(list), _) => table.add_list(list),
            (_, Some(head)) if line.ends_with(']') => table.add_section(head),
            _ => {
                if let (Some(row), Some(section)) = (row(line), table.sections.last_mut()) {
                    section.rows.push(row);
                }
            }
        }
    }
    table
});

/// The options of a program that take the next word and may precede its sub-command.
pub(super) fn global(program: &str) -> &'static [&'static str] {
    let sections = TABLE.programs.get(program).into_iter().flatten();
    let global = sections.filter_map(|at| TABLE.sections.get(*at)?.global.as_deref()).next();
    global.unwrap_or_default()
}

fn lines() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("runners.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Table {
    /// `NAME: OPTIONS`, `NAME flags: OPTIONS`, or `NAME: $OTHER` for a copy.
    fn add_list(&mut self, list: &'static str) {
        let (head, words) = list.split_once(':').unwrap_or((list, ""));
        let (name, kind) = head.split_once(' ').unwrap_or((head, ""));
        let words: Vec<&str> = words.split_whitespace().collect();
        let copied = words.first().and_then(|word| self.options.get(word.strip_prefix('$')?));
        if let Some(copied) = copied {
            self.options.insert(name, copied.clone());
            return;
        }
        let options = self.options.entry(name).or_default();
        match kind {
            "" => options.narrowing = words,
            "flags" => options.flags = words,
            "value" => options.valued = words,
            "all" => options.all = words,
            "dashes" => options.long_dashes = true,
            "folder" => options.folder = true,
            _ => {}
        }
    }

    fn add_section(&mut self, head: &'static str) {
        let (programs, global) = match head.trim_end_matches(']').split_once('|') {
            Some((programs, global)) => (programs, Some(global.split_whitespace().collect())),
            None => (head.strip_suffix(']').unwrap_or(head), None),
        };
        for program in programs.split_whitespace() {
            self.programs.entry(program).or_default().push(self.sections.len());
        }
        self.sections.push(Section { global, rows: Vec::new() });
    }
}

/// Reads a row: `WORDS TESTS = KINDS @OPTIONS ; RUNNER ; CASE ; SCOPE`, or
/// `WORDS TESTS > PROGRAM ; CASE`.
fn row(line: &'static str) -> Option<Row> {
    let mut columns = line.split(';').map(str::trim);
    let first = columns.next()?;
    let (head, then) = if let Some((head, program)) = first.split_once(" > ") {
        (head, Then::Becomes(program))
    } else {
        let (head, does) = first.split_once(" = ")?;
        let (options, kinds): (Vec<_>, Vec<_>) =
            does.split_whitespace().partition(|word| word.starts_with('@'));
        let kinds = kinds.into_iter().filter_map(kind).collect();
        let options = options.first().and_then(|name| name.strip_prefix('@'));
        (head, Then::Does { kinds, options, runner: columns.next()? })
    };
    let mut row = Row {
        #[cfg(test)]
        line,
        words: Vec::new(),
        tests: Vec::new(),
        then,
    };
    for word in head.split_whitespace().filter(|word| *word != "*") {
        match test(word) {
            Some(test) => row.tests.push(test),
            None => row.words.push(word.split('|').collect()),
        }
    }
    Some(row)
}

fn test(word: &'static str) -> Option<Test> {
    let rest = word.get(1..)?;
    let names = || rest.split('|').collect();
    match word.as_bytes().first()? {
        b'+' => Some(Test::After(names())),
        b'^' => Some(Test::Anywhere(names())),
        b'!' => Some(Test::Nowhere(names())),
        b'~' => Some(Test::Contains(rest)),
        b'<' => {
            let (count, names) = rest.split_once(':')?;
            Some(Test::Within(count.parse().ok()?, names.split('|').collect()))
        }
        _ => None,
    }
}

const KINDS: [(&str, ActivityKind); 28] = [
    ("Test", ActivityKind::Test),
    ("Build", ActivityKind::Build),
    ("Lint", ActivityKind::Lint),
    ("Format", ActivityKind::Format),
    ("Commit", ActivityKind::Commit),
    ("Push", ActivityKind::Push),
    ("Install", ActivityKind::Install),
    ("Run", ActivityKind::Run),
    ("Deploy", ActivityKind::Deploy),
    ("Publish", ActivityKind::Publish),
    ("Fetch", ActivityKind::Fetch),
    ("Read", ActivityKind::Read),
    ("Add", ActivityKind::VersionControl(Git::Add)),
    ("Merge", ActivityKind::VersionControl(Git::Merge)),
    ("Rebase", ActivityKind::VersionControl(Git::Rebase)),
    ("Tag", ActivityKind::VersionControl(Git::Tag)),
    ("BranchCreate", ActivityKind::VersionControl(Git::BranchCreate)),
    ("BranchChange", ActivityKind::VersionControl(Git::BranchChange)),
    ("Checkout", ActivityKind::VersionControl(Git::Checkout)),
    ("Stash", ActivityKind::VersionControl(Git::Stash)),
    ("Pull", ActivityKind::VersionControl(Git::Pull)),
    ("Reset", ActivityKind::VersionControl(Git::Reset)),
    ("Clean", ActivityKind::VersionControl(Git::Clean)),
    ("CherryPick", ActivityKind::VersionControl(Git::CherryPick)),
    ("Revert", ActivityKind::VersionControl(Git::Revert)),
    ("PullRequest", ActivityKind::VersionControl(Git::PullRequest)),
    ("Inspect", ActivityKind::VersionControl(Git::Inspect)),
    ("Other", ActivityKind::VersionControl(Git::Other)),
];

fn kind(name: &str) -> Option<ActivityKind> {
    KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// The arguments that narrow a run, by the name of the list.
pub(super) fn options(name: &str) -> &'static Options {
    static NONE: LazyLock<Options> = LazyLock::new(Options::default);
    TABLE.options.get(name).unwrap_or(&NONE)
}

/// What a call does, as far as its row tells.
pub(super) enum Does<'a> {
    These(Vec<Found>),
    /// The same as this call.
    As(Call<'a>),
}

pub(super) fn read<'a>(call: &Call<'a>) -> Option<Does<'a>> {
    let (row, rest) = row_of(call)?;
    Some(match &row.then {
        Then::Becomes(program) => Does::As(Call { program, args: rest.args }),
        Then::Does { kinds, options: list, runner } => {
            let scope = list.map_or(Scope::Whole, |list| rest.scope(options(list)));
            let own = TABLE.programs.get_key_value(call.program).map(|(program, _)| *program);
            let runner = if *runner == "-" { own.unwrap_or(runner) } else { runner };
            let found = |kind: &ActivityKind| Found { kind: *kind, runner, scope: scope.clone() };
            Does::These(kinds.iter().map(found).collect())
        }
    })
}

/// The row that a call takes, and the arguments after its words.
fn row_of<'a>(call: &Call<'a>) -> Option<(&'static Row, Call<'a>)> {
    let sections = TABLE.programs.get(call.program)?.iter();
    sections.filter_map(|at| TABLE.sections.get(*at)).find_map(|section| {
        let at = section.global.as_ref().map_or(0, |valued| call.sub(valued));
        section.rows.iter().find_map(|row| {
            let rest = row.after_words(call, at)?;
            row.tests.iter().all(|test| test.holds(call, &rest)).then_some((row, rest))
        })
    })
}

impl Row {
    /// The arguments after its words, if those are at this place; without words, all arguments.
    fn after_words<'a>(&self, call: &Call<'a>, at: usize) -> Option<Call<'a>> {
        let fits = |(place, words): (usize, &Vec<&str>)| {
            let word = call.arg(place);
            words.iter().any(|known| match *known {
                "_" => true,
                "." => word.is_empty(),
                known => known == word,
            })
        };
        let all = (at..).zip(&self.words).all(fits);
        let from = if self.words.is_empty() { 0 } else { at + self.words.len() };
        all.then(|| call.after(from))
    }
}

impl Test {
    fn holds(&self, call: &Call<'_>, rest: &Call<'_>) -> bool {
        match self {
            Self::After(names) => rest.has(names),
            Self::Anywhere(names) => call.has(names),
            Self::Nowhere(names) => !call.has(names),
            Self::Within(count, names) => call.texts().take(*count).any(|t| names.contains(&t)),
            Self::Contains(text) => rest.texts().any(|word| word.contains(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Activity, Script, activities};

    /// The case of each row takes that row, and does what the row says.
    #[test]
    fn each_row_has_a_case() {
        for row in TABLE.sections.iter().flat_map(|section| &section.rows) {
            // A row that hands its words on has no column for the runner.
            let column = if matches!(row.then, Then::Becomes(_)) { 1 } else { 2 };
            let case = row.line.split(';').nth(column).unwrap().trim();
            let script = Script::parse(case).unwrap();
            let command = &script.commands()[0];
            let call = Call { program: command.program().unwrap(), args: &command.args };
            let (taken, _) = row_of(&call).unwrap();
            assert_eq!(taken.line, row.line, "another row is taken");
            let Then::Does { kinds, runner, .. } = &row.then else { continue };
            let scope = match row.line.split(';').nth(3).map(str::trim) {
                Some(scope) => Scope::Subset(scope.to_owned()),
                None => Scope::Whole,
            };
            let runner = if *runner == "-" { call.program } else { runner };
            let expected: Vec<_> = kinds.iter().map(|kind| (*kind, runner, &scope)).collect();
            let found = activities(&script);
            let found: Vec<_> = found
                .iter()
                .map(|Activity { kind, runner, scope, .. }| (*kind, *runner, scope))
                .collect();
            assert_eq!(found, expected, "{}", row.line);
        }
    }

    #[test]
    fn every_line_is_read() {
        let rows: usize = TABLE.sections.iter().map(|section| section.rows.len()).sum();
        let heads = lines().filter(|line| line.starts_with(['[', '$'])).count();
        assert_eq!(rows + heads, lines().count());
        for line in lines().filter(|line| !line.starts_with(['[', '$'])) {
            let does =
                line.split(';').next().unwrap().split_once(" = ").map_or("", |(_, does)| does);
            for word in does.split_whitespace() {
                let known = match word.strip_prefix('@') {
                    Some(list) => TABLE.options.contains_key(list),
                    None => word == "none" || kind(word).is_some(),
                };
                assert!(known, "{line}: `{word}`");
            }
        }
    }
}
