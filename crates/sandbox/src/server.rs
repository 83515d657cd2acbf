use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use rustix::fs::{Gid, Uid};
use tempfile::TempDir;

use super::{Gap, Limits, Room, Sandbox, SandboxOptions, SandboxOptionsError, SandboxSettings};

/// How a program is confined that goes on and is spoken to, such as an MCP server.
///
/// Unlike a command it does not run where the kernel cannot hold it: whoever asks for it to be
/// confined reads no receipt that would say so.
#[derive(Debug, Clone)]
pub struct ConfinedServer {
    sandbox: Sandbox,
    options: SandboxOptions,
    settings: SandboxSettings,
}

/// What starts it. Its temporary folder is gone with this.
#[derive(Debug)]
pub struct HeldServer {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// What it finds in its environment beside what it is given.
    pub environment: BTreeMap<String, String>,
    /// What is not held, and need not be.
    pub gaps: Vec<Gap>,
    temporary: TempDir,
}

impl HeldServer {
    /// The folder that is gone with this.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.temporary.path()
    }
}

impl PartialEq for ConfinedServer {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl Eq for ConfinedServer {}

impl ConfinedServer {
    /// Confined by `sandbox` to what the options say; `strict` or not.
    ///
    /// # Errors
    /// When the options cannot be used.
    pub fn new(sandbox: Sandbox, options: SandboxOptions) -> Result<Self, SandboxOptionsError> {
        let settings = options.clone().resolve()?;
        Ok(Self { sandbox, options, settings })
    }

    /// What starts the program `words` in `folder`, its workspace, with these variables.
    ///
    /// # Errors
    /// When it cannot be held.
    pub fn hold(
        &self,
        words: &[String],
        folder: &Path,
        environment: &BTreeMap<String, String>,
    ) -> io::Result<HeldServer> {
        if !self.sandbox.can_hold(&self.settings) {
            return Err(io::Error::other("no helper program is named that could confine it"));
        }
        let workspace = folder.canonicalize()?;
        let temporary = tempfile::Builder::new().prefix("counterfoil-").tempdir()?;
        let mut held = self.sandbox.hold(
            &self.settings,
            &Room {
                workspace: &workspace,
                directories: &[],
                directory: &workspace,
                environment,
                temporary: temporary.path(),
            },
            Limits::default(),
            words.to_vec(),
        );
        let essential = held.gaps.iter().filter(|gap| gap.essential).map(|gap| gap.text.as_str());
        let essential: Vec<&str> = essential.collect();
        if !essential.is_empty() {
            let what = format!("it cannot be confined: {}", essential.join("; "));
            return Err(io::Error::other(what));
        }
        if let Some((user, group)) = held.plan.identity {
            let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
            rustix::fs::chown(temporary.path(), Some(user), Some(group))?;
        }
        held.plan.strict = true;
        let plan = serde_json::to_string(&held.plan)?;
        let mut words = held.behind.take().unwrap_or_else(|| self.sandbox.helper_in_there());
        words.extend([SERVER.to_owned(), plan]);
        let path = temporary.path().to_string_lossy().into_owned();
        let environment = ["TMPDIR", "TMP", "TEMP"].map(|name| (name.to_owned(), path.clone()));
        let environment = BTreeMap::from(environment);
        Ok(HeldServer { words, environment, gaps: held.gaps, temporary })
    }
}

/// The word behind the helper's own with which it becomes a server: its plan comes next, for its
/// standard input belongs to whoever speaks to it.
pub(super) const SERVER: &str = "server";
