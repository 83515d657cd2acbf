//! What was done in another way than the call that failed, or that the verb asks for.

use counterfoil_model::{Family, Object, ObjectKind};

use super::extract::ActionClaim;
use super::judge::ActionVerdict;
use super::objects::mentions;
use crate::facts::{Deed, Execution, Facts, Families, ShellWork, words_of};
use crate::prose::sets;

/// How many of the latest executions are looked at.
const LOOK_BACK: usize = 200;

/// What speaks for a claim among the executions from place `since` on, though none of them is of its kind:
/// a call named as the way in which it was done, a comment that informed somebody, a fixer that may have
/// written the files.
pub(super) fn done_otherwise(
    facts: &Facts<'_>,
    said: &ActionClaim,
    since: usize,
) -> Option<ActionVerdict> {
    let edits = matches!(said.family, Family::Create | Family::Update | Family::Delete);
    let files = edits && said.claim.objects.iter().any(|o| o.kind == ObjectKind::Path);
    let words = words_in(&said.claim.text);
    let count = facts.record().count_before(said.claim.turn);
    let recent = (since..count).rev().take(LOOK_BACK);
    recent.filter_map(|at| Some((at, facts.deed(at)?.1))).find_map(|(at, deed)| {
        let repairs = |work: &ShellWork<'_>| {
            ["--fix", "--write"].iter().any(|flag| work.command.contains(flag))
        };
        // A fixer changes what it can, and fails for the rest.
        if files && deed.shell.as_ref().is_some_and(repairs) {
            return Some(ActionVerdict::NotCheckable);
        }
        if !deed.status().succeeded() {
            return None;
        }
        if tells(said) && comments(deed) {
            return Some(ActionVerdict::Possible(at));
        }
        let way = deed.changes() && !deed.is_note && is_manner(&words, &deed.tool);
        way.then_some(ActionVerdict::NotCheckable)
    })
}

/// Whether a command line after a failed edit may have written the files.
pub(super) fn may_be_written(facts: &Facts<'_>, said: &ActionClaim, since: usize) -> bool {
    let edits = matches!(said.family, Family::Create | Family::Update | Family::Delete);
    let named = said.claim.objects.iter().any(|o| o.kind == ObjectKind::Path);
    let writes = |work: &ShellWork<'_>| work.opaque || work.writes_unnamed;
    let count = facts.record().count_before(said.claim.turn);
    let mut later = (since..count).rev().take(LOOK_BACK).filter_map(|at| facts.deed(at));
    edits
        && named
        && later
            .any(|(_, deed)| deed.status().succeeded() && deed.shell.as_ref().is_some_and(writes))
}

/// `sed -i … a.rs && cargo build`, where the build failed: the file was written before.
fn was_before_run(work: &ShellWork<'_>, said: &str, ids: &[&Object]) -> bool {
    // What stands in quotation marks is for the program.
    let mut bare = work.command.split(['\'', '"']).step_by(2);
    if bare.any(|part| part.contains([';', '\n', '|'])) {
        return false;
    }
    let Some(run) = work.runs.first() else { return false };
    let Some(program) = run.names.split(' ').next() else { return false };
    let refused = ["sed: ", "bash: ", "sh: ", "cp: ", "mv: ", "rm: ", "perl: ", "tee: ", "cat: "];
    if said.trim().is_empty() || refused.iter().any(|word| said.trim_start().starts_with(word)) {
        return false;
    }
    let before = work.command.split("&&").take_while(|part| !part.contains(program));
    let parts: Vec<&str> = before.collect();
    ids.iter().all(|id| parts.iter().any(|part| mentions(part, id)))
}

/// Whether a command that failed did its work on the things all the same: what it said speaks of
/// others only. `rm a b`, where there was no `b`.
pub(super) fn spares(execution: &Execution<'_>, deed: &Deed<'_>, ids: &[&Object]) -> bool {
    let before = |work| was_before_run(work, execution.text(), ids);
    if !ids.is_empty() && deed.shell.as_ref().is_some_and(before) {
        return true;
    }
    let single = |command: &str| !command.contains(['\n', ';']) && !command.contains("&&");
    if ids.is_empty() || !deed.shell.as_ref().is_some_and(|work| single(&work.command)) {
        return false;
    }
    let said = execution.text();
    let own = |path: &String| ids.iter().any(|id| mentions(path, id));
    let name = |path: &String| path.rsplit('/').next().is_some_and(|name| said.contains(name));
    deed.written.iter().any(|path| !own(path) && name(path))
        && ids.iter().all(|id| id.kind == ObjectKind::Path && !mentions(said, id))
}

/// Whether the claim is that somebody was told something, by whatever means.
fn tells(said: &ActionClaim) -> bool {
    said.family == Family::Send && sets::SAYS_TO.list.contains(&said.verb.as_str())
}

/// Whether the deed left words for others where a thing is kept: a comment on a ticket.
fn comments(deed: &Deed<'_>) -> bool {
    let made = Families::of(&[Family::Create, Family::Update, Family::Deploy]);
    deed.families.meets(made)
        && deed.words().iter().any(|w| sets::COMMENTS.list.contains(&w.as_str()))
}

/// Words that lead to how something was done.
const WAYS: [&str; 6] = ["in", "as", "via", "through", "with", "using"];

/// Whether the words say that it was done with what a tool is named after: "in store credit" with
/// `issue_store_credit`, "via a comment" with `add_comment`.
fn is_manner(words: &[String], tool: &str) -> bool {
    let tool = words_of(tool);
    let led = |at: usize| {
        let before = words.get(at.saturating_sub(3)..at).unwrap_or_default();
        before.iter().any(|word| WAYS.contains(&word.as_str()))
    };
    // The first word is the verb; what is done to a thing is not done with it.
    let mut nouns = tool.iter().skip(1).filter(|noun| noun.len() > 3).peekable();
    let said = |noun: &String| words.iter().enumerate().any(|(at, word)| word == noun && led(at));
    nouns.peek().is_some() && nouns.all(said)
}

fn words_in(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}
