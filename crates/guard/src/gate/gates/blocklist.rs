use counterfoil_tools::{NoCommand, RefusalKind, Scene, ShellPolicyHandle, Unread, judge_command};

use crate::admitted::Admitted;
use crate::gate::permission::PermissionSettings;
use crate::gate::{Gate, GateId, Question, Reason, Stake, Verdict};

pub(super) const ID: GateId = GateId("blocklist");

/// Denies blocked shell commands, regardless of trust, phase, approvals and rules.
pub(super) struct BlocklistGate {
    pub(super) shell: ShellPolicyHandle,
    /// Commands that the user has allowed are not asked about.
    pub(super) permissions: PermissionSettings,
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
        let asks_people = list.unread() == Unread::Ask;
        let refusal = match list.command_in(call.into()) {
            None => None,
            Some(Ok((command, cwd))) => {
                let list = list.in_scene(scene, cwd);
                let allowed = match asks_people {
                    true => self.permissions.allowed(&call.tool().name),
                    false => Vec::new(),
                };
                judge_command(&command, &list.allowing(allowed))
            }
            Some(Err(NoCommand { pointer })) => {
                return denied(
                    format!(
                        "the call has no command in its argument `{}`",
                        pointer.trim_start_matches('/')
                    ),
                    None,
                );
            }
        };
        match refusal {
            None => Verdict::Allow { matched: None },
            Some(refusal)
                if refusal.kind == RefusalKind::Irreversible
                    || refusal.kind.is_approvable() && asks_people =>
            {
                let stake = match refusal.kind {
                    RefusalKind::Irreversible => Stake::Irreversible,
                    RefusalKind::Agent => Stake::Protected,
                    RefusalKind::Unread => Stake::Unread,
                    RefusalKind::Elevated
                    | RefusalKind::Floor
                    | RefusalKind::Network
                    | RefusalKind::Reserved
                    | RefusalKind::Configured => Stake::Agreement,
                };
                Verdict::Ask(Question::about(call, ID, refusal.message).at_stake(stake))
            }
            Some(refusal) => denied(refusal.message.clone(), Some(refusal.help())),
        }
    }
}
