use std::collections::BTreeMap;
use std::path::Path;

use counterfoil_guard::{
    AppendError, Asking, BeginSessionError, CallError, Guard, HostedCall, Judged, SessionStart,
    Surroundings,
};
use counterfoil_model::{Agent, Role};
use counterfoil_rules::is_feedback;

use crate::answer::{Answer, Decision};
use crate::event::{Event, Happening};
use crate::memory::{Memory, MemoryError};
use crate::options::HooksSettings;
use crate::stop::stop;

/// How a prompt begins by which a task that ran in the background tells its end.
const NOTIFICATION: &str = "<task-notification>";

/// What an event is answered with.
#[derive(Debug, Clone, Copy)]
pub struct Surrounding<'s> {
    /// Whose event it is.
    pub agent: Agent,
    /// How hooks behave.
    pub settings: &'s HooksSettings,
    /// The folder of what is remembered between two events; `None` remembers nothing.
    pub folder: Option<&'s Path>,
    /// Variables that policies and the blocklist may look at.
    pub environment: &'s BTreeMap<String, String>,
    /// Whether a plugin of the agent brings the hook, and no settings.
    pub by_plugin: bool,
}

/// An event could not be answered as it should be. What the agent is told then, the settings say.
#[derive(Debug, thiserror::Error)]
pub enum RespondError {
    /// The session.
    #[error(transparent)]
    Session(#[from] BeginSessionError),
    /// The call could not be judged or recorded.
    #[error(transparent)]
    Call(#[from] CallError),
    /// What is remembered, or the transcript, could not be used.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// What was said could not be recorded.
    #[error("what was said cannot be recorded: {0}")]
    NotHeard(#[source] AppendError),
    /// The judgement could not be recorded.
    #[error("the judgement cannot be recorded: {0}")]
    NotJudged(#[source] AppendError),
}

/// Answers one event.
///
/// # Errors
/// When it could not be judged, or the judgement could not be recorded.
pub async fn respond(
    guard: &Guard,
    around: &Surrounding<'_>,
    event: &Event,
) -> Result<Answer, RespondError> {
    if event.happening == Happening::Other {
        return Ok(Answer::default());
    }
    let start = SessionStart {
        id: Some(event.session.clone()),
        environment: around.environment.clone(),
        ..SessionStart::default()
    };
    let session = guard.host_session(start)?;
    let call = Surroundings { caller: event.agent.clone(), ..Surroundings::default() };
    match &event.happening {
        Happening::Before(hosted) => {
            let before = guard.before(&session, hosted, &call, asking(around.agent)).await?;
            Ok(before_answer(hosted, before.judged, before.notes))
        }
        Happening::After(hosted, ended) => {
            let nudge = guard.after(&session, hosted, &call, ended.clone()).await?;
            Ok(Answer { context: nudge, ..Answer::default() })
        }
        // What a stop was answered with comes back as if the user had said it.
        Happening::Prompt(text) if is_feedback(text) => Ok(Answer::default()),
        Happening::Prompt(text) if text.trim_start().starts_with(NOTIFICATION) => {
            if let Some(folder) = around.folder {
                let mut memory = Memory::open(folder, &event.session, None)?;
                memory.skip_prompt(event.prompt.as_deref());
                memory.keep(None)?;
            }
            Ok(Answer::default())
        }
        Happening::Prompt(text) => {
            guard.hear(&session, Role::User, text).await.map_err(RespondError::NotHeard)?;
            let Some(folder) = around.folder else { return Ok(Answer::default()) };
            let mut memory = Memory::open(folder, &event.session, None)?;
            memory.set_blocks(0);
            memory.set_by_plugin(around.by_plugin);
            memory.at_prompt(event.prompt.as_deref());
            let context = memory.take_pending();
            memory.keep(None)?;
            Ok(Answer { context, ..Answer::default() })
        }
        Happening::Stop { last, again } => {
            stop(guard, &session, around, event, last.as_deref(), *again).await
        }
        Happening::Ended => {
            guard.end(&session).await.map_err(RespondError::NotHeard)?;
            Ok(Answer::default())
        }
        Happening::Other => Ok(Answer::default()),
    }
}

/// Whether an agent's hooks may have a person asked.
fn asking(agent: Agent) -> Asking {
    match agent {
        Agent::ClaudeCode => Asking::Person,
        Agent::Codex | Agent::Gemini => Asking::Nobody,
    }
}

fn before_answer(hosted: &HostedCall, judged: Judged, notes: Vec<String>) -> Answer {
    let decision = match judged {
        Judged::Allowed { .. } => None,
        Judged::Asked(questions) => {
            let whys: Vec<String> = questions.into_iter().map(|question| question.why).collect();
            Some(Decision::Ask(format!("counterfoil: {}", whys.join("; "))))
        }
        Judged::Denied(reasons) => {
            let mut text = format!("counterfoil: `{}` may not run: ", hosted.tool.name);
            let messages: Vec<&str> = reasons.iter().map(|r| r.message.as_str()).collect();
            text.push_str(&messages.join("; "));
            if let Some(help) = reasons.iter().find_map(|reason| reason.help.as_deref()) {
                text.push_str(&format!(" ({help})"));
            }
            Some(Decision::Deny(text))
        }
    };
    let notes = (!notes.is_empty()).then(|| format!("counterfoil: {}", notes.join("\n")));
    Answer { decision, context: notes, notice: None }
}
