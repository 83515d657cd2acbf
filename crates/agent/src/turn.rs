//! One turn of the user: `hear → offer → ask the model → call → … → verify → answer`.

use std::collections::BTreeSet;

use counterfoil_guard::{
    Answer, AppendError, CHANGED_BY_PERSON, CallError, Guess, Phase, Session, Surroundings,
    Verified, VerifyError, without_hidden,
};
use counterfoil_model::{Finding, Judgement, Role, Severity, Status, ToolCall};
use counterfoil_providers::{Piece, ProviderError, Reply, Request, Stop, Turn};
use counterfoil_rules::feedback;

use crate::agent::{Agent, Parts};
use crate::compress::COMPRESS_CONTEXT;
use crate::conversation::{with_execution_id, with_own_ids};
use crate::delegate::TASK;
use crate::prompt::{HELD_BACK, NO_ANSWER, NO_CALLS, NO_MORE, TASK_BEGINS, system};
use crate::store::CompressionStrategy;
use crate::watch::{TurnEvent, Watch};

/// How many times in a row the model may give no answer, or make calls none of which fits its tool.
const PATIENCE: u32 = 3;

/// Who says what begins a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saying<'s> {
    /// The user.
    User(&'s str),
    /// A task that was scheduled: no person says it now, and it grounds nothing.
    Task(&'s str),
}

/// What a helper has not: helpers of its own, and the conversation of its agent.
const NOT_OF_HELPERS: [&str; 2] = [TASK, COMPRESS_CONTEXT];

/// What came of a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Turned {
    /// What the user is to read: the model's answer, or where that was held back to the end, a word
    /// of ours.
    pub answer: String,
    /// Whether it is the model's.
    pub accepted: bool,
    /// What is doubtful about the answer; where it was held back, what is wrong with the last one.
    pub findings: Vec<Finding>,
    /// The receipts of the turn's calls, in their order.
    pub executions: Vec<String>,
    /// What was decided about the claims of the last answer, by place.
    pub judgements: Vec<Judgement>,
    /// How often an answer was held back.
    pub held_back: u32,
}

