//! The tables of programs and what they do: TOML files in `tables/`, compiled in and read once.
//!
//! A row is a pattern of a command line (see [`super::pattern`] for its syntax) with its cases: the
//! first must need approval, the others must not.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::blocklist::wildcards::like_any;

/// Every file of the tables.
const FILES: [(&str, &str); 10] = [
    ("agents", include_str!("tables/agents.toml")),
    ("backups", include_str!("tables/backups.toml")),
    ("clouds", include_str!("tables/clouds.toml")),
    ("code", include_str!("tables/code.toml")),
    ("containers", include_str!("tables/containers.toml")),
    ("databases", include_str!("tables/databases.toml")),
    ("machine", include_str!("tables/machine.toml")),
    ("powershell", include_str!("tables/powershell.toml")),
    ("secrets", include_str!("tables/secrets.toml")),
    ("sources", include_str!("tables/sources.toml")),
];

/// Patterns with their cases.
pub(super) type Rows = BTreeMap<String, Vec<String>>;

/// One file, or all of them merged.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Tables {
    /// Commands that cannot be undone.
    pub(super) lost: Rows,
    /// What starts another agent, or has the next one started with other settings.
    pub(super) agents: Rows,
    /// What changes the attributes of a file outside the workspace.
    pub(super) attributes: Rows,
    /// Commands that print a secret.
    pub(super) shown: Rows,
    /// What puts whole folders into one file, or into a pipe.
    pub(super) gathers: Rows,
    /// What sends a secret out.
    pub(super) sent: Rows,
    /// Commands that run the command at `{}`.
    pub(super) runs: Rows,
    /// The same, and what of it cannot be read is left alone.
    pub(super) perhaps: Rows,
    /// The same on another machine, or in a container.
    pub(super) elsewhere: Rows,
    /// Launchers of tools and tasks: what is at `{}` is the name of a tool or task.
    pub(super) launches: Rows,
    /// Commands that fetch from the network.
    pub(super) fetches: Rows,
    /// Commands that fetch something and run it.
    pub(super) unseen: Rows,
    /// Commands that name their output file after the address.
    pub(super) saves: Rows,
    /// Phrases in code, whose parts occur in this order.
    pub(super) phrases: Rows,
    /// The options of a program that take the next word.
    pub(super) valued: BTreeMap<String, String>,
    /// The options of a program whose value it needs for itself and does not send.
    pub(super) own: BTreeMap<String, String>,
    /// Interpreters and clients, and how their code does what the other tables list.
    pub(super) languages: BTreeMap<String, Language>,
    /// Lists of words shared by rows and languages.
    pub(super) words: BTreeMap<String, Vec<String>>,
}

/// An interpreter, or a client that takes code.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Language {
    /// Its programs, as in a pattern.
    pub(super) programs: String,
    /// Options with code as their value.
    pub(super) code: String,
    /// Options after which standard input is not read.
    pub(super) no_input: String,
    /// Which operands are code: all, or only the first if the others are files.
    pub(super) operands: Operands,
    /// Its code is read as a script of commands.
    pub(super) reads: Option<Reads>,
    /// Calls that run a command.
    pub(super) runs: Vec<String>,
    /// Words of which one must occur in code that runs commands; empty if none is required.
    pub(super) runs_with: Vec<String>,
    /// Whether the computed arguments of a call come from the input, like the words of `xargs`.
    pub(super) runs_computed: bool,
    /// What runs the rest of its line as a command.
    pub(super) runs_line: Vec<String>,
    /// What runs the literal before it as a command.
    pub(super) runs_before: Vec<String>,
    /// Whether backquotes run a command.
    pub(super) backquotes: bool,
    /// Calls that delete folders.
    pub(super) deletes: Vec<String>,
    /// Calls that delete files.
    pub(super) removes: Vec<String>,
    /// Whether text in single quotation marks is a value.
    pub(super) quotes_values: bool,
    /// Phrases that destroy data, in lower case.
    pub(super) destroys: Vec<String>,
    /// For statements that begin with the key: words of which one must occur, or the statement
    /// destroys everything.
    pub(super) narrowed: BTreeMap<String, String>,
}

