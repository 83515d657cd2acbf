use super::command::{Command, Direction, Target, Word, WordKind};
use super::state::join;

/// A path that a script writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The effect on it.
    pub effect: Effect,
    /// The path, relative to where the script starts if that is known.
    pub path: Word,
    /// The position of the command in [`Script::commands`](crate::Script::commands).
    pub command: usize,
}

/// The effect on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It exists afterwards, and may have existed before.
    Created,
    /// Its content changes.
    Changed,
    /// It is deleted.
    Deleted,
    /// It is moved elsewhere.
    Moved,
}

/// Everything that the commands write, in order.
pub(super) fn writes(commands: &[Command]) -> Vec<Write> {
    let mut found = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let mut add = |effect: Effect, word: &Word| {
            let path = located(command, word);
            found.push(Write { effect, path, command: index });
        };
        by_redirects(command, &mut add);
        by_program(command, &mut add);
    }
    found
}

fn located(command: &Command, word: &Word) -> Word {
    // `find . -exec rm {} \;`
    if word.kind == WordKind::Dynamic || word.text == "{}" {
        return Word { text: word.text.clone(), kind: WordKind::Dynamic };
    }
    match join(command.directory.as_deref(), &word.text) {
        Some(text) if text.is_empty() => Word { text: ".".to_owned(), kind: word.kind },
        Some(text) => Word { text, kind: word.kind },
        None => Word { text: word.text.clone(), kind: WordKind::Dynamic },
    }
}

fn by_redirects(command: &Command, add: &mut dyn FnMut(Effect, &Word)) {
    for redirect in &command.redirects {
        let Target::File(word) = &redirect.target else { continue };
        if word.text.starts_with("/dev/") {
            continue;
        }
        match redirect.direction {
            Direction::Write | Direction::ReadWrite => add(Effect::Created, word),
            Direction::Append => add(Effect::Changed, word),
            Direction::Read | Direction::Duplicate | Direction::Inline => {}
        }
    }
}

fn by_program(command: &Command, add: &mut dyn FnMut(Effect, &Word)) {
    let Some(program) = command.program() else { return };
    let args = command.args.as_slice();
    let mut each = |effect: Effect, words: Vec<&Word>| {
        words.into_iter().for_each(|word| add(effect, word));
    };
    match program {
        "rm" | "unlink" | "shred" | "rmdir" => each(Effect::Deleted, operands(args, &[])),
        "mv" => moved(args, &mut each),
        "cp" | "ln" | "install" | "rsync" | "scp" => copied(args, &mut each),
        "touch" => each(Effect::Created, operands(args, &["-d", "-r", "-t", "--date"])),
        "mkdir" => each(Effect::Created, operands(args, &["-m", "--mode"])),
        "mkfifo" | "mktemp" => each(Effect::Created, operands(args, &["-m", "-p"])),
        "tee" if has_flag(args, 'a', "--append") => each(Effect::Changed, operands(args, &[])),
        "tee" => each(Effect::Created, operands(args, &[])),
        "truncate" => each(Effect::Changed, operands(args, &["-s", "--size", "-r"])),
        "chmod" | "chown" | "chgrp" => {
            each(Effect::Changed, operands(args, &[]).into_iter().skip(1).collect());
        }
        "dd" => {
            for word in args {
                if let Some(path) = word.text.strip_prefix("of=") {
                    let word = Word { text: path.to_owned(), kind: word.kind };
                    each(Effect::Created, vec![&word]);
                }
            }
        }
        "sed" | "gsed" if args.iter().any(|w| is_in_place(&w.text)) => sed(args, &mut each),
        "perl" | "ruby" if args.iter().any(|w| is_in_place(&w.text)) => {
            let script = usize::from(!args.iter().any(|w| w.text.ends_with('e')));
            let files = operands(args, &["-e", "-pe", "-ne", "-pie"]);
            each(Effect::Changed, files.into_iter().skip(script).collect());
        }
        "patch" => each(
            Effect::Changed,
            operands(args, &["-p", "-i", "-d", "-o", "-r"]).into_iter().take(1).collect(),
        ),
        "curl" => each(Effect::Created, downloads(args, 'o', "--output")),
        "wget" => each(Effect::Created, downloads(args, 'O', "--output-document")),
        "git" => git(args, &mut each),
        "gofmt" | "goimports" if has_flag(args, 'w', "-w") => {
            each(Effect::Changed, operands(args, &[]));
        }
        _ => {}
    }
}

type Each<'e> = dyn FnMut(Effect, Vec<&Word>) + 'e;

/// The arguments that are not options; `valued` options take the next word.
fn operands<'a>(args: &'a [Word], valued: &[&str]) -> Vec<&'a Word> {
    let mut found = Vec::new();
    let mut words = args.iter();
    let mut options = true;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if options && text == "--" {
            options = false;
        } else if options && text.len() > 1 && text.starts_with('-') {
            if valued.contains(&text) {
                words.next();
            }
        } else {
            found.push(word);
        }
    }
    found
}

