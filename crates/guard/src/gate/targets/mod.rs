//! What a shell command writes, replaces or removes, as far as its words show it.
//!
//! [`PROGRAMS`](table::PROGRAMS) lists which arguments of each program are targets. What a row
//! cannot express has its own file: `git`, archives, patches, `find`, and code on the command line.

mod archive;
mod arguments;
mod code;
mod found;
mod git;
mod into;
mod mode;
pub(in crate::gate) mod patch;
mod setting;
mod table;
mod target;

use counterfoil_shell::{
    Command, Direction, Position, Script, Target as Redirected, Word, WordKind,
};
use counterfoil_tools::{Site, values_of};

use arguments::Arguments;
use table::{PROGRAMS, Program, Where};
use target::Add;
pub(in crate::gate) use target::{Change, Target};

/// The maximum number of variables that are looked up, since each lookup scans the whole script.
const MOST_VARIABLES: usize = 100;

/// Returns everything that the commands of a script change, in order.
pub(in crate::gate) fn find(script: &Script, text: &str) -> Vec<Target> {
    let (mut found, mut looked_up) = (Vec::new(), 0);
    for (at, command) in script.commands().iter().enumerate() {
        let before = found.len();
        let command = &*found::with_appended(command, script);
        let mut add = |word: Word, change: Change| {
            found.push(Target { word, change, directory: command.directory.clone() });
        };
        by_redirects(command, &mut add);
        by_program(command, &mut add);
        code::targets(command, &mut add);
        patch::targets(command, at, script, &mut add);
        if command.program() == Some("git") {
            git::targets(command, &mut found);
        }
        found.extend(found::by_itself(command));
        let own = found.split_off(before);
        for target in own {
            found::stand_for(target, script, at, &mut found);
        }
        let variables: Vec<Target> = found
            .iter()
            .skip(before)
            .filter(|target| target.word.kind == WordKind::Dynamic)
            .take(MOST_VARIABLES.saturating_sub(looked_up))
            .cloned()
            .collect();
        looked_up += variables.len();
        found.extend(variables.iter().flat_map(|target| values(target, script, text, at)));
    }
    found
}

/// Returns the target with its variables replaced by the values that the script assigns.
fn values(target: &Target, script: &Script, text: &str, at: usize) -> Vec<Target> {
    let site = Site { script, text, at, working: None };
    let words = values_of(&target.word, &site, false).unwrap_or_default();
    words.into_iter().map(|word| Target { word, ..target.clone() }).collect()
}

fn by_redirects(command: &Command, add: &mut Add<'_>) {
    for redirect in &command.redirects {
        let writes = matches!(
            redirect.direction,
            Direction::Write | Direction::ReadWrite | Direction::Append
        );
        if let (true, Redirected::File(word)) = (writes, &redirect.target) {
            let sets = setting::only_sets(command, redirect);
            add(word.clone(), if sets { Change::Sets } else { Change::Writes });
        }
    }
}

fn by_program(command: &Command, add: &mut Add<'_>) {
    // A command that runs on another machine changes only that machine.
    if command.inside == Position::Remote {
        return;
    }
    let Some(name) = command.program() else { return };
    for program in PROGRAMS.iter().filter(|program| program.names.contains(&name)) {
        let arguments = Arguments::new(&command.args, program.valued);
        if program.applies(&arguments) {
            for place in program.changes {
                changed(place, &arguments, add);
            }
        }
    }
    archive::targets(name, command, add);
}

impl Program {
    fn applies(&self, arguments: &Arguments<'_>) -> bool {
        let any = |words: &[&str]| words.iter().any(|word| arguments.has(word));
        (self.only_with.is_empty() || any(self.only_with)) && !any(self.never_with)
    }
}

fn changed(place: &Where, arguments: &Arguments<'_>, add: &mut Add<'_>) {
    let operands = &arguments.operands;
    match place {
        Where::From(first, change) => {
            operands.iter().skip(*first).for_each(|word| add((*word).clone(), change.clone()));
        }
        Where::At(at, change) => {
            operands.get(*at).into_iter().for_each(|word| add((*word).clone(), change.clone()));
        }
        Where::Prefix(at) => {
            if let Some(word) = operands.get(*at) {
                let text = format!("{}*", word.text);
                add(Word { text, kind: WordKind::Pattern }, Change::Writes);
            }
        }
        Where::Value(names, change) => {
            arguments.values(names).into_iter().for_each(|word| add(word, change.clone()));
        }
        Where::ValueOrHere(names, change) => {
            let values = arguments.values(names);
            let here = values.is_empty().then(|| Word::fixed("."));
            values.into_iter().chain(here).for_each(|word| add(word, change.clone()));
        }
        Where::Assigned(start) => {
            for word in operands {
                if let Some(path) = word.text.strip_prefix(start) {
                    add(Word { text: path.to_owned(), kind: word.kind }, Change::Writes);
                }
            }
        }
        Where::Fixed(path) => add(Word::fixed(*path), Change::Writes),
        Where::Sources => into::sources(arguments, &Change::Replaces, add),
        Where::Linked => into::sources(arguments, &Change::Writes, add),
        Where::Into(tree) => into::target(arguments, *tree, add),
        Where::Downloads(folder) => into::downloads(arguments, folder, add),
        Where::Mode => mode::shut(arguments, add),
    }
}

#[cfg(test)]
mod tests;
