use std::rc::Rc;

use countersign_model::Span;

use super::quantity::Quantity;
use super::said::{Said, Tense, Value, said};
use super::state::Stage;
use super::subject::{Subject, is_about, names_a_thing, subject};
use crate::facts::{Answer, Facts};
use crate::prose::Prose;
use crate::values::{Column, Figure, Leaf, Sheet, Source, When, each_moment};

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
    let said: Vec<Said<'t>> =
        said.into_iter().filter(|said| is_worth_reading(facts, answer, said)).collect();
    if said.is_empty() {
        return (wrong, right);
    }
    let sheets = facts.given().sheets(turn, REACH);
    let given = facts.given().near(turn, REACH);
    let results = given.filter(|text| matches!(text.source, Source::Result(_))).count();
    // What was changed may be at another stage now.
    let changed = facts.deeds_before(turn).any(|(_, deed)| deed.changes());
    for said in &said {
        let held = held(&answer.prose, &sheets, said);
        if held.iter().any(|held| held.agrees) {
            right.push(said.span);
        } else {
            let stale = changed && matches!(said.value, Value::Stage(..));
            let judged = match held.is_empty() {
                true => {
                    let subject = subject(&answer.prose, &sheets, said);
                    misquoted(facts, answer, said, &sheets, subject.as_ref())
                }
                false => judge(facts, answer, said, &held).filter(|_| !stale),
            };
            // What a result says in prose may tell of a later state.
            let anchored = (said.adjacent || names_a_thing(&answer.prose, &sheets, said))
                && (sheets.len() == results || !matches!(said.value, Value::Stage(..)));
            let judged = judged.map(|wrong| Wrong { proven: wrong.proven && anchored, ..wrong });
            wrong.extend(judged);
        }
    }
    (wrong, right)
}

/// Whether the results have to be taken apart for a value: they hold the words that name it, and
/// not the value as it is written, unless a unit says more of it.
fn is_worth_reading(facts: &Facts<'_>, answer: &Answer<'_>, said: &Said<'_>) -> bool {
    let holds =
        |text: &str, word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    let results = || {
        let near = facts.given().near(answer.turn, REACH);
        near.filter(|given| matches!(given.source, Source::Result(_))).map(|given| given.text)
    };
    let text = said.span.of(answer.prose.text);
    let given = results().any(|result| holds(result, text));
    match said.value {
        // The number may stand there in another unit.
        Value::Number(number) if number.unit.is_some() => {}
        _ if given => return false,
        // A day, or a long number, may be one of the record's with a digit changed.
        Value::Moment(When::Day { .. }) => return true,
        Value::Number(number) if number.value >= 1_000.0 => return true,
        Value::Stage(..) => {
            return results().any(|result| holds(result, "stat"));
        }
        _ => {}
    }
    said.labels.iter().take(BEFORE).any(|label| {
        let label = label.to_ascii_lowercase();
        let stem = label.get(..label.len().min(4)).unwrap_or(&label);
        stem.len() > 2 && results().any(|result| holds(result, stem))
    })
}

/// A member that a value may be about.
#[derive(Debug, Clone, Copy)]
struct Held<'s, 't> {
    column: &'s Column<'t>,
    leaf: Leaf<'t>,
    /// Whether it may be the value that is said.
    agrees: bool,
}

impl Held<'_, '_> {
    /// The finding that this is so, and not what is said.
    fn said_wrongly<'t>(&self, answer: &Answer<'t>, said: &Said<'t>) -> Wrong<'t> {
        let value = match self.leaf {
            Leaf::Text(value) | Leaf::Number(value) => value,
            _ => "",
        };
        let held = format!("`{}` {value}", self.column.name);
        let text = said.span.of(answer.prose.text);
        Wrong { text, span: said.span, held, proven: true }
    }
}

/// The members of the name that was said, as far as they are of the same kind.
fn held<'s, 't>(
    prose: &Prose<'_>,
    sheets: &'s [Rc<Sheet<'t>>],
    said: &Said<'_>,
) -> Vec<Held<'s, 't>> {
    let mut found = Vec::new();
    let stage = matches!(said.value, Value::Stage(..));
    for sheet in sheets.iter().filter(|sheet| !stage || is_about(prose, sheet, said)) {
        for column in sheet.columns().iter().filter(|column| is_named(column, said)) {
            found.extend(column.cells.iter().filter_map(|&(_, leaf)| {
                let agrees = agrees(said.value, column, leaf)?;
                Some(Held { column, leaf, agrees })
            }));
        }
    }
    found
}

