//! `find … -exec`, `… | xargs`: commands whose targets are found by another command.

use std::borrow::Cow;

use counterfoil_shell::{Command, Script, Word, WordKind};

use super::target::{Change, Target};

/// The placeholder for each found name in the command that is run.
const MARK: &str = "{}";
/// Programs that print their words, or names of files.
const NAMES: [&str; 8] = ["ls", "find", "fd", "fdfind", "echo", "printf", "realpath", "readlink"];
/// Actions of `find` that write or remove files.
const REMOVES: [&str; 1] = ["-delete"];
const WRITES: [&str; 4] = ["-fprint", "-fprint0", "-fprintf", "-fls"];

/// The command with the words that `xargs` appends to it.
pub(super) fn with_appended<'c>(command: &'c Command, script: &Script) -> Cow<'c, Command> {
    let by = command.wrapped_by.and_then(|at| script.commands().get(at));
    let appends =
        by.and_then(Command::program).is_some_and(|name| matches!(name, "xargs" | "parallel"));
    if !appends || command.args.iter().any(|word| word.text.contains(MARK)) {
        return Cow::Borrowed(command);
    }
    let mut command = command.clone();
    command.args.push(Word { text: MARK.to_owned(), kind: WordKind::Dynamic });
    Cow::Owned(command)
}

/// Adds the target, or what another command finds in its place.
pub(super) fn stand_for(target: Target, script: &Script, at: usize, found: &mut Vec<Target>) {
    if !target.word.text.contains(MARK) {
        found.push(target);
        return;
    }
    // `rm ~/.claude/{}`: any name in that folder.
    if target.word.text != MARK {
        let text = target.word.text.replace(MARK, "*");
        found.push(Target { word: Word { text, kind: WordKind::Pattern }, ..target.clone() });
    }
    let commands = script.commands();
    let Some(wrapper) = commands.get(at).and_then(|command| command.wrapped_by) else { return };
    let Some(by) = commands.get(wrapper) else { return };
    if finds(by) {
        found.extend(found_by(by, &target.change));
        return;
    }
    for before in commands.iter().take(wrapper) {
        if finds(before) {
            found.extend(found_by(before, &target.change));
        } else if before.program().is_some_and(|name| NAMES.contains(&name)) {
            let words = before.args.iter().filter(|word| !word.text.starts_with('-'));
            found.extend(words.map(|word| Target {
                word: word.clone(),
                change: target.change.clone(),
                directory: before.directory.clone(),
            }));
        }
    }
}

/// The targets that `find` itself removes and writes.
pub(super) fn by_itself(command: &Command) -> Vec<Target> {
    if !finds(command) {
        return Vec::new();
    }
    let has = |words: &[&str]| command.args.iter().any(|word| words.contains(&word.text.as_str()));
    let mut found = if has(&REMOVES) { found_by(command, &Change::Replaces) } else { Vec::new() };
    for pair in command.args.windows(2) {
        if let [option, file] = pair
            && WRITES.contains(&option.text.as_str())
        {
            let directory = command.directory.clone();
            found.push(Target { word: file.clone(), change: Change::Writes, directory });
        }
    }
    found
}

fn finds(command: &Command) -> bool {
    matches!(command.program(), Some("find" | "fd" | "fdfind"))
}

/// The folders where `find` starts, with the name that it looks for.
fn found_by(command: &Command, change: &Change) -> Vec<Target> {
    let args = &command.args;
    let fd = command.program() != Some("find");
    let expression = |word: &&Word| {
        let text = word.text.as_str();
        !(text.starts_with(['-', '(', '!']))
    };
    let mut begins: Vec<&Word> = match fd {
        // `fd PATTERN [PATH…]`
        true => args.iter().filter(expression).skip(1).collect(),
        false => args
            .iter()
            .skip_while(|word| matches!(word.text.as_str(), "-H" | "-L" | "-P"))
            .take_while(expression)
            .collect(),
    };
    let here = Word::fixed(".");
    if begins.is_empty() {
        begins.push(&here);
    }
    let named = args.windows(2).find_map(|pair| match pair {
        [option, name] if matches!(option.text.as_str(), "-name" | "-iname") => {
            Some(name.text.clone())
        }
        _ => None,
    });
    let change = match (named, change) {
        (Some(name), _) => Change::Within(name),
        // The files in the folder change, not only the folder.
        (None, Change::Writes) => Change::Fills,
        (None, change) => change.clone(),
    };
    let target = |word: &Word| Target {
        word: word.clone(),
        change: change.clone(),
        directory: command.directory.clone(),
    };
    begins.into_iter().map(target).collect()
}
