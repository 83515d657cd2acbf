use counterfoil_admission::{Ending, Step, last_rejection_text, rejection_text};
use counterfoil_ledger::{Draft, Opened, Rejected};
use counterfoil_model::{Arguments, Status, ToolCall, ToolErrorCategory};
use counterfoil_tools::Scene;
use serde_json::{Value, json};

use super::admit::Refused;
use super::judge::Stopped;
use super::{Answer, CallError};
use crate::admitted::Admitted;
use crate::auditing::AuditContext;
use crate::executor::{ToolErrorFeedback, classify_report};
use crate::gate::{Question, Reason};
use crate::guard::Guard;
use crate::session::{Session, Surroundings};

impl Guard {
    /// Records a call that admission refused, and tells the model what is wrong with it.
    pub(crate) async fn refuse(
        &self,
        session: &Session,
        refused: Refused,
        scene: &Scene<'_>,
    ) -> Result<Answer, CallError> {
        let Refused { call, report } = refused;
        let arguments = report.arguments.clone();
        let arguments = arguments.unwrap_or_else(|| json!(call.arguments.as_str()).into());
        let intent =
            self.intent(&call, &call.tool, &arguments, scene).map_err(CallError::NoRandomness)?;
        let codes: Vec<String> = report.blocking().map(|issue| issue.code.0.to_owned()).collect();
        let category = classify_report(&report).unwrap_or(ToolErrorCategory::InvalidParameters);
        {
            let redact = |text: &str| self.redactor().redact(text).into_owned();
            session.conduct().rejections.record(
                scene.now,
                scene.model,
                &call.arguments,
                &report,
                &redact,
            );
        }
        let limit = self.settings().admission.corrections;
        let round = session.conduct().corrections(limit).again();
        let issues: Vec<&str> = report.blocking().map(|issue| issue.message.as_str()).collect();
        let feedback = ToolErrorFeedback::new(category, issues.join("; "));
        let (text, feedback) = match round {
            Ok(_) => (rejection_text(&report), feedback),
            Err(used_up) => (last_rejection_text(&report, used_up), feedback.final_for_now()),
        };
        let text = format!("{text}\n\n{}", feedback.format_for_llm());
        let text = self.redactor().redact(&text).into_owned();
        let nudge = session.went(failed(&call.tool, &call.arguments, &text, None));
        let rejected =
            Rejected { call: intent, status: Status::Refused, category, codes, answer: text };
        let context = AuditContext { claim_source: scene.claim_source, ..AuditContext::default() };
        Ok(Answer { nudge, ..self.reject(session, rejected, Vec::new(), context).await? })
    }

    /// Answers a call that contained only the model's thinking: nothing runs, and the thinking is
    /// not kept. Every call gets a result.
    pub(crate) async fn skip(
        &self,
        session: &Session,
        call: &ToolCall,
        around: &Surroundings,
    ) -> Result<Answer, CallError> {
        let Reason { code, message, help, .. } = Reason::only_thinking();
        let text = format!("Nothing was executed: {message}; {}.", help.unwrap_or_default());
        let reason = (ToolErrorCategory::InvalidParameters, code);
        self.leave_undone(session, call, around, reason, text).await
    }

    /// Records a call that was neither admitted nor judged, and gives the model this answer.
    pub(super) async fn leave_undone(
        &self,
        session: &Session,
        call: &ToolCall,
        around: &Surroundings,
        (category, code): (ToolErrorCategory, &str),
        answer: String,
    ) -> Result<Answer, CallError> {
        let held = session.hold(self, around);
        let scene = session.scene(&held, around, self.workspace(), self.clock().wall());
        let arguments = call.arguments.exact();
        let arguments = arguments.unwrap_or_else(|_| json!(call.arguments.as_str()).into());
        let intent =
            self.intent(call, &call.tool, &arguments, &scene).map_err(CallError::NoRandomness)?;
        let rejected = Rejected {
            call: intent,
            status: Status::Refused,
            category,
            codes: vec![code.to_owned()],
            answer: self.redactor().redact(&answer).into_owned(),
        };
        // A model that repeats such calls is making no progress.
        let nudge = session.went(failed(&call.tool, &call.arguments, &rejected.answer, None));
        let context = AuditContext { claim_source: scene.claim_source, ..AuditContext::default() };
        Ok(Answer { nudge, ..self.reject(session, rejected, Vec::new(), context).await? })
    }

