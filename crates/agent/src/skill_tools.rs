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

/// What runs a command of a skill: a call of its own, through every gate.
#[derive(Clone)]
struct Caller(WeakSession);

impl SkillSet {
    /// These skills. The caller has asked whether they are trusted.
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
        let mut text = "# Skills\n\nHow certain work is done here. `load_skill` gives the whole \
                        text of one; read it before you do such work."
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
        let caller = Caller(session.downgrade());
        let inline = self
            .0
            .iter()
            .flat_map(|skill| skill.tools.iter().map(|tool| inline(skill, tool, caller.clone())));
        [self.loading(), self.invoking()].into_iter().chain(inline).collect()
    }

    fn given(&self, name: &str) -> Result<String, ToolError> {
        let skill = self.0.iter().find(|skill| skill.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|skill| skill.name.as_str()).collect();
            let message = format!("there is no skill `{name}`; there are: {}", names.join(", "));
            ToolError::of(ToolErrorCategory::InvalidParameters, message)
        })?;
        unchanged(skill)?;
        Ok(skill.body.clone())
    }

    fn loading(&self) -> FunctionExecutor {
        let members = json!({ "name": { "type": "string" } });
        let tool = own_tool("load_skill", "Returns the full text of a skill.", members, &["name"]);
        let own = self.clone();
        FunctionExecutor::new(tool, move |arguments: &Value| {
            own.given(text(arguments, "name")).map(ToolOutput::from)
        })
        .of_kind(ExecutorKind::Skill)
    }

    fn invoking(&self) -> FunctionExecutor {
        let members = json!({ "name": { "type": "string" }, "task": { "type": "string" } });
        let what = "Returns the full text of a skill together with a task to carry out now.";
        let tool = own_tool("invoke_skill", what, members, &["name", "task"]);
        let own = self.clone();
        FunctionExecutor::new(tool, move |arguments: &Value| {
            let body = own.given(text(arguments, "name"))?;
            let task = text(arguments, "task");
            Ok::<_, ToolError>(ToolOutput::from(format!("{body}\n\nNow do this: {task}")))
        })
        .of_kind(ExecutorKind::Skill)
    }
}

/// A skill whose files changed is another one, which no person has looked at.
fn unchanged(skill: &Skill) -> Result<(), ToolError> {
    match skill.is_as_read() {
        Ok(true) => Ok(()),
        Ok(false) => {
            let message = format!("the files of the skill `{}` have changed", skill.name);
            Err(ToolError::of(ToolErrorCategory::PolicyBlocked, message))
        }
        Err(error) => Err(ToolError::of(ToolErrorCategory::PermanentFailure, error.to_string())),
    }
}

/// A tool that is written into a skill. What it does is not known here.
fn inline(skill: &Skill, tool: &InlineTool, caller: Caller) -> FunctionExecutor {
    let offered = Tool {
        description: tool.description.clone(),
        parameters: Some(tool.parameters.clone()),
        origin: Origin::Skill { name: skill.name.clone() },
        ..Tool::named(&tool.name)
    };
    let parts = Arc::new((skill.clone(), tool.clone()));
    FunctionExecutor::waiting(offered, move |arguments| {
        let (parts, caller) = (Arc::clone(&parts), caller.clone());
        async move {
            let (skill, tool) = &*parts;
            unchanged(skill)?;
            let words = tool.filled(&arguments).map_err(|error| refused(&error))?;
            caller.run(skill, &words).await
        }
    })
    .of_kind(ExecutorKind::Skill)
}

impl Caller {
    /// Runs a command as the tool `shell` does, with a receipt of its own.
    async fn run(&self, skill: &Skill, words: &[String]) -> Result<ToolOutput, ToolError> {
        let fails = |message: String| ToolError::of(ToolErrorCategory::PermanentFailure, message);
        let session = self.0.upgrade().ok_or_else(|| fails("the guard is gone".to_owned()))?;
        let line = shlex::try_join(words.iter().map(String::as_str));
        let line =
            line.map_err(|error| fails(format!("the command cannot be written: {error}")))?;
        let folder = skill.folder.to_string_lossy().into_owned();
        let environment = BTreeMap::from([
            ("SKILL_NAME".to_owned(), skill.name.clone()),
            ("SKILL_DIR".to_owned(), folder),
        ]);
        let around = Surroundings { environment, ..Surroundings::default() };
        let call = ToolCall::new("", SHELL, json!({ "command": line }).to_string());
        let answer = session.call(call, around).await;
        let answer = answer.map_err(|error| failed(&error))?;
        if answer.status == Status::Completed {
            return Ok(ToolOutput::from(answer.text));
        }
        let category = answer.category.unwrap_or(ToolErrorCategory::PermanentFailure);
        Err(ToolError::of(category, answer.text))
    }
}
