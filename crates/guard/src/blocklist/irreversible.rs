//! What nothing brings back: work that was never committed, history that others have, data, whole
//! environments; secrets that are shown; and what was fetched and is run unseen.

use std::collections::BTreeMap;

use counterfoil_shell::{Command, Effect, Script, Word};

mod secret;

use secret::shows_secret;

use super::deletion::Place;
use super::{Refusal, shown};

/// Words that stand in this order among those that are no options, and one of these options where
/// any are named: what destroys by its name.
const ENTRIES: [(&str, &[&str]); 45] = [
    ("git push", &["-f", "--force", "-d", "--delete", "--mirror", "--prune"]),
    ("git reset", &["--hard"]),
    ("git checkout", &["-f", "--force"]),
    ("git switch", &["-f", "--force", "--discard-changes"]),
    ("git branch", &["-D"]),
    ("git stash clear", &[]),
    ("git stash drop", &[]),
    ("git filter-branch", &[]),
    ("git filter-repo", &[]),
    ("git reflog expire", &[]),
    ("git reflog delete", &[]),
    ("git gc", &["--prune=now", "--prune=all"]),
    ("git update-ref", &["-d"]),
    ("git worktree remove", &["-f", "--force"]),
    ("terraform destroy", &[]),
    ("terraform apply", &["-destroy"]),
    ("tofu destroy", &[]),
    ("pulumi destroy", &[]),
    ("cdk destroy", &[]),
    ("vagrant destroy", &[]),
    ("kubectl delete namespace", &[]),
    ("kubectl delete namespaces", &[]),
    ("kubectl delete ns", &[]),
    ("kubectl delete pv", &[]),
    ("kubectl delete pvc", &[]),
    ("kubectl delete", &["--all", "--all-namespaces", "-A"]),
    ("helm uninstall", &[]),
    ("helm delete", &[]),
    ("docker system prune", &["--volumes"]),
    ("docker volume prune", &[]),
    ("docker volume rm", &[]),
    ("docker compose down", &["-v", "--volumes"]),
    ("docker-compose down", &["-v", "--volumes"]),
    ("dropdb", &[]),
    ("mysqladmin drop", &[]),
    ("redis-cli flushall", &[]),
    ("redis-cli flushdb", &[]),
    ("aws s3 rm", &["--recursive"]),
    ("npm unpublish", &[]),
    ("shred", &[]),
    ("wipefs", &[]),
    ("blkdiscard", &[]),
    ("aws s3 rb", &[]),
    ("heroku apps:destroy", &[]),
    ("heroku pg:reset", &[]),
];

/// What empties a database or an environment, whoever runs it, word for word.
const TASKS: [&[&str]; 12] = [
    &["prisma", "migrate", "reset"],
    &["supabase", "db", "reset"],
    &["manage.py", "flush"],
    &["manage.py", "reset_db"],
    &["db:drop"],
    &["db:drop:all"],
    &["db:reset"],
    &["db:migrate:reset"],
    &["migrate:fresh"],
    &["migrate:reset"],
    &["db:wipe"],
    &["sequelize", "db:drop"],
];

/// Who runs such tasks; to others they are only words.
const RUNNERS: [&str; 22] = [
    "npx",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "bunx",
    "node",
    "php",
    "python",
    "python3",
    "poetry",
    "uv",
    "pipenv",
    "bundle",
    "rails",
    "rake",
    "docker",
    "docker-compose",
    "prisma",
    "supabase",
    "sequelize",
    "manage.py",
];

/// Command lines of clouds and hosts, whose subcommands say what they do.
const CLOUDS: [&str; 12] = [
    "aws",
    "az",
    "gcloud",
    "gsutil",
    "doctl",
    "fly",
    "flyctl",
    "heroku",
    "gh",
    "oci",
    "linode-cli",
    "vercel",
];

/// What of a script nothing brings back.
pub(super) fn asked(script: &Script, place: &Place) -> Option<Refusal> {
    let fetched = fetched(script);
    let commands = script.commands().iter().enumerate();
    commands.filter(|(_, command)| command.reached).find_map(|(at, command)| {
        let words: Vec<&str> = command.args.iter().map(|word| word.text.as_str()).collect();
        let program = command.program()?.to_lowercase();
        let message = if is_lost(&program, &words, command, place) {
            let line = [&[program.as_str()], words.as_slice()].concat().join(" ");
            format!("nothing brings back what `{}` does", shown(&line))
        } else if let Some(secret) = shows_secret(&program, command) {
            format!("`{}` would be shown or sent", shown(secret))
        } else {
            let run = runs(&program, command)?;
            let path = run.trim_start_matches("./");
            fetched.get(path).filter(|by| **by < at)?;
            format!("`{}` was just fetched, and nobody has read it", shown(run))
        };
        Some(Refusal::irreversible(message))
    })
}

