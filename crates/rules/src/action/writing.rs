//! What was written: whether all of it is on record, and whether a file may be among it.

use counterfoil_model::{Family, Object};

use super::judge::args;
use super::objects::mentions;
use crate::facts::{Facts, ShellWork};

/// So many executions are looked at. Of longer records nothing is said to be whole.
pub(super) const LOOK_BACK: usize = 400;

/// Whether the record holds the names of all files that were written.
pub(super) fn shows_files(facts: &Facts<'_>, turn: usize) -> bool {
    shows(facts, turn, hides_files)
}

/// Whether the record holds all that was written, word by word.
pub(super) fn shows_texts(facts: &Facts<'_>, turn: usize) -> bool {
    shows(facts, turn, hides_texts)
}

fn shows(facts: &Facts<'_>, turn: usize, hides: fn(&ShellWork<'_>) -> bool) -> bool {
    facts.is_complete_before(turn)
        && facts.record().count_before(turn) <= LOOK_BACK
        && facts.deeds_before(turn).all(|(_, deed)| {
            let unknown = deed.shell.is_none()
                && deed.families.is_empty()
                && !(deed.is_note || deed.continues);
            !(deed.delegates || unknown || deed.shell.as_ref().is_some_and(hides))
        })
}

/// Whether a command may have written what its words do not show.
fn hides_texts(work: &ShellWork<'_>) -> bool {
    let edits = ["sed -i", "perl -", "patch", "apply", "merge", "generate", "codegen"];
    // Who stashes puts back what was there before; a build makes no sources, as a rule.
    let stashes = work.command.contains("git stash");
    let builds = work.runs.iter().any(|run| run.family == Family::Build);
    (work.opaque && !builds)
        || ((work.writes_unnamed || work.restores) && !stashes)
        || work.unpacks
        || !work.manifests.is_empty()
        || edits.iter().any(|word| work.command.contains(word))
}

/// Whether a command may have written files that its words do not name.
fn hides_files(work: &ShellWork<'_>) -> bool {
    let fixes = [" --fix", " -u", " --update", " --write", " -w ", "generate"];
    // `sed -i … a.rs` names what it writes.
    let named = work.command.contains("sed -i")
        && !work.written.is_empty()
        && !(work.writes_unnamed || work.opaque);
    (hides_texts(work) && !named) || fixes.iter().any(|flag| work.command.contains(flag))
}

/// Whether any call wrote a file.
pub(super) fn wrote(facts: &Facts<'_>, turn: usize) -> bool {
    facts.deeds_before(turn).any(|(_, deed)| !deed.written.is_empty())
}

/// Whether a file was written, or a command that says what changed speaks of it.
pub(super) fn may_be_written(facts: &Facts<'_>, turn: usize, file: &Object) -> bool {
    facts.deeds_before(turn).any(|(execution, deed)| {
        let tells = deed.shell.as_ref().is_some_and(|work| {
            work.command.contains("git ") && mentions(execution.text(), file)
                || !work.written.is_empty() && mentions(args(execution), file)
        });
        tells || deed.written.iter().any(|path| mentions(path, file))
    })
}

/// `makemigrations`: whether a command that may do anything printed one of these files as a line of
/// its own, as generators do of what they wrote.
pub(super) fn prints(facts: &Facts<'_>, turn: usize, files: &[&Object]) -> bool {
    facts.deeds_before(turn).take(LOOK_BACK).any(|(execution, deed)| {
        let opaque = deed.shell.as_ref().is_some_and(|work| work.opaque && !work.only_looks());
        let alone = |line: &str| line.split_whitespace().count() <= 2;
        let names = |line: &str| alone(line) && files.iter().any(|file| mentions(line, file));
        opaque && deed.status().succeeded() && execution.text().lines().any(names)
    })
}

/// Whether nothing that the agent read or wrote has a file of that name.
pub(super) fn is_unheard_file(facts: &Facts<'_>, turn: usize, file: &Object) -> bool {
    let name = file.text.rsplit('/').next().unwrap_or(&file.text);
    let name = name.split(':').next().unwrap_or(name);
    facts.shows_all_before(turn) && facts.source_of(name, turn, true).is_none()
}
