use serde::Serialize;

/// A check and its result.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) status: Status,
    pub(super) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help: Option<String>,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Ok,
    /// Worth knowing, but the configuration takes full effect.
    Note,
    /// The configuration does not take effect.
    Fail,
}

impl Check {
    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), help: None }
    }

    pub(super) fn note(name: &'static str, found: impl Into<String>, help: &str) -> Self {
        Self { name, status: Status::Note, found: found.into(), help: Some(help.to_owned()) }
    }

    pub(super) fn fail(name: &'static str, found: impl Into<String>, help: &str) -> Self {
        Self { status: Status::Fail, ..Self::note(name, found, help) }
    }
}
