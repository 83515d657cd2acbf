use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The search path for programs: only the system's folders.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A private home with a workspace, and a state folder, for running the binary.
pub(super) struct Bench {
    binary: PathBuf,
    folder: tempfile::TempDir,
}

/// The result of a process.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
    pub(super) took: Duration,
}

impl Ran {
    /// The start of its output, on one line.
    pub(super) fn shown(&self) -> String {
        let said = if self.out.trim().is_empty() { &self.err } else { &self.out };
        said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }
}

impl Bench {
    pub(super) fn new(binary: &Path) -> Result<Self> {
        // Not below /tmp, because some rules treat files there as scratch.
        let folder = tempfile::Builder::new()
            .prefix("hostile-")
            .tempdir_in(std::env::current_dir()?.join("target"))?;
        for name in ["dev/project", "state"] {
            std::fs::create_dir_all(folder.path().join(name))?;
        }
        use_private_modes(&folder.path().join("state"))?;
        Ok(Self { binary: binary.to_owned(), folder })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn binary(&self) -> &Path {
        &self.binary
    }

    pub(super) fn work(&self) -> PathBuf {
        self.path("dev/project")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.path("dev")
    }

    /// Writes a file in the bench's folder, and creates its parent folders.
    pub(super) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }

    /// Runs the binary in the workspace and waits for it.
    pub(super) fn run(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Result<Ran> {
        let state = format!("COUNTERFOIL_STATE={}", self.path("state").display());
        let home = format!("HOME={}", self.home().display());
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1", "60", "env", "-i", &state, &home]);
        command.arg(format!("PATH={PATH}"));
        command.arg(&self.binary).args(arguments).current_dir(self.work());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let began = Instant::now();
        let mut child = command.spawn().context("starting the binary")?;
        let mut stdin = child.stdin.take().context("its input is piped")?;
        let input = input.as_ref().to_vec();
        // It may end before it has read everything.
        let writing = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output()?;
        let _ = writing.join();
        Ok(Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            took: began.elapsed(),
        })
    }
}

#[cfg(unix)]
pub(super) fn use_private_modes(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?)
}

#[cfg(not(unix))]
pub(super) fn use_private_modes(_: &Path) -> Result<()> {
    Ok(())
}

/// Returns the rows of the code blocks on a page; a row of several lines is a JSON text.
pub(super) fn rows(page: &str) -> Vec<String> {
    let mut rows = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if inside && !line.is_empty() {
            let json = line.starts_with('"') && line.ends_with('"') && line.contains('\\');
            let text = json.then(|| serde_json::from_str::<String>(line).ok()).flatten();
            rows.push(text.unwrap_or_else(|| line.to_owned()));
        }
    }
    rows
}
