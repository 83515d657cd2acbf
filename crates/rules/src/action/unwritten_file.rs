//! Files that are said to be there or to be changed, and that every attempt to write failed: "the
//! test is in `tests/login_test.php`", "`a.md`: version updated".

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind};

use super::judge::{LOOK_BACK, args};
use super::objects::{mentions, objects_in};
use crate::facts::{Answer, Facts, Families};
use crate::prose::{Action, BlockKind, Clause, Mood, Prose, Tags, Token, Words};

/// So many files of one answer are looked up.
const MOST: usize = 32;

/// The claims that name such a file, each with the call that failed.
pub(crate) fn unwritten_files(facts: &Facts<'_>) -> Vec<(Claim, usize)> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let prose = &answer.prose;
        let mut deeds = facts.deeds_before(answer.turn).take(LOOK_BACK);
        if !deeds.any(|(_, deed)| !deed.written.is_empty() && !deed.status().succeeded()) {
            continue;
        }
        let files =
            prose.clauses.iter().filter(|clause| is_told(prose, clause)).flat_map(|clause| {
                let objects = objects_in(prose, clause.tokens.clone()).into_iter();
                let files = objects.filter(|thing| {
                    thing.kind == ObjectKind::Path
                        && thing.text.contains('.')
                        && !thing.text.contains('*')
                });
                files.map(move |file| (clause, file))
            });
        let failed = files.take(MOST).filter_map(|(clause, file)| {
            let changed = says_changed(prose, clause);
            let at = failed_write(facts, answer.turn, &file, changed)?;
            Some((claim(answer, clause, file), at))
        });
        found.extend(failed);
    }
    found
}

/// Whether a clause says that something is so, in a sentence that speaks of no trouble.
fn is_told(prose: &Prose<'_>, clause: &Clause) -> bool {
    const OPEN: &Words = words![
        "could",
        "tried",
        "attempt",
        "attempted",
        "denied",
        "refused",
        "rejected",
        "missing",
        "open",
        "blocked",
        "still",
        "remaining",
        "pending",
        "instead",
        "read-only",
        "writable",
        "owned",
        "permission",
    ];
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return false };
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::FAILURE);
    let doubt = doubt.or(Tags::TROUBLE).or(Tags::INTEND).or(Tags::ADVERSATIVE);
    let quoted = prose.block_of(sentence).is_some_and(|b| b.kind == BlockKind::Quote);
    let tokens = prose.tokens(sentence.tokens.clone());
    clause.mood == Mood::Asserted
        && !quoted
        // "a note about it"
        && !tokens.iter().any(|t| {
            (t.has(doubt) && !prose.is(t, words!["about"])) || prose.is(t, OPEN)
        })
        && !row_behind(prose, clause.sentence)
            .iter()
            .any(|t| t.has(doubt) || prose.is(t, OPEN) || is_error_code(prose.word(t)))
}

/// The tokens behind a cell, in its row.
fn row_behind<'p>(prose: &'p Prose<'_>, sentence: usize) -> &'p [Token] {
    let row = |at: usize| match prose.block_of(prose.sentences.get(at)?)?.kind {
        BlockKind::Cell { row, .. } => Some(row),
        _ => None,
    };
    let Some(here) = row(sentence) else { return &[] };
    let last = (sentence + 1..prose.sentences.len()).take_while(|at| row(*at) == Some(here)).last();
    let until = last.and_then(|at| prose.sentences.get(at)).map_or(0, |s| s.tokens.end);
    let from = prose.sentences.get(sentence).map_or(until, |s| s.tokens.end);
    prose.tokens(from..until.max(from))
}

/// `EACCES`
fn is_error_code(word: &str) -> bool {
    ["EACCES", "EPERM", "ENOENT", "EEXIST", "EROFS", "ENOSPC", "EISDIR", "EBUSY"].contains(&word)
}

/// Whether the sentence says that something was changed, or is so by now: "`a.md`: version updated",
/// "`a.md` now says so".
fn says_changed(prose: &Prose<'_>, clause: &Clause) -> bool {
    let sentence = prose.sentences.get(clause.sentence).map(|s| s.tokens.clone());
    let edits = Families::of(&[Family::Update, Family::Create, Family::Delete]);
    prose.tokens(sentence.unwrap_or_default()).iter().any(|t| {
        let done = matches!(t.verb, Some(Action::Of(family)) if edits.has(family));
        !t.quoted && (t.has(Tags::NOW) || (done && t.tags.any(Tags::COMPLETED)))
    })
}

/// The latest call that should have written a file, where all such failed and nothing of late that
/// worked speaks of the file. What is only to be edited is there, whether that failed or not.
fn failed_write(facts: &Facts<'_>, turn: usize, file: &Object, changed: bool) -> Option<usize> {
    let count = facts.record().count_before(turn);
    let mut failed = None;
    for at in (0..count).rev().take(LOOK_BACK) {
        let (execution, deed) = facts.deed(at)?;
        let worked = deed.status().succeeded();
        let speaks = || mentions(args(execution), file) || mentions(execution.text(), file);
        let writes =
            || deed.shell.is_some() || deed.written.iter().any(|path| mentions(path, file));
        // Who has read a file has not changed it.
        if worked && speaks() && (!changed || writes()) {
            return None;
        }
        let creates =
            changed || deed.words().iter().any(|word| matches!(word.as_str(), "write" | "create"));
        let wrote = creates && deed.written.iter().any(|path| mentions(path, file));
        if !worked && wrote && execution.outcome.is_some() {
            failed = failed.or(Some(at));
        }
        if deed.delegates || deed.opaque || deed.shell.as_ref().is_some_and(|w| w.writes_unnamed) {
            return None;
        }
    }
    failed
}

fn claim(answer: &Answer<'_>, clause: &Clause, file: Object) -> Claim {
    answer.prose.claim(clause, ClaimKind::Action(Family::Create), vec![file], answer.turn)
}