    /// Records a call that the gates denied, and tells the model why.
    pub(super) async fn stop(
        &self,
        session: &Session,
        admitted: &Admitted,
        stopped: Stopped,
        scene: &Scene<'_>,
        context: AuditContext<'_>,
    ) -> Result<Answer, CallError> {
        let answer = self.deny_admitted(session, admitted, stopped, scene, context).await?;
        let (call, tool) = (admitted.call(), admitted.tool());
        let writes = tool.effects.writes;
        let nudge = session.went(failed(&tool.name, &call.arguments, &answer.text, writes));
        Ok(Answer { nudge, ..answer })
    }

    /// Records that an admitted call was denied. A host's denied calls do not count as repetitions.
    pub(crate) async fn deny_admitted(
        &self,
        session: &Session,
        admitted: &Admitted,
        stopped: Stopped,
        scene: &Scene<'_>,
        context: AuditContext<'_>,
    ) -> Result<Answer, CallError> {
        let (call, tool) = (admitted.call(), admitted.tool());
        let mut intent = self
            .intent(call, &tool.name, admitted.exact_arguments(), scene)
            .map_err(CallError::NoRandomness)?;
        intent.origin = tool.origin.clone();
        self.deny(session, intent, stopped, context).await
    }

    /// Records that a call was denied, and tells the model why.
    pub(crate) async fn deny(
        &self,
        session: &Session,
        mut intent: Opened,
        stopped: Stopped,
        context: AuditContext<'_>,
    ) -> Result<Answer, CallError> {
        intent.rules = stopped.rules();
        let (category, codes, message, help, questions) = match stopped {
            Stopped::NeedsApproval(questions) => (
                ToolErrorCategory::ConfirmationRequired,
                questions.iter().map(|question| question.gate.to_string()).collect(),
                approval_message(&questions),
                Some("wait for the user's approval; do not report this call as done".to_owned()),
                questions,
            ),
            Stopped::Denied(reasons) => {
                let messages: Vec<&str> = reasons.iter().map(|r| r.message.as_str()).collect();
                (
                    Reason::category(&reasons),
                    reasons.iter().map(|reason| reason.code.to_owned()).collect(),
                    messages.join("; "),
                    reasons.iter().find_map(|reason| reason.help.clone()),
                    Vec::new(),
                )
            }
        };
        let mut feedback = ToolErrorFeedback::new(category, message);
        if let Some(help) = help {
            feedback = feedback.suggesting(help);
        }
        let text = self.redactor().redact(&feedback.format_for_llm()).into_owned();
        let rejected =
            Rejected { call: intent, status: Status::Denied, category, codes, answer: text };
        self.reject(session, rejected, questions, context).await
    }

    async fn reject(
        &self,
        session: &Session,
        rejected: Rejected,
        questions: Vec<Question>,
        context: AuditContext<'_>,
    ) -> Result<Answer, CallError> {
        self.record_rejected(session, &rejected, context).await?;
        let Rejected { call: Opened { execution_id, .. }, status, category, codes, answer } =
            rejected;
        Ok(Answer {
            execution_id,
            status,
            category: Some(category),
            codes,
            text: answer,
            structured: None::<Value>,
            content: Vec::new(),
            meta: None,
            exit_code: None,
            truncated: false,
            filtered: None,
            questions,
            nudge: None,
            warnings: Vec::new(),
            tool_warnings: Vec::new(),
            envelope: None,
        })
    }

    /// Records that a call was not executed: in the ledger, then in the audit log.
    async fn record_rejected(
        &self,
        session: &Session,
        rejected: &Rejected,
        context: AuditContext<'_>,
    ) -> Result<(), CallError> {
        let draft = Draft::Rejected(rejected.clone());
        let written = self.ledger().append(session.id(), draft, Vec::new()).await;
        session.note(written.map_err(CallError::NotRecorded)?, Vec::new());
        self.tell(session, &rejected.call, || rejected.into());
        self.audit_rejected(session, rejected, context).map_err(CallError::NotAudited)
    }
}

fn failed<'s>(
    tool: &'s str,
    arguments: &'s Arguments,
    result: &'s str,
    writes: Option<bool>,
) -> Step<'s> {
    Step { tool, arguments, result, ending: Ending::Failed, writes }
}

fn approval_message(questions: &[Question]) -> String {
    let whys: Vec<&str> = questions.iter().map(|question| question.why.as_str()).collect();
    format!("nothing was executed: the call needs the user's approval first ({})", whys.join("; "))
}
