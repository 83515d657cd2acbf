use counterfoil_model::Span;

use super::flag::wrong_flags;
use super::near::{Cell, Member, Members, Near};
use super::quantity::Quantity;
use super::said::{Said, Tense, Value, days, said};
use super::state::Stage;
use super::state_of_id::states_of_ids;
use super::strange::is_strange;
use super::subject::{Subject, is_about, subject};
use crate::facts::{Answer, Facts};
use crate::prose::{Prose, TokenKind, sets};
use crate::values::{Figure, Leaf, When, each_moment};

/// A value that differs from what the results hold under its name.
#[derive(Debug)]
pub(crate) struct Wrong<'t> {
    /// As said.
    pub(crate) text: &'t str,
    /// Where it is said.
    pub(crate) span: Span,
    /// The member and its value.
    pub(crate) held: String,
}

/// The values of an answer that results hold otherwise, and where those stand that they hold.
pub(crate) fn members<'t>(facts: &Facts<'t>, answer: &Answer<'t>) -> (Vec<Wrong<'t>>, Vec<Span>) {
    let turn = answer.turn;
    let (mut wrong, mut right) = (Vec::new(), Vec::new());
    if facts.runs_shell_before(turn) {
        return (wrong, right);
    }
    let states = states_of_ids(facts, answer);
    let said = said(&answer.prose);
    let near = Near::of(facts, answer);
    let mut strange = strange(facts, answer, &near);
    strange.extend(states);
    strange.extend(wrong_flags(&near, &answer.prose));
    let proposed = proposes(&answer.prose);
    if proposed {
        strange.clear();
    }
    let open = |said: &Said<'_>| proposed && matches!(said.value, Value::Moment(_));
    let said: Vec<Said<'t>> = said
        .into_iter()
        .filter(|said| !open(said) && is_worth_reading(&near, answer, said))
        .collect();
    if said.is_empty() {
        return (strange, right);
    }
    // What was changed may be at another stage now.
    let changed = facts.deeds_before(turn).any(|(_, deed)| deed.changes());
    for said in &said {
        let held = held(&answer.prose, near.members(), said);
        if held.iter().any(|held| held.agrees) {
            right.push(said.span);
        } else {
            let stale = changed && matches!(said.value, Value::Stage(..));
            let judged = match held.is_empty() {
                true => misquoted(facts, answer, said, &near),
                false => judge(facts, answer, said, &near, &held).filter(|_| !stale),
            };
            wrong.extend(judged);
        }
    }
    let known =
        |day: &Wrong<'_>| wrong.iter().any(|w| w.span == day.span) || right.contains(&day.span);
    let strange: Vec<Wrong<'_>> = strange.into_iter().filter(|day| !known(day)).collect();
    wrong.extend(strange);
    (wrong, right)
}

/// "Would you like to proceed?": whether an answer asks for leave to do what it describes, so that its
/// days are those to come.
fn proposes(prose: &Prose<'_>) -> bool {
    prose.sentences.iter().filter(|sentence| sentence.question).any(|sentence| {
        let mut tokens = prose.tokens(sentence.tokens.clone()).iter();
        tokens.any(|t| prose.is(t, words!["proceed", "confirm"]))
    })
}

/// Whether the results have to be taken apart for a value: they hold the words that name it, and
/// not the value as it is written, unless a unit says more of it.
fn is_worth_reading(near: &Near<'_, '_>, answer: &Answer<'_>, said: &Said<'_>) -> bool {
    let given = || near.holds(said.span.of(answer.prose.text));
    match said.value {
        // The number may stand there in another unit.
        Value::Number(number) if number.unit.is_some() => {}
        _ if given() => return false,
        // A day, or a long number, may be one of the record's with a digit changed.
        Value::Moment(When::Day { .. }) => return true,
        Value::Number(number) if number.value >= 1_000.0 => return true,
        Value::Stage(..) => return near.holds("stat"),
        _ => {}
    }
    said.labels.iter().take(BEFORE).any(|label| {
        let label = label.to_ascii_lowercase();
        let stem = label.get(..label.len().min(4)).unwrap_or(&label);
        stem.len() > 2 && near.holds(stem)
    })
}