/// The language of code that is read as a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reads {
    Powershell,
}

/// Which operands are code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operands {
    #[default]
    None,
    First,
    All,
}

impl Tables {
    /// The tables compiled into this program.
    pub(super) fn own() -> &'static Self {
        static OWN: LazyLock<Tables> = LazyLock::new(Tables::read);
        &OWN
    }

    #[expect(clippy::expect_used, reason = "the files are compiled in, and a test reads them")]
    fn read() -> Self {
        let mut all = Self::default();
        for (name, text) in FILES {
            all.add(toml::from_str(text).expect(name));
        }
        all
    }

    fn add(&mut self, file: Self) {
        self.lost.extend(file.lost);
        self.agents.extend(file.agents);
        self.attributes.extend(file.attributes);
        self.shown.extend(file.shown);
        self.gathers.extend(file.gathers);
        self.sent.extend(file.sent);
        self.runs.extend(file.runs);
        self.perhaps.extend(file.perhaps);
        self.elsewhere.extend(file.elsewhere);
        self.launches.extend(file.launches);
        self.fetches.extend(file.fetches);
        self.unseen.extend(file.unseen);
        self.saves.extend(file.saves);
        self.phrases.extend(file.phrases);
        self.valued.extend(file.valued);
        self.own.extend(file.own);
        self.languages.extend(file.languages);
        self.words.extend(file.words);
    }

    /// A shared list.
    pub(super) fn words(&self, name: &str) -> &[String] {
        self.words.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The language whose code a program takes.
    pub(super) fn language(&self, program: &str) -> Option<&Language> {
        self.languages.values().find(|language| like_any(&language.programs, program))
    }

    /// The options of a program in one of the tables of options, if listed.
    pub(super) fn options<'t>(
        table: &'t BTreeMap<String, String>,
        program: &str,
    ) -> Option<&'t str> {
        let mut rows = table.iter();
        rows.find(|(programs, _)| like_any(programs, program)).map(|(_, options)| options.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::blocklist::{
        Blocklist, BlocklistOptions, RefusalKind, Substitution, Unread, judge_command,
    };

    fn of_hooks() -> Blocklist {
        let options = BlocklistOptions {
            substitution: Substitution::Analyse,
            allow_network: true,
            unread: Unread::Ask,
            asks_irreversible: true,
            ..BlocklistOptions::default()
        };
        options.resolve().unwrap().at(Path::new("/home/dev/project"), Some("/home/dev"), None)
    }

    #[test]
    fn every_row_has_a_case_that_needs_approval_and_others_that_pass() {
        let list = of_hooks();
        let tables = Tables::own();
        let rows = [
            &tables.lost,
            &tables.agents,
            &tables.shown,
            &tables.gathers,
            &tables.sent,
            &tables.runs,
            &tables.perhaps,
            &tables.elsewhere,
            &tables.launches,
            &tables.fetches,
            &tables.unseen,
            &tables.saves,
            &tables.phrases,
        ];
        let mut wrong = Vec::new();
        for (pattern, cases) in rows.into_iter().flatten() {
            for (number, case) in cases.iter().enumerate() {
                let refusal = judge_command(case, &list);
                if refusal.is_some() != (number == 0) {
                    wrong.push(format!("{pattern}: {case}: {refusal:?}"));
                }
            }
            if cases.is_empty() {
                wrong.push(format!("{pattern}: no case"));
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }

    /// What a person may decide is never denied outright.
    #[test]
    fn rows_ask_and_do_not_deny() {
        let list = of_hooks();
        let tables = Tables::own();
        let first = |rows: &'static Rows| rows.values().filter_map(|cases| cases.first().cloned());
        let cases: Vec<String> =
            [&tables.lost, &tables.shown].into_iter().flat_map(first).collect();
        let denied: Vec<_> = cases
            .iter()
            .filter(|case| {
                judge_command(case, &list).is_some_and(|refusal| refusal.kind == RefusalKind::Floor)
            })
            .collect();
        assert!(denied.is_empty(), "{denied:#?}");
    }
}
