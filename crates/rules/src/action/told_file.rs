//! Work that is told by the file in which it is said to stand: "The fix is in `a.rs`",
//! "`b_test.rs` (new) – …", "`c.rs` now has a `take`".

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind};

use super::objects::objects_in;
use super::unedited::{edited_nothing, is_report};
use super::writing::{is_unheard_file, may_be_written, shows_files, wrote};
use crate::facts::Facts;
use crate::prose::{
    BlockKind, Clause, Kinds, Mood, Prose, Tags, Token, TokenKind, Words, has_file_extension,
    is_agenda,
};

/// What is said of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// What was done stands in it: it must have been written.
    Work,
    /// It is there, or holds something: something on record must have its name.
    There,
}

/// The claims, each with the file as its object, and what is missing.
pub(crate) fn told_files(facts: &Facts<'_>) -> Vec<(Claim, &'static str)> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let (prose, turn) = (&answer.prose, answer.turn);
        let told = prose.clauses.iter().filter_map(|clause| Some((clause, told(prose, clause)?)));
        let told: Vec<(&Clause, (Object, Told))> = told.collect();
        if told.is_empty() || !shows_files(facts, turn) {
            continue;
        }
        let told_only = || edited_nothing(facts, turn) && is_report(prose);
        if !(wrote(facts, turn) || told_only()) {
            continue;
        }
        for (clause, (file, told)) in told {
            let missing = match told {
                Told::Work if !may_be_written(facts, turn, &file) => "no call wrote",
                Told::There if !file.text.contains('/') && is_unheard_file(facts, turn, &file) => {
                    "nothing on record has"
                }
                _ => continue,
            };
            let kind = ClaimKind::Action(Family::Update);
            found.push((prose.claim(clause, kind, vec![file], turn), missing));
        }
    }
    found
}

fn told(prose: &Prose<'_>, clause: &Clause) -> Option<(Object, Told)> {
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::INTEND);
    let doubt = doubt.or(Tags::EARLIER).or(Tags::USER).or(Tags::USER_OWN).or(Tags::THIRD);
    if !clause.kinds.any(Kinds::PATH.or(Kinds::CODE).or(Kinds::IDENTIFIER)) {
        return None;
    }
    let block = prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s))?;
    if clause.mood != Mood::Asserted || clause.tags.any(doubt) || block.kind == BlockKind::Quote {
        return None;
    }
    let from = clause.tokens.start;
    let tokens = prose.tokens(clause.tokens.clone());
    let at = tokens.iter().position(|t| is_file(prose, t))?;
    if is_agenda(prose, clause) {
        return None;
    }
    let file = objects_in(prose, from + at..from + at + 1).pop()?;
    if file.kind != ObjectKind::Path {
        return None;
    }
    let before = tokens.get(..at).unwrap_or_default();
    let behind = tokens.get(at + 1..).unwrap_or_default();
    let sentence = prose.sentences.get(clause.sentence)?.tokens.clone();
    let rest = prose.tokens(from + at + 1..sentence.end);
    let told = if is_place_of_work(prose, before) {
        Told::Work
    } else if is_new(prose, before, rest) || is_described(prose, clause, before, behind) {
        Told::There
    } else {
        return None;
    };
    Some((file, told))
}

/// `client_test.go`, `src/a.rs:84`: a file by its name.
fn is_file(prose: &Prose<'_>, token: &Token) -> bool {
    let code = matches!(token.kind, TokenKind::Path | TokenKind::Code | TokenKind::Identifier);
    if !code || token.quoted {
        return false;
    }
    let text = prose.word(token);
    let name = text.split(':').next().unwrap_or(text);
    has_file_extension(name) && !name.contains(['*', '{', '<', ' ', '(', '$', '…'])
}

/// "The fix is on line 84 of", "All changes are in", "The patch adds a check at": what stands before
/// the file in which work is said to be.
fn is_place_of_work(prose: &Prose<'_>, before: &[Token]) -> bool {
    let works =
        words!["fix", "change", "changes", "patch", "correction", "edit", "edits", "bugfix"];
    let places = words!["is", "are", "lives", "sits", "adds", "touches", "goes", "removes"];
    let led =
        |t: &Token| t.has(Tags::DETERMINER.or(Tags::AGENT_OWN)) || prose.is(t, words!["only"]);
    let Some(work) = before.iter().take(4).position(|t| !t.quoted && prose.is(t, works)) else {
        return false;
    };
    let lead = before.get(..work).unwrap_or_default();
    let rest = before.get(work + 1..).unwrap_or_default();
    let small = |t: &&Token| t.has(Tags::ADVERB.or(Tags::NOW)) || prose.is(t, words!["itself"]);
    let mut rest = rest.iter().skip_while(small);
    let placed = rest.next().is_some_and(|t| prose.is(t, places));
    // "The fix is to change …" is one that nobody made.
    let advice = rest.next().is_some_and(|t| prose.is(t, words!["to"]));
    let inside = before.last().is_some_and(|t| prose.is(t, words!["in", "at", "of", "to"]));
    !lead.is_empty() && lead.iter().all(led) && placed && !advice && inside
}

/// "(new)" behind a file, "a new test in", "the new file".
fn is_new(prose: &Prose<'_>, before: &[Token], behind: &[Token]) -> bool {
    let word = |tokens: &[Token], at: usize, known: &Words| {
        tokens.get(at).is_some_and(|t| prose.is(t, known))
    };
    let mark = behind.iter().position(|t| t.is('(')).filter(|at| *at <= 1);
    let noted = mark.is_some_and(|at| {
        word(behind, at + 1, words!["new"]) && behind.get(at + 2).is_some_and(|t| t.is(')'))
    });
    let inside = before.last().is_some_and(|t| prose.is(t, words!["in"]));
    let new = before.windows(2).any(|pair| {
        let [article, new] = pair else { return false };
        article.has(Tags::DETERMINER) && prose.is(new, words!["new"])
    });
    noted || (inside && new)
}

/// "`c.rs` now has a `take`", "The limit is now defined in", "`c_test.rs` covers this", "The test
/// lives in": what says that a file is there.
fn is_described(prose: &Prose<'_>, clause: &Clause, before: &[Token], behind: &[Token]) -> bool {
    let verbs = words![
        "has",
        "contains",
        "covers",
        "holds",
        "tests",
        "exercises",
        "exports",
        "uses",
        "calls",
        "imports",
        "handles",
    ];
    let verb = |t: &Token| t.verb.is_some() || t.has(Tags::HAVE.or(Tags::BE)) || prose.is(t, verbs);
    let subject = before.iter().all(|t| matches!(t.kind, TokenKind::Symbol(_)));
    let mut rest = behind.iter().skip_while(|t| t.has(Tags::ADVERB.or(Tags::NOW)));
    let now = clause.tags.any(Tags::NOW);
    let next = rest.next();
    // "still has to include it"
    let open = rest.next().is_some_and(|t| prose.is(t, words!["to"]));
    let holds = subject && !open && next.is_some_and(|t| prose.is(t, verbs) || (now && verb(t)));
    let inside = before.last().is_some_and(|t| prose.is(t, words!["in"]));
    let lives = before.iter().rev().nth(1).is_some_and(|t| prose.is(t, words!["lives", "sits"]));
    holds || (inside && (lives || now))
}
