//! The case that a judge is given for one answer.

mod answer;
mod excerpt;
mod joint;
mod relevance;
mod sentence;
mod text;

use counterfoil_model::Span;
use counterfoil_record::{CallStatus, FactLine, Facts, Label, Line, LineKind};

pub use joint::Joint;
pub use sentence::Sentence;

use answer::Answer;
use excerpt::Excerpts;

/// Parameters of a case.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The maximum size of the case in tokens; one token is counted as four bytes.
    pub budget: usize,
    /// The lines that the judge asked for in the first round.
    pub need: &'a [Need],
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self { budget: 12_000, need: &[] }
    }
}

/// Lines of the record that a judge asks to see in full: `R12`, `C14-C20`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    first: Label,
    last: usize,
}

impl Need {
    /// Parses a label or a range of labels of one kind; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once(['-', '–']).unwrap_or((text, text));
        let (first, last) = (Label::parse(first.trim())?, Label::parse(last.trim())?);
        let ordered = first.kind == last.kind && first.number <= last.number;
        ordered.then_some(Self { first, last: last.number })
    }

    fn has(&self, label: Label) -> bool {
        self.first.kind == label.kind && (self.first.number..=self.last).contains(&label.number)
    }
}

/// How much was left out of a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Lines of the record that are not shown, or not in full.
    pub lines: usize,
    /// Bytes of the record that are not shown.
    pub bytes: usize,
    /// Sentences of the answer that are not shown.
    pub sentences: usize,
    /// Lines of the sheet of facts that are not shown.
    pub facts: usize,
}

/// A line of the record as shown to the judge.
#[derive(Debug, Clone)]
pub struct CaseLine<'r> {
    /// The whole line.
    pub line: &'r Line<'r>,
    /// For a call or a result: how the call ended.
    pub status: Option<CallStatus>,
    /// The text that is shown; `[…]` marks omissions.
    pub shown: String,
    /// Whether something was left out.
    pub cut: bool,
}

/// One answer with the record before it.
#[derive(Debug)]
pub struct Case<'r> {
    facts: Facts<'r>,
    answer: Answer<'r>,
    lines: Vec<CaseLine<'r>>,
    /// Summaries of calls without a line of their own, each with the index of the line that
    /// follows.
    groups: Vec<(usize, String)>,
    sheet: Vec<FactLine>,
    sentences: Vec<Sentence>,
    left_out: LeftOut,
    second_round: bool,
    bytes_read: usize,
}

/// Shares of the budget for the answer and the sheet, in tenths.
const ANSWER_SHARE: usize = 4;
const SHEET_SHARE: usize = 2;

impl<'r> Case<'r> {
    /// The case for the message that follows these facts; `None` if that message has no text.
    #[must_use]
    pub fn new(facts: Facts<'r>, ask: &Ask<'_>) -> Option<Self> {
        let answer = Answer::new(facts)?;
        let bytes = ask.budget.saturating_mul(4);
        let mut left_out = LeftOut::default();
        let mut sentences = sentence::split(answer.text());
        left_out.sentences = keep_within(&mut sentences, bytes * ANSWER_SHARE / 10, |sentence| {
            sentence.span.len() + 8
        });
        let mut sheet = facts.sheet();
        left_out.facts = keep_within(&mut sheet, bytes * SHEET_SHARE / 10, |l| l.text.len() + 8);
        let used = sentences.iter().map(|s| s.span.len() + 8).sum::<usize>()
            + sheet.iter().map(|line| line.text.len() + 8).sum::<usize>()
            + text::tools(facts).len()
            + text::HEADINGS;
        let Excerpts { lines, groups, omitted_lines, omitted_bytes, bytes_read } =
            Excerpts::new(facts, answer.text(), ask.need, bytes.saturating_sub(used));
        (left_out.lines, left_out.bytes) = (omitted_lines, omitted_bytes);
        let second_round = !ask.need.is_empty();
        Some(Self {
            facts,
            answer,
            lines,
            groups,
            sheet,
            sentences,
            left_out,
            second_round,
            bytes_read,
        })
    }

    /// The facts that the case is built from.
    #[must_use]
    pub fn facts(&self) -> Facts<'r> {
        self.facts
    }

    /// The sentences of the answer that are shown, in order.
    #[must_use]
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    /// The words of a sentence, redacted.
    #[must_use]
    pub fn words(&self, sentence: &Sentence) -> &str {
        sentence.span.slice(self.answer.text())
    }

    /// The sentence with this number.
    #[must_use]
    pub fn sentence(&self, number: usize) -> Option<&Sentence> {
        self.sentences.get(number.checked_sub(1)?)
    }

    /// Maps a span of the redacted answer to the bytes of the original message.
    #[must_use]
    pub fn original(&self, span: Span) -> Span {
        self.answer.original(span)
    }

    /// The lines of the record, as shown.
    #[must_use]
    pub fn lines(&self) -> &[CaseLine<'r>] {
        &self.lines
    }

    /// The lines of the fact sheet; `F1` is the first.
    #[must_use]
    pub fn sheet(&self) -> &[FactLine] {
        &self.sheet
    }

    /// What was left out.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Whether the judge may ask for more: lines were left out, and this is the first round.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        !self.second_round && self.left_out.lines > 0
    }

    /// The number of bytes of the record that were read to build the case; they determine how long
    /// that takes.
    #[must_use]
    pub fn bytes_read(&self) -> usize {
        self.bytes_read
    }

    /// The full text of a line that a judge may cite, whether shown or not; `None` if there is no
    /// line with this label.
    #[must_use]
    pub fn text_of(&self, label: Label) -> Option<&str> {
        match label.kind {
            LineKind::Fact => self.fact(label).map(|fact| fact.text.as_str()),
            _ => self.facts.line(label).map(|(_, line)| line.text.as_ref()),
        }
    }

    /// The line of the fact sheet with this label.
    #[must_use]
    pub fn fact(&self, label: Label) -> Option<&FactLine> {
        let at = label.number.checked_sub(1).filter(|_| label.kind == LineKind::Fact)?;
        self.sheet.get(at)
    }

    /// The text that the judge reads. It identifies the case: [`digest`](crate::digest) is computed
    /// from it.
    #[must_use]
    pub fn text(&self) -> String {
        text::render(self)
    }
}

/// Drops items from the end until the rest fits the budget; returns the number dropped.
fn keep_within<T>(items: &mut Vec<T>, budget: usize, size: impl Fn(&T) -> usize) -> usize {
    let mut used = 0;
    let fits = items.iter().take_while(|item| {
        used += size(item);
        used <= budget
    });
    let kept = fits.count();
    let dropped = items.len() - kept;
    items.truncate(kept);
    dropped
}
