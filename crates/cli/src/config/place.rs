//! Where the configuration is read from.

use std::env;
use std::path::PathBuf;

#[cfg(feature = "guard")]
use counterfoil_guard::LedgerUrl;

/// The name of a configuration file.
pub(super) const NAME: &str = "counterfoil.toml";

/// The sources of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The files to read.
    pub(crate) files: Files,
    /// The ledger given by the flag, which overrides every file.
    #[cfg(feature = "guard")]
    pub(crate) ledger: Option<LedgerUrl>,
}

impl From<Files> for Place {
    fn from(files: Files) -> Self {
        Self {
            files,
            #[cfg(feature = "guard")]
            ledger: None,
        }
    }
}

/// The files from which the configuration is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Files {
    /// The files that are found: the project's, then the user's.
    Found,
    /// Exactly this file.
    Named(PathBuf),
    /// No file at all.
    Nowhere,
}

/// Returns the nearest configuration file.
pub(crate) fn nearest_file(place: &Place) -> Option<PathBuf> {
    let project = (place.files == Files::Found).then(project_file).flatten();
    project.or_else(|| user_file(place))
}

/// Returns the project's file in the working directory or above.
pub(crate) fn project_file() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let user = user_file(&Files::Found.into());
    let path = here.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file());
    path.filter(|path| user.as_ref() != Some(path))
}

/// Returns the file with the user's decisions: the named one, or that in the user's folder.
pub(crate) fn user_file(place: &Place) -> Option<PathBuf> {
    match &place.files {
        Files::Nowhere => None,
        Files::Named(path) => Some(path.clone()),
        Files::Found => user_folder().map(|folder| folder.join(NAME)).filter(|path| path.is_file()),
    }
}

/// Returns the folder of the user's own configuration.
pub(crate) fn user_folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".config")))
        .or_else(|| set("APPDATA"))?;
    Some(folder.join("counterfoil"))
}
