use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use rustix::fs::{Gid, Uid};
use tempfile::TempDir;

use super::{Gap, Limits, Room, Sandbox, SandboxOptions, SandboxOptionsError, SandboxSettings};

/// Confines a long-running program that clients talk to, such as an MCP server.
///
/// Unlike a command, it does not run if the kernel cannot confine it, because its users would not
/// see a receipt that says so.
#[derive(Debug, Clone)]
pub struct ConfinedServer {
    sandbox: Sandbox,
    options: SandboxOptions,
    settings: SandboxSettings,
}

/// How to start a confined server. Dropping this removes its temporary folder.
#[derive(Debug)]
pub struct HeldServer {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Environment variables to add to those it is given.
    pub environment: BTreeMap<String, String>,
    /// Gaps that are not essential.
    pub gaps: Vec<Gap>,
    temporary: TempDir,
}

impl HeldServer {
    /// The temporary folder, which is removed when this is dropped.
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
    /// Creates one with this sandbox and these options, whether or not they are `strict`.
    ///
    /// # Errors
    /// When the options are invalid.
    pub fn new(sandbox: Sandbox, options: SandboxOptions) -> Result<Self, SandboxOptionsError> {
        let settings = options.clone().resolve()?;
        Ok(Self { sandbox, options, settings })
    }

    /// Prepares the program `words` to start in `folder`, its workspace, with these variables.
    ///
    /// # Errors
    /// When it cannot be confined.
    pub fn hold(
        &self,
        words: &[String],
        folder: &Path,
        environment: &BTreeMap<String, String>,
    ) -> io::Result<HeldServer> {
        if !self.sandbox.can_hold(&self.settings) {
            return Err(io::Error::other("no helper program is configured to sandbox it"));
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
            let what = format!("it cannot be sandboxed: {}", essential.join("; "));
            return Err(io::Error::other(what));
        }
        if let Some((user, group)) = held.plan.identity {
            let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
            rustix::fs::chown(temporary.path(), Some(user), Some(group))?;
        }
        held.plan.strict = true;
        let plan = serde_json::to_string(&held.plan)?;
        let mut words = held.bubblewrap.take().unwrap_or_else(|| self.sandbox.helper_in_there());
        words.extend([SERVER.to_owned(), plan]);
        let path = temporary.path().to_string_lossy().into_owned();
        let environment = ["TMPDIR", "TMP", "TEMP"].map(|name| (name.to_owned(), path.clone()));
        let environment = BTreeMap::from(environment);
        Ok(HeldServer { words, environment, gaps: held.gaps, temporary })
    }
}

/// The argument with which the helper becomes a server. The plan is the next argument, because its
/// clients use standard input.
pub(super) const SERVER: &str = "server";