/// A turn ended without an answer. What was done is recorded, and the session can be gone on with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The model.
    #[error(transparent)]
    Model(#[from] ProviderError),
    /// The record of a call.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The record of what was said.
    #[error("cannot record the messages: {0}")]
    NotRecorded(#[from] AppendError),
    /// The judgement.
    #[error(transparent)]
    NotVerified(#[from] VerifyError),
}

/// How far a turn has come.
#[derive(Default)]
struct Course {
    steps: u32,
    held_back: u32,
    /// Steps in a row that led to nothing.
    lost: u32,
    /// No more calls.
    closing: bool,
    executions: Vec<String>,
}

impl Course {
    /// What came of it, with what was found out about the last answer.
    fn ends(self, answer: String, accepted: bool, verified: Option<Verified>) -> Turned {
        let found = verified.map(|verified| (verified.findings, verified.judgements));
        let (findings, judgements) = found.unwrap_or_default();
        let Self { executions, held_back, .. } = self;
        Turned { answer, accepted, findings, executions, judgements, held_back }
    }
}

impl Agent {
    /// The user says something; the agent works until it has an answer that the record shows.
    ///
    /// Dropping the future breaks the turn off: what runs is stopped, its receipts are closed, and
    /// the conversation can be gone on with.
    ///
    /// # Errors
    /// When the model does not answer, or the record cannot be kept.
    pub async fn turn(
        &mut self,
        message: &str,
        watch: &mut dyn Watch,
    ) -> Result<Turned, TurnError> {
        self.say(Saying::User(message), watch).await
    }

    /// The same for whatever begins a turn.
    ///
    /// # Errors
    /// When the model does not answer, or the record cannot be kept.
    pub async fn say(
        &mut self,
        saying: Saying<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Turned, TurnError> {
        let (role, recorded, message, phase) = match saying {
            Saying::User(message) => (Role::User, message, message, Phase::Executor),
            // The record must not hold the agent's own words as someone's who may ground a call.
            Saying::Task(message) => (Role::System, TASK_BEGINS, message, Phase::Autonomous),
        };
        if self.parts.caller.is_none() {
            // The turn of a helper is in the phase of the call that began it.
            self.phase = phase;
        }
        self.hear(role, recorded).await?;
        self.compressor.conversation().begin(message.to_owned());
        // However the turn ends, nothing runs ahead of it any more.
        let Parts { session, caller, .. } = &self.parts;
        let _over = Over(session.clone(), caller.clone());
        self.work(message, watch).await
    }

    /// Asks the model and makes its calls, until there is an answer.
    async fn work(&mut self, message: &str, watch: &mut dyn Watch) -> Result<Turned, TurnError> {
        let mut course = Course::default();
        loop {
            self.compress_if_full(watch).await?;
            let reply = self.step(message, &mut course, watch).await?;
            let draft = reply.text.trim().to_owned();
            if !reply.calls.is_empty() {
                if !draft.is_empty() {
                    self.hear(Role::Assistant, &draft).await?;
                }
                self.calls(reply, &mut course, watch).await?;
                continue;
            }
            if draft.is_empty() {
                course.lost += 1;
                if course.lost >= PATIENCE || course.closing {
                    let calls = course.executions.len();
                    let answer = format!("The model gave no answer. Tool calls: {calls}.");
                    return Ok(course.ends(answer, false, None));
                }
                self.tell(NO_ANSWER).await?;
                continue;
            }
            let verified = self.verify(&draft).await?;
            if let Some(why) = &verified.unjudged {
                watch.on_event(TurnEvent::Unjudged(why));
            }
            self.compressor.conversation().turns.push(reply.turn());
            let (least, severity) = self.parts.settings.hold_back.least();
            if verified.disposition < least {
                return Ok(course.ends(verified.text.clone(), true, Some(verified)));
            }
            watch.on_event(TurnEvent::HeldBack(&verified.findings));
            course.held_back += 1;
            // What is wrong with it quotes what was made up: only that it was sent back is
            // recorded, or the record would hold it the next time.
            self.hear(Role::System, HELD_BACK).await?;
            self.compressor.conversation().turns.push(Turn::User(feedback(&verified.findings)));
            if course.held_back > self.parts.settings.max_retries {
                let answer = failure(&verified.findings, severity);
                return Ok(course.ends(answer, false, Some(verified)));
            }
        }
    }

    async fn hear(&self, role: Role, text: &str) -> Result<(), AppendError> {
        let Parts { session, caller, .. } = &self.parts;
        session.hear_in(caller.as_deref(), role, text).await
    }

    async fn verify(&self, draft: &str) -> Result<Verified, VerifyError> {
        let Parts { session, caller, .. } = &self.parts;
        session.verify_of(caller.as_deref(), draft).await
    }

    /// Tells the model what happened beside the conversation. It grounds nothing.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn inform(&mut self, text: &str) -> Result<(), AppendError> {
        self.tell(text).await?;
        self.compressor.conversation().end();
        Ok(())
    }

    /// Says something to the model that no person said.
    async fn tell(&mut self, text: &str) -> Result<(), AppendError> {
        self.hear(Role::System, text).await?;
        self.compressor.conversation().turns.push(Turn::User(text.to_owned()));
        Ok(())
    }

    /// Asks the model once.
    async fn step(
        &mut self,
        message: &str,
        course: &mut Course,
        watch: &mut dyn Watch,
    ) -> Result<Reply, TurnError> {
        let spent = course.steps + 1 >= self.parts.settings.max_steps || course.lost >= PATIENCE;
        if spent && !course.closing && course.steps > 0 {
            course.closing = true;
            self.tell(NO_MORE).await?;
        }
        course.steps += 1;
        watch.on_event(TurnEvent::Requested(course.steps));
        let request = self.request(message, course.closing).await;
        let mut written = 0;
        let session = &self.parts.session;
        let around = self.around();
        let closing = course.closing;
        let mut on = |piece: Piece| match piece {
            // None was offered where the turn is closing.
            Piece::Whole(call) if !closing => {
                session.speculate(call, &around, Guess::Decoded);
            }
            Piece::Text(text) => {
                written += text.chars().count();
                watch.on_event(TurnEvent::Writing(written));
            }
            Piece::Again { after, why } => {
                written = 0;
                watch.on_event(TurnEvent::Again { after, why: &why });
            }
            _ => {}
        };
        let mut reply = self.parts.model.chat(&request, &mut on).await?;
        with_own_ids(&mut reply.calls, &mut self.ids);
        if course.closing {
            // None was offered, so none is made.
            for call in std::mem::take(&mut reply.calls) {
                let refused = session.refuse(call, &around, NO_CALLS).await?;
                course.executions.push(refused.execution_id);
            }
        }
        self.usage += reply.usage;
        self.read = reply.usage.input.saturating_add(reply.usage.output);
        if reply.stop == Stop::Length {
            watch.on_event(TurnEvent::Cut);
        }
        Ok(reply)
    }

    async fn request(&self, message: &str, closing: bool) -> Request {
        let (guard, session) = (&self.parts.guard, &self.parts.session);
        let mut tools = if closing {
            Vec::new()
        } else if self.parts.model.supports_tool_use() {
            session.offer_for(message).await.tools
        } else {
            // A model that reads about tools in plain text reads about all of them, as they are.
            let offered = session.offer().tools.into_iter();
            offered.filter_map(|tool| guard.catalog().get(&tool.name).cloned()).collect()
        };
        if self.parts.caller.is_some() {
            tools.retain(|tool| !NOT_OF_HELPERS.contains(&&*tool.name));
        }
        let mut conversation = self.compressor.conversation();
        conversation.repair();
        let turns = conversation.turns.clone();
        Request { system: system(&self.parts, &conversation), turns, tools }
    }

    /// Who makes calls now, and when in the agent's cycle.
    fn around(&self) -> Surroundings {
        let caller = self.parts.caller.clone();
        Surroundings { caller, phase: self.phase, ..Surroundings::default() }
    }

    /// Makes the calls, one after the other.
    async fn calls(
        &mut self,
        reply: Reply,
        course: &mut Course,
        watch: &mut dyn Watch,
    ) -> Result<(), TurnError> {
        // The model does not read again what it only thought.
        let calls = reply.calls.iter().cloned().map(without_hidden).collect();
        let Reply { calls: written, text, kept, .. } = reply;
        self.compressor.conversation().turns.push(Turn::Assistant { text, calls, kept });
        let mut fits = false;
        for call in written {
            // A watcher does not see what the model only thinks.
            let shown = without_hidden(call.clone());
            watch.on_event(TurnEvent::Calling(&shown));
            let answer = self.call(call.clone()).await?;
            fits |= answer.status != Status::Refused;
            watch.on_event(TurnEvent::Answered(&shown, &answer));
            course.executions.push(answer.execution_id.clone());
            let result = result(&call, &answer, self.parts.settings.tells_doubts());
            self.compressor.conversation().turns.push(result);
            if let Some(strategy) = self.compressor.take_done() {
                watch.on_event(TurnEvent::Compressed(strategy));
            }
        }
        course.lost = if fits { 0 } else { course.lost + 1 };
        Ok(())
    }

    /// Makes a call, unless the tool is none of a helper's.
    async fn call(&self, call: ToolCall) -> Result<Answer, CallError> {
        let (session, around) = (&self.parts.session, self.around());
        if self.parts.caller.is_some() && NOT_OF_HELPERS.contains(&&*call.tool) {
            let reason = format!("a helper cannot use the tool `{}`", call.tool);
            return session.refuse(call, &around, &reason).await;
        }
        session.call(call, around).await
    }

    async fn compress_if_full(&mut self, watch: &mut dyn Watch) -> Result<(), CallError> {
        let (full, fits) = self.context();
        let present = self.compressor.conversation().present;
        // What a sub-agent reads is gone with it.
        let short = present == 0 || self.parts.caller.is_some();
        if short || !is_full(full, fits, self.parts.settings.compress_at) {
            return Ok(());
        }
        let answer = self.compress(CompressionStrategy::Triggered).await?;
        let failure = answer.plain();
        watch.on_event(if answer.status == Status::Completed {
            TurnEvent::Compressed(CompressionStrategy::Triggered)
        } else {
            TurnEvent::NotCompressed(failure.trim())
        });
        Ok(())
    }
}

/// A turn that is over when this is dropped: what ran ahead of it is not wanted any more.
struct Over(Session, Option<String>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.end_speculation(self.1.as_deref());
    }
}

/// Whether a conversation has more tokens than this part of those that fit.
fn is_full(full: u64, fits: u64, part: f64) -> bool {
    // In thousandths, so that no number is lost.
    let part = std::time::Duration::from_secs_f64(part.clamp(0.0, 1.0)).as_millis();
    u128::from(full) * 1000 >= u128::from(fits) * part
}

/// What the model reads of a result.
fn result(call: &ToolCall, answer: &Answer, tells_doubts: bool) -> Turn {
    let mut text = with_execution_id(answer.text.clone(), &answer.execution_id);
    for doubt in &answer.warnings {
        if doubt.code == CHANGED_BY_PERSON {
            text.push_str(&format!("\n({})", doubt.message));
        } else if tells_doubts {
            text.push_str(&format!("\n(doubtful: {})", doubt.message));
        }
    }
    if let Some(nudge) = &answer.nudge {
        text.push('\n');
        text.push_str(nudge);
    }
    Turn::Result { call_id: call.id.clone(), text, failed: answer.status != Status::Completed }
}

/// What the user reads when no answer of the model was let through.
fn failure(findings: &[Finding], least: Severity) -> String {
    let mut text = "I have no answer that the record of this session supports. My last answer was \
                    held back:"
        .to_owned();
    let wrong = |finding: &&Finding| finding.severity >= least;
    let mut listed = BTreeSet::new();
    for finding in findings.iter().filter(wrong) {
        if listed.insert(&finding.message) {
            text.push_str(&format!("\n- {}", finding.message));
        }
    }
    text.push_str("\n\nThe receipts of this session show what was actually done.");
    text
}
