use std::ops::Range;

use counterfoil_model::Span;

use super::quantity::{Quantity, Unit};
use super::state::Stage;
use crate::prose::{BlockKind, Clause, Mood, Prose, Sentence, Tags, Token, TokenKind, Words};
use crate::values::{Moment, When, each_moment};

/// So many tokens before a value may say what it is.
const BEFORE: usize = 7;

/// A value that an answer gives, with the words that say what it is.
#[derive(Debug)]
pub(super) struct Said<'t> {
    /// The words, nearest first.
    pub(super) labels: Vec<&'t str>,
    /// The nearest one stands directly before: "gate B22", "Gate: B22", "the gate is B22".
    pub(super) adjacent: bool,
    /// What is said.
    pub(super) value: Value<'t>,
    /// Where it stands.
    pub(super) span: Span,
    /// Its token.
    pub(super) token: usize,
    /// Where the tokens begin that may name what it is said of: those of its sentence or row.
    pub(super) from: usize,
}

/// A value that is said.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'t> {
    /// A day or a time.
    Moment(When),
    /// A number with its unit.
    Number(Quantity),
    /// Letters and digits: a seat, a gate, a room.
    Code(&'t str),
    /// How far a thing has come, or came: "was delivered".
    Stage(Stage, Tense),
}

/// Whether a thing is at a stage, or was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tense {
    Present,
    Past,
}

/// The values that an answer gives in sentences that say how something is.
pub(super) fn said<'t>(prose: &Prose<'t>) -> Vec<Said<'t>> {
    let mut found = Vec::new();
    let mut table = Table::default();
    for sentence in &prose.sentences {
        let block = prose.block_of(sentence).map(|block| block.kind);
        let cell = match block {
            Some(BlockKind::Cell { row, column }) => table.cell(row, column, sentence),
            _ => {
                table = Table::default();
                None
            }
        };
        match cell {
            Some(head) if is_statement(prose, sentence) => {
                let head = prose.tokens(head.clone());
                cell_value(prose, sentence, head, table.from, &mut found);
            }
            None if is_statement(prose, sentence) => values(prose, sentence, &mut found),
            _ => {}
        }
    }
    found
}

/// Words beside which a day is supposed, or follows from what day it is, which nobody records.
const UNRECORDED: &Words = words![
    "if",
    "unless",
    "once",
    "when",
    "today",
    "tomorrow",
    "yesterday",
    "current",
    "currently"
];

/// The days that an answer speaks of as real, whatever it says of them.
pub(super) fn days(prose: &Prose<'_>) -> Vec<Moment> {
    let told = prose.sentences.iter().filter(|sentence| is_statement(prose, sentence));
    let days = told.flat_map(|sentence| {
        let tokens = prose.tokens(sentence.tokens.clone());
        let supposed = || tokens.iter().any(|t| prose.is(t, UNRECORDED));
        let real = tokens.iter().any(|t| t.digits) && !supposed();
        if real { moments(prose, tokens) } else { Vec::new() }
    });
    let real = |moment: &Moment| {
        let at = prose.tokens.partition_point(|t| (t.start as usize) < moment.start);
        let asked = |clause: &Clause| clause.mood == Mood::Question;
        let quoted = prose.tokens.get(at).is_none_or(|t| t.quoted);
        !quoted && !prose.clause_at(at).is_some_and(asked)
    };
    days.filter(|moment| matches!(moment.when, When::Day { .. })).filter(real).collect()
}

/// The first row of a table, and where the present row begins.
#[derive(Debug, Default)]
struct Table {
    first: Option<usize>,
    heads: Vec<Range<usize>>,
    row: usize,
    from: usize,
}

