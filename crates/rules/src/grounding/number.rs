//! Numbers of an answer that stand nowhere in the session and follow from nothing in it.

use std::borrow::Cow;

use super::known::{MOST, Numbers};
use super::sums::{has_within, sort};
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, Prose, Token, TokenKind, sets};
use crate::values::whole;

/// What everybody knows: so many days, weeks and hours there are, and so many per cent.
const EVERYWHERE: [f64; 8] = [7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0];

/// A number of an answer.
pub(super) struct Told<'p> {
    pub(super) text: &'p str,
    pub(super) value: f64,
    /// So many digits stand behind its point.
    pub(super) decimals: usize,
    pub(super) percent: bool,
    /// The word behind it.
    pub(super) unit: String,
    /// From the least to the most that it may be as it is written.
    pub(super) span: (f64, f64),
    /// It is an amount of money.
    is_money: bool,
    /// The paragraph, item or cell that it stands in.
    block: Option<usize>,
}

/// The numbers of an answer that the session has, or that follow from what it has, in their order;
/// `None`: they are so many that everything follows from something.
fn explained(known: &Numbers, told: &[Told<'_>]) -> Option<Vec<f64>> {
    let known_to_all = |told: &Told<'_>| EVERYWHERE.contains(&told.value) && !told.is_plural();
    let is_known = |told: &&Told<'_>| known.has(told) || known_to_all(told);
    let mut explained: Vec<f64> = told.iter().filter(is_known).map(|told| told.value).collect();
    sort(&mut explained);
    // What follows from a number that is explained is explained.
    for round in 0..3 {
        if explained.len() > MOST {
            return None;
        }
        let more: Vec<f64> = told
            .iter()
            .filter(|told| !has_within(&explained, (told.value, told.value)))
            .filter(|told| known.gives(told, &explained) || round == 0 && known.gives_alone(told))
            .map(|told| told.value)
            .collect();
        if more.is_empty() {
            break;
        }
        explained.extend(more);
        sort(&mut explained);
    }
    Some(explained)
}

/// Whether an amount follows from what the answer tells and the session has in two steps: a product of
/// the two, and one more or less. A whole amount is that of something by chance: it has to follow from
/// what the answer itself tells, to the last digit.
pub(crate) fn follows(facts: &Facts<'_>, answer: &Answer<'_>, amount: &str) -> bool {
    const MOST_TOLD: usize = 24;
    const MOST_KNOWN: usize = 48;
    let prose = &answer.prose;
    // Asked for every amount: the rest of a long answer is not read again for each.
    let told: Vec<Told<'_>> = all_told(prose).take(MOST_TOLD + 1).collect();
    let before = facts.before(answer.turn);
    let known = before.numbers.get_or_init(|| Numbers::of(facts, answer.turn));
    let Some(wanted) = told.iter().find(|told| told.text == amount) else { return false };
    if known.numbers.len() > MOST_KNOWN || told.len() > MOST_TOLD {
        return false;
    }
    let Some(explained) = explained(known, &told) else { return false };
    if wanted.decimals == 0 {
        return follows_exactly(wanted, &told, &explained);
    }
    let more = || explained.iter().chain([&0.0]);
    let is = |value: f64| wanted.is(value);
    explained.iter().any(|one| {
        known.numbers.iter().chain(&explained).any(|two| {
            let product = one * two;
            more().any(|three| {
                [product, product / 100.0].iter().any(|p| is(p + three) || is((p - three).abs()))
            })
        })
    })
}

/// Whether a whole amount is a product or a quotient of two numbers that the answer tells, or the sum
/// of the amounts that stand in a row before it or behind it.
fn follows_exactly(wanted: &Told<'_>, told: &[Told<'_>], explained: &[f64]) -> bool {
    let exact = |value: f64| (value - wanted.value).abs() < 1e-6;
    let others = || explained.iter().filter(|value| **value > 1.0 && !exact(**value));
    let gives = |one: &f64| others().any(|two| exact(one * two) || exact(one / two));
    if others().any(gives) {
        return true;
    }
    let amounts = || told.iter().filter(|told| told.is_money && !exact(told.value));
    // "28 at £4.50: £126": what an item comes to stands last in it.
    let all: Vec<&Told<'_>> = amounts().collect();
    let items = all.chunk_by(|one, other| one.block == other.block);
    let items: Vec<f64> = items.filter_map(|item| Some(item.last()?.value)).collect();
    let all: Vec<f64> = all.iter().map(|told| told.value).collect();
    [all, items].iter().any(|row| has_sum_in_a_row(row, exact))
}

