//! Several answers of one session in one question, so that the record is sent to the model only
//! once.

use super::{Case, text};
use crate::opinion::{Claimed, Opinion};

/// Maximum number of answers per question.
const MOST: usize = 12;

/// Consecutive answers of one session, each judged by the record before it.
#[derive(Debug)]
pub struct Joint<'r> {
    cases: Vec<Case<'r>>,
}

impl<'r> Joint<'r> {
    /// Groups the cases of one session, in order, into as few questions of `budget` tokens as
    /// possible. Cases that need a question of their own are left out: those with omissions, and
    /// those that share no question with another.
    #[must_use]
    pub fn join(cases: Vec<Case<'r>>, budget: usize) -> Vec<Self> {
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

    /// The record of the last answer includes those of all others.
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

    /// The text that the judge reads, with each answer at its position in the record.
    #[must_use]
    pub fn text(&self) -> String {
        text::of_several(&self.cases)
    }

    /// Splits an opinion into one per answer, with that answer's own numbering of sentences and
    /// facts. A finding that names no known sentence goes to the first answer, where it is dropped.
    #[must_use]
    pub fn split(&self, opinion: &Opinion) -> Vec<Opinion> {
        let mut opinions = vec![Opinion::default(); self.cases.len()];
        for claimed in &opinion.findings {
            let (at, sentence) =
                self.local(&claimed.sentence, 'S').unwrap_or((0, claimed.sentence.clone()));
            let record = claimed.record.as_ref().map(|label| match self.local(label, 'F') {
                Some((of, own)) if of == at => own,
                // A fact about another answer must not count for this one.
                Some(_) => "F0".to_owned(),
                None => label.clone(),
            });
            if let Some(own) = opinions.get_mut(at) {
                own.findings.push(Claimed { sentence, record, ..claimed.clone() });
            }
        }
        opinions
    }

    /// The answer that a label belongs to, and the label within its own case.
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
    /// Whether anything was left out of the case.
    fn is_cut(&self) -> bool {
        let out = self.left_out;
        let all = out.lines + out.sentences + out.facts > 0;
        all || self.lines.len() != self.facts.lines().len()
    }
}
