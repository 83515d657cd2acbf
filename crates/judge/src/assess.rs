//! Turns an opinion into findings.

use std::fmt;

use counterfoil_model::{Severity, Span};
use counterfoil_record::{Facts, Label};

use crate::case::{Case, Need, Sentence};
use crate::citation::{NotFound, find};
use crate::confirm::{Confirmation, Verified, confirm};
use crate::grade::Grading;
use crate::nearest::{Nearest, nearest};
use crate::opinion::{Claimed, Opinion, ReadVerdict};

/// The result of checking an opinion.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The findings whose quotations were found, in order of sentences.
    pub findings: Vec<ReadFinding>,
    /// Why the other findings were dropped, in the order of the opinion.
    pub dropped: Vec<Dropped>,
    /// The lines that the judge asks to see; empty if it may not ask.
    pub need: Vec<Need>,
}

/// A judge's finding whose quotations were found by code.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadFinding {
    /// The number of the sentence.
    pub sentence: usize,
    /// Whether it is contradicted or unsupported.
    pub verdict: ReadVerdict,
    /// Its severity.
    pub severity: Severity,
    /// The bytes of the false words in the original message.
    pub span: Span,
    /// Those words as they appear in the redacted answer.
    pub says: String,
    /// What the record says instead.
    pub cited: Option<Cited>,
    /// Code's own evidence for the finding, if any.
    pub confirmation: Option<Confirmation>,
    /// For an unsupported statement: what was searched, and what the absence means.
    pub searched: Option<Searched>,
    /// The most similar real value, if the answer names a path, URL, address, id or name that is
    /// not in the record.
    pub nearest: Option<Nearest>,
    /// The judge's confidence.
    pub confidence: f64,
}

/// A quotation from the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cited {
    /// The line it is from.
    pub label: Label,
    /// The bytes of the quotation in the line's text.
    pub span: Span,
    /// The quoted words, verbatim.
    pub quote: String,
}

/// What was searched without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// The number of calls.
    pub calls: usize,
    /// The number of calls per tool, the most used first.
    pub by_tool: Vec<(String, usize)>,
    /// Why no call matches.
    pub absence: Absence,
}

impl fmt::Display for Searched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 4;
        match self.calls {
            0 => f.write_str("no calls are recorded")?,
            1 => f.write_str("1 call searched")?,
            calls => write!(f, "{calls} calls searched")?,
        }
        let tools = self.by_tool.iter().take(MOST).map(|(tool, count)| format!("{tool} ×{count}"));
        let tools: Vec<String> = tools.collect();
        if !tools.is_empty() {
            let more = if self.by_tool.len() > MOST { ", …" } else { "" };
            write!(f, " ({}{more}), no match", tools.join(", "))?;
        }
        match self.absence {
            Absence::Unwitnessed => Ok(()),
            Absence::Unrecorded => f.write_str("; the record is incomplete"),
        }
    }
}

/// Why the record contains no matching call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Absence {
    /// The record is complete and contains no such call.
    Unwitnessed,
    /// The record has gaps.
    Unrecorded,
}

/// Why a finding was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dropped {
    /// The answer has no such sentence.
    NoSentence,
    /// The sentence does not contain the quoted words.
    Says(NotFound),
    /// The record has no such line.
    NoLine,
    /// It claims a contradiction but does not quote the record.
    NoQuote,
    /// The line does not contain the quoted words.
    Quote(NotFound),
    /// The confidence is too low.
    Unsure,
    /// Another finding is about the same words.
    Repeated,
}

impl Dropped {
    /// Whether a quotation is missing or not where the judge says it is.
    #[must_use]
    pub fn is_no_citation(self) -> bool {
        !matches!(self, Self::Unsure | Self::Repeated)
    }
}

/// Keeps the findings of an opinion whose quotations are found, confirms them by code where
/// possible, and sets their severity.
#[must_use]
pub fn assess(case: &Case<'_>, opinion: &Opinion, grading: &Grading) -> Assessment {
    let (mut findings, mut dropped): (Vec<ReadFinding>, Vec<Dropped>) = (Vec::new(), Vec::new());
    for claimed in &opinion.findings {
        match verify(case, claimed, grading) {
            Err(reason) => dropped.push(reason),
            Ok(finding) if findings.iter().any(|known| known.span == finding.span) => {
                dropped.push(Dropped::Repeated);
            }
            Ok(finding) => findings.push(finding),
        }
    }
    findings.sort_by_key(|finding| (finding.sentence, finding.span));
    let need = opinion.need.iter().take(MOST_NEEDS).filter_map(|text| Need::parse(text));
    let need = if case.may_ask() { need.collect() } else { Vec::new() };
    Assessment { findings, dropped, need }
}

/// Maximum number of lines, or ranges of lines, that a judge may ask for.
const MOST_NEEDS: usize = 8;