/// Whether some of the values that stand beside each other come to what is wanted.
fn has_sum_in_a_row(values: &[f64], is_wanted: impl Fn(f64) -> bool) -> bool {
    (0..values.len()).any(|from| {
        let mut row = values.iter().skip(from);
        let mut sum = row.next().copied().unwrap_or_default();
        row.any(|value| {
            sum += value;
            is_wanted(sum)
        })
    })
}

impl Told<'_> {
    pub(super) fn is_plural(&self) -> bool {
        let plural = self.unit.len() > 3 && self.unit.ends_with('s') && !self.unit.ends_with("ss");
        let measure = [&sets::MEASURES, &sets::SPANS, &sets::UNITS]
            .iter()
            .any(|set| set.list.contains(&self.unit.as_str()));
        plural && !measure
    }

    /// Whether a number is this one as it is written here.
    pub(super) fn is(&self, other: f64) -> bool {
        (self.span.0..=self.span.1).contains(&other)
    }
}

/// From the least to the most that a number may be of which so many decimals are told.
fn span(value: f64, decimals: usize, rough: bool) -> (f64, f64) {
    if rough {
        let near = value * 0.05;
        return ((value - near).min(value.trunc()), (value + near).max(value.trunc() + 1.0 - 1e-9));
    }
    let near = 10_f64.powi(-i32::try_from(decimals).unwrap_or(0)) * 0.500_001;
    (value - near, value + near)
}

/// Every number of an answer, in order.
fn all_told<'p>(prose: &'p Prose<'_>) -> impl Iterator<Item = Told<'p>> {
    prose.clauses.iter().flat_map(move |clause| told_in(prose, clause))
}

fn told_in<'p>(prose: &'p Prose<'_>, clause: &'p Clause) -> Vec<Told<'p>> {
    let tokens = prose.tokens(clause.tokens.clone());
    let read = |(at, token): (usize, &Token)| {
        let text = prose.word(token);
        let (value, decimals) = match token.kind {
            TokenKind::Number | TokenKind::Money => number(text)?,
            TokenKind::Word => (whole(text).map(|n| n as f64)?, 0),
            _ => return None,
        };
        let next = tokens.get(at + 1).map(|next| prose.word(next).to_lowercase());
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        // "about CHF 1,400"
        let currency = before.is_some_and(|t| prose.word(t).chars().all(char::is_uppercase));
        let earlier = at.checked_sub(2).and_then(|at| tokens.get(at)).filter(|_| currency);
        let is_rough = |t: &Token| prose.is_rough(t) || prose.is(t, &sets::ROUGHLY);
        let rough = before.into_iter().chain(earlier).any(is_rough);
        let unit = next.unwrap_or_default();
        let percent = text.ends_with('%') || unit == "%" || unit == "percent";
        let is_money = token.kind == TokenKind::Money;
        let block = prose.sentences.get(clause.sentence).map(|sentence| sentence.block);
        let span = span(value, decimals, rough);
        Some(Told { text, value, decimals, percent, unit, span, is_money, block })
    };
    tokens.iter().enumerate().filter_map(read).collect()
}

/// Whether a mark stands between words, in JSON as in a text.
pub(super) fn is_mark(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '{'
            | '}'
            | '['
            | ']'
            | '('
            | ')'
            | ':'
            | ';'
            | '='
            | '|'
            | '<'
            | '>'
            | '~'
            | '/'
    )
}

/// A number with its decimals: `1,204`, `17.5`, `85%`, `$324K`, `412kB`.
pub(super) fn number(text: &str) -> Option<(f64, usize)> {
    const LONGEST_UNIT: usize = 4;
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let sign = |c: char| !c.is_alphanumeric();
    let text = text.trim_start_matches(sign);
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let text = text.trim_end_matches(sign);
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default();
    if unit.chars().count() > LONGEST_UNIT {
        return None;
    }
    let (value, decimals) = plain_number(digits)?;
    let scale = match unit {
        "k" | "K" => 1e3,
        "M" | "m" => 1e6,
        "B" | "bn" => 1e9,
        _ => 1.0,
    };
    Some((value * scale, if scale > 1.0 { 0 } else { decimals }))
}

fn plain_number(plain: &str) -> Option<(f64, usize)> {
    if plain.contains(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))) {
        return None;
    }
    let grouped = || plain.split(',').skip(1).all(|group| group.len() >= 3);
    let plain = match plain.contains(',') {
        true => Cow::Owned(plain.replace(',', if grouped() { "" } else { "." })),
        false => Cow::Borrowed(plain),
    };
    let decimals = plain.split_once('.').map_or(0, |(_, behind)| behind.len());
    if plain.matches('.').count() > 1 {
        return None;
    }
    let value: f64 = plain.parse().ok()?;
    value.is_finite().then_some((value, decimals))
}