/// A member that a value may be about.
#[derive(Debug, Clone, Copy)]
struct Held<'m, 't> {
    member: &'m Member<'t>,
    cell: Cell<'t>,
    /// Its place among those of the member.
    at: usize,
    /// Whether it may be the value that is said.
    agrees: bool,
}

impl Held<'_, '_> {
    fn number(&self) -> Option<Quantity> {
        self.member.numbers().get(self.at).copied().flatten()
    }

    /// The finding that this is so, and not what is said.
    fn said_wrongly<'t>(&self, answer: &Answer<'t>, said: &Said<'t>) -> Wrong<'t> {
        let value = match self.cell.leaf {
            Leaf::Text(value) | Leaf::Number(value) => value,
            _ => "",
        };
        let held = format!("`{}` {value}", self.member.name);
        let text = said.span.of(answer.prose.text);
        Wrong { text, span: said.span, held }
    }
}

/// The members of the name that was said, as far as they are of the same kind, newest first.
fn held<'m, 't>(prose: &Prose<'_>, members: &'m Members<'t>, said: &Said<'_>) -> Vec<Held<'m, 't>> {
    let mut found = Vec::new();
    let about = matches!(said.value, Value::Stage(..)).then(|| is_about(prose, members, said));
    for member in members.iter().filter(|member| is_named(member, said)) {
        let mut latest: Option<(usize, bool)> = None;
        for (at, cell) in member.cells.iter().enumerate() {
            if let Some(about) = &about {
                let known = latest.filter(|(result, _)| *result == cell.result);
                let (_, concerned) = known.unwrap_or_else(|| (cell.result, about(cell.result)));
                latest = Some((cell.result, concerned));
                if !concerned {
                    continue;
                }
            }
            if let Some(agrees) = agrees(said.value, member, at, cell.leaf) {
                found.push(Held { member, cell: *cell, at, agrees });
            }
        }
    }
    found.sort_by_key(|held| (held.cell.result, held.cell.place));
    found
}

/// Whether a member has the name that the words say.
fn is_named(member: &Member<'_>, said: &Said<'_>) -> bool {
    if let Value::Stage(..) = said.value {
        return member.words.iter().any(|word| matches!(word.as_str(), "status" | "state"));
    }
    // `pence_per_day` is no number of days.
    if member.words.iter().any(|word| word == "per") {
        return false;
    }
    let words = said.labels.iter().take(if said.adjacent { 3 } else { BEFORE });
    words.enumerate().any(|(at, label)| {
        let whole = at == 0 && said.adjacent && member.words.len() == 1;
        member.words.iter().any(|word| is_word(word, label, whole))
    })
}

/// So many days of one answer that nobody gave are looked into.
const MOST_DAYS: usize = 24;

/// Where results hold more values than this, one of them is like any other value.
const FEW: usize = 96;

/// So many words of a label are tried.
const BEFORE: usize = 5;

/// Whether a word of a member's name is the one said, or one of the same stem.
fn is_word(word: &str, label: &str, whole: bool) -> bool {
    let bare = |word: &'_ str| word.trim_end_matches(['s', 'S']).len();
    if sets::VAGUE_MEMBERS.list.contains(&word) && !whole {
        return false;
    }
    let (a, b) = (word.as_bytes(), label.as_bytes());
    let same =
        |n: usize| a.get(..n).zip(b.get(..n)).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b));
    let plain = bare(word) == bare(label) && bare(word) >= 3 && same(bare(word));
    let stem = a.len().min(b.len()) >= 5 && same(5);
    plain || stem
}

