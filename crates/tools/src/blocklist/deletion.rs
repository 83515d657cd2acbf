//! Recursive deletion of protected folders.

use counterfoil_shell::{Command, Script, Word, WordKind};

use super::place::{Place, Protection, protection, strongest};
use super::refusal::Refusal;
use super::temporary::is_temporary;
use super::text::shown;
use super::values::{self, Site};

/// Why the command is refused. `text` is the whole script.
pub(super) fn blocked(
    command: &Command,
    at: usize,
    script: &Script,
    place: &Place,
    text: &str,
) -> Option<Refusal> {
    match command.program()?.to_lowercase().as_str() {
        "rm" => rm(command, at, script, place, text),
        "find" | "gfind" => find(command, place),
        _ => None,
    }
}

fn rm(
    command: &Command,
    at: usize,
    script: &Script,
    place: &Place,
    script_text: &str,
) -> Option<Refusal> {
    let Deletion { recursive, targets } = match deletion_by_rm(command) {
        Ok(deletion) => deletion?,
        Err(refusal) => return Some(refusal),
    };
    let wrapper = command.wrapped_by.and_then(|at| script.commands().get(at));
    let by_xargs = wrapper.and_then(Command::program) == Some("xargs");
    if recursive && (by_xargs || targets.is_empty() && wrapper.is_some()) {
        return Some(Refusal::unread("`rm -r` with names from standard input is blocked"));
    }
    let directory = command.directory.as_deref();
    let working = directory.map(|directory| place.from(directory));
    let site = Site { script, text: script_text, at, working };
    let mut unread = None;
    for target in targets {
        let why = || format!("`rm -r {}` is blocked", shown(&target.text));
        let judged = match wrapper.filter(|_| target.text == "{}") {
            Some(find) if narrows(&find.args) => Protection::None,
            Some(_) => Protection::Protected,
            None if target.kind == WordKind::Dynamic => {
                protection_of_values(target, &site, directory, place, recursive)
            }
            None => protection(target, directory, place, recursive),
        };
        match judged {
            Protection::Protected => return Some(Refusal::floor(why())),
            Protection::Unknown => unread = unread.or_else(|| Some(Refusal::unread(why()))),
            Protection::None => {}
        }
    }
    unread
}

/// What `rm` would delete.
struct Deletion<'c> {
    recursive: bool,
    targets: Vec<&'c Word>,
}

/// What `rm` would delete; `None` if it is neither recursive nor given variables. An error if
/// it is refused regardless of its targets.
fn deletion_by_rm(command: &Command) -> Result<Option<Deletion<'_>>, Refusal> {
    let mut options = true;
    let mut deletion = Deletion { recursive: false, targets: Vec::new() };
    let mut perhaps = false;
    for word in &command.args {
        let text = word.text.as_str();
        if options && text == "--" {
            options = false;
        } else if options && text.starts_with("--") {
            if text.starts_with("--no-p") {
                return Err(Refusal::floor("`rm --no-preserve-root` is blocked"));
            }
            deletion.recursive |= "--recursive".starts_with(text) && text.len() > 2;
        } else if options && text.starts_with('-') && text.len() > 1 {
            deletion.recursive |= text.contains(['r', 'R']);
        } else {
            perhaps |= word.kind == WordKind::Dynamic && text.starts_with('$');
            deletion.targets.push(word);
        }
    }
    Ok((deletion.recursive || perhaps).then_some(deletion))
}

/// The protection of a word whose value is known only at run time.
fn protection_of_values(
    target: &Word,
    site: &Site<'_>,
    directory: Option<&str>,
    place: &Place,
    recursive: bool,
) -> Protection {
    let target = &of_working_directory(target, place);
    let of_values = |unset| {
        let words = values::values_of(target, site, unset)?;
        Some(strongest(&words, directory, place, recursive))
    };
    match (of_values(false), of_values(true)) {
        // The target is protected only if a variable was never assigned.
        (Some(Protection::None), Some(Protection::Protected)) => Protection::Unknown,
        (Some(known), _) => known,
        (None, _) if is_temporary(target, site.script, site.text, place) => Protection::None,
        (None, _) => protection(target, directory, place, recursive),
    }
}

/// The word with `$(pwd)` replaced by `$PWD`, and the output of `git rev-parse --show-toplevel` by
/// the project's root.
fn of_working_directory(word: &Word, place: &Place) -> Word {
    let root = place.root.as_str();
    let known = [
        ("$(pwd)", "$PWD"),
        ("`pwd`", "$PWD"),
        ("$(git rev-parse --show-toplevel)", root),
        ("`git rev-parse --show-toplevel`", root),
    ];
    let of = |(written, means): (&str, &str)| {
        word.text.strip_prefix(written).map(|rest| format!("{means}{rest}"))
    };
    let text = known.into_iter().find_map(of).unwrap_or_else(|| word.text.clone());
    let kind = if text.contains(['$', '`']) { WordKind::Dynamic } else { WordKind::Literal };
    Word { kind: if text == word.text { word.kind } else { kind }, text }
}

/// Refuses commands like `find / -delete`.
fn find(command: &Command, place: &Place) -> Option<Refusal> {
    let deletes = command.args.iter().any(|word| word.text == "-delete");
    if !deletes || narrows(&command.args) {
        return None;
    }
    let starts = command.args.iter().take_while(|word| !word.text.starts_with(['-', '(', '!']));
    let here = Word::fixed(".");
    let starts: Vec<&Word> = starts.collect();
    let starts = if starts.is_empty() { vec![&here] } else { starts };
    let directory = command.directory.as_deref();
    let judged = starts.into_iter().map(|word| (protection(word, directory, place, true), word));
    let (protection, start) = judged.max_by_key(|(protection, _)| *protection)?;
    let why = format!("`find {} -delete` without a name test is blocked", shown(&start.text));
    match protection {
        Protection::None => None,
        Protection::Unknown => Some(Refusal::unread(why)),
        Protection::Protected => Some(Refusal::floor(why)),
    }
}

/// Whether `find` searches for something specific.
fn narrows(args: &[Word]) -> bool {
    args.windows(2).any(|pair| match pair {
        [test, value] => {
            matches!(
                test.text.as_str(),
                "-name"
                    | "-iname"
                    | "-path"
                    | "-ipath"
                    | "-wholename"
                    | "-regex"
                    | "-iregex"
                    | "-mtime"
                    | "-mmin"
                    | "-newer"
                    | "-size"
            ) && value.literal().is_some_and(|value| {
                value.chars().filter(|c| c.is_alphanumeric()).count() > 0 && value != ".git"
            })
        }
        _ => false,
    }) || args.iter().any(|word| word.text == "-empty")
}
