//! Work that is told as it is by now, where nothing at all was edited: "Done. `take` now returns an
//! error."

use counterfoil_model::{Claim, ClaimKind, Family};

use super::asked::asks_for_work;
use super::writing::{shows_files, wrote};
use crate::facts::{Answer, Facts, Families};
use crate::prose::{BlockKind, Clause, Mood, Prose, Tags, Token, TokenKind, is_agenda};

/// The first such claim of each answer.
pub(crate) fn unedited(facts: &Facts<'_>) -> Vec<Claim> {
    let claim = |answer: &Answer<'_>| {
        let (prose, turn) = (&answer.prose, answer.turn);
        let mut now = prose.clauses.iter().filter(|clause| clause.tags.any(Tags::NOW));
        let clause = now.find(|clause| is_work(prose, clause))?;
        if !prose.clauses.iter().any(|clause| is_end(prose, clause)) {
            return None;
        }
        if !edited_nothing(facts, turn) || !is_report(prose) {
            return None;
        }
        Some(prose.claim(clause, ClaimKind::Action(Family::Update), Vec::new(), turn))
    };
    facts.answers().iter().filter_map(claim).collect()
}

/// Whether the user asked for something to be done, the record shows that nothing was changed, and
/// nobody looked at changes of others.
pub(super) fn edited_nothing(facts: &Facts<'_>, turn: usize) -> bool {
    const HISTORY: [&str; 7] =
        ["diff", "git show", "git log", "git blame", "gh ", "glab ", "patch"];
    if !shows_files(facts, turn) || wrote(facts, turn) || !asks_for_work(facts, turn) {
        return false;
    }
    let (mut read, mut changed) = (false, false);
    for (_, deed) in facts.deeds_before(turn) {
        read |= deed.families.meets(Families::of(&[Family::Read, Family::Search]));
        let work = deed.shell.as_ref();
        changed |= work.is_some_and(|work| HISTORY.iter().any(|word| work.command.contains(word)));
        changed |= deed.changes() && !work.is_some_and(|work| work.only_formats());
    }
    read && !changed && facts.shows_all_before(turn)
}

/// Whether an answer only tells, and neither asks, offers nor advises anything.
pub(super) fn is_report(prose: &Prose<'_>) -> bool {
    let advises = |t: &Token| {
        !t.quoted
            && prose.is(t, words!["should", "could", "would", "want", "shall", "need", "already"])
    };
    !prose.sentences.iter().any(|sentence| sentence.question) && !prose.tokens.iter().any(advises)
}

/// "Done.", "All done!", "**Fix:**"
fn is_end(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    let words = || tokens.iter().filter(|t| t.kind == TokenKind::Word);
    let done = words().any(|t| prose.is(t, words!["done", "fixed", "implemented", "finished"]));
    let doubt = Tags::NEGATION.or(Tags::MODAL).or(Tags::HEDGE).or(Tags::INTEND).or(Tags::USER);
    let label = tokens.iter().position(|t| prose.is(t, words!["fix"]));
    let label = label.is_some_and(|at| at == 0 && tokens.get(1).is_some_and(|t| t.is(':')));
    clause.mood == Mood::Asserted
        && (label || (done && words().count() <= 3))
        && !clause.tags.any(doubt)
        && !is_agenda(prose, clause)
}

/// "`take` now returns an error", "the `enable` command will now show": code as it is by now.
fn is_work(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    let doubt = Tags::NEGATION.or(Tags::HEDGE).or(Tags::INTEND).or(Tags::USER).or(Tags::AGENT);
    let doubt = doubt.or(Tags::PASSING).or(Tags::CONDITIONAL);
    let block = prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s));
    // "will now"
    let modal = tokens.iter().any(|t| t.has(Tags::MODAL) && !prose.is(t, words!["will"]));
    let code =
        |t: &Token| matches!(t.kind, TokenKind::Code | TokenKind::Identifier | TokenKind::Path);
    clause.mood == Mood::Asserted
        && block.is_none_or(|b| b.kind != BlockKind::Quote)
        && !clause.tags.any(doubt)
        && !modal
        && tokens.iter().any(code)
        && !is_agenda(prose, clause)
}
