//! The agent, with everything that the configuration says.

use std::collections::BTreeMap;
use std::sync::Arc;

use counterfoil_agent::{Agent, Conversation, Model, Parts};
use counterfoil_guard::{Guard, GuardSettings, SessionStart};

use super::Arguments;
use super::asks::Asks;
use crate::command::Global;
use crate::config::{self, Options};
use crate::exit::Complaint;
use crate::guard::{Making, settings_beside};
use crate::provider::provider;

/// An agent that is ready to be talked to.
pub(super) struct Begun {
    pub(super) agent: Agent,
    pub(super) options: Options,
    pub(super) settings: GuardSettings,
    /// The model's name, as people know it.
    pub(super) model: String,
    /// The session is to be gone on with later.
    pub(super) stays: bool,
}

pub(super) fn begin(global: &Global, arguments: &Arguments) -> anyhow::Result<Begun> {
    let options = config::find(&global.place())?.options;
    let agent = options.agent.resolve().map_err(|error| Complaint::new(error.to_string()))?;
    let wanted = arguments.provider.as_deref().unwrap_or(&options.agent.provider);
    let own = Arc::new(provider(&options.llm, wanted)?);
    let compresses: Arc<dyn Model> = match options.agent.compress_provider.as_str() {
        "" => Arc::clone(&own) as Arc<dyn Model>,
        name => Arc::new(provider(&options.llm, name)?),
    };
    let state = global.state()?.create()?;
    let settings = settings_beside(&options, Some(&state.folder()))?;
    let guard = Making {
        options: &options,
        state: Some(state),
        approver: Some(Arc::new(Asks::new(arguments.yes))),
        workspace: arguments.workspace.clone(),
    }
    .guard()?;
    let model = own.settings().model.clone();
    let known = match &arguments.session {
        Some(id) => guard.ledger().sessions()?.contains(id),
        None => false,
    };
    let session = guard.session(SessionStart {
        id: arguments.session.clone(),
        model: Some(model.clone()),
        environment: environment(),
        ..SessionStart::default()
    })?;
    let conversation = match known {
        true => Conversation::of(&guard.transcript(&session)?, 0, Vec::new()),
        false => Conversation::default(),
    };
    let introduction = introduction(&guard);
    let agent = Agent::new(Parts {
        guard,
        session,
        model: own,
        compresses,
        summaries: None,
        conversation,
        introduction,
        settings: agent,
    })?;
    Ok(Begun { agent, options, settings, model, stays: arguments.session.is_some() })
}

/// What the model is told about the place where it works.
fn introduction(guard: &Guard) -> String {
    format!(
        "You work for a user at a command line, with tools, in the folder {}. Answer in the \
         language in which you are asked, as briefly as the matter allows.",
        guard.workspace().display()
    )
}

/// What calls may see of our surroundings; the executor lets little of it through.
fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