impl Table {
    /// Notes a cell; gives the tokens of the head above it.
    fn cell(&mut self, row: usize, column: usize, sentence: &Sentence) -> Option<&Range<usize>> {
        let first = *self.first.get_or_insert(row);
        if self.row != row || self.heads.is_empty() {
            (self.row, self.from) = (row, sentence.tokens.start);
        }
        if row == first {
            self.heads.resize(column + 1, 0..0);
            if let Some(head) = self.heads.get_mut(column) {
                *head = sentence.tokens.clone();
            }
            return None;
        }
        self.heads.get(column)
    }
}

/// The value of a cell that says one thing.
fn cell_value<'t>(
    prose: &Prose<'t>,
    sentence: &Sentence,
    head: &[Token],
    from: usize,
    found: &mut Vec<Said<'t>>,
) {
    let mark = |t: &Token| matches!(t.kind, TokenKind::Symbol(_));
    let range = sentence.tokens.clone();
    let tokens = prose.tokens(range.clone());
    let lead = tokens.iter().take_while(|t| mark(t)).count();
    let tail = tokens.iter().rev().take_while(|t| mark(t)).count();
    let (Some(first), Some(last)) = (tokens.get(lead), tokens.iter().rev().nth(tail)) else {
        return;
    };
    let span = Span::new(first.start as usize, last.end as usize);
    let value = match moments(prose, tokens).first() {
        Some(moment) if moment.start == span.start => Value::Moment(moment.when),
        _ => match value(prose, tokens, lead) {
            Some(value) if tokens.len() <= lead + tail + 2 => value,
            _ => return,
        },
    };
    let labels = head.iter().rev().filter(|t| !mark(t)).map(|t| prose.word(t)).collect();
    let token = range.start + lead;
    found.push(Said { labels, adjacent: true, value, span, token, from });
}

/// Whether a sentence is one of the agent's own, and no question.
pub(super) fn is_statement(prose: &Prose<'_>, sentence: &Sentence) -> bool {
    use BlockKind::{Cell, Heading, Item, Paragraph};
    let block = prose.block_of(sentence).map(|block| block.kind);
    let own = matches!(block, Some(Paragraph | Heading | Item { .. } | Cell { .. }));
    own && !sentence.foreign && !sentence.question
}

fn values<'t>(prose: &Prose<'t>, sentence: &Sentence, found: &mut Vec<Said<'t>>) {
    let range = sentence.tokens.clone();
    let tokens = prose.tokens(range.clone());
    let stage = |t: &Token| t.kind == TokenKind::Word && Stage::of(prose.word(t)).is_some();
    if !tokens.iter().any(|t| t.digits || stage(t)) {
        return;
    }
    let moments = moments(prose, tokens);
    let mut until = 0;
    for (at, token) in tokens.iter().enumerate() {
        let start = token.start as usize;
        if start < until || token.quoted {
            continue;
        }
        let moment = moments.iter().find(|moment| moment.start == start);
        let (value, end) = match moment {
            Some(moment) => (Value::Moment(moment.when), moment.end),
            None => match value(prose, tokens, at) {
                Some(value) => (value, token.end as usize),
                None => continue,
            },
        };
        until = end;
        let deadline = at.checked_sub(1).and_then(|i| tokens.get(i));
        if deadline.is_some_and(|t| prose.is(t, words!["by", "since", "till"]))
            || is_open(prose, sentence, range.start + at)
            || ends_range(prose, tokens, at)
        {
            continue;
        }
        let (labels, adjacent) = labels(prose, tokens, at, end);
        let span = Span::new(start, end);
        let (token, from) = (range.start + at, range.start);
        found.push(Said { labels, adjacent, value, span, token, from });
    }
}

/// The days and times among some tokens, placed in the whole text.
fn moments(prose: &Prose<'_>, tokens: &[Token]) -> Vec<Moment> {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return Vec::new() };
    let from = first.start as usize;
    let text = prose.text.get(from..last.end as usize).unwrap_or_default();
    let mut found = Vec::new();
    each_moment(text, |Moment { start, end, when }| {
        found.push(Moment { start: start + from, end: end + from, when });
    });
    found
}

