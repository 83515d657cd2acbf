//! Effects of commands on files and data that their words do not name individually.

use super::command::{Command, Direction, Redirect, Target, Word};

impl Command {
    /// Whether it runs inline code that writes files, or edits files that are passed to it.
    pub(super) fn writes_by_code(&self) -> bool {
        const WRITING: [&str; 14] = [
            "write",
            "rename",
            "unlink",
            "remove",
            "copy",
            "replace",
            "save",
            "dump",
            "to_csv",
            "to_json",
            "to_excel",
            "to_parquet",
            "'w'",
            "\"w\"",
        ];
        let program = self.program().unwrap_or_default();
        let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let writes = |code: &Word| WRITING.iter().any(|word| code.text.contains(word));
        let flagged = || {
            self.args.windows(2).any(|pair| {
                let [flag, code] = pair else { return false };
                matches!(flag.text.as_str(), "-c" | "-e" | "-r" | "eval") && writes(code)
            })
        };
        let inline = |target: &Target| matches!(target, Target::Text(code) if writes(code));
        // `… | xargs sed -i s/a/b/`
        let in_place = || {
            let flags = ["-i", "-pi", "--in-place"];
            self.args.iter().any(|word| flags.iter().any(|flag| word.text.starts_with(flag)))
                && self.args.iter().filter(|word| !word.text.starts_with('-')).count() < 2
        };
        match name {
            "sed" | "gsed" => in_place(),
            "python" | "node" | "ruby" | "perl" | "php" | "deno" | "bun" => {
                flagged()
                    || self.redirects.iter().any(|redirect| inline(&redirect.target))
                    || (name == "perl" && in_place())
            }
            _ => false,
        }
    }

    /// `find . -delete`, `ls | xargs rm`: whether it changes files whenever its words name none.
    pub(super) fn changes_what_it_is_given(&self) -> bool {
        match self.program().unwrap_or_default() {
            "find" => self.args.iter().any(|word| word.text == "-delete"),
            "rm" | "unlink" | "shred" | "mv" | "truncate" => true,
            _ => false,
        }
    }

    /// Whether it answers a question, so that status 1 means no: nothing found, or nothing
    /// different.
    #[must_use]
    pub fn asks(&self) -> bool {
        let Some(program) = self.program() else { return false };
        let first = self.args.first().map_or("", |word| word.text.as_str());
        match program {
            "git" => matches!(first, "grep" | "diff"),
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "diff" | "cmp" | "test" | "["
            | "[[" | "pgrep" => true,
            _ => false,
        }
    }

    /// Whether it creates a project from a template, clones one, or unpacks an archive.
    #[must_use]
    pub fn unpacks(&self) -> bool {
        let Some(program) = self.program() else { return false };
        let words = || self.args.iter().map(|word| word.text.as_str());
        let makes = |word: &str| {
            word.starts_with("create")
                || matches!(word, "new" | "init" | "generate" | "startproject")
        };
        match program {
            "unzip" | "cookiecutter" | "degit" => true,
            "tar" => words().next().is_some_and(|flags| flags.contains('x')),
            "git" => words().any(|word| word == "clone"),
            "npm" | "npx" | "pnpm" | "yarn" | "bun" | "bunx" | "cargo" | "rails"
            | "django-admin" | "dotnet" | "ng" | "nest" | "poetry" | "uv" | "composer"
            | "flutter" => words().take(2).any(makes),
            _ => false,
        }
    }

    /// Whether it is a database client.
    #[must_use]
    pub fn is_database_client(&self) -> bool {
        const CLIENTS: [&str; 9] = [
            "psql",
            "mysql",
            "mariadb",
            "sqlite3",
            "duckdb",
            "mongosh",
            "mongo",
            "sqlcmd",
            "clickhouse-client",
        ];
        self.program().is_some_and(|program| CLIENTS.contains(&program))
    }

