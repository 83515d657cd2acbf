//! Of which of several things a value is said.

use super::near::{Member, Members};
use super::said::Said;
use crate::prose::{Prose, Tags, Token, TokenKind, Words};
use crate::values::Leaf;

/// So many tokens before a value are looked through for a name.
const BEFORE: usize = 24;

/// The objects that a value is said of.
#[derive(Debug)]
pub(super) struct Subject {
    /// By result and place in it, ascending.
    objects: Vec<(usize, usize)>,
}

impl Subject {
    /// Whether an object is one of them.
    pub(super) fn has(&self, object: (usize, usize)) -> bool {
        self.objects.binary_search(&object).is_ok()
    }
}

/// The objects that the last name before a value belongs to, where the results have others.
pub(super) fn subject(
    prose: &Prose<'_>,
    members: &Members<'_>,
    said: &Said<'_>,
) -> Option<Subject> {
    let from = said.from.max(said.token.saturating_sub(BEFORE));
    let before = prose.tokens(from..said.token);
    for (at, token) in before.iter().enumerate().rev() {
        let article = at.checked_sub(1).and_then(|i| before.get(i));
        let named = token.capital
            || article.is_some_and(|t| t.has(Tags::DETERMINER))
            || matches!(token.kind, TokenKind::Id | TokenKind::Number | TokenKind::Identifier);
        if !named || token.quoted {
            continue;
        }
        if let Some(objects) = objects_named(prose, members, token) {
            return Some(Subject { objects });
        }
    }
    None
}

/// The results that are about what a state is said of, and about nothing else: named by its kind
/// (`order` for `order_id`), a text in it, or its state itself ("Status: shipped"). Much else is
/// pending or complete: the payment for an order, the check of it.
pub(super) fn is_about<'m>(
    prose: &Prose<'_>,
    members: &'m Members<'_>,
    said: &Said<'_>,
) -> impl Fn(usize) -> bool + use<'m> {
    const SMALL: &Words =
        words!["your", "the", "this", "that", "it", "marked", "listed", "shown", "as"];
    let states = |word: &str| matches!(word, "status" | "state");
    let start = prose.clause_at(said.token).map_or(said.token, |clause| clause.tokens.start);
    let before = prose.tokens(start.min(said.token)..said.token);
    let of_its_state = before.iter().any(|t| prose.is(t, words!["status", "state"]));
    let labelled = said.labels.iter().any(|label| states(&label.to_ascii_lowercase()));
    let small = Tags::BE.or(Tags::HAVE).or(Tags::ADVERB).or(Tags::NOW).or(Tags::DETERMINER);
    // Each word, the results that it names something of, and whether it may stand there anyway.
    let words: Vec<(String, Vec<usize>, bool)> = before
        .iter()
        .filter(|token| !matches!(token.kind, TokenKind::Symbol(_)))
        .map(|token| {
            let word = name(prose, token);
            let mut results: Vec<usize> = members.naming(&word).collect();
            results.sort_unstable();
            let small = token.has(small)
                || prose.is(token, SMALL)
                || (of_its_state && prose.is(token, words!["of", "for"]));
            (word, results, small)
        })
        .collect();
    move |result| {
        let kind = members.kind(result);
        let mut named = labelled;
        words.iter().all(|(word, results, small)| {
            let names =
                kind.contains(word) || states(word) || results.binary_search(&result).is_ok();
            named |= names;
            names || *small
        }) && named
    }
}

/// A token as a name of the record is kept.
fn name(prose: &Prose<'_>, token: &Token) -> String {
    prose.word(token).trim_start_matches('#').to_ascii_lowercase()
}

/// The objects that the text at a token names, where it names some and not all of its member.
fn objects_named(
    prose: &Prose<'_>,
    members: &Members<'_>,
    token: &Token,
) -> Option<Vec<(usize, usize)>> {
    let word = name(prose, token);
    let start = token.end as usize - word.len();
    let text = prose.text.get(start..)?;
    let mut longest: Option<(&str, &Member<'_>)> = None;
    for (value, member) in members.beginning_with(&word) {
        let value = value.trim_start_matches('#');
        let head = text.get(..value.len()).filter(|head| head.eq_ignore_ascii_case(value));
        let ends = text.get(value.len()..).and_then(|rest| rest.chars().next());
        let whole = ends.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let longer = longest.is_none_or(|(known, _)| known.len() < value.len());
        if head.is_some() && whole && longer {
            longest = Some((value, member));
        }
    }
    let (value, member) = longest?;
    let (mut objects, mut others) = (Vec::new(), false);
    for cell in &member.cells {
        let Leaf::Text(text) = cell.leaf else { continue };
        if text.trim_start_matches('#').eq_ignore_ascii_case(value) {
            objects.push((cell.result, cell.object));
        } else {
            others = true;
        }
    }
    objects.sort_unstable();
    others.then_some(objects)
}