fn value<'t>(prose: &Prose<'t>, tokens: &[Token], at: usize) -> Option<Value<'t>> {
    let token = tokens.get(at)?;
    let word = prose.word(token);
    match token.kind {
        TokenKind::Number if is_compared(prose, tokens, at) => None,
        TokenKind::Number => match Quantity::parse(word) {
            Some(mut number) => {
                let next = tokens.get(at + 1).filter(|next| next.kind == TokenKind::Word);
                number.unit = number.unit.or_else(|| Unit::of(prose.word(next?)));
                Some(Value::Number(number))
            }
            None => is_code(word).then_some(Value::Code(word)),
        },
        TokenKind::Identifier | TokenKind::Id => is_code(word).then_some(Value::Code(word)),
        TokenKind::Word => {
            let stage = Stage::of(prose.text.get(token.start as usize..)?)?;
            predicate(prose, tokens, at).map(|tense| Value::Stage(stage, tense))
        }
        _ => None,
    }
}

/// `B22`, `17C`: letters and digits, few of both.
fn is_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let upper = word.bytes().filter(u8::is_ascii_uppercase).count();
    digits > 0 && upper > 0 && digits + upper == word.len() && word.len() <= 5
}

/// "at least 3", "3 more", "3 of 5", "5–10", "twice the 3": no number that a result must have.
fn is_compared(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    const BEFORE: &Words = words![
        "least", "most", "than", "over", "under", "above", "below", "first", "last", "next",
        "another", "some", "to", "by", "every", "per",
    ];
    const BEHIND: &Words = words!["more", "less", "fewer", "times", "other", "additional", "to"];
    let mark = |t: &Token| {
        matches!(t.kind, TokenKind::Symbol('~' | '#' | '-' | '–' | '/' | '<' | '>' | '×'))
    };
    let before = at.checked_sub(1).and_then(|i| tokens.get(i));
    // "Sales came to 482,300."
    let sums =
        words!["come", "comes", "came", "amount", "amounts", "amounted", "up", "total", "totals"];
    let is = at.checked_sub(2).and_then(|i| tokens.get(i)).is_some_and(|t| prose.is(t, sums));
    let before = before.filter(|t| !(is && prose.is(t, words!["to"])));
    // "3 of the 5"; but "used 3,000 of 5,000".
    let of = tokens.get(at + 1).is_some_and(|t| prose.is(t, words!["of"]));
    let of_all = tokens.get(at + 2).is_some_and(|t| t.kind == TokenKind::Number);
    (of && !of_all)
        || before.is_some_and(|t| mark(t) || prose.is_rough(t) || prose.is(t, BEFORE))
        || tokens.get(at + 1).is_some_and(|t| mark(t) || prose.is(t, BEHIND))
}

/// How a word is said of a thing: "is shipped", "was shipped", "has already shipped", "marked as shipped",
/// "Status: shipped".
fn predicate(prose: &Prose<'_>, tokens: &[Token], at: usize) -> Option<Tense> {
    const READ: &Words = words!["marked", "listed", "shown", "as", "\"", ":"];
    let skipped = |t: &&Token| {
        t.has(Tags::ADVERB.or(Tags::NOW).or(Tags::SUCCESS))
            || prose.is(t, READ)
            || matches!(t.kind, TokenKind::Symbol('✅' | '❌' | '✔'))
    };
    let before = || tokens.get(..at).unwrap_or_default().iter().rev();
    let verb = before().find(|t| !skipped(t))?;
    let colon = before().take(3).any(|t| t.is(':'));
    let infinitive = before().take(5).any(|t| prose.is(t, words!["to", "be", "being", "not"]));
    // "is active users": what stands behind must not be what it describes.
    let next = tokens.get(at + 1);
    let describes = next.is_some_and(|t| t.kind == TokenKind::Word && t.tags.is_empty());
    if describes || infinitive {
        return None;
    }
    let was = verb.has(Tags::PAST_BE);
    let plain = verb.has(Tags::BE) && !prose.is(verb, words!["get", "gets", "got"]);
    let done = verb.has(Tags::HAVE) && !prose.is(verb, words!["had", "have"]);
    match was {
        true => Some(Tense::Past),
        false if plain || done || (colon && verb.has(Tags::STATE_NOUN)) => Some(Tense::Present),
        false => None,
    }
}

