//! Skills as tools: two that give the model their text, and those that are written into them.

use std::collections::BTreeMap;
use std::sync::Arc;

use counterfoil_guard::{
    ExecutorKind, FunctionExecutor, Session, Surroundings, ToolError, ToolOutput, WeakSession,
};
use counterfoil_model::{Origin, Status, Tool, ToolCall, ToolErrorCategory};
use serde_json::{Value, json};

use crate::own_tool::{failed, own_tool, refused, text};
use crate::skills::{InlineTool, Skill};

/// The tool that runs commands.
const SHELL: &str = "shell";

/// Skills that may be used.
#[derive(Clone, Default)]
pub struct SkillSet(Arc<Vec<Skill>>);

impl SkillSet {
    /// These skills. The caller has checked whether they are trusted.
    #[must_use]
    pub fn new(skills: Vec<Skill>) -> Self {
        Self(Arc::new(skills))
    }

    /// The skills.
    #[must_use]
    pub fn skills(&self) -> &[Skill] {
        &self.0
    }

    /// What the model reads about them; nothing where there is none.
    #[must_use]
    pub fn introduction(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let mut text = "# Skills\n\nInstructions for certain kinds of work. `load_skill` returns \
                        the full text of one; read it before you do such work."
            .to_owned();
        for skill in self.0.iter() {
            text.push_str(&format!("\n- {}: {}", skill.name, skill.description));
        }
        text
    }

    /// Their tools, for a session.
    #[must_use]
    pub fn tools(&self, session: &Session) -> Vec<FunctionExecutor> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let session = session.downgrade();
        let inline = self
            .0
            .iter()
            .flat_map(|skill| skill.tools.iter().map(|tool| inline(skill, tool, session.clone())));
        let loading = self.giving("load_skill", "Returns the full text of a skill.", &["name"]);
        let what = "Returns the full text of a skill together with a task to carry out now.";
        let invoking = self.giving("invoke_skill", what, &["name", "task"]);
        [loading, invoking].into_iter().chain(inline).collect()
    }

    fn given(&self, name: &str) -> Result<String, ToolError> {
        let skill = self.0.iter().find(|skill| skill.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|skill| skill.name.as_str()).collect();
            refused(format!("there is no skill `{name}`; available skills: {}", names.join(", ")))
        })?;
        unchanged(skill)?;
        Ok(skill.body.clone())
    }

    /// A tool that gives the text of a skill, with the task where there is one.
    fn giving(&self, name: &str, what: &str, members: &[&str]) -> FunctionExecutor {
        let texts = members.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" })));
        let tool = own_tool(name, what, Value::Object(texts.collect()), members);
        let own = self.clone();
        FunctionExecutor::new(tool, move |arguments: &Value| {
            let body = own.given(text(arguments, "name"))?;
            Ok::<_, ToolError>(match text(arguments, "task") {
                "" => body,
                task => format!("{body}\n\nNow do this: {task}"),
            })
        })
        .of_kind(ExecutorKind::Skill)
    }
}

/// A skill whose files changed is another one, which no person has looked at.
fn unchanged(skill: &Skill) -> Result<(), ToolError> {
    match skill.is_as_read() {
        Ok(true) => Ok(()),
        Ok(false) => {
            let message =
                format!("the files of the skill `{}` have changed since it was read", skill.name);
            Err(ToolError::new(ToolErrorCategory::PolicyBlocked, message))
        }
        Err(error) => Err(failed(error)),
    }
}

/// A tool that is written into a skill. What it does is not known here.
fn inline(skill: &Skill, tool: &InlineTool, session: WeakSession) -> FunctionExecutor {
    let offered = Tool {
        description: tool.description.clone(),
        parameters: Some(tool.parameters.clone()),
        origin: Origin::Skill { name: skill.name.clone() },
        ..Tool::named(&tool.name)
    };
    let parts = Arc::new((skill.clone(), tool.clone()));
    FunctionExecutor::waiting(offered, move |arguments| {
        let (parts, session) = (Arc::clone(&parts), session.clone());
        async move {
            let (skill, tool) = &*parts;
            unchanged(skill)?;
            let words = tool.filled(&arguments)?;
            run(&session, skill, &words).await
        }
    })
    .of_kind(ExecutorKind::Skill)
}

/// Runs a command of a skill: a call of `shell`, through every gate and with a receipt of its own.
async fn run(
    session: &WeakSession,
    skill: &Skill,
    words: &[String],
) -> Result<ToolOutput, ToolError> {
    let session = session.upgrade().ok_or_else(|| failed("the session has ended"))?;
    let line = shlex::try_join(words.iter().map(String::as_str));
    let line =
        line.map_err(|error| failed(format!("cannot quote the command for the shell: {error}")))?;
    let environment = BTreeMap::from([
        ("SKILL_NAME".to_owned(), skill.name.clone()),
        ("SKILL_DIR".to_owned(), skill.folder.to_string_lossy().into_owned()),
    ]);
    let around = Surroundings { environment, ..Surroundings::default() };
    let call = ToolCall::new("", SHELL, json!({ "command": line }).to_string());
    let answer = session.call(call, around).await.map_err(failed)?;
    if answer.status == Status::Completed {
        return Ok(ToolOutput::from(answer.text));
    }
    let category = answer.category.unwrap_or(ToolErrorCategory::PermanentFailure);
    // The call of the skill's own tool gets an error block; a second one would say the same.
    Err(ToolError::new(category, answer.plain().trim()))
}
