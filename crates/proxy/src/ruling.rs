//! What becomes of an answer, whether it comes event by event or in one piece: decided here, and
//! written elsewhere.

use counterfoil_model::{Finding, Subject, ToolCall};
use serde_json::Value;

use crate::exchange::Conclusion;
use crate::judge::sentence_start;
use crate::notes;
use crate::options::{ProxyMode, ProxySettings};

/// What becomes of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ruling {
    /// It passes as it came.
    Pass,
    /// Nobody could judge it, so it does not pass.
    Withhold(String),
    /// Something is wrong with it, or its clients may read it in another way than it was judged.
    Wrong,
}

/// What stands beneath an answer, or in its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instead {
    pub(crate) words: Words,
    /// The calls that pass.
    pub(crate) calls: Vec<ToolCall>,
    /// They are those of the answer.
    pub(crate) same_calls: bool,
    /// The same for programs.
    pub(crate) told: Value,
    /// The client does not have all of the answer.
    pub(crate) withheld: bool,
}

/// The words of an answer with which something is wrong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Words {
    /// All of them, and these beneath.
    Beneath(String),
    /// Those in front of the first bad claim, and these.
    Until(String),
    /// In the place of an answer in a form: what its wire has for a refusal.
    Refused(String),
}

impl Conclusion {
    /// What becomes of the answer.
    pub(crate) fn ruling(&self, settings: &ProxySettings) -> Ruling {
        match &self.unjudged {
            Some(why) if settings.withholds() => Ruling::Withhold(why.clone()),
            _ if self.is_wrong(settings) || self.doubt.is_some() => Ruling::Wrong,
            _ => Ruling::Pass,
        }
    }

    /// Whether the model may put something right.
    pub(crate) fn is_wrong(&self, settings: &ProxySettings) -> bool {
        !self.bad(settings.least).is_empty() || !self.calls.refused.is_empty()
    }

    /// What stands in the place of an answer that nobody put right. One that has to have a form has
    /// no words of ours in it.
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
        // What only does not fit, its client may refuse itself.
        let stays = |denied: bool| blocks || denied && settings.mode.holds();
        let passing = refused.iter().filter(|refused| !stays(refused.denied));
        calls.extend(passing.map(|refused| refused.call.clone()));
        let all = self.calls.passed.len() + refused.len();
        let unjudged = self.unjudged.as_deref().or(self.doubt.as_deref());
        let mut told = notes::machine(&self.findings, refused, unjudged);
        if blocks {
            notes::without_claims(&mut told);
        }
        let same_calls = calls.len() == all && !self.calls.stripped;
        Instead { words, calls, same_calls, told, withheld: blocks }
    }
}

/// Where the words end that may pass: in front of the sentence with the first bad claim.
pub(crate) fn first_bad(text: &str, bad: &[Finding]) -> usize {
    let start = bad.iter().filter_map(|finding| match &finding.subject {
        Subject::Claim { span, .. } => Some(sentence_start(text, span.start)),
        Subject::Call(_) => None,
    });
    start.min().unwrap_or(text.len())
}
