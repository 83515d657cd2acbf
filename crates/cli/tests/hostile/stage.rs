use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The search path for programs: only the system's folders.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The maximum time for any text or schema, including the start of the process.
const LIMIT: Duration = Duration::from_secs(4);

/// The binary that is attacked.
pub(crate) fn binary() -> PathBuf {
    let own = env!("CARGO_BIN_EXE_counterfoil").into();
    std::env::var_os("BINARY").map_or(own, |path| PathBuf::from(path).canonicalize().unwrap())
}

/// One stage at a time, because attempts are timed.
static TURN: Mutex<()> = Mutex::new(());

/// A private home with a workspace and a state folder, in which the binary is attacked, with the
/// outcomes of the attempts.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    attempts: usize,
    through: Vec<String>,
    _turn: MutexGuard<'static, ()>,
}

/// The result of a process.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    took: Duration,
}

impl Ran {
    /// The start of its output, on one line.
    pub(crate) fn shown(&self) -> String {
        let text = if self.out.trim().is_empty() { &self.err } else { &self.out };
        text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }

    /// Whether it ended soon, and with a code below `codes`.
    pub(crate) fn is_quick(&self, codes: i32) -> bool {
        self.took < LIMIT && self.code.is_some_and(|code| code < codes)
    }

    pub(crate) fn time(&self) -> String {
        format!("{:.1} s, exit code {:?}", self.took.as_secs_f64(), self.code)
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self { folder: folder(), attempts: 0, through: Vec::new(), _turn: turn }
    }

    /// Goes on in new folders.
    pub(crate) fn renew(&mut self) {
        self.folder = folder();
    }

    /// Notes an attempt: whether it was held, and if not, its visible effect.
    pub(crate) fn tried(
        &mut self,
        name: impl Into<String>,
        held: bool,
        seen: impl FnOnce() -> String,
    ) {
        self.attempts += 1;
        if !held {
            self.through.push(format!("{}: {}", name.into(), seen()));
        }
    }

    /// Fails if any attempt got through, or none was made.
    pub(crate) fn end(self) {
        let Self { attempts, through, .. } = self;
        assert!(attempts > 0, "nothing was attempted");
        assert!(
            through.is_empty(),
            "{} of {attempts} attempts got through:\n{}",
            through.len(),
            through.join("\n")
        );
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("dev/project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("dev")
    }

    /// Writes a file in the stage's folder, creates its parent folders, and returns its path.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Runs the binary in the workspace and waits for it.
    pub(crate) fn run(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Ran {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1", "60", "env", "-i"]).args(self.environment());
        command.arg(binary()).args(arguments).current_dir(self.work());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let began = Instant::now();
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_vec();
        // It may end before it has read everything.
        let writing = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writing.join().unwrap();
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            took: began.elapsed(),
        }
    }

    /// The variables that the binary sees.
    pub(crate) fn environment(&self) -> [String; 3] {
        [
            format!("COUNTERFOIL_STATE={}", self.path("state").display()),
            format!("HOME={}", self.home().display()),
            format!("PATH={PATH}"),
        ]
    }

    /// Has a coding agent's hook judge a command.
    pub(crate) fn hook(&self, more: &[&str], tool: &str, input: &Value) -> Ran {
        let event = json!({
            "session_id": "s1", "cwd": self.work(), "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_use_id": "t1", "tool_input": input,
        });
        self.run(&[more, &["hook", "claude-code"]].concat(), event.to_string())
    }

    /// Runs a command through the guard as an agent would; returns both output streams.
    pub(crate) fn shell(&self, command: &str, more: &[&str]) -> String {
        let arguments = json!({ "command": command }).to_string();
        let run = ["run", "shell", "--from-agent", "--args", &arguments];
        let ran = self.run(&[more, &run].concat(), "");
        format!("{}{}", ran.out, ran.err)
    }
}

fn folder() -> tempfile::TempDir {
    // Not below /tmp, because some rules treat files there as scratch.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for name in ["dev/project", "state"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    set_mode(&folder.path().join("state"), 0o700);
    folder
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns the path as text.
pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}
