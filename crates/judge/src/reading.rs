//! One answer from the case to findings: the only way in which a judge's word becomes one.

use std::fmt;

use counterfoil_model::{Finding, MessageKind, Role, Span, Subject, Transcript};
use counterfoil_record::Facts;

use crate::assess::assess;
use crate::case::{Ask, Case, Joint, Need};
use crate::grade::Grading;
use crate::opinion::Opinion;
use crate::prompt::Prompt;

/// A model that can be asked. It is asked once for a case, and never told what became of its reply.
pub trait Judge: Send + Sync {
    /// Its name, for reports and for the file of opinions.
    fn name(&self) -> &str;

    /// Asks it, and waits for its reply.
    ///
    /// # Errors
    /// Why there is no reply, in words for the user.
    fn ask(&self, prompt: &Prompt) -> Result<Reply, String>;
}

/// Reads whole answers: what guards, hooks and servers ask, who know nothing of cases and opinions.
pub trait AnswerJudge: fmt::Debug + Send + Sync {
    /// Reads the message at that position. Blocks until the reply is there, for as long as the judge is
    /// given.
    ///
    /// # Errors
    /// Why it is not judged, in words for the user.
    fn read(&self, transcript: &Transcript, turn: usize) -> Result<Reading, String>;
}

/// A judge that may not be there: then the reason is why nothing is judged.
impl<J: AnswerJudge> AnswerJudge for Result<J, String> {
    fn read(&self, transcript: &Transcript, turn: usize) -> Result<Reading, String> {
        self.as_ref().map_err(Clone::clone)?.read(transcript, turn)
    }
}

/// Asks a judge about a case, and reads its reply: with how many tokens it took. `random` becomes the
/// boundary around the record, which must not be known beforehand.
///
/// # Errors
/// Why there is no opinion.
pub fn ask(judge: &dyn Judge, case: &Case<'_>, random: [u8; 12]) -> Result<(Given, u64), String> {
    let reply = judge.ask(&Prompt::of(case, &boundary(random)))?;
    let opinion = Opinion::read(&reply.text).map_err(|error| error.to_string())?;
    Ok((Given { judge: judge.name().to_owned(), opinion }, reply.tokens))
}

/// Asks a judge about several answers of one session at once: an opinion for each, in order, with how
/// many tokens it took.
///
/// # Errors
/// Why there is no opinion.
pub fn ask_jointly(
    judge: &dyn Judge,
    joint: &Joint<'_>,
    random: [u8; 12],
) -> Result<(Vec<Given>, u64), String> {
    let reply = judge.ask(&Prompt::of_several(joint, &boundary(random)))?;
    let opinion = Opinion::read(&reply.text).map_err(|error| error.to_string())?;
    let name = judge.name();
    let given = joint.split(&opinion).into_iter();
    let given = given.map(|opinion| Given { judge: name.to_owned(), opinion });
    Ok((given.collect(), reply.tokens))
}

/// A word that no text of a session can contain: it was not known when that was written.
#[must_use]
pub fn boundary(random: [u8; 12]) -> String {
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The messages that end a turn of the agent: what it says before it waits for the user.
#[must_use]
pub fn answers(transcript: &Transcript) -> Vec<usize> {
    let messages = &transcript.messages;
    let says = |at: &usize| {
        let Some(message) = messages.get(*at) else { return false };
        let own = message.role == Role::Assistant && message.agent.is_none();
        if !own || message.kind != MessageKind::Ordinary || message.text.trim().is_empty() {
            return false;
        }
        let mut later = messages.get(at + 1..).unwrap_or_default().iter();
        let next = later.find(|next| next.role != Role::System && next.agent.is_none());
        message.calls.is_empty() && next.is_none_or(|next| next.role == Role::User)
    };
    (0..messages.len()).filter(says).collect()
}

/// What a model replied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its words.
    pub text: String,
    /// How many tokens it read and wrote; 0 where it does not say so.
    pub tokens: u64,
}

/// An opinion about a case, and whose it is.
#[derive(Debug, Clone)]
pub struct Given {
    /// The judge's name.
    pub judge: String,
    /// Its opinion.
    pub opinion: Opinion,
}

/// What became of one answer.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// What the judge read as false and code found in answer and record, by place.
    pub findings: Vec<Finding>,
    /// How many of its findings were dropped because a quotation is not where it should be.
    pub dropped: usize,
}

/// How answers are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadingOptions {
    /// From which confidence on an opinion is worth what.
    pub grading: Grading,
    /// The most tokens of a case; 0 stands for the default of [`Ask`].
    pub budget: usize,
}

/// Reads the answer before which these facts are known. `opinion` gives an opinion about a case: from
/// a file, or from a model. `None` where the message says nothing.
///
/// # Errors
/// Why the answer is not judged.
pub fn read(
    facts: Facts<'_>,
    options: &ReadingOptions,
    opinion: &dyn Fn(&Case<'_>) -> Result<Given, String>,
) -> Option<Result<Reading, String>> {
    let case = case(facts, options)?;
    Some(read_case(facts, &case, options, opinion))
}

/// The case that [`read`] asks about first; `None` where the message says nothing.
#[must_use]
pub fn case<'r>(facts: Facts<'r>, options: &ReadingOptions) -> Option<Case<'r>> {
    Case::of(facts, &options.ask(&[]))
}

impl ReadingOptions {
    /// The most tokens of a question.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.ask(&[]).budget
    }

    fn ask<'a>(&self, need: &'a [Need]) -> Ask<'a> {
        let usual = Ask { need, ..Ask::default() };
        if self.budget > 0 { Ask { budget: self.budget, ..usual } } else { usual }
    }
}

fn read_case(
    facts: Facts<'_>,
    case: &Case<'_>,
    options: &ReadingOptions,
    opinion: &dyn Fn(&Case<'_>) -> Result<Given, String>,
) -> Result<Reading, String> {
    let given = opinion(case)?;
    let first = assess(case, &given.opinion, &options.grading);
    if first.need.is_empty() {
        return Ok(Reading::of(case, &given.judge, &first));
    }
    match Case::of(facts, &options.ask(&first.need)) {
        None => Ok(Reading::of(case, &given.judge, &first)),
        Some(case) => {
            let given = opinion(&case)?;
            let second = assess(&case, &given.opinion, &options.grading);
            Ok(Reading::of(&case, &given.judge, &second))
        }
    }
}

impl Reading {
    fn of(case: &Case<'_>, judge: &str, assessed: &crate::assess::Assessment) -> Self {
        Self {
            findings: assessed.findings.iter().map(|f| f.to_finding(case, judge)).collect(),
            dropped: assessed.dropped.iter().filter(|reason| reason.is_no_citation()).count(),
        }
    }

    /// Adds the judge's findings to those that rules proved in the message, except about words that
    /// already have a proof.
    pub fn join(&self, turn: usize, findings: &mut Vec<Finding>) {
        let of_turn = findings.iter().filter(|finding| finding.turn == turn);
        let proven: Vec<Span> = of_turn.filter_map(span_of).collect();
        let new = |finding: &&Finding| !touches(finding, &proven);
        findings.extend(self.findings.iter().filter(new).cloned());
    }
}

/// The words that a finding is about.
fn span_of(finding: &Finding) -> Option<Span> {
    match &finding.subject {
        Subject::Claim { span, .. } => Some(*span),
        Subject::Call(_) => None,
    }
}

fn touches(finding: &Finding, spans: &[Span]) -> bool {
    span_of(finding).is_some_and(|own| spans.iter().any(|span| span.overlaps(own)))
}
