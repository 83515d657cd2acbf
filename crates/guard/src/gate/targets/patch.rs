//! Patches: the files that they name.

use counterfoil_shell::{Command, Destination, Script, Target as Redirected, Word};

use super::target::{Add, Change};

/// How a patch's lines name the files that it adds, changes, moves or removes.
const HEADS: [(&str, Change); 5] = [
    ("*** Add File: ", Change::Writes),
    ("*** Update File: ", Change::Writes),
    ("*** Move to: ", Change::Writes),
    ("*** Delete File: ", Change::Replaces),
    ("+++ ", Change::Writes),
];

pub(super) fn targets(command: &Command, at: usize, script: &Script, add: &mut Add<'_>) {
    if !matches!(command.program(), Some("apply_patch" | "applypatch" | "patch" | "gpatch")) {
        return;
    }
    let before = at.checked_sub(1).and_then(|before| script.commands().get(before));
    let printer = before.filter(|before| before.stdout == Destination::Filtered);
    let texts = [Some(command), printer].into_iter().flatten().flat_map(|command| {
        let inline = command.redirects.iter().filter_map(|redirect| match &redirect.target {
            Redirected::Text(word) => Some(&word.text),
            _ => None,
        });
        command.args.iter().map(|word| &word.text).chain(inline)
    });
    for (path, change) in texts.flat_map(|text| named(text)) {
        add(Word::fixed(path), change);
    }
}

/// The files that a patch names, and what it does to them.
pub(in crate::gate) fn named(patch: &str) -> impl Iterator<Item = (&str, Change)> {
    patch.lines().filter_map(|line| {
        let (path, change) = HEADS.iter().find_map(|(head, change)| {
            line.trim_start().strip_prefix(head).map(|path| (path, change))
        })?;
        // `+++ b/src/a.rs`, possibly followed by a time.
        let path = path.split('\t').next().unwrap_or(path).trim();
        let path = path.strip_prefix("b/").unwrap_or(path);
        (path != "/dev/null").then(|| (path, change.clone()))
    })
}
