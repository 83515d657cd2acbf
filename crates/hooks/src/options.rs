use std::time::Duration;

use counterfoil_guard::{GuardOptions, HostedCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use counterfoil_ledger::Durability;
use counterfoil_model::Agent;
use counterfoil_tools::{Substitution, Unread};

use crate::toolbox;

/// `[hooks]`: how the hooks of coding agents behave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HooksOptions {
    /// What happens when the agent tries to stop after making a claim that the record does not
    /// support: `block` makes the agent continue, `warn` warns the user, `off` checks nothing.
    pub stop: StopMode,
    /// How many times in a row the agent is made to continue. After that, it is allowed to stop,
    /// with a warning.
    pub blocks_in_a_row: u32,
    /// What happens to a tool call when its hook fails: `open` lets the agent decide and reports
    /// the failure, `ask` asks a person, `closed` denies the call. If a stop cannot be judged, it
    /// is always allowed.
    pub on_failure: OnFault,
    /// What happens to a call that needs approval if the user has switched off the agent's
    /// permission prompts (`bypassPermissions`): `protect` denies calls that cannot be undone or
    /// that change a protected file or folder, and lets the others run with a note to the model;
    /// `deny` denies all of them; `ask` asks as in any other permission mode.
    pub without_questions: WithoutQuestions,
    /// Whether files that the agent's shell commands seem to change are saved first, so that
    /// `counterfoil undo` can restore them: files in the project, up to 64 MiB per command.
    pub undo: bool,
    /// The timeout of a hook, in milliseconds. After that, the hook counts as failed.
    pub time_limit_ms: u64,
    /// Whether `curl`, `wget` and similar commands are denied in the agent's shell. If not, the
    /// agent's own permissions apply to them.
    pub block_network_commands: bool,
    /// Whether commands that cannot be undone need approval (`git reset --hard`, `git push
    /// --force`, `terraform destroy`), and also commands that show keys or passwords, pass a file
    /// that contains them to a tool, or run downloaded code immediately.
    pub ask_irreversible: bool,
}

/// What happens when an agent tries to stop after making a claim that the record does not support.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopMode {
    /// It has to continue.
    #[default]
    Block,
    /// The user gets a warning.
    Warn,
    /// Nothing is checked.
    Off,
}

/// What happens to a tool when its hook fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFault {
    /// The agent decides.
    #[default]
    Open,
    /// A person is asked. If that is not possible, the tool is denied.
    Ask,
    /// It is denied.
    Closed,
}

/// What happens to a call that needs approval if the user has switched questions off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WithoutQuestions {
    /// A call that cannot be undone or that changes a protected place is denied.
    #[default]
    Protect,
    /// It is denied.
    Deny,
    /// The agent gets the answer `ask`, and does what its mode says.
    Ask,
}

/// Why the options are invalid. Each error names the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HooksOptionsError {
    /// The number is out of range. Agents end a turn by themselves after eight.
    #[error("`blocks_in_a_row` must be from 1 to 7, got {0}")]
    Blocks(u32),
    /// The time is too short to do anything, or longer than any agent waits.
    #[error("`time_limit_ms` must be from 100 to 60000, got {0}")]
    TimeLimit(u64),
}

impl HooksOptionsError {
    /// The key in the file.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Blocks(_) => "hooks.blocks_in_a_row",
            Self::TimeLimit(_) => "hooks.time_limit_ms",
        }
    }
}

/// Validated settings of the hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksSettings {
    /// What happens at a stop.
    pub stop: StopMode,
    /// How many times in a row an agent is sent back.
    pub blocks_in_a_row: u32,
    /// What happens to a tool when its hook fails.
    pub on_failure: OnFault,
    /// What happens to a call that would be asked about if questions are switched off.
    pub without_questions: WithoutQuestions,
    /// Whether files that commands change are saved before they run.
    pub undo: bool,
    /// The time after which a hook gives up.
    pub time_limit: Duration,
}

impl Default for HooksSettings {
    fn default() -> Self {
        Self {
            stop: StopMode::default(),
            blocks_in_a_row: 2,
            on_failure: OnFault::default(),
            without_questions: WithoutQuestions::default(),
            undo: false,
            time_limit: Duration::from_secs(5),
        }
    }
}