/// Whether a cell of a member agrees with a value; `None` when it is of another kind.
fn agrees(value: Value<'_>, member: &Member<'_>, at: usize, leaf: Leaf<'_>) -> Option<bool> {
    match value {
        Value::Moment(when) => {
            let (mut like, mut same) = (false, false);
            for held in member.moments_in(at) {
                like |= held.is_like(when);
                same |= held.agrees(when);
            }
            like.then_some(same)
        }
        Value::Number(number) => {
            let held = (*member.numbers().get(at)?)?;
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

/// Whether a number is the sum or difference of two or three that the answer says, or of two that
/// the results hold.
fn follows(answer: &Answer<'_>, members: &Members<'_>, wanted: f64) -> bool {
    const MOST: usize = 24;
    let prose = &answer.prose;
    let spoken =
        prose.tokens.iter().filter(|t| matches!(t.kind, TokenKind::Number | TokenKind::Money));
    let mut said: Vec<f64> =
        spoken.filter_map(|t| Some(Quantity::parse(prose.word(t))?.value)).take(MOST).collect();
    said.retain(|value| (value - wanted).abs() > 0.005);
    let numbers = members.iter().flat_map(|member| member.numbers().iter().flatten());
    let held: Vec<f64> = numbers.map(|number| number.value).collect();
    let is = |value: f64| (value.abs() - wanted.abs()).abs() < 0.005;
    let pairs = |all: &[f64]| {
        let mut places = all.iter().enumerate();
        places.any(|(at, a)| all.iter().skip(at + 1).any(|b| is(a + b) || is(a - b)))
    };
    let triples = || {
        said.iter().enumerate().any(|(at, a)| {
            said.iter().enumerate().skip(at + 1).any(|(next, b)| {
                let rest = said.iter().skip(next + 1);
                [a + b, a - b]
                    .into_iter()
                    .any(|sum| rest.clone().any(|c| is(sum + c) || is(sum - c)))
            })
        })
    };
    let product = |a: &f64, b: &f64| (a * b - wanted.abs()).abs() < 0.005;
    let few = held.len() <= MOST;
    let known = || said.iter().chain(held.iter().filter(|_| few));
    let multiplied = || known().take(2 * MOST).any(|a| known().any(|b| product(a, b)));
    pairs(&said) || triples() || (few && pairs(&held)) || multiplied()
}

fn judge<'t>(
    facts: &Facts<'t>,
    answer: &Answer<'t>,
    said: &Said<'t>,
    near: &Near<'_, '_>,
    held: &[Held<'_, '_>],
) -> Option<Wrong<'t>> {
    let first = held.first()?;
    let turn = answer.turn;
    let text = said.span.of(answer.prose.text);
    match said.value {
        Value::Moment(when) => {
            if near.gives_moment(when) {
                return None;
            }
            let mut off = held.iter().map(|h| h.cell.leaf).filter(|leaf| is_hours_off(when, *leaf));
            let earlier = off.next();
            // The hours of the place are no others than those of the record.
            if earlier.into_iter().chain(off).any(is_in_utc) && !says_utc(&answer.prose) {
                return None;
            }
        }
        Value::Number(number) => {
            let numbers = || held.iter().filter_map(|held| held.number());
            let unit = numbers().any(|held| {
                held.value == number.value && held.unit.is_some() && number.unit.is_some()
            });
            let misquoted = numbers().any(|held| number.is_misquoted(held));
            if !unit && is_number_given(facts, text, turn) {
                return None;
            }
            if !unit && !misquoted {
                // Another number for the one that the record has under the very name.
                let one = numbers().all(|held| Some(held.value) == first.number().map(|f| f.value));
                let unit = numbers().all(|held| held.unit.is_some() == number.unit.is_some());
                let named = said.adjacent && is_whole_name(&first.member.words, said);
                let made_up = || follows(answer, near.members(), number.value);
                return (named && one && unit && !is_small(number) && !made_up())
                    .then(|| first.said_wrongly(answer, said));
            }
        }
        Value::Code(code) => {
            if !said.adjacent || facts.source_of(code, turn, true).is_some() {
                return None;
            }
        }
        Value::Stage(..) => {}
    }
    Some(first.said_wrongly(answer, said))
}

/// A day or a long number that nothing names, and that a result holds with a digit changed or two
/// digits in each other's place.
fn misquoted<'t>(
    facts: &Facts<'t>,
    answer: &Answer<'t>,
    said: &Said<'t>,
    near: &Near<'_, '_>,
) -> Option<Wrong<'t>> {
    let members = near.members();
    if !matches!(said.value, Value::Moment(_) | Value::Number(_)) || members.has_more_than(FEW) {
        return None;
    }
    let subject = subject(&answer.prose, members, said);
    let own = |cell: &Cell<'_>| {
        let object = (cell.result, cell.object);
        subject.as_ref().is_none_or(|subject: &Subject| subject.has(object))
    };
    let alike = members.iter().filter_map(|member| {
        let own = |at: &usize| member.cells.get(*at).is_some_and(own);
        let at = match said.value {
            Value::Moment(when) => {
                let alike = member.moments().iter().filter(|(_, held)| when.is_misquoted(*held));
                alike.map(|(at, _)| *at).find(own)
            }
            Value::Number(number) if number.may_be_swapped() => {
                let alike = member.long_numbers().iter();
                alike.filter(|(_, held)| number.is_swapped(*held)).map(|(at, _)| *at).find(own)
            }
            _ => None,
        }?;
        Some(Held { member, cell: *member.cells.get(at)?, at, agrees: false })
    });
    let held = alike.min_by_key(|held| (held.cell.result, held.cell.place))?;
    let given = match said.value {
        Value::Moment(when) => spans_time(answer) || near.gives_moment(when),
        _ => is_number_given(facts, said.span.of(answer.prose.text), answer.turn),
    };
    (!given).then(|| held.said_wrongly(answer, said))
}

