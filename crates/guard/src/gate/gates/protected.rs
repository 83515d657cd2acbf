use crate::admitted::Admitted;
use crate::executor::ShellPolicyHandle;
use crate::gate::mentioned::{Ground, Line, in_arguments, in_command};
use crate::gate::permission::Action;
use crate::gate::protected::ProtectedSettings;
use crate::gate::{Gate, GateId, Question, Reason, Verdict};
use crate::scene::Scene;

pub(super) const ID: GateId = GateId("protected");

/// Places that decide about the agent, or that others run.
pub(super) struct Protected {
    pub(super) settings: ProtectedSettings,
    pub(super) shell: ShellPolicyHandle,
}

impl Gate for Protected {
    fn id(&self) -> GateId {
        ID
    }

    fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Verdict {
        let allowed = Verdict::Allow { matched: None };
        if self.settings.action == Action::Allow {
            return allowed;
        }
        let home = scene.environment.get("HOME").map(String::as_str);
        let ground = Ground::new(scene.workspace, home);
        let paths = match Line::of(call, &self.shell) {
            Some(line) => in_command(&line, &ground),
            None if call.tool().effects.writes == Some(false) => return allowed,
            None => in_arguments(call.arguments(), &ground, true),
        };
        let Some(path) = paths.iter().find(|path| path.written && self.settings.holds(path)) else {
            return allowed;
        };
        let shown = path.inside.as_deref().unwrap_or(&path.absolute);
        let why = format!("`{shown}` decides about the agent or is run by others");
        if self.settings.action == Action::Ask {
            return Verdict::Ask(Question::about(call, ID, why));
        }
        Verdict::Deny(Reason {
            gate: ID,
            code: "protected_place",
            message: why,
            matched: Some("tools.protected".to_owned()),
            help: Some("leave it as it is; its user changes it".to_owned()),
        })
    }
}
