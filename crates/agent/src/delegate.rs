//! Sub-agents: a tool with which the model has part of the work done by a conversation of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use counterfoil_guard::{
    FunctionExecutor, Phase, Progress, Session, ToolError, ToolOutput, WeakSession,
};
use serde_json::{Value, json};

use crate::agent::{Agent, Parts};
use crate::conversation::Conversation;
use crate::model::Model;
use crate::options::AgentOptions;
use crate::own_tool::{failed, own_tool, text};
use crate::turn::Saying;
use crate::watch::NoWatch;

/// The tool that begins a sub-agent. A sub-agent has none of its own.
pub(crate) const TASK: &str = "task";

const DESCRIPTION: &str = "Delegates part of the work to a helper, which has the same tools, knows \
                           only your prompt, and replies with a report. Every call it makes has a \
                           receipt; anything else in its report is unverified.";

/// Begins sub-agents of one session.
#[derive(Clone)]
pub struct SubAgents {
    session: WeakSession,
    model: Arc<dyn Model>,
    settings: AgentOptions,
    introduction: String,
    begun: Arc<AtomicU32>,
}

impl SubAgents {
    /// Sub-agents with this model, whose calls are of this session: each has half as many steps as
    /// its agent.
    #[must_use]
    pub fn new(
        session: &Session,
        model: Arc<dyn Model>,
        settings: &AgentOptions,
        introduction: &str,
    ) -> Self {
        let settings =
            AgentOptions { max_steps: settings.max_steps.div_ceil(2), ..settings.clone() };
        Self {
            session: session.downgrade(),
            model,
            settings,
            introduction: introduction.to_owned(),
            begun: Arc::default(),
        }
    }

    /// The tool `task`.
    #[must_use]
    pub fn tool(&self) -> FunctionExecutor {
        let members = json!({
            "prompt": {
                "type": "string",
                "minLength": 1,
                "description": "Everything the helper needs to know.",
            },
        });
        let tool = own_tool(TASK, DESCRIPTION, members, &["prompt"]);
        let own = self.clone();
        FunctionExecutor::telling(tool, move |arguments: Value, progress: Progress| {
            let own = own.clone();
            let phase = progress.call().map_or(Phase::Autonomous, |call| call.phase);
            async move { own.done(text(&arguments, "prompt"), phase).await }
        })
    }

    async fn done(&self, prompt: &str, phase: Phase) -> Result<ToolOutput, ToolError> {
        let session = self.session.upgrade().ok_or_else(|| failed("the session has ended"))?;
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let parts = Parts {
            guard: session.guard().clone(),
            session,
            model: Arc::clone(&self.model),
            compresses: Arc::clone(&self.model),
            summaries: None,
            conversation: Conversation::default(),
            introduction: self.introduction.clone(),
            settings: self.settings.clone(),
            caller: Some(format!("task-{number}")),
        };
        let mut agent = Agent::new(parts).map_err(failed)?;
        agent.phase = phase;
        let turned = agent.say(Saying::Task(prompt), &mut NoWatch).await.map_err(failed)?;
        if !turned.accepted {
            return Err(failed(turned.answer));
        }
        let receipts = match turned.executions.as_slice() {
            [] => "no tool was called".to_owned(),
            ids => format!("receipts: {}", ids.join(", ")),
        };
        Ok(ToolOutput::from(format!("{}\n\n({receipts})", turned.answer)))
    }
}
