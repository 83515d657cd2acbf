use std::collections::BTreeMap;
use std::path::Path;

use counterfoil_guard::{
    AppendError, Asking, Before, BeginSessionError, CallError, Guard, HostedCall, Judged, Session,
    SessionStart, Surroundings,
};
use counterfoil_model::{Agent, Role};
use counterfoil_rules::{PROTOCOL, is_feedback};

use crate::answer::{Answer, Decision};
use crate::event::{Event, Happening, Questions};
use crate::memory::{Memory, MemoryError};
use crate::options::{HooksSettings, WithoutQuestions};
use crate::stop::stop;
use crate::toolbox;

/// The beginning of a prompt that reports the end of a background task.
const NOTIFICATION: &str = "<task-notification>";

/// What is needed to answer an event.
#[derive(Debug, Clone, Copy)]
pub struct Surrounding<'s> {
    /// The agent that sent the event.
    pub agent: Agent,
    /// The settings of the hooks.
    pub settings: &'s HooksSettings,
    /// The folder of the memory that is kept between events; `None` keeps nothing.
    pub folder: Option<&'s Path>,
    /// Environment variables that policies and the blocklist may read.
    pub environment: &'s BTreeMap<String, String>,
    /// Saves what commands change before they run; `None` saves nothing.
    pub snapshots: Option<&'s dyn Snapshots>,
    /// The root of the project, if the agent names it.
    pub workspace: Option<&'s Path>,
    /// Whether a plugin of the agent installed the hook, rather than its settings.
    pub by_plugin: bool,
}

/// Saves what commands change, so that it can be undone.
pub trait Snapshots: std::fmt::Debug {
    /// Saves what a command seems to change, before it runs in `directory` of the project at
    /// `root`.
    ///
    /// # Errors
    /// Why it could not be saved.
    fn before(
        &self,
        execution_id: &str,
        command: &str,
        directory: &Path,
        root: &Path,
    ) -> Result<(), String>;

    /// Records the state that the command left, after it has ended.
    ///
    /// # Errors
    /// Why it could not be recorded.
    fn after(&self, execution_id: &str) -> Result<(), String>;
}

