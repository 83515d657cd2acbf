use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choices::{FailOn, Level, OutputFormat, RuleMode};

/// What a configuration file says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "countersign.toml")]
pub(crate) struct Options {
    /// Defaults of `countersign check`.
    pub(crate) check: CheckOptions,
    /// Modes that differ from a rule's own, by code or name.
    pub(crate) rules: BTreeMap<String, RuleMode>,
}

/// Defaults of `countersign check`. Each flag of the same name wins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CheckOptions {
    /// From which severity on a run fails: `error` (the default), `warning`, `note`, `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fail_on: Option<FailOn>,
    /// The least severity that is shown: `note` (the default), `warning`, `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) severity: Option<Level>,
    /// How findings are shown: `text` is the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<OutputFormat>,
    /// Show every claim with its evidence, not only what is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) show_supported: Option<bool>,
    /// Rules that do not run, by code or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ignore: Option<Vec<String>>,
    /// A file with the list of tools, for logs that do not carry one. Relative to this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<String>,
    /// A file with findings that are accepted for now. Relative to this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) baseline: Option<String>,
}

impl Options {
    /// What is said here, and where nothing is said what `other` says.
    pub(crate) fn or(mut self, other: Self) -> Self {
        let (own, others) = (self.check, other.check);
        self.check = CheckOptions {
            fail_on: own.fail_on.or(others.fail_on),
            severity: own.severity.or(others.severity),
            format: own.format.or(others.format),
            show_supported: own.show_supported.or(others.show_supported),
            ignore: own.ignore.or(others.ignore),
            tools: own.tools.or(others.tools),
            baseline: own.baseline.or(others.baseline),
        };
        for (rule, mode) in other.rules {
            self.rules.entry(rule).or_insert(mode);
        }
        self
    }

    /// The same with every default filled in.
    pub(crate) fn resolved(mut self) -> Self {
        let check = &mut self.check;
        check.fail_on.get_or_insert_default();
        check.severity.get_or_insert_default();
        check.format.get_or_insert_default();
        check.show_supported.get_or_insert_default();
        check.ignore.get_or_insert_default();
        self
    }
}
