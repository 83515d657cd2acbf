use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::admission::AdmissionSettings;
use crate::issue::below;

/// `[tools.admission]`: how strictly a call is checked against its tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdmissionOptions {
    /// Apply lossless corrections to arguments (for example, `"42"` becomes 42), and record them.
    pub coerce: bool,
    /// Apply lossless corrections to tool names, and record them.
    pub resolve_names: bool,
    /// The number of rejected calls that the model may correct in a turn before it is told to stop.
    pub corrections: u32,
    /// The length, in characters, above which a string argument causes a warning.
    pub longest_text: usize,
    /// The limit of `longest_text` for individual parameters: for each tool, a table of its
    /// parameters and their limits.
    pub longest_text_of: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Default for AdmissionOptions {
    fn default() -> Self {
        let AdmissionSettings { coerce, resolve_names, longest_text, corrections, .. } =
            AdmissionSettings::default();
        let longest_text_of = BTreeMap::new();
        Self { coerce, resolve_names, corrections, longest_text, longest_text_of }
    }
}

impl AdmissionOptions {
    /// Converts the options to settings; every combination is valid.
    #[must_use]
    pub fn resolve(self) -> AdmissionSettings {
        let Self { coerce, resolve_names, corrections, longest_text, longest_text_of } = self;
        let longest_text_of = longest_text_of.into_iter().flat_map(|(tool, parameters)| {
            parameters.into_iter().map(move |(name, most)| ((tool.clone(), below("", &name)), most))
        });
        AdmissionSettings {
            coerce,
            resolve_names,
            corrections,
            longest_text,
            longest_text_of: longest_text_of.collect(),
            ..AdmissionSettings::default()
        }
    }
}
