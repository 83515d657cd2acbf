//! What an answer works out before everybody's eyes.

use std::cell::OnceCell;
use std::rc::Rc;

use super::figure::{Figure, each_figure};
use super::given::Given;
use super::worked_out::{is_gap, is_worked_out};
use crate::facts::{Answer, Facts};
use crate::prose::{TokenKind, sets};

/// The numbers of an answer, and those that it was given, once somebody asks for them.
pub(crate) struct Working<'f, 'a, 't, 'n> {
    facts: &'f Facts<'t>,
    answer: &'a Answer<'n>,
    numbers: OnceCell<Worked>,
}

/// The numbers of an answer, those of it and of what it was given that are per cent, and all that it
/// was given.
struct Worked {
    told: Vec<Figure>,
    percents: Vec<Figure>,
    given: Rc<Numbers>,
}

/// The numbers that an agent was given near a message.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Those that are per cent, as they come.
    percents: Vec<Figure>,
    /// All of them, each once, in order.
    all: Vec<Figure>,
}

impl Numbers {
    pub(super) fn of(given: &Given<'_>, turn: usize) -> Self {
        const REACH: usize = 16 * 1024;
        let mut numbers = Self::default();
        for given in given.near(turn, REACH) {
            percents_in(given.text, &mut numbers.percents);
            each_figure(given.text, |figure| numbers.all.push(figure));
        }
        numbers.all.sort_unstable();
        numbers.all.dedup();
        numbers
    }
}

impl<'f, 'a, 't, 'n> Working<'f, 'a, 't, 'n> {
    pub(crate) fn new(facts: &'f Facts<'t>, answer: &'a Answer<'n>) -> Self {
        Self { facts, answer, numbers: OnceCell::new() }
    }

    /// Whether the answer works the number out as a product or a share.
    pub(crate) fn gives(&self, figure: Figure) -> bool {
        let Worked { told, percents, given } = self.numbers();
        is_worked_out(figure, told, percents, &given.all)
    }

    /// Whether the number is the sum or the difference of two that the answer tells.
    pub(crate) fn bridges(&self, figure: Figure) -> bool {
        let Worked { told, given, .. } = self.numbers();
        is_gap(figure, told, &given.all)
    }

    fn numbers(&self) -> &Worked {
        self.numbers.get_or_init(|| {
            let given = self.facts.given().numbers(self.answer.turn);
            let (mut told, mut percents) = (Vec::new(), given.percents.clone());
            each_figure(self.answer.prose.text, |figure| told.push(figure));
            percents_in(self.answer.prose.text, &mut percents);
            for all in [&mut told, &mut percents] {
                all.sort_unstable();
                all.dedup();
            }
            Worked { told, percents, given }
        })
    }
}

/// The numbers of a text that are per cent: "25%", `"discount_percent": 25`.
fn percents_in(text: &str, found: &mut Vec<Figure>) {
    const REACH: usize = 16;
    for (at, _) in text.match_indices('%') {
        let from = text.floor_char_boundary(at.saturating_sub(8));
        let mut last = None;
        each_figure(text.get(from..at).unwrap_or_default(), |figure| last = Some(figure));
        found.extend(last);
    }
    for (at, name) in sets::SHARES.list.iter().flat_map(|name| text.match_indices(name)) {
        let from = at + name.len();
        let until = text.floor_char_boundary(text.len().min(from + REACH));
        found.extend(text.get(from..until).and_then(first_figure));
    }
}

/// The number that a text is, or begins with.
pub(crate) fn first_figure(text: &str) -> Option<Figure> {
    // A version or a day is no number.
    if text.matches('.').count() > 1 || text.matches('-').count() > 1 {
        return None;
    }
    let mut first = None;
    each_figure(text, |figure| first = first.or(Some(figure)));
    first
}

/// The first so many numbers that an answer says, each once.
pub(crate) fn numbers_of(answer: &Answer<'_>, most: usize) -> Vec<Figure> {
    let prose = &answer.prose;
    let numbers = prose.tokens.iter().filter(|t| {
        matches!(t.kind, TokenKind::Number | TokenKind::Money) && !prose.word(t).contains(':')
    });
    let mut found: Vec<Figure> =
        numbers.filter_map(|t| Figure::parse(prose.word(t))).take(most).collect();
    found.sort_unstable();
    found.dedup();
    found
}
