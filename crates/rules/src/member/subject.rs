//! Of which of several things a value is said.

use std::rc::Rc;

use super::said::Said;
use crate::prose::{Prose, Tags, Token, TokenKind};
use crate::values::{Leaf, Sheet};

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
    sheets: &[Rc<Sheet<'_>>],
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
        if let Some(objects) = objects_named(prose, sheets, token) {
            return Some(Subject { objects });
        }
    }
    None
}

/// Whether the sentence names, before a value, something that the results have: an order by its
/// id, a person. Without that, it may be about another thing.
pub(super) fn names_a_thing(prose: &Prose<'_>, sheets: &[Rc<Sheet<'_>>], said: &Said<'_>) -> bool {
    let from = said.from.max(said.token.saturating_sub(BEFORE));
    prose.tokens(from..said.token).iter().any(|token| {
        let word = prose.word(token).trim_start_matches('#').to_ascii_lowercase();
        sheets.iter().any(|sheet| sheet.names(&word))
    })
}

/// Whether a state is said of nothing but what a result is about: its kind (`order` for
/// `order_id`), a text in it that names something, or its state itself ("Status: shipped"). Much
/// else is pending or complete: the payment for an order, the check of it.
pub(super) fn is_about(prose: &Prose<'_>, sheet: &Sheet<'_>, said: &Said<'_>) -> bool {
    const SMALL: [&str; 9] =
        ["your", "the", "this", "that", "it", "marked", "listed", "shown", "as"];
    let kind = sheet.columns().iter().find_map(|column| {
        let (last, kind) = column.words.split_last()?;
        let numbers = matches!(last.as_str(), "id" | "number" | "no" | "code" | "ref");
        (numbers && !kind.is_empty()).then_some(kind)
    });
    let of_kind = |word: &str| kind.is_some_and(|kind| kind.iter().any(|known| known == word));
    let start = prose.clause_at(said.token).map_or(said.token, |clause| clause.tokens.start);
    let before = prose.tokens(start.min(said.token)..said.token);
    let states = |word: &str| matches!(word, "status" | "state");
    let mut named = said.labels.iter().any(|label| states(&label.to_ascii_lowercase()));
    let of_its_state = before.iter().any(|t| prose.is(t, &["status", "state"]));
    for token in before {
        let word = prose.word(token).trim_start_matches('#').to_ascii_lowercase();
        let small = Tags::BE.or(Tags::HAVE).or(Tags::ADVERB).or(Tags::NOW).or(Tags::DETERMINER);
        if of_kind(&word) || states(&word) || sheet.names(&word) {
            named = true;
        } else if !(matches!(token.kind, TokenKind::Symbol(_))
            || token.has(small)
            || prose.is(token, &SMALL)
            || (of_its_state && prose.is(token, &["of", "for"])))
        {
            return false;
        }
    }
    named
}

/// The objects that the text at a token names, where it names some and not all of its column.
fn objects_named(
    prose: &Prose<'_>,
    sheets: &[Rc<Sheet<'_>>],
    token: &Token,
) -> Option<Vec<(usize, usize)>> {
    let word = prose.word(token).trim_start_matches('#').to_ascii_lowercase();
    let start = token.end as usize - word.len();
    let text = prose.text.get(start..)?;
    let mut longest: Option<(&str, &str)> = None;
    for sheet in sheets {
        for (value, column) in sheet.beginning_with(&word) {
            let value = value.trim_start_matches('#');
            let head = text.get(..value.len()).filter(|head| head.eq_ignore_ascii_case(value));
            let ends = text.get(value.len()..).and_then(|rest| rest.chars().next());
            let whole = ends.is_none_or(|c| !c.is_alphanumeric() && c != '_');
            let longer = longest.is_none_or(|(known, _)| known.len() < value.len());
            if let Some(column) = sheet.columns().get(*column)
                && head.is_some()
                && whole
                && longer
            {
                longest = Some((value, column.name));
            }
        }
    }
    let (value, name) = longest?;
    let (mut objects, mut others) = (Vec::new(), false);
    for (sheet, columns) in sheets.iter().map(|sheet| sheet.columns()).enumerate() {
        let column = columns.iter().find(|column| column.name == name);
        for (object, leaf) in column.map(|column| column.cells.as_slice()).unwrap_or_default() {
            let Leaf::Text(text) = leaf else { continue };
            if text.trim_start_matches('#').eq_ignore_ascii_case(value) {
                objects.push((sheet, *object));
            } else {
                others = true;
            }
        }
    }
    objects.sort_unstable();
    others.then_some(objects)
}
