//! The equivalent spellings of a command, for matching with rules.

use counterfoil_shell::{Command, Direction, Script, Target};

/// One command of a line, or one text of other arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelled {
    /// The command as written; `None` if it does more than its words say: it writes to a file by a
    /// redirect, or sets variables for the program. Only this is matched with allowances.
    pub exact: Option<String>,
    /// All equivalent spellings. Denials and questions match any of them.
    pub ways: Vec<String>,
}

impl Spelled {
    /// A text that is not a command.
    #[must_use]
    pub fn text(text: String) -> Self {
        Self { exact: Some(text.clone()), ways: vec![text] }
    }
}

/// Programs with options before their subcommand, and those of the options that take a value.
const BEFORE_THE_COMMAND: [(&str, &[&str]); 12] = [
    (
        "git",
        &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"],
    ),
    ("docker", &["-H", "--host", "-c", "--context", "--config", "-l", "--log-level"]),
    ("podman", &["--url", "--connection", "--log-level", "--root"]),
    (
        "kubectl",
        &[
            "-n",
            "--namespace",
            "--context",
            "--cluster",
            "--kubeconfig",
            "-s",
            "--server",
            "--user",
        ],
    ),
    ("helm", &["-n", "--namespace", "--kube-context", "--kubeconfig"]),
    ("npm", &["--prefix", "-w", "--workspace", "-C"]),
    ("pnpm", &["-C", "--dir", "--filter", "-F"]),
    ("yarn", &["--cwd"]),
    ("cargo", &["--config", "-C", "--color", "-Z"]),
    ("gh", &["-R", "--repo"]),
    ("aws", &["--profile", "--region", "--endpoint-url", "--output"]),
    ("terraform", &[]),
];

/// The commands of a line; `None` if it cannot be parsed.
#[must_use]
pub fn spelled(line: &str) -> Option<Vec<Spelled>> {
    let script = Script::parse(line).ok()?;
    Some(script.commands().iter().map(of_command).collect())
}

/// A command as written; `None` if it does more than its words say.
#[must_use]
pub fn exact_form(command: &Command) -> Option<String> {
    of_command(command).exact
}

fn of_command(command: &Command) -> Spelled {
    let words: Vec<&str> =
        command.name.iter().chain(&command.args).map(|word| word.text.as_str()).collect();
    let exact = words.join(" ");
    let mut ways = vec![exact.clone()];
    let mut add = |way: String| {
        if !way.is_empty() && !ways.contains(&way) {
            ways.push(way);
        }
    };
    if let Some((name, rest)) = words.split_first() {
        let base = name.rsplit('/').next().unwrap_or(name);
        let plain: Vec<&str> = std::iter::once(base).chain(rest.iter().copied()).collect();
        let bare = without_leading_options(&plain);
        for way in [plain, bare] {
            add(way.join(" "));
            add(in_order(&way));
        }
    }
    let writes = command.redirects.iter().any(|redirect| match &redirect.target {
        Target::File(word) => {
            redirect.direction != Direction::Read && word.literal() != Some("/dev/null")
        }
        Target::Process => true,
        Target::Fd(_) | Target::Closed | Target::Text(_) => false,
    });
    let does_more = writes || !command.assignments.is_empty();
    Spelled { exact: (!does_more).then_some(exact), ways }
}

/// Removes options before the subcommand: `git -C . --no-pager push` becomes `git push`.
fn without_leading_options<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let Some((_, valued)) = BEFORE_THE_COMMAND.iter().find(|(name, _)| name == program) else {
        return words.to_vec();
    };
    let mut rest = rest.iter();
    let mut left = rest.as_slice();
    while let Some(word) = rest.next() {
        if !word.starts_with(['-', '+']) {
            break;
        }
        if valued.contains(word) {
            rest.next();
        }
        left = rest.as_slice();
    }
    std::iter::once(*program).chain(left.iter().copied()).collect()
}

/// Merges and sorts adjacent short options: `rm -f -r x` and `rm -rf x` become `rm -fr x`.
#[must_use]
pub fn in_order(words: &[&str]) -> String {
    let mut out: Vec<String> = Vec::new();
    for word in words {
        let letters = word.strip_prefix('-').filter(|letters| {
            !letters.is_empty()
                && letters.len() <= 8
                && letters.chars().all(|c| c.is_ascii_alphabetic())
        });
        match (letters, out.last_mut().filter(|last| is_cluster(last))) {
            (Some(letters), Some(last)) => {
                *last = sorted(&format!("{}{letters}", last.trim_start_matches('-')))
            }
            (Some(letters), None) => out.push(sorted(letters)),
            (None, _) => out.push((*word).to_owned()),
        }
    }
    out.join(" ")
}

fn is_cluster(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| letters.chars().all(|c| c.is_ascii_alphabetic()))
}

fn sorted(letters: &str) -> String {
    let mut letters: Vec<char> = letters.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    std::iter::once('-').chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_however_it_is_written() {
        for (line, way) in [
            ("git -C . --no-pager push -f", "git push -f"),
            ("git -c a=b push", "git push"),
            ("/usr/bin/git push", "git push"),
            ("g\"i\"t p\\ush", "git push"),
            ("rm -f -r build", "rm -fr build"),
            ("rm -rf build", "rm -fr build"),
            ("kubectl -n prod delete pod x", "kubectl delete pod x"),
            ("env A=1 git push", "git push"),
            ("cargo +nightly publish", "cargo publish"),
        ] {
            let known = spelled(line).unwrap();
            assert!(known.iter().any(|command| command.ways.iter().any(|w| w == way)), "{line}");
        }
    }

    #[test]
    fn what_does_more_than_its_words_is_not_allowed_by_them() {
        for (line, exact) in [
            ("cat x", true),
            ("cat x 2>/dev/null", true),
            ("cat x > y", false),
            ("PATH=.:$PATH cat x", false),
        ] {
            assert_eq!(spelled(line).unwrap()[0].exact.is_some(), exact, "{line}");
        }
    }
}