/// Whether nothing brings back what a command does.
fn is_lost(program: &str, words: &[&str], command: &Command, place: &Place) -> bool {
    let named = || ENTRIES.iter().any(|entry| is_named(program, words, entry));
    match program {
        "git" => named() || git(words),
        "find" | "gfind" => command.args.iter().any(deletes) && reaches(command, place, true),
        "chmod" | "chown" | "chgrp" => {
            has(words, &["-R", "--recursive"]) && reaches(command, place, false)
        }
        "mv" => words.last() == Some(&"/dev/null"),
        "rm" => has(words, &["-r", "-R", "--recursive"]) && leaves(command, place),
        "rsync" => words.iter().any(|word| word.starts_with("--del")) && leaves(command, place),
        "crontab" => !has(words, &["-l"]),
        "curl" => asks_to_delete(words),
        "kill" => words.len() > 1 && words.last() == Some(&"-1"),
        _ => {
            named()
                || TASKS.iter().any(|task| is_task(program, words, task))
                || deletes_in_cloud(program, words)
                || drops_data(command, words)
                || deletes_by_code(program, words)
        }
    }
}

/// Whether an entry is about this command. What stands behind an option may be its value.
fn is_named(program: &str, words: &[&str], (name, options): &(&str, &[&str])) -> bool {
    let mut name = name.split(' ');
    if name.next() != Some(program) {
        return false;
    }
    let mut next = name.next();
    let mut behind_option = false;
    for word in words {
        let Some(expected) = next else { break };
        if word.starts_with('-') {
            behind_option = !word.contains('=');
        } else if word.eq_ignore_ascii_case(expected) {
            next = name.next();
            behind_option = false;
        } else if !std::mem::take(&mut behind_option) {
            return false;
        }
    }
    next.is_none() && (options.is_empty() || has(words, options))
}

/// Whether these words stand somewhere in this order, one behind the other.
fn is_task(program: &str, words: &[&str], task: &[&str]) -> bool {
    if !RUNNERS.contains(&program) {
        return false;
    }
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_lowercase();
    let all: Vec<String> =
        std::iter::once(program).chain(words.iter().copied()).map(name).collect();
    all.windows(task.len()).any(|window| window.iter().zip(task).all(|(word, known)| word == known))
}

