//! Numbers of an answer that stand nowhere in the session and follow from nothing in it.

use std::collections::BTreeMap;

use counterfoil_model::Claim;

use super::sums::{is_subset_sum, products, shares, sums};
use crate::facts::{Answer, Facts};
use crate::prose::{
    BlockKind, Clause, Language, Mood, Prose, Tags, Token, TokenKind, is_agenda, sets,
};
use crate::values::{Leaf, Source, whole};

/// So many bytes before an answer are read.
const REACH: usize = 32 * 1024;
/// With more numbers, everything follows from something.
const MOST: usize = 160;
/// A smaller whole number is that of something by chance.
const SMALLEST: f64 = 13.0;
/// So few numbers may all have been compared.
const FEW: usize = 40;
/// So few are counted in any list.
const FEWEST: f64 = 4.0;
/// What everybody knows: so many days, weeks and hours there are, and so many per cent.
const EVERYWHERE: [f64; 8] = [7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0];

/// A number that nothing explains.
pub(crate) struct Unknown<'p> {
    pub(crate) clause: &'p Clause,
    /// As the answer has it.
    pub(crate) text: &'p str,
}

/// A number of an answer.
struct Told<'p> {
    clause: &'p Clause,
    text: &'p str,
    value: f64,
    /// So many digits stand behind its point.
    decimals: usize,
    percent: bool,
    /// The word behind it.
    unit: String,
    rough: bool,
    /// Only said of something that is not so, or may be.
    open: bool,
}

/// What may explain a number.
#[derive(Default)]
struct Known {
    /// The numbers of the texts.
    numbers: Vec<f64>,
    /// Those of the members of one name.
    columns: BTreeMap<String, Vec<f64>>,
    /// Those of one object.
    objects: Vec<Vec<f64>>,
    /// Those of one line of a text.
    lines: Vec<Vec<f64>>,
    /// Those of one result.
    documents: Vec<Vec<f64>>,
    /// How long its lists are.
    lists: Vec<f64>,
    /// So many of anything there are at most.
    most: f64,
    /// The days that the texts name, as numbers of days, and the times, as minutes.
    days: Vec<i64>,
    minutes: Vec<i64>,
    /// All the digits of the texts, for numbers that are told by their end.
    digits: String,
}

pub(crate) fn unknown<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>) -> Option<Unknown<'p>> {
    if facts.record().count_before(answer.turn) == 0 || facts.delegates_before(answer.turn) {
        return None;
    }
    let prose = &answer.prose;
    let told: Vec<Told<'p>> =
        prose.clauses.iter().flat_map(|clause| told_in(prose, clause)).collect();
    if told.iter().all(|told| told.open || !told.is_telling()) {
        return None;
    }
    let known = Known::of(facts, answer);
    if known.numbers.len() > MOST {
        return None;
    }
    let explained = explained(&known, &told);
    // What is presented as a call or its result is judged as such.
    let presented = |told: &Told<'_>| {
        let clauses = prose.clauses_of(told.clause.sentence);
        let within = |claim: &Claim| {
            let overlaps =
                |c: &Clause| claim.span.start < c.span.end && c.span.start < claim.span.end;
            clauses.iter().any(overlaps)
        };
        facts.citations().iter().any(|c| c.claim.turn == answer.turn && within(&c.claim))
    };
    let unknown = told.into_iter().filter(|told| !presented(told)).find(|told| {
        !told.open && told.is_telling() && !explained.contains(&told.value) && known.may_judge(told)
    })?;
    Some(Unknown { clause: unknown.clause, text: unknown.text })
}

