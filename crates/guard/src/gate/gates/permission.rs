use std::sync::Arc;

use counterfoil_ledger::Phase;
use counterfoil_tools::{Scene, ShellPolicyHandle, Spelled, spelled};
use serde_json::Value;

use crate::admitted::Admitted;
use crate::executor::ErasedToolExecutor;
use crate::gate::permission::{Action, PermissionSettings};
use crate::gate::{Gate, GateId, Question, Reason, Verdict};

pub(super) const ID: GateId = GateId("permission");

/// Asks for a person's agreement: because the configuration or the executor requires it.
pub(super) struct Permission {
    pub(super) settings: PermissionSettings,
    pub(super) executor: Option<Arc<dyn ErasedToolExecutor>>,
    pub(super) shell: ShellPolicyHandle,
}

impl Gate for Permission {
    fn id(&self) -> GateId {
        ID
    }

    fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Verdict {
        let tool = call.tool();
        let (action, rule) = self.settings.action(&tool.name, &|| self.texts(call));
        let matched = rule.map(str::to_owned);
        if action == Action::Deny {
            return Verdict::Deny(Reason {
                gate: ID,
                code: "permission_denied",
                message: format!("the permissions do not allow this call to `{}`", tool.name),
                matched: Some(matched.unwrap_or_else(|| "tools.permissions.default".to_owned())),
                help: Some(
                    "choose another approach; only the operator can change the permissions"
                        .to_owned(),
                ),
            });
        }
        if scene.phase == Phase::Autonomous && self.settings.is_internal(tool) {
            return Verdict::Allow { matched: Some("tools.permissions.internal".to_owned()) };
        }
        let confirmation =
            self.executor.as_ref().and_then(|executor| executor.requires_confirmation(call, scene));
        match (action, confirmation) {
            (_, Some(why)) => {
                let matched = matched.filter(|_| action == Action::Ask);
                Verdict::Ask(Question { matched, ..Question::about(call, ID, why) })
            }
            (Action::Ask, None) => {
                let why = match rule {
                    Some(rule) => format!("the rule `{rule}` requires the user's approval"),
                    None => "the permissions require the user's approval".to_owned(),
                };
                Verdict::Ask(Question { matched, ..Question::about(call, ID, why) })
            }
            (Action::Allow | Action::Deny, None) => Verdict::Allow { matched },
        }
    }
}

impl Permission {
    /// The texts that patterns are matched against: each command of a shell command line, otherwise
    /// each text in the arguments.
    fn texts(&self, call: &Admitted) -> Vec<Spelled> {
        let policy = self.shell.load();
        match policy.blocklist.command_in(call.into()) {
            Some(Ok((line, _))) => spelled(&line).unwrap_or_else(|| {
                // The command line cannot be read, so no allowance can match it.
                vec![Spelled { exact: None, ways: vec![line.into_owned()] }]
            }),
            _ => {
                let mut texts = Vec::new();
                each_text(call.arguments(), &mut texts);
                texts.into_iter().map(Spelled::text).collect()
            }
        }
    }
}

fn each_text(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, texts)),
        Value::Object(members) => members.values().for_each(|item| each_text(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
