//! Several answers of one session in one question: the record goes to the model once.

use super::{Case, text};
use crate::opinion::{Claimed, Opinion};

/// The most answers of one question.
const MOST: usize = 12;

/// Consecutive answers of one session, each of which is to be judged by the record before it.
#[derive(Debug)]
pub struct Joint<'r> {
    cases: Vec<Case<'r>>,
}

impl<'r> Joint<'r> {
    /// Puts the cases of one session, in order, into as few questions as fit in `budget` tokens. What is
    /// left for a question of its own is in none of them: a case of which something was left out, or one
    /// that no other fits to.
    #[must_use]
    pub fn of(cases: Vec<Case<'r>>, budget: usize) -> Vec<Self> {
        let mut joints: Vec<Self> = Vec::new();
        for case in cases.into_iter().filter(|case| !case.is_cut()) {
            match joints.last_mut().filter(|joint| joint.has_room_for(&case, budget)) {
                Some(joint) => joint.cases.push(case),
                None => joints.push(Self { cases: vec![case] }),
            }
        }
        joints.retain(|joint| joint.cases.len() > 1);
        joints
    }

    /// The record of the last answer holds that of all others.
    fn has_room_for(&self, case: &Case<'_>, budget: usize) -> bool {
        let own = |case: &Case<'_>| -> usize {
            let sentences = case.sentences.iter().map(|s| s.span.len() + 8).sum::<usize>();
            let facts = case.sheet.iter().map(|line| line.text.len() + 8).sum::<usize>();
            sentences + facts + 120
        };
        let bytes = self.cases.iter().map(own).sum::<usize>() + case.text().len();
        self.cases.len() < MOST && bytes <= budget.saturating_mul(4)
    }

    /// The answers, in order.
    #[must_use]
    pub fn cases(&self) -> &[Case<'r>] {
        &self.cases
    }

    /// The answers as the judge reads them, each where it was given.
    #[must_use]
    pub fn text(&self) -> String {
        text::of_several(&self.cases)
    }

    /// The opinion about each answer, with its own numbers of sentences and facts. What names no sentence
    /// of any answer goes to the first, where nothing is found for it.
    #[must_use]
    pub fn split(&self, opinion: &Opinion) -> Vec<Opinion> {
        let mut opinions = vec![Opinion::default(); self.cases.len()];
        for claimed in &opinion.findings {
            let (at, sentence) =
                self.local(&claimed.sentence, 'S').unwrap_or((0, claimed.sentence.clone()));
            let record = claimed.record.as_ref().map(|label| match self.local(label, 'F') {
                Some((of, own)) if of == at => own,
                // A fact about another answer says nothing about this one.
                Some(_) => "F0".to_owned(),
                None => label.clone(),
            });
            if let Some(own) = opinions.get_mut(at) {
                own.findings.push(Claimed { sentence, record, ..claimed.clone() });
            }
        }
        opinions
    }

    /// The answer that a label belongs to, and the label in its own case.
    fn local(&self, label: &str, kind: char) -> Option<(usize, String)> {
        let mut number: usize = label.trim().strip_prefix(kind)?.parse().ok()?;
        for (at, case) in self.cases.iter().enumerate() {
            let count = if kind == 'S' { case.sentences.len() } else { case.sheet.len() };
            if (1..=count).contains(&number) {
                return Some((at, format!("{kind}{number}")));
            }
            number = number.checked_sub(count)?;
        }
        None
    }
}

impl Case<'_> {
    /// Whether something of it is not shown.
    fn is_cut(&self) -> bool {
        let out = self.left_out;
        let all = out.lines + out.sentences + out.facts > 0;
        all || self.lines.len() != self.facts.lines().len()
    }
}