/// `aws rds delete-db-instance`, `az group delete`.
fn deletes_in_cloud(program: &str, words: &[&str]) -> bool {
    let plain = words.iter().take_while(|word| !word.starts_with('-'));
    let deletes = |word: &&str| {
        ["delete", "destroy", "terminate", "purge"].iter().any(|verb| {
            word.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    };
    CLOUDS.contains(&program) && plain.take(4).any(deletes)
}

/// Whether one of these options is given, a short one also among others: `-fdx`.
fn has(words: &[&str], options: &[&str]) -> bool {
    let among = |word: &str, option: &str| {
        let letters = word.strip_prefix('-').filter(|w| !w.starts_with('-') && w.len() < 6);
        let letter = option.strip_prefix('-').filter(|o| o.len() == 1);
        letters.zip(letter).is_some_and(|(word, letter)| word.contains(letter))
    };
    words.iter().any(|word| options.iter().any(|option| word == option || among(word, option)))
}

/// What git loses that no entry names: refs of others, and work that was never committed.
fn git(words: &[&str]) -> bool {
    let is = |name: &str| is_named("git", words, &(name, &[]));
    let of_all = || words.iter().any(|word| matches!(*word, "." | "./" | "*" | ":/" | ":/*"));
    let named = words.iter().filter(|word| !word.starts_with('-')).count() > 1;
    if is("git push") {
        words.iter().any(|word| word.len() > 1 && word.starts_with(['+', ':']))
    } else if is("git clean") {
        has(words, &["-f", "--force"]) && !has(words, &["-n", "--dry-run"]) && !named
    } else if is("git checkout") {
        of_all()
    } else {
        let staged = has(words, &["-S", "--staged"]) && !has(words, &["-W", "--worktree"]);
        is("git restore") && of_all() && !staged
    }
}

/// `find … -delete`, `find … -exec rm`.
fn deletes(word: &Word) -> bool {
    matches!(word.text.as_str(), "-delete" | "rm" | "shred" | "unlink" | "/bin/rm")
}

/// Whether an operand is what somebody would miss as a whole; `leading` are only those before the
/// first option.
fn reaches(command: &Command, place: &Place, leading: bool) -> bool {
    let operands = command.args.iter().enumerate().filter(|(at, word)| {
        let before = || command.args.iter().take(*at).any(|word| word.text.starts_with('-'));
        !(word.text.starts_with('-') || leading && before())
    });
    operands.into_iter().any(|(_, word)| place.loses(word, command.directory.as_deref()))
}

/// Whether a file or a folder outside the project is among the operands: none that is made again,
/// or for a while.
fn leaves(command: &Command, place: &Place) -> bool {
    let operands = command.args.iter().filter(|word| !word.text.starts_with('-'));
    operands.into_iter().any(|word| place.is_left(word, command.directory.as_deref()))
}

/// `curl -X DELETE` of another machine.
fn asks_to_delete(words: &[&str]) -> bool {
    let deletes = words.windows(2).any(|pair| match pair {
        [option, method] => matches!(*option, "-X" | "--request") && *method == "DELETE",
        _ => false,
    });
    let deletes = deletes || words.iter().any(|w| matches!(*w, "-XDELETE" | "--request=DELETE"));
    let here = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];
    deletes && !words.iter().any(|word| here.iter().any(|name| word.contains(name)))
}

/// A database's own client that is told to drop what it holds.
fn drops_data(command: &Command, words: &[&str]) -> bool {
    const DROPS: [&str; 6] =
        ["drop database", "drop schema", "drop table", "truncate ", "dropdatabase(", ".drop("];
    if !command.is_database_client() {
        return false;
    }
    let text = words.join(" ").to_lowercase();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let all_rows = text.contains("delete from ") && !text.contains("where");
    all_rows || DROPS.iter().any(|drop| text.contains(drop))
}

/// Code on the line that deletes whole folders outside of where it runs, or runs what it fetches.
fn deletes_by_code(program: &str, words: &[&str]) -> bool {
    const DELETES: [&str; 8] = [
        "rmtree(",
        "rmsync(",
        "rmdirsync(",
        "removesync(",
        "rm_rf",
        "rm_r(",
        "remove_tree",
        "unlink",
    ];
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !matches!(name, "python" | "node" | "ruby" | "perl" | "php" | "deno" | "bun") {
        return false;
    }
    let outside = ["'/", "\"/", "'~", "\"~", "home(", "homedir", "expanduser", "(/", "$home"];
    const FETCHES: [&str; 4] = ["urlopen", "requests.get", "fetch(", "http.get"];
    words.iter().map(|word| word.to_lowercase()).any(|code| {
        let runs = code.contains("exec(") || code.contains("eval(");
        if runs && FETCHES.iter().any(|fetch| code.contains(fetch)) {
            return true;
        }
        DELETES.iter().any(|call| code.contains(call))
            && outside.iter().any(|place| code.contains(place))
    })
}

/// The files that the commands of a script fetch, each with the place of the first that does.
fn fetched(script: &Script) -> BTreeMap<String, usize> {
    let fetches = |command: &Command| matches!(command.program(), Some("curl" | "wget"));
    if !script.commands().iter().any(fetches) {
        return BTreeMap::new();
    }
    let writes = script.writes().into_iter().filter(|write| {
        let by = script.commands().get(write.command);
        write.effect == Effect::Created && by.is_some_and(fetches)
    });
    let file = |path: String| path.trim_start_matches("./").to_owned();
    let mut first = BTreeMap::new();
    for write in writes {
        first.entry(file(write.path.text)).or_insert(write.command);
    }
    first
}

/// The file that a command runs as a program or as a script.
fn runs<'c>(program: &str, command: &'c Command) -> Option<&'c str> {
    const RUNNING: [&str; 9] =
        ["sh", "bash", "zsh", "dash", "source", ".", "python", "python3", "node"];
    let word = match RUNNING.contains(&program) {
        true => command.args.iter().find(|word| !word.text.starts_with('-'))?,
        false => command.name.as_ref()?,
    };
    Some(word.text.as_str())
}
