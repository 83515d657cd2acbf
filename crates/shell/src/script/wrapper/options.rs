//! Parses the options of wrappers.

use super::super::command::Word;
use super::inner::{Inner, joined, script};

/// The words after options, after assignments if these are allowed, and after `skip` more words.
pub(super) fn past_options<'a>(
    args: &'a [Word],
    valued: &[&str],
    skip: usize,
    assigns: bool,
) -> &'a [Word] {
    past_options_to(args, valued, skip, assigns, "--")
}

/// Like [`past_options`], but `last` also ends the options.
pub(super) fn past_options_to<'a>(
    args: &'a [Word],
    valued: &[&str],
    mut skip: usize,
    assigns: bool,
    last: &str,
) -> &'a [Word] {
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        let text = first.text.as_str();
        if text == "--" {
            rest = tail;
            if skip == 0 {
                break;
            }
        } else if text == last {
            break;
        } else if assigns && text == "-" {
            // `env -` starts with an empty environment.
            rest = tail;
        } else if text.len() > 1 && text.starts_with('-') {
            rest = if takes_next(text, valued) { tail.get(1..).unwrap_or_default() } else { tail };
        } else if assigns && is_assignment(text) {
            rest = tail;
        } else if skip > 0 {
            skip -= 1;
            rest = tail;
            if skip == 0 {
                break;
            }
        } else {
            break;
        }
    }
    // In `timeout 5 -- cmd`, the `--` comes after the skipped word.
    match rest {
        [first, tail @ ..] if first.text == "--" => tail,
        _ => rest,
    }
}

/// Whether the next word is the value of an option: true for `-n 5`, `-xn 5`, `--signal KILL` and
/// `--sig KILL`, not for `-n5` and `--signal=KILL`.
fn takes_next(option: &str, valued: &[&str]) -> bool {
    if valued.contains(&option) {
        return true;
    }
    if let Some(long) = option.strip_prefix("--") {
        return long.len() > 1 && valued.iter().any(|known| known.starts_with(option));
    }
    let shorts = option.strip_prefix('-').unwrap_or_default();
    let takes = |short: char| {
        valued.iter().any(|known| known.len() == 2 && known.ends_with(short) && short != '-')
    };
    let first_valued = shorts.char_indices().find(|(_, short)| takes(*short));
    first_valued.is_some_and(|(at, short)| at + short.len_utf8() == shorts.len())
}

pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
    })
}

/// The script that is the value of one of these options, in any spelling that options allow.
pub(super) fn option_value(args: &[Word], names: &[&str]) -> Vec<Inner> {
    for (i, word) in args.iter().enumerate() {
        let text = word.text.as_str();
        if text == "--" {
            break;
        }
        let next = || args.get(i + 1).and_then(Word::literal).map(str::to_owned);
        for name in names {
            if text == *name {
                return vec![script(next())];
            }
            if let Some(value) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
                return vec![script(word.literal().map(|_| value.to_owned()))];
            }
            // The value may be part of a cluster: `-qec script`, `-c'script'`.
            if let (Some(short), Some(cluster)) = (name.strip_prefix('-'), text.strip_prefix('-'))
                && short.len() == 1
                && !cluster.starts_with('-')
                && let Some((_, value)) = cluster.split_once(short)
            {
                let value = if value.is_empty() {
                    next()
                } else {
                    word.literal().map(|_| value.to_owned())
                };
                return vec![script(value)];
            }
        }
    }
    Vec::new()
}

/// The script of `env -S 'cmd args'`, if there is one; `Some(None)` if it is not fixed.
pub(super) fn split_string(args: &[Word]) -> Option<Option<String>> {
    for (i, word) in args.iter().enumerate() {
        let text = word.text.as_str();
        let fixed = |value: &str| word.literal().map(|_| value.to_owned());
        let rest = || args.get(i + 1..).and_then(joined);
        if let Some(value) = text.strip_prefix("--split-string=") {
            return Some(fixed(value));
        }
        if text == "--split-string" {
            return Some(rest());
        }
        let Some(cluster) = text.strip_prefix('-').filter(|c| !c.starts_with('-')) else {
            if is_assignment(text) || text.starts_with("--") {
                continue;
            }
            return None;
        };
        let Some((before, value)) = cluster.split_once('S') else { continue };
        // The rest of the cluster is the value of `-u`, `-C` or `-a`.
        if before.contains(['u', 'C', 'a']) {
            continue;
        }
        if value.is_empty() {
            return Some(rest());
        }
        let tail = args.get(i + 1..).unwrap_or_default();
        if tail.is_empty() {
            return Some(fixed(value));
        }
        return Some(fixed(value).zip(joined(tail)).map(|(first, rest)| format!("{first} {rest}")));
    }
    None
}
