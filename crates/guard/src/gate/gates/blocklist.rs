use crate::admitted::Admitted;
use crate::blocklist::{NoCommand, Refusal, RefusalKind, Unread, judge_command};
use crate::executor::ShellPolicyHandle;
use crate::gate::{Gate, GateId, Question, Reason, Verdict};
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
        let denied = |message: String, help: Option<&str>| {
            let help = help.map(str::to_owned);
            Verdict::Deny(Reason {
                gate: ID,
                code: "blocked_command",
                message,
                matched: None,
                help,
            })
        };
        let list = &policy.blocklist;
        let refusal = match list.command_in(call) {
            None => None,
            Some(Ok((command, cwd))) => judge_command(&command, &list.in_scene(scene, cwd)),
            Some(Err(NoCommand { pointer })) => {
                return denied(format!("there is no command at `{pointer}`"), None);
            }
        };
        match refusal {
            None => Verdict::Allow { matched: None },
            Some(Refusal { kind: RefusalKind::Irreversible, message }) => {
                Verdict::Ask(Question::about(call, ID, message))
            }
            Some(Refusal { kind: RefusalKind::Unread, message })
                if list.unread() == Unread::Ask =>
            {
                Verdict::Ask(Question::about(call, ID, message))
            }
            Some(refusal) => denied(refusal.message.clone(), Some(refusal.help())),
        }
    }
}
