//! Names of secrets: the words before and after the word for a secret.
//!
//! `KIS_APP_SECRET_LIVE`, `dbPasswordProd` and `PASSWORD2` name secrets; `password_file`,
//! `tokenType` and `api_key_id` name something about one.

use std::sync::LazyLock;

/// The words of `names.txt`.
struct Words {
    distinguishes: Vec<&'static str>,
    describes: Vec<&'static str>,
    not_secret: Vec<&'static str>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let lines = || include_str!("names.txt").lines().filter_map(|line| line.split_once(' '));
    let of = |kind: &str| {
        let words = lines().filter(|(first, _)| *first == kind);
        words.flat_map(|(_, words)| words.split_whitespace()).collect()
    };
    Words {
        distinguishes: of("distinguishes"),
        describes: of("describes"),
        not_secret: of("not-secret"),
    }
});

/// Whether a name that ends here is not that of a secret, although `key` follows.
pub(super) fn is_other_key(before: &str) -> bool {
    WORDS.not_secret.iter().any(|word| before.ends_with(word))
}

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
pub(super) fn suffix(after: &str) -> Suffix {
    let words = words(after);
    let is = |known: &[&str], word: &&str| known.iter().any(|one| one.eq_ignore_ascii_case(word));
    let number = |word: &&str| word.bytes().all(|b| b.is_ascii_digit()) || is_version(word);
    if words.last().is_some_and(|last| is(&WORDS.describes, last)) {
        Suffix::About
    } else if words.iter().all(|word| number(word) || is(&WORDS.distinguishes, word)) {
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
    fn what_follows_the_word_for_a_secret() {
        for (after, expected) in [
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
            assert_eq!(suffix(after), expected, "{after}");
        }
    }

    #[test]
    fn every_word_has_its_kind() {
        for word in &WORDS.distinguishes {
            assert_eq!(suffix(&format!("_{word}")), Suffix::Narrows, "{word}");
            assert_eq!(without_narrowing(&format!("SECRET_{word}")), "SECRET", "{word}");
        }
        for word in &WORDS.describes {
            assert_eq!(suffix(&format!("_{word}")), Suffix::About, "{word}");
        }
        for word in &WORDS.not_secret {
            let text = format!("{word}_key = Xq7Rt2Lm9Wp4Kd8Vz3Bn6Hs1");
            assert_eq!(crate::Redactor::standard().redact(&text), text, "{word}");
        }
        let other = include_str!("names.txt").lines().filter(|line| {
            let kind = line.split(' ').next().unwrap_or_default();
            !["", "#", "distinguishes", "describes", "not-secret"].contains(&kind)
        });
        assert_eq!(other.collect::<Vec<_>>(), [""; 0]);
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