impl Default for HooksOptions {
    fn default() -> Self {
        Self {
            stop: StopMode::default(),
            blocks_in_a_row: 2,
            on_failure: OnFault::default(),
            without_questions: WithoutQuestions::default(),
            undo: false,
            time_limit_ms: 5_000,
            block_network_commands: false,
            ask_irreversible: true,
        }
    }
}

/// Commands that only the user may run. With the first, an agent could write receipts for runs that
/// never happened; with the others, it could loosen, stop or remove its own checks.
const OWN: [&str; 14] = [
    "counterfoil hook claude-code",
    "counterfoil hook codex",
    "counterfoil hook gemini",
    "counterfoil hook install",
    "counterfoil hook uninstall",
    "counterfoil trust",
    "counterfoil approve",
    "counterfoil skills trust",
    "counterfoil mcp inspect",
    "counterfoil mcp uninstall",
    "pkill counterfoil",
    "killall counterfoil",
    "cargo uninstall counterfoil",
    "npm uninstall counterfoil",
];

impl HooksOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn resolve(&self) -> Result<HooksSettings, HooksOptionsError> {
        if !(1..=7).contains(&self.blocks_in_a_row) {
            return Err(HooksOptionsError::Blocks(self.blocks_in_a_row));
        }
        if !(100..=60_000).contains(&self.time_limit_ms) {
            return Err(HooksOptionsError::TimeLimit(self.time_limit_ms));
        }
        Ok(HooksSettings {
            stop: self.stop,
            blocks_in_a_row: self.blocks_in_a_row,
            on_failure: self.on_failure,
            without_questions: self.without_questions,
            undo: self.undo,
            time_limit: Duration::from_millis(self.time_limit_ms),
        })
    }

    /// The options for a hook's guard: the configured ones, except that
    /// - the agent's shell tools are known, as is the tool of `call` if it takes a command;
    /// - commands that only the user may run are blocked;
    /// - substitutions are analysed unless the user decided otherwise, because most are harmless;
    /// - commands that cannot be undone are asked about;
    /// - an event counts as written once the operating system has it, because each event has its
    ///   own process.
    #[must_use]
    pub fn guard(
        &self,
        agent: Agent,
        call: Option<&HostedCall>,
        mut guard: GuardOptions,
    ) -> GuardOptions {
        let blocklist = &mut guard.tools.blocklist;
        let shells = toolbox::shells(agent).map(|(name, argument)| (name.to_owned(), argument));
        let strange =
            call.and_then(|call| toolbox::strange_shell(agent, &call.tool.name, &call.arguments));
        for (name, argument) in shells.chain(strange) {
            blocklist.tools.entry(name).or_insert(argument);
        }
        let own = OWN.iter().map(|command| (*command).to_owned());
        blocklist.reserved_commands.extend(own);
        if blocklist.substitution == Substitution::Auto {
            blocklist.substitution = Substitution::Analyse;
        }
        // The agent runs these commands, and its user may know more about them.
        blocklist.unread = Unread::Ask;
        blocklist.asks_irreversible = self.ask_irreversible;
        blocklist.allow_network |= !self.block_network_commands;
        guard.ledger.durability = Durability::Os;
        guard.audit.durability = Durability::Os;
        guard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        let with = |change: fn(&mut HooksOptions)| {
            let mut options = HooksOptions::default();
            change(&mut options);
            options.resolve().unwrap_err().to_string()
        };
        for (wrong, expected) in [
            (with(|o| o.blocks_in_a_row = 0), "`blocks_in_a_row` must be from 1 to 7, got 0"),
            (with(|o| o.blocks_in_a_row = 8), "`blocks_in_a_row` must be from 1 to 7, got 8"),
            (with(|o| o.time_limit_ms = 1), "`time_limit_ms` must be from 100 to 60000, got 1"),
        ] {
            assert_eq!(wrong, expected);
        }
        assert_eq!(HooksOptions::default().resolve(), Ok(HooksSettings::default()));
    }
}
