use std::sync::Arc;

use counterfoil_ledger::{AppendError, Links, Opened, RandomnessError};
use counterfoil_model::{
    Digest, ExactValue, ExecutionId, PermitBasis, ToolCall, without_hidden_arguments,
    without_hidden_members,
};
use counterfoil_tools::Scene;

use super::CallError;
use super::changed::CHANGED_BY_PERSON;
use super::judge::Stopped;
use super::reformat::REFORMATTED;
use crate::admitted::{Admitted, call_digest};
use crate::approve::approval_used;
use crate::gate::{GateId, Reason};
use crate::guard::Guard;
use crate::permitted::Permitted;
use crate::recording::Recording;
use crate::session::Session;
use crate::shown_id::ShowId;

impl Guard {
    /// Reserves the quota and records the intent, in one step, before any effect.
    pub(crate) async fn open(
        &self,
        session: &Session,
        admitted: &Arc<Admitted>,
        permitted: Permitted,
        links: Links,
        scene: &Scene<'_>,
    ) -> Result<Result<Recording, Stopped>, CallError> {
        let tool = admitted.tool();
        let mut opened = self
            .intent(admitted.call(), &tool.name, admitted.exact_arguments(), scene)
            .map_err(CallError::NoRandomness)?;
        opened.origin = tool.origin.clone();
        opened.permit = permitted.basis;
        opened.rules = permitted.rules;
        opened.links = links;
        let warnings = admitted.report().issues.iter();
        opened.warnings = warnings.map(|issue| issue.code.0.to_owned()).collect();
        let instead = [REFORMATTED.0, CHANGED_BY_PERSON.0];
        if opened.warnings.iter().any(|code| instead.contains(&&**code)) {
            let written = admitted.call().arguments.as_str();
            opened.emitted_arguments = Some(self.redactor().redact(written).into_owned());
        }
        opened.warnings.sort_unstable();
        opened.warnings.dedup();
        match Recording::open(self, session, opened, self.quota()).await {
            Ok(recording) => Ok(Ok(recording)),
            Err(AppendError::QuotaExhausted { limit }) => {
                Ok(Err(Stopped::Denied(vec![quota_blocked(limit)])))
            }
            Err(AppendError::ApprovalUsed) => Ok(Err(Stopped::Denied(vec![approval_used()]))),
            Err(error) => Err(CallError::NotRecorded(error)),
        }
    }

    /// Records the intent of a call that its host permits itself or has already performed. No quota
    /// applies.
    pub(crate) async fn open_without_quota(
        &self,
        session: &Session,
        opened: Opened,
    ) -> Result<Recording, CallError> {
        Recording::open(self, session, opened, None).await.map_err(CallError::NotRecorded)
    }

    /// Collects what is known about a call before it runs. Every recorded call passes here, so no
    /// record has the model's hidden thinking.
    pub(crate) fn intent(
        &self,
        call: &ToolCall,
        tool: &str,
        arguments: &ExactValue,
        scene: &Scene<'_>,
    ) -> Result<Opened, RandomnessError> {
        let arguments = without_hidden_members(arguments);
        let emitted = without_hidden_arguments(&call.arguments);
        Ok(Opened {
            execution_id: self.execution_id(tool, scene.now)?,
            tool: tool.to_owned(),
            origin: counterfoil_model::Origin::External,
            emitted_tool: (call.tool != tool).then(|| call.tool.clone()),
            call_id: call.id.clone(),
            caller_id: scene.caller.map(str::to_owned),
            phase: scene.phase,
            requested: scene.requested,
            model: scene.model.map(str::to_owned),
            emitted_digest: Digest::of_bytes(emitted.as_str().as_bytes()),
            arguments_digest: call_digest(tool, &arguments),
            arguments: self.redactor().redact_exact(&arguments),
            permit: PermitBasis::Nothing,
            trust: scene.trust,
            started_at: scene.now,
            trace: scene.trace.cloned(),
            links: Links::default(),
            emitted_arguments: None,
            rules: Vec::new(),
            warnings: Vec::new(),
            id_shown: self.settings().show_id != ShowId::Metadata,
        })
    }

    /// Creates a new execution id.
    pub(crate) fn execution_id(&self, tool: &str, now: i64) -> Result<String, RandomnessError> {
        let mut unique = [0; 4];
        self.randomness().fill(&mut unique)?;
        Ok(ExecutionId::of_tool(tool, now, u32::from_be_bytes(unique)))
    }
}

/// The denial when the quota is exceeded according to the ledger, which counts the calls of all
/// processes.
fn quota_blocked(limit: u64) -> Reason {
    Reason {
        gate: GateId("quota"),
        code: "quota_blocked",
        message: format!("the session has reached its limit of {limit} tool calls"),
        matched: None,
        help: Some("raise `max_tool_calls_per_session`, or begin a new session".to_owned()),
    }
}