fn verify(case: &Case<'_>, claimed: &Claimed, grading: &Grading) -> Result<ReadFinding, Dropped> {
    let sentence = number_of(&claimed.sentence).and_then(|number| case.sentence(number));
    let sentence: &Sentence = sentence.ok_or(Dropped::NoSentence)?;
    let words = case.words(sentence);
    let span = match find(&claimed.says, words) {
        Ok(found) => Span::new(found.span.start, found.span.end),
        Err(NotFound::TooShort) => {
            let whole = whole_sentence(&claimed.says, words);
            let meant = whole.or_else(|| first_word(&claimed.says, words));
            meant.ok_or(Dropped::Says(NotFound::TooShort))?
        }
        Err(reason) => return Err(Dropped::Says(reason)),
    };
    let says = span.slice(words);
    let cited = cite(case, claimed)?;
    let quoted = cited.as_ref().map(|cited| (cited.label, cited.quote.as_str()));
    let needs = claimed.needs.as_deref();
    let verified = Verified { case, verdict: claimed.verdict, says, cited: quoted, needs };
    let confirmation = confirm(&verified);
    let severity = grading
        .of_read(claimed.verdict, claimed.confidence, confirmation.is_some())
        .ok_or(Dropped::Unsure)?;
    let facts = case.facts();
    let unsupported = claimed.verdict == ReadVerdict::Unsupported;
    Ok(ReadFinding {
        sentence: sentence.number,
        verdict: claimed.verdict,
        severity,
        span: case.original(span.shifted(sentence.span.start)),
        says: says.to_owned(),
        cited,
        confirmation,
        searched: unsupported.then(|| searched(facts)),
        nearest: nearest(facts, says),
        confidence: claimed.confidence,
    })
}

/// A short sentence that is quoted as a whole, such as `ok   ./...`.
fn whole_sentence(says: &str, sentence: &str) -> Option<Span> {
    let is_same = says.split_whitespace().eq(sentence.split_whitespace());
    let tells = sentence.contains(char::is_alphanumeric);
    (is_same && tells).then(|| Span::new(0, sentence.len()))
}

/// The first word of a sentence, if that is the quotation: "**Pushed** to `main`". Since the
/// sentence is known, one word is enough to identify the claim.
fn first_word(says: &str, sentence: &str) -> Option<Span> {
    let says = says.trim_matches(|c: char| !c.is_alphanumeric());
    let start = sentence.find(char::is_alphanumeric)?;
    let rest = sentence.get(start..)?;
    let word = rest.split(|c: char| !c.is_alphanumeric()).next()?;
    // Short words such as "The" and "It" say nothing.
    let tells = word == says && word.chars().count() >= 4;
    tells.then(|| Span::new(start, start + word.len()))
}

/// The quotation from the record that an opinion cites. An unsupported finding need not have one;
/// if it does, it must be found.
fn cite(case: &Case<'_>, claimed: &Claimed) -> Result<Option<Cited>, Dropped> {
    let record = claimed.record.as_deref().map(str::trim).filter(|record| !record.is_empty());
    let quote = claimed.quote.trim();
    match (record, quote.is_empty(), claimed.verdict) {
        (_, true, ReadVerdict::Unsupported) => Ok(None),
        (None, _, _) | (_, true, _) => Err(Dropped::NoQuote),
        (Some(record), false, _) => {
            let label = Label::parse(record).ok_or(Dropped::NoLine)?;
            let text = case.text_of(label).ok_or(Dropped::NoLine)?;
            let found = find(quote, text).map_err(Dropped::Quote)?;
            let span = with_marks(text, Span::new(found.span.start, found.span.end));
            Ok(Some(Cited { label, span, quote: span.slice(text).to_owned() }))
        }
    }
}

/// Extends a JSON quotation to the quotation marks at its ends, which the search leaves out.
fn with_marks(text: &str, span: Span) -> Span {
    const MARK: char = '"';
    if !span.slice(text).contains(MARK) {
        return span;
    }
    let before = text.get(..span.start).is_some_and(|before| before.ends_with(MARK));
    let after = text.get(span.end..).is_some_and(|after| after.starts_with(MARK));
    Span::new(span.start - usize::from(before), span.end + usize::from(after))
}

fn searched(facts: Facts<'_>) -> Searched {
    let by_tool = facts.calls_by_tool().into_iter();
    Searched {
        calls: facts.calls().len(),
        by_tool: by_tool.map(|(tool, count)| (tool.to_owned(), count)).collect(),
        absence: if facts.is_complete() { Absence::Unwitnessed } else { Absence::Unrecorded },
    }
}

/// The number in a label such as `S2`.
fn number_of(sentence: &str) -> Option<usize> {
    let digits = sentence.trim().strip_prefix(['S', 's'])?;
    digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))
}
