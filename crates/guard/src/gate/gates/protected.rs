use std::collections::BTreeSet;

use counterfoil_tools::{Scene, ShellPolicyHandle};

use crate::admitted::Admitted;
use crate::gate::mentioned::{Ground, Line, in_arguments, in_command};
use crate::gate::permission::Action;
use crate::gate::protected::ProtectedSettings;
use crate::gate::targets::Change;
use crate::gate::{Gate, GateId, Question, Reason, Stake, Verdict};

pub(super) const ID: GateId = GateId("protected");

/// Protects places that control the agent or that other programs run.
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
        let paths = match Line::from_call(call, &self.shell) {
            Some(line) => in_command(&line, &ground),
            None if call.tool().effects.writes == Some(false) => return allowed,
            None => in_arguments(call.arguments(), &ground, Some(&by_tool(&call.tool().name))),
        };
        let mut seen = BTreeSet::new();
        let mut paths = paths.iter().filter(|path| seen.insert((&path.absolute, &path.change)));
        let Some(path) = paths.find(|path| self.settings.touched(path, &ground)) else {
            return allowed;
        };
        let shown = path.inside.as_deref().unwrap_or(&path.absolute);
        let why = match self.settings.holds(path) {
            true => format!(
                "this may change `{shown}`, a protected place: it controls the agent, or other \
                 programs run what it contains"
            ),
            false => format!(
                "this may change `{shown}`, which contains a protected place: one that controls the agent, or \
                 whose contents other programs run"
            ),
        };
        if self.settings.action == Action::Ask {
            return Verdict::Ask(Question::about(call, ID, why).at_stake(Stake::Protected));
        }
        Verdict::Deny(Reason {
            gate: ID,
            code: "protected_place",
            message: why,
            matched: Some("tools.protected".to_owned()),
            help: Some("leave it unchanged; only the user may change it".to_owned()),
        })
    }
}

/// What a tool of this name does to the paths in its arguments. A tool that edits files changes
/// them; one that moves or removes affects whole folders.
fn by_tool(name: &str) -> Change {
    const TAKES: [&str; 24] = [
        "move", "mv", "rename", "delete", "del", "remove", "rm", "rmdir", "rmtree", "unlink",
        "trash", "erase", "purge", "clear", "destroy", "copy", "cp", "extract", "unzip", "unpack",
        "symlink", "link", "chmod", "chown",
    ];
    let mut words = vec![String::new()];
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    let takes = words.iter().any(|word| TAKES.contains(&word.as_str()));
    if takes { Change::Replaces } else { Change::Writes }
}