/// The numbers of an answer that the session has, or that follow from what it has.
fn explained(known: &Known, told: &[Told<'_>]) -> Vec<f64> {
    let known_to_all = |told: &Told<'_>| EVERYWHERE.contains(&told.value) && !told.is_plural();
    let is_known = |told: &&Told<'_>| known.has(told) || known_to_all(told);
    let mut explained: Vec<f64> = told.iter().filter(is_known).map(|told| told.value).collect();
    // What follows from a number that is explained is explained.
    for _ in 0..3 {
        let more: Vec<f64> = told
            .iter()
            .filter(|told| !explained.contains(&told.value))
            .filter(|told| known.gives(told, &explained))
            .map(|told| told.value)
            .collect();
        if more.is_empty() {
            break;
        }
        explained.extend(more);
    }
    explained
}

/// Whether an amount follows from what the answer tells and the session has in two steps: a product of
/// the two, and one more or less.
pub(crate) fn follows(facts: &Facts<'_>, answer: &Answer<'_>, amount: &str) -> bool {
    const MOST_TOLD: usize = 24;
    const MOST_KNOWN: usize = 48;
    let prose = &answer.prose;
    let told: Vec<Told<'_>> =
        prose.clauses.iter().flat_map(|clause| told_in(prose, clause)).collect();
    let known = Known::of(facts, answer);
    let Some(wanted) = told.iter().find(|told| told.text == amount) else { return false };
    if known.numbers.len() > MOST_KNOWN || told.len() > MOST_TOLD || wanted.decimals == 0 {
        return false;
    }
    let explained = explained(&known, &told);
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

impl Told<'_> {
    /// Whether it would be strange to meet the number by chance.
    fn is_telling(&self) -> bool {
        let year = self.decimals == 0 && (1900.0..=2100.0).contains(&self.value);
        !year && (self.value >= SMALLEST || self.percent || self.decimals > 0 || self.is_count())
    }

    /// "five households": so many things.
    fn is_count(&self) -> bool {
        self.value >= FEWEST && self.decimals == 0 && self.is_plural()
    }

    fn is_plural(&self) -> bool {
        let plural = self.unit.len() > 3 && self.unit.ends_with('s') && !self.unit.ends_with("ss");
        let measure = [&sets::MEASURES, &sets::UNITS]
            .iter()
            .any(|set| set.list.contains(&self.unit.as_str()));
        plural && !measure
    }

    /// Whether a number is this one as it is written here.
    fn is(&self, other: f64) -> bool {
        let step = 10_f64.powi(-i32::try_from(self.decimals).unwrap_or(0));
        let near = if self.rough { self.value.abs() * 0.05 } else { step * 0.500_001 };
        (self.value - other).abs() <= near
            || (self.value.trunc() - other.trunc()).abs() < 1e-9 && self.rough
    }
}

fn told_in<'p>(prose: &'p Prose<'_>, clause: &'p Clause) -> Vec<Told<'p>> {
    let tokens = prose.tokens(clause.tokens.clone());
    let open = Tags::MODAL.or(Tags::HEDGE).or(Tags::CONDITIONAL);
    let english = prose.language_of(clause) == Language::English;
    let open = !english
        || clause.mood != Mood::Asserted
        // "I can cancel it and refund you 31 euros"
        || prose.clauses_of(clause.sentence).iter().any(|clause| clause.tags.any(open))
        || is_planned(prose, clause);
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
        // "at 10.48", "version 2.4": no amounts.
        let clock = token.kind == TokenKind::Number && decimals == 2 && value < 24.6;
        let month = |token: Option<&Token>| token.is_some_and(|token| token.has(Tags::MONTH));
        let of = |word: &str| tokens.get(at + 1).is_some_and(|next| prose.is_word(next, word));
        let dated = month(before)
            || month(tokens.get(at + 1))
            || of("of") && month(tokens.get(at + 2))
            || ["st", "nd", "rd", "th"].iter().any(|end| text.ends_with(end));
        let named = dated || before.is_some_and(|before| prose.is(before, &sets::NUMBERED));
        let unit = next.unwrap_or_default();
        // Nobody counts in the session how long it is between two times.
        let spans = before.is_some_and(|before| prose.is(before, &sets::SPANS));
        let named = named || spans || sets::SPANS.list.contains(&unit.as_str());
        let percent = text.ends_with('%') || unit == "%" || unit == "percent";
        let open = open
            || rough
            || named
            || clock && !percent
            || token.kind == TokenKind::Money
            || token.quoted;
        Some(Told { clause, text, value, decimals, percent, unit, rough, open })
    };
    tokens.iter().enumerate().filter_map(read).collect()
}

/// An item of a list that is led by what would be done: "I'd go in steps:".
fn is_planned(prose: &Prose<'_>, clause: &Clause) -> bool {
    let block = |sentence: usize| prose.block_of(prose.sentences.get(sentence)?).map(|b| b.kind);
    let item = |sentence: usize| matches!(block(sentence), Some(BlockKind::Item { .. }));
    if is_agenda(prose, clause) {
        return true;
    }
    let lead = (0..clause.sentence).rev().find(|sentence| !item(*sentence));
    let open = Tags::MODAL.or(Tags::INTEND);
    item(clause.sentence)
        && lead.is_some_and(|lead| prose.clauses_of(lead).iter().any(|c| c.tags.any(open)))
}

