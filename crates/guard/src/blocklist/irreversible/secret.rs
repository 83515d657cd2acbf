//! Keys, tokens and passwords that a command prints, copies or sends.

use counterfoil_shell::{Command, Destination};

use super::is_named;
use crate::secret_places::is_secret;

/// What prints secrets by its name.
const SECRETS: [(&str, &[&str]); 12] = [
    ("gh auth token", &[]),
    ("aws secretsmanager get-secret-value", &[]),
    ("aws ssm get-parameter", &["--with-decryption"]),
    ("aws ssm get-parameters", &["--with-decryption"]),
    ("kubectl get secret", &["-o", "--output"]),
    ("kubectl get secrets", &["-o", "--output"]),
    ("vault kv get", &[]),
    ("vault read", &[]),
    ("gcloud secrets versions access", &[]),
    ("op read", &[]),
    ("pass show", &[]),
    ("security find-generic-password", &[]),
];

/// A file of secrets that a command prints, copies or sends.
pub(super) fn shows_secret<'c>(program: &str, command: &'c Command) -> Option<&'c str> {
    const SHOWING: [&str; 20] = [
        "cat", "less", "more", "head", "tail", "base64", "xxd", "od", "strings", "cp", "scp",
        "rsync", "curl", "wget", "tar", "zip", "grep", "rg", "sed", "awk",
    ];
    let words: Vec<&str> = command.args.iter().map(|word| word.text.as_str()).collect();
    if SECRETS.iter().any(|entry| is_named(program, &words, entry)) {
        return words.last().copied();
    }
    if matches!(program, "echo" | "printf" | "printenv" | "node" | "python" | "python3") {
        // `echo "$TOKEN" | gh auth login --with-token` shows nothing.
        let mut words = words.into_iter().filter(|_| command.stdout == Destination::Shown);
        return words.find(|word| names_secret(program, word));
    }
    if !SHOWING.contains(&program) {
        return None;
    }
    let copies = matches!(program, "scp" | "rsync");
    let sends = copies || matches!(program, "curl" | "wget");
    // What is looked for is no file.
    let pattern = matches!(program, "grep" | "rg" | "sed" | "awk");
    let pattern = pattern.then(|| words.iter().position(|word| !word.starts_with('-'))).flatten();
    let files = command.args.iter().enumerate().filter(|(at, _)| Some(*at) != pattern);
    files.map(|(_, word)| word.text.as_str()).find(|word| {
        let path = word.rsplit(['@', '=']).next().unwrap_or(word);
        is_secret(path) || sends && (copies || path != *word) && is_file_of_secrets(path)
    })
}

/// `$STRIPE_SECRET_KEY`, `process.env.API_TOKEN`: printed by name.
fn names_secret(program: &str, word: &str) -> bool {
    const ENDS: [&str; 6] = ["SECRET", "TOKEN", "PASSWORD", "API_KEY", "PRIVATE_KEY", "SECRET_KEY"];
    let names = match program {
        "printenv" => vec![word],
        "node" => word.split("process.env.").skip(1).collect(),
        "python" | "python3" => word.split("os.environ[").skip(1).collect(),
        _ => word.split('$').skip(1).collect(),
    };
    names.into_iter().any(|rest| {
        let rest = rest.trim_start_matches(['{', '\'', '"']);
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let name = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
        // `${#TOKEN}`, `${TOKEN:+set}` do not print it.
        let only_asks = end.and_then(|end| rest.get(end..)).is_some_and(|r| r.starts_with(":+"));
        !only_asks && ENDS.iter().any(|known| name.ends_with(known))
    })
}

/// `.env`, `.env.production`: sent as a body.
fn is_file_of_secrets(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let example = [".example", ".sample", ".template"].iter().any(|end| name.ends_with(end));
    (name == ".env" || name.starts_with(".env.")) && !example
}