/// Whether the sentence does not say plainly that it is so: denied, possible, wished, compared.
fn is_open(prose: &Prose<'_>, sentence: &Sentence, at: usize) -> bool {
    const WORDS: &Words = words![
        "instead",
        "if",
        "unless",
        "once",
        "when",
        "or",
        "versus",
        "vs",
        "average",
        "total",
        "previously",
        "originally",
        "example",
        "new",
        "before",
        "after",
        "between",
    ];
    let Some(clause) = prose.clause_at(at) else { return true };
    let begin = sentence.tokens.start;
    let open = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::CONDITIONAL);
    let open = |t: &Token| {
        (t.has(open) && !t.has(Tags::FAILURE) && !prose.is(t, words!["soon"])) || prose.is(t, WORDS)
    };
    let first = prose.tokens(clause.tokens.clone()).first();
    let until = first.is_some_and(|t| prose.is(t, words!["until"]));
    let said = matches!(clause.mood, Mood::Asserted | Mood::Observed | Mood::Relative) || until;
    let end = clause.tokens.end.max(at);
    !said || prose.tokens(begin..end).iter().any(|t| open(t) && !prose.is(t, words!["until"]))
}

/// "from 13:30 to 14:30", "9:30–10:15", "June 3 until June 7": where something ends need not be
/// recorded.
fn ends_range(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let before = tokens.get(..at).unwrap_or_default();
    let link = |t: &Token| {
        matches!(t.kind, TokenKind::Symbol('-' | '–' | '—' | '→'))
            || prose.is(t, words!["to", "until", "till", "and"])
    };
    before.last().is_some_and(link) && before.iter().rev().skip(1).take(3).any(|t| t.digits)
}

/// The words that say what a value is, nearest first, and whether one stands directly before.
fn labels<'t>(prose: &Prose<'t>, tokens: &[Token], at: usize, end: usize) -> (Vec<&'t str>, bool) {
    let ends = |t: &Token| {
        matches!(t.kind, TokenKind::Symbol(',' | ';' | '(' | ')' | '.' | '|' | '!' | '-' | '–'))
            || t.has(Tags::COORDINATE.or(Tags::RELATIVE))
            || matches!(t.kind, TokenKind::Number | TokenKind::Date | TokenKind::Money)
    };
    let small = Tags::BE.or(Tags::DETERMINER).or(Tags::ADVERB).or(Tags::NOW);
    let is_label = |t: &Token| {
        matches!(t.kind, TokenKind::Word | TokenKind::Identifier | TokenKind::Code)
            && !t.has(small)
            && !prose.is(t, words!["at", "on", "in", "of", "to", "by", "for", "from", "is", "your"])
    };
    let before = || tokens.get(..at).unwrap_or_default().iter().rev().take(BEFORE);
    let behind = tokens.iter().skip(at + 1).skip_while(|t| (t.start as usize) < end);
    let mut labels: Vec<&str> =
        before().take_while(|t| !ends(t)).filter(|t| is_label(t)).map(|t| prose.word(t)).collect();
    let links = Tags::BE.or(Tags::NOW);
    let direct =
        before().find(|t| !t.has(links) && !t.is(':') && !prose.is(t, words!["number", "of"]));
    let adjacent = direct.is_some_and(is_label);
    let noun = behind.take(3).take_while(|t| is_label(t) && !t.has(Tags::PREPOSITION));
    labels.extend(noun.map(|t| prose.word(t)));
    (labels, adjacent)
}