fn values<'a>(args: &'a [Word], names: &[&str]) -> Vec<&'a Word> {
    args.windows(2)
        .filter_map(|pair| match pair {
            [name, value] if names.contains(&name.text.as_str()) && value.text != "-" => {
                Some(value)
            }
            _ => None,
        })
        .collect()
}

/// The target files of a download: `-o FILE`, also combined with other letters (`-sSLo FILE`), or
/// `--output FILE`.
fn downloads<'a>(args: &'a [Word], short: char, long: &str) -> Vec<&'a Word> {
    let names = |text: &str| {
        text == long || (text.starts_with('-') && !text.starts_with("--") && text.ends_with(short))
    };
    let pairs = args.windows(2).filter_map(|pair| match pair {
        [name, value] if names(&name.text) && value.text != "-" => Some(value),
        _ => None,
    });
    pairs.collect()
}

fn has_flag(args: &[Word], short: char, long: &str) -> bool {
    args.iter().any(|word| {
        let text = word.text.as_str();
        text == long || (text.starts_with('-') && !text.starts_with("--") && text.contains(short))
    })
}

fn is_in_place(text: &str) -> bool {
    text.starts_with("--in-place")
        || text.strip_prefix('-').is_some_and(|flags| {
            !flags.starts_with('-')
                && flags.split(['.', 'e']).next().is_some_and(|f| f.contains('i'))
        })
}

fn moved(args: &[Word], each: &mut Each<'_>) {
    let target = values(args, &["-t", "--target-directory"]);
    let mut words = operands(args, &["-t", "--target-directory", "-S", "--suffix"]);
    let to = if target.is_empty() { words.pop().into_iter().collect() } else { target };
    each(Effect::Moved, words);
    each(Effect::Created, to);
}

fn copied(args: &[Word], each: &mut Each<'_>) {
    let target = values(args, &["-t", "--target-directory"]);
    let valued = ["-t", "--target-directory", "-S", "-m", "-o", "-g", "-e", "--exclude"];
    let mut words = operands(args, &valued);
    if has_flag(args, 'd', "--directory") && target.is_empty() && words.len() == 1 {
        return each(Effect::Created, words);
    }
    let to = if target.is_empty() && words.len() > 1 {
        words.pop().into_iter().collect()
    } else {
        target
    };
    each(Effect::Created, to);
}

fn sed(args: &[Word], each: &mut Each<'_>) {
    let scripted = args.iter().any(|w| {
        matches!(w.text.as_str(), "-e" | "-f" | "--expression" | "--file" | "-ie" | "-ne")
            || w.text.starts_with("--expression=")
    });
    let words = operands(args, &["-e", "-f", "--expression", "--file", "-ie", "-ne"]);
    // BSD's `sed -i '' …`: the empty word is the backup suffix.
    let words = words.into_iter().filter(|word| !word.text.is_empty());
    each(Effect::Changed, words.skip(usize::from(!scripted)).collect());
}

fn git(args: &[Word], each: &mut Each<'_>) {
    let words = operands(args, &["-C", "-c", "--git-dir", "--work-tree", "-s", "--source"]);
    let Some((sub, paths)) = words.split_first() else { return };
    let dashes = args.iter().position(|word| word.text == "--");
    let after_dashes =
        || dashes.map(|at| args.iter().skip(at + 1).collect::<Vec<_>>()).unwrap_or_default();
    let here = Word::fixed(".");
    match sub.text.as_str() {
        "rm" => each(Effect::Deleted, paths.to_vec()),
        "mv" => {
            if let Some((to, from)) = paths.split_last() {
                each(Effect::Moved, from.to_vec());
                each(Effect::Created, vec![to]);
            }
        }
        "clean" if paths.is_empty() => each(Effect::Deleted, vec![&here]),
        "clean" => each(Effect::Deleted, paths.to_vec()),
        "restore" => each(Effect::Changed, paths.to_vec()),
        "checkout" if dashes.is_some() => each(Effect::Changed, after_dashes()),
        "checkout" | "switch" if !paths.is_empty() => each(Effect::Changed, vec![&here]),
        "reset" if args.iter().any(|word| word.text == "--hard") => {
            each(Effect::Changed, vec![&here]);
        }
        "apply" | "am" | "merge" | "pull" | "rebase" | "cherry-pick" | "revert" => {
            each(Effect::Changed, vec![&here]);
        }
        "stash" if !matches!(paths.first().map(|w| w.text.as_str()), Some("list" | "show")) => {
            each(Effect::Changed, vec![&here]);
        }
        "clone" | "init" => each(Effect::Created, paths.get(1..).unwrap_or_default().to_vec()),
        "worktree" if paths.first().is_some_and(|w| w.text == "add") => {
            each(Effect::Created, paths.iter().skip(1).take(1).copied().collect());
        }
        _ => {}
    }
}
