//! Names of secrets: the words before and after the word for a secret.
//!
//! `KIS_APP_SECRET_LIVE`, `dbPasswordProd` and `PASSWORD2` name secrets; `password_file`,
//! `tokenType` and `api_key_id` name something about one.

/// Words that distinguish several secrets: by place, time or owner.
const NARROWING: [&str; 62] = [
    "live",
    "prod",
    "production",
    "prd",
    "test",
    "testing",
    "tst",
    "dev",
    "development",
    "staging",
    "stage",
    "stg",
    "uat",
    "qa",
    "sandbox",
    "demo",
    "preview",
    "local",
    "ci",
    "cd",
    "old",
    "new",
    "next",
    "current",
    "previous",
    "prev",
    "backup",
    "bak",
    "rotated",
    "primary",
    "secondary",
    "main",
    "master",
    "replica",
    "default",
    "admin",
    "root",
    "user",
    "owner",
    "app",
    "service",
    "server",
    "client",
    "bot",
    "ro",
    "rw",
    "read",
    "write",
    "readonly",
    "eu",
    "us",
    "uk",
    "de",
    "apac",
    "emea",
    "east",
    "west",
    "north",
    "south",
    "global",
    "internal",
    "external",
];

/// Words after the name of a secret that name something about it.
const ABOUT: [&str; 104] = [
    "id",
    "ids",
    "name",
    "names",
    "file",
    "files",
    "path",
    "paths",
    "dir",
    "folder",
    "type",
    "types",
    "kind",
    "count",
    "counts",
    "total",
    "number",
    "num",
    "length",
    "len",
    "size",
    "min",
    "max",
    "limit",
    "limits",
    "budget",
    "usage",
    "used",
    "cost",
    "rate",
    "ratio",
    "url",
    "uri",
    "link",
    "endpoint",
    "host",
    "port",
    "arn",
    "ref",
    "reference",
    "version",
    "digest",
    "hash",
    "hashes",
    "hashed",
    "checksum",
    "fingerprint",
    "expiry",
    "expires",
    "expiration",
    "ttl",
    "age",
    "at",
    "date",
    "time",
    "timeout",
    "created",
    "updated",
    "rotation",
    "policy",
    "policies",
    "rule",
    "rules",
    "pattern",
    "regex",
    "format",
    "encoding",
    "prefix",
    "suffix",
    "header",
    "headers",
    "field",
    "fields",
    "label",
    "labels",
    "title",
    "text",
    "hint",
    "placeholder",
    "prompt",
    "message",
    "error",
    "errors",
    "status",
    "state",
    "valid",
    "invalid",
    "enabled",
    "disabled",
    "required",
    "strength",
    "reset",
    "manager",
    "store",
    "storage",
    "provider",
    "scope",
    "scopes",
    "issuer",
    "audience",
    "index",
    "position",
    "class",
    "info",
];

/// Words before `key` that do not name a secret.
pub(super) const NO_SECRET_KEYS: [&str; 8] =
    ["cache", "public", "primary", "partition", "sort", "foreign", "routing", "group"];

/// The kind of words after the word for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suffix {
    /// None, or words and numbers that distinguish several secrets.
    Narrows,
    /// Words that name something about the secret.
    About,
    /// Any other word.
    Other,
}

/// The kind of the words after the word for a secret.
pub(super) fn suffix(behind: &str) -> Suffix {
    let words = words(behind);
    let is = |known: &[&str], word: &&str| known.iter().any(|one| one.eq_ignore_ascii_case(word));
    let number = |word: &&str| word.bytes().all(|b| b.is_ascii_digit()) || is_version(word);
    if words.last().is_some_and(|last| is(&ABOUT, last)) {
        Suffix::About
    } else if words.iter().all(|word| number(word) || is(&NARROWING, word)) {
        Suffix::Narrows
    } else {
        Suffix::Other
    }
}

/// The name without trailing words that only distinguish several secrets.
pub(super) fn without_narrowing(name: &str) -> &str {
    let mut kept = name;
    while let Some(last) = words(kept).last().filter(|last| last.len() < kept.len())
        && suffix(last) == Suffix::Narrows
    {
        let end = kept.len() - last.len();
        kept = kept.get(..end).unwrap_or_default().trim_end_matches(['_', '-', '.', ' ']);
    }
    kept
}

/// Whether a word is a version, such as `v2`.
fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix(['v', 'V']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The words of a name: split at `_`, `-`, `.` and blanks, before capitals, and before trailing
/// digits.
fn words(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in name.split(['_', '-', '.', ' ']).filter(|part| !part.is_empty()) {
        let (mut start, mut last) = (0, 'A');
        for (at, c) in part.char_indices() {
            let hump = c.is_ascii_uppercase() && last.is_ascii_lowercase();
            let counts = c.is_ascii_digit()
                && last.is_ascii_alphabetic()
                && at - start > 1
                && part.get(at..).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
            if hump || counts {
                words.extend(part.get(start..at));
                start = at;
            }
            last = c;
        }
        words.extend(part.get(start..));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_the_word_for_a_secret() {
        for (behind, expected) in [
            ("", Suffix::Narrows),
            ("2", Suffix::Narrows),
            ("_LIVE", Suffix::Narrows),
            ("_prod_eu_2", Suffix::Narrows),
            ("-ci", Suffix::Narrows),
            ("Prod", Suffix::Narrows),
            ("_V2", Suffix::Narrows),
            ("_ID", Suffix::About),
            ("_prod_file", Suffix::About),
            ("Hash", Suffix::About),
            ("_type", Suffix::About),
            ("_FRANKFURT", Suffix::Other),
            ("_for_billing", Suffix::Other),
        ] {
            assert_eq!(suffix(behind), expected, "{behind}");
        }
    }

    #[test]
    fn names_without_what_narrows_them() {
        for (name, expected) in [
            ("KIS_APP_SECRET_LIVE", "KIS_APP_SECRET"),
            ("dbPasswordProd", "dbPassword"),
            ("PASSWORD2", "PASSWORD"),
            ("api-key-eu-2", "api-key"),
            ("token", "token"),
            ("live", "live"),
            ("password_file", "password_file"),
        ] {
            assert_eq!(without_narrowing(name), expected, "{name}");
        }
    }
}
