use crate::admitted::Admitted;
use crate::executor::{NoCommand, ShellPolicyHandle, find_blocked_command};
use crate::gate::{Gate, GateId, Reason, Verdict};
use crate::scene::Scene;

pub(super) const ID: GateId = GateId("blocklist");

/// Shell commands that nobody may run. No trust, phase, approval or rule is asked.
pub(super) struct BlocklistGate {
    pub(super) shell: ShellPolicyHandle,
}

impl Gate for BlocklistGate {
    fn id(&self) -> GateId {
        ID
    }

    fn judge(&self, call: &Admitted, scene: &Scene<'_>) -> Verdict {
        let policy = self.shell.load();
        let why = match policy.blocklist.command_in(call) {
            None => None,
            Some(Ok((command, cwd))) => {
                find_blocked_command(&command, &policy.blocklist.in_scene(scene, cwd))
            }
            Some(Err(NoCommand { pointer })) => Some(format!("there is no command at `{pointer}`")),
        };
        why.map_or(Verdict::Allow { matched: None }, |message| {
            Verdict::Deny(Reason {
                gate: ID,
                code: "blocked_command",
                message,
                matched: None,
                help: Some("no approval and no configuration lets this run".to_owned()),
            })
        })
    }
}
