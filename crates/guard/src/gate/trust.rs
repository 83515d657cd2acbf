use std::collections::{BTreeMap, BTreeSet};

use counterfoil_ledger::TrustLevel;
use counterfoil_model::{Origin, Tool};
use counterfoil_tools::{Over, Pattern, PatternError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::{any_name, other_name};

/// `[tools.trust]`: how far a turn has to be trusted for a tool to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrustOptions {
    /// The trust level that tools require, by name or pattern. If several patterns match, the
    /// strictest applies. By default, the required level is `untrusted` if a tool is built in and
    /// only reads, and `provisional` otherwise. What an MCP server declares about its own tools
    /// does not lower this level.
    pub needs: BTreeMap<String, TrustLevel>,
    /// What happens to a call if the turn is not trusted enough: `ask` (the default) or `deny`.
    pub below: Below,
    /// Tools whose results come from untrusted sources, by name or pattern. Once one of them has
    /// returned a result, the session is `untrusted` until the session is cleared.
    pub untrusted_results: Vec<String>,
    /// Shell commands that may run in an untrusted turn: a program, or a program with its first
    /// words.
    pub read_only_commands: Vec<String>,
}

/// What happens to a call if the turn is not trusted enough.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Below {
    /// A person is asked.
    #[default]
    Ask,
    /// The call is denied.
    Deny,
}

impl Default for TrustOptions {
    fn default() -> Self {
        let read_only_commands = [
            "basename",
            "cat",
            "cmp",
            "cut",
            "date",
            "df",
            "diff",
            "dirname",
            "du",
            "echo",
            "file",
            "find",
            "git diff",
            "git log",
            "git show",
            "git status",
            "grep",
            "head",
            "id",
            "ls",
            "nl",
            "pwd",
            "readlink",
            "realpath",
            "rg",
            "sort",
            "stat",
            "tail",
            "tr",
            "tree",
            "true",
            "uname",
            "uniq",
            "wc",
            "which",
            "whoami",
        ];
        Self {
            needs: BTreeMap::new(),
            below: Below::default(),
            untrusted_results: Vec::new(),
            read_only_commands: read_only_commands.map(str::to_owned).to_vec(),
        }
    }
}

/// Why the trust settings are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustOptionsError {
    /// A tool name in `needs` or `untrusted_results` is not a valid pattern.
    #[error("tools.trust: {0}")]
    Pattern(#[from] PatternError),
}

impl TrustOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// When a pattern is invalid.
    pub fn resolve(self) -> Result<TrustSettings, TrustOptionsError> {
        let needs = self
            .needs
            .iter()
            .map(|(pattern, level)| Ok((Pattern::new(pattern, Over::Text)?, *level)));
        let strangers = self.untrusted_results.iter().map(|name| Pattern::new(name, Over::Text));
        let words = |command: &String| command.split_whitespace().map(str::to_owned).collect();
        Ok(TrustSettings {
            needs: needs.collect::<Result<_, PatternError>>()?,
            below: self.below,
            strangers: strangers.collect::<Result<_, PatternError>>()?,
            read_only: self.read_only_commands.iter().map(words).collect(),
        })
    }
}

/// Validated settings: how far a turn has to be trusted for a tool to run.
#[derive(Debug, Clone)]
pub struct TrustSettings {
    needs: Vec<(Pattern, TrustLevel)>,
    pub(super) below: Below,
    /// Tools whose results come from untrusted sources.
    strangers: Vec<Pattern>,
    /// Read-only commands, each as a program and its first words.
    read_only: Vec<Vec<String>>,
}

impl Default for TrustSettings {
    fn default() -> Self {
        let nothing = Self {
            needs: Vec::new(),
            below: Below::Ask,
            strangers: Vec::new(),
            read_only: Vec::new(),
        };
        TrustOptions::default().resolve().unwrap_or(nothing)
    }
}

impl TrustSettings {
    /// Whether every part of a command line is known to only read.
    pub(crate) fn only_reads(&self, command: &str) -> bool {
        crate::read_only::only_reads(command, &self.read_only)
    }

    /// Whether any tool's results come from untrusted sources.
    pub(crate) fn taints(&self) -> bool {
        !self.strangers.is_empty()
    }

    /// The first of these tools whose results come from untrusted sources.
    pub(crate) fn stranger<'t>(&self, tools: &'t BTreeSet<String>) -> Option<&'t String> {
        tools.iter().find(|tool| {
            any_name(tool, |name| self.strangers.iter().any(|stranger| stranger.is_match(name)))
        })
    }

    /// The trust that this tool needs, and whether the operator configured it.
    pub(super) fn need(&self, tool: &Tool) -> (TrustLevel, bool) {
        let configured = |name: &str| {
            let named = self.needs.iter().filter(|(pattern, _)| pattern.is_match(name));
            named.map(|(_, level)| *level).max()
        };
        let own =
            configured(&tool.name).map_or_else(|| (usual_need(tool), false), |level| (level, true));
        match other_name(&tool.name).and_then(configured) {
            Some(other) if other > own.0 => (other, true),
            _ => own,
        }
    }
}

/// The trust that a tool needs if the operator has not configured it.
fn usual_need(tool: &Tool) -> TrustLevel {
    // INVARIANT: only our own declarations lower the need. Other tools' declared effects are merely
    // hints from their authors.
    let effects = tool.effects;
    let only_reads = tool.origin == Origin::Builtin
        && effects.writes == Some(false)
        && effects.network == Some(false);
    if only_reads { TrustLevel::Untrusted } else { TrustLevel::Provisional }
}