/// Whether a member has the name that the words say.
fn is_named(column: &Column<'_>, said: &Said<'_>) -> bool {
    if let Value::Stage(..) = said.value {
        return column.words.iter().any(|word| matches!(word.as_str(), "status" | "state"));
    }
    let words = said.labels.iter().take(if said.adjacent { 3 } else { BEFORE });
    words.enumerate().any(|(at, label)| {
        let whole = at == 0 && said.adjacent && column.words.len() == 1;
        column.words.iter().any(|word| is_word(word, label, whole))
    })
}

/// Where results hold more values than this, one of them is like any other value.
const FEW: usize = 96;

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
    let same =
        |n: usize| a.get(..n).zip(b.get(..n)).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b));
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
        Value::Stage(stage, tense) => {
            let Leaf::Text(text) = leaf else { return None };
            let held = Stage::of(text)?;
            Some(match tense {
                Tense::Present => !held.excludes(stage),
                Tense::Past => !stage.is_ahead_of(held),
            })
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
            !held.iter().any(|held| is_hours_off(when, held.leaf))
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
        Value::Stage(..) => true,
    };
    Some(Wrong { proven, ..first.said_wrongly(answer, said) })
}

/// A day or a long number that nothing names, and that a result holds with a digit changed or two
/// digits in each other's place.
fn misquoted<'t>(
    facts: &Facts<'t>,
    answer: &Answer<'t>,
    said: &Said<'t>,
    sheets: &[Rc<Sheet<'_>>],
    subject: Option<&Subject>,
) -> Option<Wrong<'t>> {
    let alike = |column: &Column<'_>, leaf: Leaf<'_>| match (said.value, leaf) {
        (Value::Moment(when), Leaf::Text(text)) if text.len() <= 40 => {
            let mut alike = false;
            each_moment(text, |moment| alike |= when.is_misquoted(moment.when));
            alike
        }
        (Value::Number(number), _) => {
            quantity(column, leaf).is_some_and(|held| number.is_swapped(held))
        }
        _ => false,
    };
    if !matches!(said.value, Value::Moment(_) | Value::Number(_)) {
        return None;
    }
    let mut found = None;
    for (sheet, columns) in sheets.iter().map(|sheet| sheet.columns()).enumerate() {
        if columns.iter().map(|column| column.cells.len()).sum::<usize>() > FEW {
            return None;
        }
        for column in columns {
            let own = column
                .cells
                .iter()
                .filter(|(object, _)| subject.is_none_or(|subject| subject.has((sheet, *object))));
            let first = own.map(|(_, leaf)| *leaf).find(|leaf| alike(column, *leaf));
            found = found.or(first.map(|leaf| (column, leaf)));
        }
    }
    let (column, leaf) = found?;
    let given = match said.value {
        Value::Moment(when) => spans_time(answer) || is_moment_given(facts, when, answer.turn),
        _ => is_number_given(facts, said.span.of(answer.prose.text), answer.turn),
    };
    let held = Held { column, leaf, agrees: false };
    (!given).then(|| Wrong { proven: false, ..held.said_wrongly(answer, said) })
}

/// Whether an answer counts days or hours, so that its dates may be worked out.
fn spans_time(answer: &Answer<'_>) -> bool {
    const SPANS: [&str; 8] = ["day", "days", "night", "nights", "week", "weeks", "hours", "months"];
    answer.prose.tokens.iter().any(|token| answer.prose.is(token, &SPANS))
}

/// Whether a time differs by half hours only, as it does in another zone.
fn is_hours_off(when: When, held: Leaf<'_>) -> bool {
    let (When::Time { minutes, .. }, Leaf::Text(text)) = (when, held) else { return false };
    let mut off = false;
    each_moment(text, |moment| {
        if let When::Time { minutes: held, .. } = moment.when {
            off |= minutes % 30 == held % 30;
        }
    });
    off
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
