//! Wrappers that add words to the command line that are not in the text.

use super::super::command::Word;
use super::super::status::{Masking, Status};
use super::inner::{Inner, is_shell, joined, script, split};
use super::options::past_options;
use super::table::{after_sub, list, rules};

/// What `find … -exec cmd {} \;` runs.
pub(super) fn find(args: &[Word]) -> Vec<Inner> {
    let mut found = Vec::new();
    let mut rest = args;
    while let Some(at) =
        rest.iter().position(|w| matches!(w.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        let tail = rest.get(at + 1..).unwrap_or_default();
        let end =
            tail.iter().position(|w| matches!(w.text.as_str(), ";" | "+")).unwrap_or(tail.len());
        let status = if tail.get(end).is_some_and(|w| w.text == "+") {
            Status::Conditional
        } else {
            Status::Masked(Masking::Wrapper)
        };
        if let Some(words) = tail.get(..end).filter(|words| !words.is_empty()) {
            found.push(filled_in(words.to_vec(), "{}", status));
        }
        rest = tail.get(end..).unwrap_or_default();
    }
    found
}

/// What `… | xargs cmd` runs: words from standard input are appended, or replace the mark given by
/// `-I`.
pub(super) fn xargs(args: &[Word]) -> Vec<Inner> {
    let words = past_options(args, list("xargs"), 0, false);
    if words.is_empty() {
        return Vec::new();
    }
    let options = args.get(..args.len() - words.len()).unwrap_or_default();
    let mut mark = None;
    for (i, option) in options.iter().enumerate() {
        let text = option.text.as_str();
        if text == "-I" || text == "-J" {
            mark = options.get(i + 1).map(|word| word.text.clone());
        } else if let Some(attached) = text.strip_prefix("-I") {
            mark = Some(attached.to_owned());
        } else if let Some(attached) = text.strip_prefix("--replace=") {
            mark = Some(attached.to_owned());
        } else if text.starts_with("-i") || text.starts_with("--repl") {
            let attached = text.strip_prefix("-i").filter(|rest| !rest.is_empty());
            mark = Some(attached.unwrap_or("{}").to_owned());
        }
    }
    if mark.is_none() && runs_what_follows(words) {
        return vec![Inner { status: Status::Conditional, ..script(None) }];
    }
    vec![filled_in(words.to_vec(), mark.as_deref().unwrap_or("{}"), Status::Conditional)]
}

/// What `parallel 'cmd {}' ::: a b` runs: a script per argument.
pub(super) fn parallel(args: &[Word]) -> Vec<Inner> {
    let words = past_options(args, list("parallel"), 0, false);
    let end = words.iter().position(|w| w.text.starts_with(":::")).unwrap_or(words.len());
    let words = words.get(..end).unwrap_or_default();
    if args.iter().any(|w| matches!(w.text.as_str(), "--version" | "--help" | "--citation")) {
        return Vec::new();
    }
    let status = Status::Conditional;
    let text = joined(words).filter(|text| !text.trim_start().starts_with('{'));
    if text.is_none() || runs_what_follows(words) {
        return vec![Inner { status, ..script(None) }];
    }
    vec![Inner { status, ..script(text) }]
}

/// A command line in which `mark` represents words that are not in the text. If they determine what
/// runs, it is unreadable.
fn filled_in(words: Vec<Word>, mark: &str, status: Status) -> Inner {
    let decides = |word: &Word| !mark.is_empty() && word.text.contains(mark);
    let mut rest = words.as_slice();
    while let Some((name, args)) = rest.split_first() {
        let program = name.text.rsplit('/').next().unwrap_or_default();
        if decides(name) {
            return Inner { status, ..script(None) };
        }
        if is_shell(program) || matches!(program, "eval" | "parallel" | "watch" | "ssh") {
            // `sh -c 'rm "$1"' _ {}` is fixed, but `sh -c 'rm {}'` is not.
            let text = args.iter().find(|word| !word.text.starts_with('-'));
            if text.is_some_and(decides) {
                return Inner { status, ..script(None) };
            }
            break;
        }
        let Some(rule) = rules(program).next() else { break };
        let Some(after) = after_sub(rule, args) else { break };
        rest = past_options(after, &rule.valued, rule.skip, rule.assigns);
    }
    split(words, status)
}

/// Whether the words end in a wrapper that would run any words appended to them.
fn runs_what_follows(words: &[Word]) -> bool {
    let Some((name, args)) = words.split_first() else { return true };
    let program = name.text.rsplit('/').next().unwrap_or_default();
    if is_shell(program) {
        // `sh -c 'script' _` passes appended words to the script as arguments.
        let text = args.iter().find(|word| !word.text.starts_with('-'));
        return text.is_none();
    }
    if matches!(program, "eval" | "xargs" | "parallel" | "find") {
        return args.iter().all(|word| word.text.starts_with('-'));
    }
    let rule = rules(program).find(|rule| rule.sub.is_empty());
    rule.is_some_and(|rule| {
        let rest = past_options(args, &rule.valued, rule.skip, rule.assigns);
        rest.is_empty() || runs_what_follows(rest)
    })
}
