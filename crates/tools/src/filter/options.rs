use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::built_in;
use super::{Filter, FilterDeclaration, FilterDeclarationError};

/// `[tools.filters]`: what is left out of command output before the model sees it. The record keeps
/// all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FilterOptions {
    /// Whether output is filtered.
    pub enabled: bool,
    /// Names of filters that are switched off.
    pub without: Vec<String>,
    /// Additional filters. They are tried before the built-in ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<FilterDeclaration>,
}

impl Default for FilterOptions {
    fn default() -> Self {
        Self { enabled: true, without: Vec::new(), own: Vec::new() }
    }
}

/// Why the options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterOptionsError {
    /// An unknown filter.
    #[error("`without`: there is no filter `{name}`; available: {known}")]
    Unknown {
        /// The given name.
        name: String,
        /// The known names.
        known: String,
    },
    /// Two filters with the same name.
    #[error("`own`: there are two filters named `{0}`")]
    Twice(String),
    /// An invalid declaration.
    #[error("`own`: {0}")]
    Declaration(#[from] FilterDeclarationError),
}

impl FilterOptions {
    /// The checked settings.
    ///
    /// # Errors
    /// When a name or a declaration is invalid.
    pub fn resolve(self) -> Result<FilterSettings, FilterOptionsError> {
        if self.without.is_empty() && self.own.is_empty() {
            return Ok(FilterSettings { enabled: self.enabled, ..FilterSettings::default() });
        }
        let mut known: Vec<String> = built_in().iter().map(|filter| filter.id().0).collect();
        let mut own: Vec<Arc<dyn Filter>> = Vec::new();
        for declaration in self.own {
            if known.contains(&declaration.id) {
                return Err(FilterOptionsError::Twice(declaration.id));
            }
            known.push(declaration.id.clone());
            own.push(Arc::new(declaration.resolve()?));
        }
        if let Some(name) = self.without.iter().find(|name| !known.contains(name)) {
            let known = known.join(", ");
            return Err(FilterOptionsError::Unknown { name: name.clone(), known });
        }
        Ok(FilterSettings { enabled: self.enabled, without: self.without, own })
    }
}

/// The enabled filters.
#[derive(Debug, Clone)]
pub struct FilterSettings {
    enabled: bool,
    without: Vec<String>,
    own: Vec<Arc<dyn Filter>>,
}

impl Default for FilterSettings {
    fn default() -> Self {
        Self { enabled: true, without: Vec::new(), own: Vec::new() }
    }
}

impl FilterSettings {
    /// Disables all filters.
    #[must_use]
    pub fn off() -> Self {
        Self { enabled: false, ..Self::default() }
    }

    /// Adds a filter before the built-in ones.
    #[must_use]
    pub fn with(mut self, filter: impl Filter + 'static) -> Self {
        self.own.push(Arc::new(filter));
        self
    }

    /// The enabled filters, in the order in which they are tried.
    pub(super) fn filters(&self) -> Vec<Arc<dyn Filter>> {
        if !self.enabled {
            return Vec::new();
        }
        let all = self.own.iter().chain(built_in());
        all.filter(|filter| !self.without.contains(&filter.id().0)).cloned().collect()
    }
}
