use std::rc::Rc;

use countersign_model::Span;

use super::quantity::Quantity;
use super::said::{Said, Value, said};
use super::state::Stage;
use crate::facts::{Answer, Facts};
use crate::values::{Column, Figure, Leaf, Sheet, When, each_moment};

/// So many bytes of results before a message are looked through for members.
const REACH: usize = 32 * 1024;

/// A value that differs from what the results hold under its name.
#[derive(Debug)]
pub(crate) struct Wrong<'t> {
    /// As said.
    pub(crate) text: &'t str,
    /// Where it is said.
    pub(crate) span: Span,
    /// The member and its value.
    pub(crate) held: String,
    /// Whether the record proves it; otherwise it is likely.
    pub(crate) proven: bool,
}

/// The values of an answer that results hold otherwise, and where those stand that they hold.
pub(crate) fn members<'t>(facts: &Facts<'t>, answer: &Answer<'t>) -> (Vec<Wrong<'t>>, Vec<Span>) {
    let turn = answer.turn;
    let (mut wrong, mut right) = (Vec::new(), Vec::new());
    let said = said(&answer.prose);
    if said.is_empty() || facts.runs_shell_before(turn) {
        return (wrong, right);
    }
    let sheets = facts.given().sheets(turn, REACH);
    for said in &said {
        let held = held(&sheets, said);
        if held.iter().any(|held| held.agrees) {
            right.push(said.span);
        } else {
            wrong.extend(judge(facts, answer, said, &held));
        }
    }
    (wrong, right)
}

/// A member that a value may be about.
#[derive(Debug, Clone, Copy)]
struct Held<'s, 't> {
    column: &'s Column<'t>,
    leaf: Leaf<'t>,
    /// How the value compares.
    agrees: bool,
}

/// The members of the name that was said, as far as they are of the same kind.
fn held<'s, 't>(sheets: &'s [Rc<Sheet<'t>>], said: &Said<'_>) -> Vec<Held<'s, 't>> {
    let columns = sheets.iter().flat_map(|sheet| sheet.columns());
    let named = columns.filter(|column| is_named(column, said));
    named
        .flat_map(|column| {
            let cells = column.cells.iter();
            cells.filter_map(move |(_, leaf)| {
                let agrees = agrees(said.value, column, *leaf)?;
                Some(Held { column, leaf: *leaf, agrees })
            })
        })
        .collect()
}

/// Whether a member has the name that the words say.
fn is_named(column: &Column<'_>, said: &Said<'_>) -> bool {
    if let Value::Stage(_) = said.value {
        return column.words.iter().any(|word| matches!(word.as_str(), "status" | "state"));
    }
    let words = said.labels.iter().take(if said.adjacent { 3 } else { BEFORE });
    words.enumerate().any(|(at, label)| {
        let whole = at == 0 && said.adjacent && column.words.len() == 1;
        column.words.iter().any(|word| is_word(word, label, whole))
    })
}

/// So many words of a label are tried.
const BEFORE: usize = 5;

/// Whether a word of a member's name is the one said, or one of the same stem.
fn is_word(word: &str, label: &str, whole: bool) -> bool {
    /// They say what kind of value a member has, not of what.
    const VAGUE: [&str; 20] = [
        "id", "name", "date", "time", "at", "number", "count", "type", "value", "on", "order",
        "item", "flight", "user", "data", "percent", "total", "amount", "hours", "used",
    ];
    let bare = |word: &'_ str| word.trim_end_matches(['s', 'S']).len();
    if VAGUE.contains(&word) && !whole {
        return false;
    }
    let (a, b) = (word.as_bytes(), label.as_bytes());
    let same = |n: usize| {
        a.get(..n).zip(b.get(..n)).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
    };
    let plain = bare(word) == bare(label) && bare(word) >= 3 && same(bare(word));
    let stem = a.len().min(b.len()) >= 5 && same(5);
    plain || stem
}

/// Whether a member agrees with a value; `None` when it is of another kind.
fn agrees(value: Value<'_>, column: &Column<'_>, leaf: Leaf<'_>) -> Option<bool> {
    match value {
        Value::Moment(when) => {
            let Leaf::Text(text) = leaf else { return None };
            let (mut like, mut same) = (false, false);
            if text.len() <= 40 {
                each_moment(text, |moment| {
                    like |= moment.when.is_like(when);
                    same |= moment.when.agrees(when);
                });
            }
            like.then_some(same)
        }
        Value::Number(number) => {
            let held = quantity(column, leaf)?;
            let comparable = number
                .unit
                .zip(held.unit)
                .is_none_or(|(said, held)| said.measures == held.measures);
            comparable.then(|| number.agrees(held))
        }
        Value::Code(code) => {
            let Leaf::Text(text) = leaf else { return None };
            let alike = text.len() == code.len() && text.bytes().any(|b| b.is_ascii_digit());
            alike.then(|| text.eq_ignore_ascii_case(code))
        }
        Value::Stage(stage) => {
            let Leaf::Text(text) = leaf else { return None };
            Some(!Stage::of(text)?.excludes(stage))
        }
    }
}

/// The number that a member holds, in the unit that its name says.
fn quantity(column: &Column<'_>, leaf: Leaf<'_>) -> Option<Quantity> {
    let (Leaf::Number(text) | Leaf::Text(text)) = leaf else { return None };
    let mut number = Quantity::parse(text)?;
    let last = column.words.last();
    number.unit = number.unit.or_else(|| super::quantity::Unit::of(last?));
    Some(number)
}

fn judge<'t>(
    facts: &Facts<'t>,
    answer: &Answer<'t>,
    said: &Said<'t>,
    held: &[Held<'_, '_>],
) -> Option<Wrong<'t>> {
    let first = held.first()?;
    let turn = answer.turn;
    let text = said.span.of(answer.prose.text);
    let proven = match said.value {
        Value::Moment(when) => {
            if is_moment_given(facts, when, turn) {
                return None;
            }
            true
        }
        Value::Number(number) => {
            let numbers = || held.iter().filter_map(|held| quantity(held.column, held.leaf));
            let unit = numbers().any(|held| {
                held.value == number.value && held.unit.is_some() && number.unit.is_some()
            });
            let misquoted = numbers().any(|held| number.is_misquoted(held));
            if !unit && (!misquoted || is_number_given(facts, text, turn)) {
                return None;
            }
            true
        }
        Value::Code(code) => {
            if !said.adjacent || facts.source_of(code, turn, true).is_some() {
                return None;
            }
            true
        }
        Value::Stage(_) => {
            let changed = facts.deeds_before(turn).any(|(_, deed)| deed.changes());
            if changed {
                return None;
            }
            true
        }
    };
    let (Leaf::Text(value) | Leaf::Number(value)) = first.leaf else { return None };
    let held = format!("`{}` {value}", first.column.name);
    Some(Wrong { text, span: said.span, held, proven })
}

/// Whether anything that the agent was given has the day or time.
fn is_moment_given(facts: &Facts<'_>, when: When, turn: usize) -> bool {
    facts.given().near(turn, 2 * REACH).any(|given| {
        let mut found = false;
        each_moment(given.text, |moment| found |= moment.when.agrees(when));
        found
    })
}

/// Whether anything that the agent was given has the number.
fn is_number_given(facts: &Facts<'_>, text: &str, turn: usize) -> bool {
    let fine = text.split_once('.').is_some_and(|(_, rest)| rest.len() > 2);
    match Figure::parse(text).filter(|_| !fine) {
        Some(figure) => facts.given().figure(figure).is_some_and(|first| first < turn),
        None => facts.source_of(text, turn, true).is_some(),
    }
}
