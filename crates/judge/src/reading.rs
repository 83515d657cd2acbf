//! Reads one answer, from case to findings. This is the only way in which a judge's reply becomes a
//! finding.

use std::fmt;

use counterfoil_model::{Finding, MessageKind, Role, Span, Subject, Transcript};
use counterfoil_record::Facts;

use crate::assess::assess;
use crate::case::{Ask, Case, Joint, Need};
use crate::grade::Grading;
use crate::opinion::Opinion;
use crate::prompt::Prompt;

/// A model that can be asked. It is not told what became of its replies.
pub trait Judge: Send + Sync {
    /// The judge's name, for reports and opinion files.
    fn name(&self) -> &str;

    /// Sends the prompt and waits for the reply.
    ///
    /// # Errors
    /// When there is no reply; the message is shown to the user.
    fn ask(&self, prompt: &Prompt) -> Result<Reply, String>;
}

/// Judges whole answers. This is the interface for guards, hooks and servers, which do not deal
/// with cases and opinions.
pub trait AnswerJudge: fmt::Debug + Send + Sync {
    /// Judges the message at position `turn`. Blocks until the judge replies or its time limit
    /// expires.
    ///
    /// # Errors
    /// When the answer is not judged; the message is shown to the user.
    fn read(&self, transcript: &Transcript, turn: usize) -> Result<Reading, String>;
}

/// A judge that may be unavailable; if so, every answer fails with the stored reason.
impl<J: AnswerJudge> AnswerJudge for Result<J, String> {
    fn read(&self, transcript: &Transcript, turn: usize) -> Result<Reading, String> {
        self.as_ref().map_err(Clone::clone)?.read(transcript, turn)
    }
}

/// Asks a judge about a case. Returns its opinion and the number of tokens used. `random` becomes
/// the boundary around the record, which must be unpredictable.
///
/// # Errors
/// When there is no reply, or it is not a valid opinion.
pub fn ask(judge: &dyn Judge, case: &Case<'_>, random: [u8; 12]) -> Result<(Given, u64), String> {
    let reply = judge.ask(&Prompt::new(case, &boundary(random)))?;
    let opinion = Opinion::read(&reply.text).map_err(|error| error.to_string())?;
    Ok((Given { judge: judge.name().to_owned(), opinion }, reply.tokens))
}

/// Asks a judge about several answers of one session at once. Returns one opinion per answer, in
/// order, and the number of tokens used.
///
/// # Errors
/// When there is no reply, or it is not a valid opinion.
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

/// A boundary made of random bytes. No text of the session can contain it, because it did not exist
/// when that was written.
#[must_use]
pub fn boundary(random: [u8; 12]) -> String {
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Positions of the messages that end a turn of the agent: its last words before it waits for the
/// user.
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

/// A model's reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The text of the reply.
    pub text: String,
    /// The number of tokens read and written; 0 if unknown.
    pub tokens: u64,
}

/// An opinion on a case, and who gave it.
#[derive(Debug, Clone)]
pub struct Given {
    /// The judge's name.
    pub judge: String,
    /// The opinion.
    pub opinion: Opinion,
}

/// The result of judging one answer.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// The findings whose quotations were found in answer and record, by position.
    pub findings: Vec<Finding>,
    /// The number of findings dropped because a quotation was missing or not found.
    pub dropped: usize,
}

/// Options for judging answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadingOptions {
    /// Confidence thresholds.
    pub grading: Grading,
    /// The maximum size of a case in tokens; 0 means the default of [`Ask`].
    pub budget: usize,
}

/// Judges the answer that follows these facts. `opinion` supplies the opinion on a case, from a
/// file or from a model. Returns `None` if the message has no text.
///
/// # Errors
/// When no opinion is available.
pub fn read(
    facts: Facts<'_>,
    options: &ReadingOptions,
    opinion: &dyn Fn(&Case<'_>) -> Result<Given, String>,
) -> Option<Result<Reading, String>> {
    let case = case(facts, options)?;
    Some(read_case(facts, &case, options, opinion))
}

/// The case that [`read`] asks about first; `None` if the message has no text.
#[must_use]
pub fn case<'r>(facts: Facts<'r>, options: &ReadingOptions) -> Option<Case<'r>> {
    Case::new(facts, &options.ask(&[]))
}

impl ReadingOptions {
    /// The maximum size of a question in tokens.
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
        return Ok(Reading::new(case, &given.judge, &first));
    }
    match Case::new(facts, &options.ask(&first.need)) {
        None => Ok(Reading::new(case, &given.judge, &first)),
        Some(case) => {
            let given = opinion(&case)?;
            let second = assess(&case, &given.opinion, &options.grading);
            Ok(Reading::new(&case, &given.judge, &second))
        }
    }
}

impl Reading {
    fn new(case: &Case<'_>, judge: &str, assessed: &crate::assess::Assessment) -> Self {
        Self {
            findings: assessed.findings.iter().map(|f| f.to_finding(case, judge)).collect(),
            dropped: assessed.dropped.iter().filter(|reason| reason.is_no_citation()).count(),
        }
    }

    /// Adds these findings to the rules' findings on message `turn`, except those that overlap a
    /// claim the rules already report.
    pub fn join(&self, turn: usize, findings: &mut Vec<Finding>) {
        let of_turn = findings.iter().filter(|finding| finding.turn == turn);
        let proven: Vec<Span> = of_turn.filter_map(span_of).collect();
        let new = |finding: &&Finding| !touches(finding, &proven);
        findings.extend(self.findings.iter().filter(new).cloned());
    }
}

/// The span that a finding is about.
fn span_of(finding: &Finding) -> Option<Span> {
    match &finding.subject {
        Subject::Claim { span, .. } => Some(*span),
        Subject::Call(_) => None,
    }
}

fn touches(finding: &Finding, spans: &[Span]) -> bool {
    span_of(finding).is_some_and(|own| spans.iter().any(|span| span.overlaps(own)))
}