/// The days that stand nowhere, where days are recorded and everything is.
fn strange<'t>(facts: &Facts<'t>, answer: &Answer<'t>, near: &Near<'_, '_>) -> Vec<Wrong<'t>> {
    let days = days(&answer.prose);
    if days.is_empty() || !facts.shows_all_before(answer.turn) || spans_time(answer) {
        return Vec::new();
    }
    let strange = days.into_iter().filter(|day| !near.gives_moment(day.when)).take(MOST_DAYS);
    let strange = strange.filter(|day| is_strange(near, day.when));
    // A day that was asked for is not one that a result has, and not made up either.
    let asked = |when: When| {
        facts.deeds_before(answer.turn).any(|(execution, _)| {
            let mut found = false;
            let arguments = execution.arguments();
            each_moment(arguments, |moment| found |= moment.when.agrees(when));
            found
        })
    };
    let strange = strange.filter(|day| !asked(day.when));
    let wrong = |span: Span| {
        let held = "no such day".to_owned();
        Wrong { text: span.of(answer.prose.text), span, held }
    };
    strange.map(|day| wrong(Span::new(day.start, day.end))).collect()
}

/// Whether an answer counts days or hours, so that its dates may be worked out.
fn spans_time(answer: &Answer<'_>) -> bool {
    answer.prose.tokens.iter().any(|token| answer.prose.is(token, &sets::SPANS))
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

/// Whether a time is written as that of the zone of which all others are told: `05:30Z`.
fn is_in_utc(held: Leaf<'_>) -> bool {
    let Leaf::Text(text) = held else { return false };
    text.contains(':') && (text.ends_with('Z') || text.ends_with("+00:00") || text.ends_with("UTC"))
}

/// Whether an answer names that zone.
fn says_utc(prose: &Prose<'_>) -> bool {
    prose.tokens.iter().any(|token| matches!(prose.word(token), "UTC" | "GMT" | "Z"))
}

/// Whether the label says the whole name of a member, and not a part of it.
fn is_whole_name(words: &[String], said: &Said<'_>) -> bool {
    let mut labels = said.labels.iter().take(BEFORE);
    words.iter().all(|word| labels.any(|label| is_word(word, label, true)))
}

/// Numbers that are counted on fingers, and stand for much.
fn is_small(number: Quantity) -> bool {
    number.value < 13.0 && number.places == 0
}

/// Whether anything that the agent was given has the number.
fn is_number_given(facts: &Facts<'_>, text: &str, turn: usize) -> bool {
    let fine = text.split_once('.').is_some_and(|(_, rest)| rest.len() > 2);
    match Figure::parse(text).filter(|_| !fine) {
        Some(figure) => facts.given().figure(figure).is_some_and(|first| first < turn),
        None => facts.source_of(text, turn, true).is_some(),
    }
}
