//! Decides what happens to an answer, streamed or not. Other modules carry it out.

use counterfoil_model::{Finding, Subject, ToolCall};
use serde_json::Value;

use crate::conclusion::{Became, Conclusion};
use crate::judge::sentence_start;
use crate::notes;
use crate::options::{ProxyMode, ProxySettings};

/// The decision on an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ruling {
    /// It is passed on unchanged.
    Pass,
    /// It could not be judged, so it is withheld.
    Withhold(String),
    /// It has problems, or its clients may read it differently than it was judged.
    Wrong,
}

/// What is written below an answer, or in its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instead {
    pub(crate) words: Words,
    /// The calls that are passed on.
    pub(crate) calls: Vec<ToolCall>,
    /// Whether these are the calls of the answer.
    pub(crate) same_calls: bool,
    /// The findings, for programs.
    pub(crate) report: Value,
    /// Whether the client does not get all of the answer.
    pub(crate) withheld: bool,
}

/// The words for an answer with problems.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Words {
    /// All its words, with this text below.
    Beneath(String),
    /// Its words before the first false claim, then this text.
    Until(String),
    /// For a structured answer: this refusal, in the form of its wire.
    Refused(String),
}

impl Conclusion {
    /// The decision on the answer.
    pub(crate) fn ruling(&self, settings: &ProxySettings) -> Ruling {
        match &self.unjudged {
            Some(why) if settings.withholds() => Ruling::Withhold(why.clone()),
            _ if self.is_wrong(settings) || self.doubt.is_some() => Ruling::Wrong,
            _ => Ruling::Pass,
        }
    }

    /// Whether it has problems that the model could correct.
    pub(crate) fn is_wrong(&self, settings: &ProxySettings) -> bool {
        !self.bad(settings.least).is_empty() || !self.calls.refused.is_empty()
    }

    /// The replacement for an answer that was not corrected. A structured answer gets no added
    /// text.
    pub(crate) fn instead(&self, settings: &ProxySettings, structured: bool) -> Instead {
        let bad = self.bad(settings.least);
        let refused = &self.calls.refused;
        let blocks = settings.mode == ProxyMode::Block && self.is_wrong(settings);
        let words = match (blocks, structured) {
            (false, false) => {
                let wrong = self.is_wrong(settings);
                let mut words = if wrong { notes::footnotes(&bad, refused) } else { String::new() };
                self.doubt.iter().for_each(|why| words.push_str(&notes::not_checked(why)));
                Words::Beneath(words)
            }
            (true, true) if !bad.is_empty() => Words::Refused(notes::notice(&bad)),
            (_, true) => Words::Beneath(String::new()),
            (true, false) => {
                let notice = if bad.is_empty() { String::new() } else { notes::notice(&bad) };
                Words::Until(format!("{notice}{}", notes::no_calls(refused)))
            }
        };
        let mut calls = self.calls.passed.clone();
        if matches!(words, Words::Refused(_)) {
            calls.clear();
        }
        // The client itself may refuse a call that only does not fit its tool.
        let stays = |denied: bool| blocks || denied && settings.mode.holds();
        let passing = refused.iter().filter(|refused| !stays(refused.denied));
        calls.extend(passing.map(|refused| refused.call.clone()));
        let all = self.calls.passed.len() + refused.len();
        let unjudged = self.unjudged.as_deref().or(self.doubt.as_deref());
        let mut report = notes::machine(&self.findings, refused, unjudged);
        if blocks {
            notes::without_claims(&mut report);
        }
        let same_calls = calls.len() == all && !self.calls.stripped;
        Instead { words, calls, same_calls, report, withheld: blocks }
    }
}

impl Became {
    /// Records the replacement, if asking again did not help or was not done.
    pub(crate) fn written(&mut self, instead: &Instead) {
        self.what = if instead.withheld { "held" } else { "annotated" };
        self.withheld = instead.withheld;
        self.message.calls.clone_from(&instead.calls);
    }
}

/// The end of the words that may be passed on: the start of the sentence with the first false
/// claim.
pub(crate) fn first_bad(text: &str, bad: &[Finding]) -> usize {
    let start = bad.iter().filter_map(|finding| match &finding.subject {
        Subject::Claim { span, .. } => Some(sentence_start(text, span.start)),
        Subject::Call(_) => None,
    });
    start.min().unwrap_or(text.len())
}
