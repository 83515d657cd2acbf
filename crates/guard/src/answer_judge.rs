//! A judge that reads answers in addition to the rules.

use std::fmt;
use std::sync::Arc;

use counterfoil_judge::{AnswerJudge, Case, Given, Judge, Reading, ReadingOptions, ask, read};
use counterfoil_model::{Finding, Role, Transcript};
use counterfoil_record::Record;
use counterfoil_redact::Redactor;

use crate::guard::Guard;
use crate::verify::{Disposition, disposition};

/// A judge that is asked about every answer. Its opinions are not cached.
pub struct LiveJudge {
    judge: Arc<dyn Judge>,
    options: ReadingOptions,
    redactor: Redactor,
}

impl LiveJudge {
    /// Creates a judge that reads answers with these options. Secrets are redacted from what it is
    /// sent.
    #[must_use]
    pub fn new(judge: Arc<dyn Judge>, options: ReadingOptions) -> Self {
        Self { judge, options, redactor: Redactor::standard() }
    }

    fn opinion(&self, case: &Case<'_>) -> Result<Given, String> {
        let mut random = [0; 12];
        getrandom::fill(&mut random)
            .map_err(|error| format!("cannot generate a random number: {error}"))?;
        ask(self.judge.as_ref(), case, random).map(|(given, _)| given)
    }
}

impl fmt::Debug for LiveJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveJudge").field("judge", &self.judge.name()).finish_non_exhaustive()
    }
}

impl AnswerJudge for LiveJudge {
    fn read(&self, transcript: &Transcript, turn: usize) -> Result<Reading, String> {
        let record = Record::redacted(transcript, &|text| self.redactor.redact(text));
        let opinion = |case: &Case<'_>| self.opinion(case);
        let reading = read(record.up_to(turn), &self.options, &opinion);
        reading.unwrap_or_else(|| Ok(Reading::default()))
    }
}

impl Guard {
    /// Whether a judge reads answers.
    #[must_use]
    pub fn has_answer_judge(&self) -> bool {
        self.answer_judge().is_some()
    }

    /// Adds the judge's findings for the message at that position, unless a rule already found
    /// something that blocks it. Returns the reason if the judge should have read the message and
    /// did not. `findings` are the findings of this message. Requires a Tokio runtime with threads
    /// for blocking work.
    pub async fn read_answer(
        &self,
        transcript: &Transcript,
        turn: usize,
        findings: &mut Vec<Finding>,
    ) -> Option<String> {
        let judge = Arc::clone(self.answer_judge()?);
        let says = transcript.messages.get(turn).is_some_and(|message| {
            message.role == Role::Assistant && !message.text.trim().is_empty()
        });
        if !says || disposition(findings) == Disposition::Block {
            return None;
        }
        let transcript = transcript.clone();
        let read = tokio::task::spawn_blocking(move || judge.read(&transcript, turn));
        match read.await {
            Ok(Ok(reading)) => {
                reading.join(turn, findings);
                None
            }
            Ok(Err(why)) => Some(why),
            Err(_) => Some("the judge failed".to_owned()),
        }
    }
}