/// An event could not be answered properly. The settings determine the answer in that case.
#[derive(Debug, thiserror::Error)]
pub enum RespondError {
    /// The session could not begin.
    #[error(transparent)]
    Session(#[from] BeginSessionError),
    /// The call could not be judged or recorded.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The memory or the transcript could not be used.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The user's message could not be recorded.
    #[error("the event cannot be recorded: {0}")]
    NotHeard(#[source] AppendError),
    /// The judgement could not be recorded.
    #[error("the result of the check cannot be recorded: {0}")]
    NotJudged(#[source] AppendError),
}

/// Records the user's message, and gives the model its pending note.
async fn prompt(
    session: &Session,
    around: &Surrounding<'_>,
    event: &Event,
    text: &str,
) -> Result<Answer, RespondError> {
    // The reason of a stop comes back as if the user had written it.
    if is_feedback(text) {
        return Ok(Answer::default());
    }
    let notification = text.trim_start().starts_with(NOTIFICATION);
    if !notification {
        session.hear(Role::User, text).await.map_err(RespondError::NotHeard)?;
    }
    let Some(folder) = around.folder else { return Ok(Answer::default()) };
    let mut memory = Memory::open(folder, &event.session, None)?;
    if notification {
        memory.skip_prompt(event.prompt.as_deref());
        memory.keep(None)?;
        return Ok(Answer::default());
    }
    memory.set_blocks(0);
    memory.set_by_plugin(around.by_plugin);
    memory.at_prompt(event.prompt.as_deref());
    let context = memory.take_pending();
    memory.keep(None)?;
    Ok(Answer { context, ..Answer::default() })
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
    match event.happening {
        Happening::Other => return Ok(Answer::default()),
        // The event is sent only if the user enabled it.
        Happening::Started => {
            return Ok(Answer { context: Some(PROTOCOL.to_owned()), ..Answer::default() });
        }
        _ => {}
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
            let asking = asking(around.agent, event.questions, around.settings);
            let mut before = session.before(hosted, &call, asking).await?;
            before.notes.extend(snapshot(around, event, hosted, &before));
            Ok(before_answer(hosted, before))
        }
        Happening::After(hosted, ended) => {
            let open = match around.snapshots {
                Some(_) => guard.ledger().open_call(session.id(), &hosted.call.id).ok().flatten(),
                None => None,
            };
            let nudge = session.after(hosted, &call, ended.clone()).await?;
            if let (Some(kept), Some(opened)) = (around.snapshots, open)
                && let Err(error) = kept.after(&opened.execution_id)
            {
                let why = format!(
                    "counterfoil: cannot record the changes made by the command: \
                    {error}"
                );
                return Ok(Answer { context: nudge, ..Answer::notice(why) });
            }
            Ok(Answer { context: nudge, ..Answer::default() })
        }
        Happening::Prompt(text) => prompt(&session, around, event, text).await,
        Happening::Stop { last, again } => {
            stop(guard, &session, around, event, last.as_deref(), *again).await
        }
        Happening::Ended => {
            session.end().await.map_err(RespondError::NotHeard)?;
            Ok(Answer::default())
        }
        Happening::Started | Happening::Other => Ok(Answer::default()),
    }
}

/// Saves what a command seems to change, if enabled; returns a note if it could not be saved.
fn snapshot(
    around: &Surrounding<'_>,
    event: &Event,
    hosted: &HostedCall,
    before: &Before,
) -> Option<String> {
    let (kept, id) = (around.snapshots?, before.execution_id.as_deref()?);
    let (_, pointer) = toolbox::shells(around.agent).find(|(name, _)| *name == hosted.tool.name)?;
    let command = hosted.arguments.pointer(&pointer.command)?.as_str()?;
    if matches!(before.judged, Judged::Denied(_)) {
        return None;
    }
    let directory = event.cwd.as_deref()?;
    let root = around.workspace.unwrap_or(directory);
    kept.before(id, command, directory, root).err()
}

/// Whether the agent's hooks can have a person asked.
#[must_use]
pub fn asking(agent: Agent, questions: Questions, settings: &HooksSettings) -> Asking {
    let usual = match agent {
        Agent::ClaudeCode => Asking::Person,
        Agent::Codex | Agent::Gemini => Asking::Unattended,
    };
    match (questions, settings.without_questions) {
        (Questions::SwitchedOn, _) | (Questions::SwitchedOff, WithoutQuestions::Ask) => usual,
        (Questions::SwitchedOff, WithoutQuestions::Protect) => Asking::SwitchedOff,
        (Questions::SwitchedOff, WithoutQuestions::Deny) => Asking::Unattended,
    }
}

fn before_answer(hosted: &HostedCall, before: Before) -> Answer {
    let Before { judged, notes, execution_id, .. } = before;
    let decision = match judged {
        Judged::Allowed { .. } => None,
        Judged::NeedsApproval(questions) => {
            let whys: Vec<String> = questions.into_iter().map(|question| question.why).collect();
            Some(Decision::Ask(format!("counterfoil: {}", whys.join("; "))))
        }
        Judged::Denied(reasons) => {
            let mut text = format!("counterfoil: `{}` was not run: ", hosted.tool.name);
            let messages: Vec<&str> = reasons.iter().map(|r| r.message.as_str()).collect();
            text.push_str(&messages.join("; "));
            if let Some(help) = reasons.iter().find_map(|reason| reason.help.as_deref()) {
                text.push_str(&format!(" ({help})"));
            }
            // The id with which the user can find the call and approve it.
            if let Some(id) = execution_id {
                text.push_str(&format!(" [call {id}]"));
            }
            Some(Decision::Deny(text))
        }
    };
    let notes = (!notes.is_empty()).then(|| format!("counterfoil: {}", notes.join("\n")));
    Answer { decision, context: notes, notice: None }
}