/// A number with its decimals: `1,204`, `17.5`, `85%`, `$324K`, `412kB`.
pub(super) fn number(text: &str) -> Option<(f64, usize)> {
    const LONGEST_UNIT: usize = 4;
    let sign = |c: char| !c.is_alphanumeric();
    let text = text.trim_matches(sign);
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default();
    if unit.chars().count() > LONGEST_UNIT || !digits.starts_with(|c: char| c.is_ascii_digit()) {
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
    let grouped = plain.split(',').skip(1).all(|group| group.len() >= 3);
    let plain = if grouped { plain.replace(',', "") } else { plain.replace(',', ".") };
    let decimals = plain.split_once('.').map_or(0, |(_, behind)| behind.len());
    if plain.matches('.').count() > 1 {
        return None;
    }
    Some((plain.parse().ok()?, decimals))
}

impl Known {
    fn of(facts: &Facts<'_>, answer: &Answer<'_>) -> Self {
        let mut known = Self::default();
        let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
        for (execution, _) in facts.deeds_before(answer.turn) {
            *calls.entry(execution.tool()).or_default() += 1;
        }
        known.count(facts.record().count_before(answer.turn));
        for given in facts.given().near(answer.turn, REACH) {
            known.read(given.text);
            if let Source::Result(at) = given.source {
                known.read_document(given.text);
                match facts.leaves(at) {
                    Some(leaves) => known.read_nodes(leaves.nodes()),
                    None => known.read_lines(given.text),
                }
            }
        }
        // What was called, and has no result yet.
        for (execution, _) in facts.deeds_before(answer.turn) {
            known.read(execution.call.map_or("", |call| call.arguments.as_str()));
        }
        known.numbers.sort_by(f64::total_cmp);
        known.numbers.dedup();
        known
    }

    fn count(&mut self, count: usize) {
        self.most = self.most.max(count as f64);
    }

    fn read(&mut self, text: &str) {
        // `C-14` and `88-1204` are names.
        let edge = |c: char| c.is_whitespace() || "\"'{}[]():;=|<>~+/".contains(c);
        let words = text.split(edge).flat_map(|word| word.split("->"));
        self.numbers.extend(words.filter_map(number).map(|(value, _)| value));
        for word in text.split(|c: char| !c.is_alphabetic()) {
            self.numbers.extend(whole(word).map(|n| n as f64));
        }
        self.digits.extend(text.chars().map(|c| if c.is_ascii_digit() { c } else { ' ' }));
        self.digits.push(' ');
        self.read_days(text);
    }

    fn read_lines(&mut self, text: &str) {
        let rows = text.rsplit_once('(').and_then(|(_, end)| end.split_once(" row"));
        match rows.and_then(|(rows, _)| rows.parse().ok()) {
            // "(5 rows)"
            Some(rows) => self.count(rows),
            None => self.count(text.lines().filter(|line| !line.trim().is_empty()).count()),
        }
        for line in text.lines().take(MOST) {
            let words = line.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
            let numbers: Vec<f64> = words.filter_map(number).map(|(value, _)| value).collect();
            if numbers.len() > 1 {
                self.lines.push(numbers);
            }
        }
    }

    fn read_document(&mut self, text: &str) {
        let edge = |c: char| c.is_whitespace() || "\"'{}[]():;=|<>~+/".contains(c);
        let mut numbers: Vec<f64> =
            text.split(edge).filter_map(number).map(|(value, _)| value).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        if numbers.len() <= MOST {
            self.documents.push(numbers);
        }
    }

    /// The days and times of a text: `2026-03-10`, `14:02`.
    fn read_days(&mut self, text: &str) {
        let bytes = text.as_bytes();
        for (at, _) in text.match_indices('-') {
            let Some(start) = at.checked_sub(4) else { continue };
            let Some(date) = text.get(start..at + 6) else { continue };
            if let Some(day) = day(date) {
                self.days.push(day);
                self.numbers
                    .extend(date.rsplit('-').next().and_then(|day| day.parse::<f64>().ok()));
            }
        }
        for (at, _) in text.match_indices(':') {
            let digits = |from: usize| {
                let pair = bytes.get(from..from + 2)?;
                std::str::from_utf8(pair).ok()?.parse::<i64>().ok()
            };
            if let (Some(hour), Some(minute)) = (at.checked_sub(2).and_then(digits), digits(at + 1))
            {
                self.minutes.push(hour * 60 + minute);
            }
        }
    }

    fn read_nodes(&mut self, nodes: &[crate::values::Node<'_>]) {
        let mut objects: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut within: BTreeMap<usize, usize> = BTreeMap::new();
        for node in nodes {
            match node.leaf {
                Leaf::List(count) => {
                    self.count(count);
                    self.lists.push((count as f64).min(MOST as f64));
                }
                Leaf::Object => *within.entry(node.parent).or_default() += 1,
                Leaf::Number(text) | Leaf::Text(text) => {
                    let Some((value, _)) = number(text) else { continue };
                    let parent = nodes.get(node.parent).map_or("", |parent| parent.name);
                    let name = if node.name.is_empty() { parent } else { node.name };
                    let column = self.columns.entry(name.to_owned()).or_default();
                    if column.len() < MOST {
                        column.push(value);
                    }
                    objects.entry(node.parent).or_default().push(value);
                }
                _ => {}
            }
        }
        self.count(within.into_values().max().unwrap_or(0));
        self.objects.extend(objects.into_values().filter(|object| object.len() > 1));
    }

    /// Whether the session has the number, in whatever unit, or so many of something.
    fn has(&self, told: &Told<'_>) -> bool {
        let counted = told.decimals == 0 && !told.percent && told.value <= self.most;
        counted || self.numbers.iter().any(|known| self.is_same(told, *known)) || self.ends(told)
    }

    /// "ending in 341".
    fn ends(&self, told: &Told<'_>) -> bool {
        let digits: String = told.text.chars().filter(char::is_ascii_digit).collect();
        digits.len() > 2 && self.digits.contains(&format!("{digits} "))
    }

    fn is_same(&self, told: &Told<'_>, known: f64) -> bool {
        const UNITS: [f64; 11] = [
            60.0,
            3600.0,
            1e3,
            1024.0,
            1e6,
            1_048_576.0,
            1e9,
            1_073_741_824.0,
            1_099_511_627_776.0,
            1e12,
            100.0,
        ];
        const SPANS: [f64; 6] = [7.0, 12.0, 24.0, 30.0, 365.0, 1440.0];
        const MEASURES: [f64; 6] = [1.609_344, 2.204_62, 2.54, 0.3048, 3.785_41, 0.4536];
        let scaled = |factor: f64| told.is(known * factor) || told.is(known / factor);
        if told.is(known) {
            return true;
        }
        // So many things are so many in every unit.
        if told.is_plural() {
            return false;
        }
        let measured = sets::UNITS.list.contains(&told.unit.as_str());
        let span = sets::MEASURES.list.contains(&told.unit.as_str());
        UNITS.iter().any(|unit| scaled(*unit))
            || span && SPANS.iter().any(|unit| scaled(*unit))
            || measured && MEASURES.iter().any(|unit| scaled(*unit))
            || told.percent && told.is(100.0 - known)
            || measured && (told.is(known * 1.8 + 32.0) || told.is((known - 32.0) / 1.8))
    }

    /// Whether the number follows from others: from two that the answer tells or one of them and one
    /// of the session, from those of one object or of one name.
    fn gives(&self, told: &Told<'_>, explained: &[f64]) -> bool {
        let is = |value: f64| told.is(value);
        let among = |one: &[f64], two: &[f64], give: fn(f64, f64, &dyn Fn(f64) -> bool) -> bool| {
            one.iter().any(|one| two.iter().any(|two| give(*one, *two, &is)))
        };
        if among(explained, explained, products) || among(explained, &self.numbers, sums) {
            return true;
        }
        let share = |of: &f64| (1..=(*of as u32)).any(|some| is(100.0 * f64::from(some) / of));
        if told.percent && self.lists.iter().any(share) {
            return true;
        }
        // Where there are few, any two of them may have been compared.
        if self.numbers.len() <= FEW && among(&self.numbers, &self.numbers, sums) {
            return true;
        }
        if told.percent && among(explained, &self.numbers, shares) {
            return true;
        }
        let scaled = |value: f64| is(value) || is(value * 1e3) || is(value / 1e3);
        let rows = self.objects.iter().chain(self.columns.values()).chain(&self.lines);
        let in_one =
            |doc: &Vec<f64>| among(doc, doc, sums) || told.percent && among(doc, doc, shares);
        if self.documents.iter().any(in_one) {
            return true;
        }
        rows.into_iter().any(|row| {
            let total: f64 = row.iter().sum();
            is(total / row.len().max(1) as f64)
                || among(row, row, sums)
                || told.percent && (among(row, row, shares) || among(row, &[total], shares))
                || is_subset_sum(row, &scaled)
        }) || self.spans(&is)
    }

    /// Whether it is the time between two days or two times.
    fn spans(&self, is: &impl Fn(f64) -> bool) -> bool {
        let between = |all: &[i64]| {
            all.iter().any(|one| {
                all.iter()
                    .any(|two| is((one - two).abs() as f64) || is((one - two).abs() as f64 + 1.0))
            })
        };
        between(&self.days) || between(&self.minutes)
    }

    fn may_judge(&self, told: &Told<'_>) -> bool {
        // Days between days that only the answer names.
        !(sets::MEASURES.list.contains(&told.unit.as_str()) && told.unit.starts_with("day"))
    }
}

/// The number of a day: `2026-03-10`.
fn day(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let mut next = || parts.next()?.parse::<i64>().ok();
    let (year, month, day) = (next()?, next()?, next()?);
    if !(1900..=2200).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days of the civil calendar, from March on so that the leap day is the last.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    Some(year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + day)
}
