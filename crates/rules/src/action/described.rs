//! Changes that are told by what a thing is like now: "`a.rs` now checks it", "the branch is on
//! origin".

use counterfoil_model::{ClaimKind, Family, Object, ObjectKind};

use super::extract::ActionClaim;
use super::objects::objects_in;
use crate::prose::{BlockKind, Clause, Prose, Tags, Token, TokenKind, Words};

/// The claim of a clause that says what a file, a branch or a commit is like now, and not what was
/// done to it. `None` for one that says nothing of the kind.
pub(super) fn described(prose: &Prose<'_>, clause: &Clause, turn: usize) -> Option<ActionClaim> {
    // Each of the three has one of them.
    if !clause.may_hold(words!["now", "on", "up", "commit"]) {
        return None;
    }
    let sentence = prose.sentences.get(clause.sentence)?;
    let quoted = prose.block_of(sentence).is_some_and(|block| block.kind == BlockKind::Quote);
    let tokens = prose.tokens(clause.tokens.clone());
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::USER).or(Tags::THIRD);
    let doubt = doubt.or(Tags::FAILURE).or(Tags::TROUBLE);
    let open =
        clause.tags.any(doubt) && tokens.iter().any(|t| t.has(doubt) && !t.has(Tags::RELATIVE));
    if quoted || open {
        return None;
    }
    let (family, verb, patients) = changed_file(prose, clause, tokens)
        .map(|file| (Family::Update, "changed", vec![file]))
        .or_else(|| is_pushed(prose, tokens).then(|| (Family::Push, "pushed", Vec::new())))
        .or_else(|| is_committed(prose, tokens).then(|| (Family::Commit, "made", Vec::new())))?;
    Some(ActionClaim {
        claim: prose.claim(clause, ClaimKind::Action(family), patients.clone(), turn),
        family,
        verb: verb.to_owned(),
        stem: None,
        patients,
        things: Vec::new(),
        listed: Vec::new(),
        direct: false,
        weak: false,
        state: true,
        textual: false,
        of_others: false,
        as_found: true,
        paraphrased: false,
    })
}

/// "`a.rs` now builds it": the file that is the subject of what is so since lately.
fn changed_file(prose: &Prose<'_>, clause: &Clause, tokens: &[Token]) -> Option<Object> {
    // What is still to be done, or goes on as it was.
    const OPEN: &Words = words![
        "needs", "need", "requires", "lacks", "misses", "still", "remains", "again", "fails",
        "breaks", "differs", "looks", "seems", "only",
    ];
    let lead = Tags::COORDINATE.or(Tags::ADVERB);
    let first = tokens.iter().position(|t| {
        !(t.has(lead) || matches!(t.kind, TokenKind::Symbol(_)) || prose.is(t, words!["in"]))
    })?;
    let subject = clause.tokens.start + first;
    let file = objects_in(prose, subject..subject + 1).into_iter().next()?;
    let inside = first.checked_sub(1).and_then(|at| tokens.get(at));
    let inside = inside.is_some_and(|t| prose.is(t, words!["in"]));
    let behind = tokens.get(first + 1..)?;
    let now = behind.iter().position(|t| !t.quoted && prose.is(t, words!["now"]))?;
    let next = behind.get(now + 1);
    let acts = next.is_some_and(|t| t.has(Tags::THIRD_PERSON) && !t.has(Tags::BE));
    let named = file.kind == ObjectKind::Path && file.text.contains('.');
    let plain = !behind.iter().any(|t| !t.quoted && prose.is(t, OPEN));
    (named && plain && (now == 0 || inside) && (acts || inside)).then_some(file)
}

/// "The commit is in place."
fn is_committed(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let words: Vec<&Token> = tokens.iter().filter(|t| t.kind == TokenKind::Word).collect();
    let [the, commit, is, placed @ ..] = words.as_slice() else { return false };
    let place = match placed {
        [one] => prose.is(one, words!["done", "made"]),
        [first, second] => prose.is(first, words!["in"]) && prose.is(second, words!["place"]),
        _ => false,
    };
    the.has(Tags::DETERMINER)
        && prose.is(commit, words!["commit"])
        && prose.is(is, words!["is"])
        && place
}

/// "The branch is on origin now": of commits, wherever the remote is.
fn is_pushed(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    const REMOTES: &Words = words!["origin", "remote", "github", "gitlab", "bitbucket", "upstream"];
    const WORK: &Words = words!["branch", "commit", "commits", "tag", "change", "changes"];
    let Some(on) = tokens.windows(2).position(|pair| {
        let [is, on] = pair else { return false };
        is.has(Tags::BE) && !is.has(Tags::PAST_BE) && !is.quoted && prose.is(on, words!["on", "up"])
    }) else {
        return false;
    };
    let subject = tokens.get(..on).unwrap_or_default();
    let mut place = tokens.get(on + 2..).unwrap_or_default().iter();
    let place = place.find(|t| !t.has(Tags::DETERMINER) && !prose.is(t, words!["on", "now"]));
    let first = subject.iter().find(|t| !t.has(Tags::COORDINATE.or(Tags::DETERMINER)));
    let up = tokens.get(on + 1).is_some_and(|t| prose.is(t, words!["up"]));
    let branch = up && place.is_some_and(|t| t.kind == TokenKind::Code);
    let id = |t: &Token| t.kind == TokenKind::Id && prose.word(t).len() >= 7;
    (branch || place.is_some_and(|t| prose.is(t, REMOTES)))
        && first.is_some_and(|t| prose.is(t, WORK) || id(t))
}