    /// Whether it is a database client that is given a file, or statements that change data.
    #[must_use]
    pub fn changes_data(&self) -> bool {
        const CHANGING: [&str; 8] =
            ["insert", "update", "delete", "alter", "create", "drop", "truncate", "replace"];
        let changes = |word: &Word| {
            let mut words = word.text.split(|c: char| !c.is_ascii_alphabetic());
            words.any(|word| CHANGING.iter().any(|known| word.eq_ignore_ascii_case(known)))
        };
        let input = |redirect: &Redirect| match &redirect.target {
            Target::File(_) => redirect.direction == Direction::Read,
            Target::Text(text) => changes(text),
            _ => false,
        };
        let file = |word: &Word| matches!(word.text.as_str(), "-f" | "--file" | "-i");
        self.is_database_client()
            && (self.args.iter().any(|word| file(word) || changes(word))
                || self.redirects.iter().any(input))
    }

    /// Whether it may restore files: `git checkout`, `git restore`, `git stash`.
    #[must_use]
    pub fn restores(&self) -> bool {
        const BACK: [&str; 6] = ["checkout", "restore", "reset", "stash", "revert", "clean"];
        let sub = self.args.iter().find(|word| !word.text.starts_with('-'));
        let branches = |word: &Word| matches!(word.text.as_str(), "-b" | "-B" | "--orphan");
        self.program() == Some("git")
            && sub.is_some_and(|word| BACK.contains(&word.text.as_str()))
            && !self.args.iter().any(branches)
    }

    /// `true` if it stashes the changes of the working tree, `false` if it restores them:
    /// `git stash`, `git stash pop`.
    #[must_use]
    pub fn shelves(&self) -> Option<bool> {
        let mut words = self.args.iter().map(|word| word.text.as_str());
        let stash = words.find(|word| !word.starts_with('-')) == Some("stash");
        if self.program() != Some("git") || !stash {
            return None;
        }
        match words.find(|word| !word.starts_with('-')) {
            None | Some("push" | "save") => Some(true),
            Some("pop" | "apply") => Some(false),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Script;

    /// Checks which of these a line does: writes by code, unpacks, restores, changes data.
    fn check(line: &str, expected: &str) {
        let script = Script::parse(line).unwrap();
        let does = |letter: char, what: fn(&super::Command) -> bool| {
            script.commands().iter().any(what).then_some(letter)
        };
        let found: String = [
            does('w', super::Command::writes_by_code),
            does('u', super::Command::unpacks),
            does('r', super::Command::restores),
            does('d', super::Command::changes_data),
        ]
        .into_iter()
        .flatten()
        .collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn what_a_stash_does_with_changes() {
        let check = |line: &str, expected: Option<bool>| {
            let script = Script::parse(line).unwrap();
            let found = script.commands().iter().find_map(super::Command::shelves);
            assert_eq!(found, expected, "{line}");
        };
        check("git stash", Some(true));
        check("git stash -q", Some(true));
        check("git stash push -m wip", Some(true));
        check("git stash pop -q", Some(false));
        check("git stash apply", Some(false));
        check("git stash list", None);
        check("git status", None);
    }

    #[test]
    fn doings_that_name_no_file() {
        check("python3 -c \"open('a', 'w')\"", "w");
        check("python3 - <<'E'\nprint(1)\nE", "");
        check("python -m pytest tests/test_write.py", "");
        check("find . -name '*.go' | xargs sed -i s/a/b/", "w");
        check("sed -i s/a/b/ a.txt", "");
        check("cargo new --lib parser", "u");
        check("git clone https://example.org/a.git", "u");
        check("tar xzf a.tgz", "u");
        check("tar czf a.tgz a", "");
        check("git checkout -- a.py", "r");
        check("git checkout -b restore", "");
        check("git commit -m restore", "");
        check("psql -c 'select 1'", "");
        check("psql -c 'delete from t'", "d");
        check("psql -f migrate.sql", "d");
        check("sqlite3 a.db < fill.sql", "d");
    }
}
