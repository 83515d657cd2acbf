//! A workspace, a home folder with secrets, a folder outside, and a guard that confines.
#![expect(clippy::print_stdout, reason = "what could not be checked is printed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use counterfoil_guard::{
    Answer, Guard, GuardOptions, Receipt, Sandbox, SandboxOptions, Session, SessionStart,
    ShellExecutor, ShellOptions, Surroundings, TrustLevel,
};
use counterfoil_model::{Arguments, Confinement, ToolCall};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The program as its own helper, started by bubblewrap.
pub(crate) const HELPER: [&str; 2] = [env!("CARGO_BIN_EXE_counterfoil"), "__confine"];

pub(crate) struct Room {
    folder: TempDir,
    pub(crate) guard: Guard,
    pub(crate) session: Session,
}

/// The result of one command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) answer: Answer,
    pub(crate) receipt: Receipt,
    pub(crate) stdout: String,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self::with(SandboxOptions { bubblewrap: "never".to_owned(), ..SandboxOptions::default() })
    }

    pub(crate) fn with(options: SandboxOptions) -> Self {
        Self::made(options, ShellOptions::default(), TrustLevel::Trusted, true)
    }

    pub(crate) fn made(
        sandbox: SandboxOptions,
        shell: ShellOptions,
        trust: TrustLevel,
        helper: bool,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["home/.ssh", "home/.aws", "home/.cargo/bin", "w", "outside", "state", "tmp"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for path in [
            "home/.ssh/id_ed25519",
            "home/.aws/credentials",
            "home/.cargo/credentials.toml",
            "home/.cargo/bin/tool",
            "home/notes",
            "outside/secret",
            "state/ledger.db",
            "w/own",
        ] {
            fs::write(root.join(path), "content\n").unwrap();
        }
        let mut options = GuardOptions::default();
        options.tools.sandbox = sandbox;
        options.tools.shell = shell;
        let settings = options.resolve().unwrap();
        let confined = match helper {
            true => Sandbox::by_helper(HELPER[0], &HELPER[1..]).hiding(root.join("state")),
            false => Sandbox::default(),
        };
        let shell = ShellExecutor::new(settings.shell.clone()).confined(confined);
        let guard = Guard::builder()
            .settings(settings)
            .at_session_end(shell.session_end())
            .executor(shell)
            .workspace(root.join("w"))
            .build()
            .unwrap();
        let environment: BTreeMap<String, String> = [
            ("HOME", root.join("home").display().to_string()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("TMPDIR", root.join("tmp").display().to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let start = SessionStart { trust, environment, ..SessionStart::default() };
        let session = guard.session(start).unwrap();
        Self { folder, guard, session }
    }

    /// Returns a path beside the workspace.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Makes this user the owner of the workspace, and lets every user reach it.
    pub(crate) fn give_to(&self, user: u32) {
        use std::os::unix::fs::{PermissionsExt as _, chown};
        fs::set_permissions(self.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        chown(self.path("w"), Some(user), Some(user)).unwrap();
        chown(self.path("w/own"), Some(user), Some(user)).unwrap();
    }

    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Ran {
        let call = ToolCall {
            id: String::new(),
            tool: tool.to_owned(),
            arguments: Arguments::raw(arguments.to_string()),
            line: 0,
        };
        let answer = wait(self.session.call(call, Surroundings::default())).unwrap();
        let receipt = self.guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
        let stdout = answer.text.split("[stderr]").next().unwrap_or_default().to_owned();
        Ran { answer, receipt, stdout }
    }

    pub(crate) fn run(&self, command: &str) -> Ran {
        self.call("shell", &json!({ "command": command }))
    }

    pub(crate) fn confinement(&self) -> Confinement {
        self.run("true").receipt.confinement.unwrap()
    }

    /// Whether the kernel supports the profile; prints a message if not.
    pub(crate) fn holds(&self, what: &str) -> bool {
        let ran = self.run("true");
        let held = ran.receipt.confinement.as_ref().is_some_and(|confinement| {
            !confinement.not_held.iter().any(|gap| gap.contains("Landlock"))
        });
        if !held {
            println!("not checked: {what}, because {:?}", ran.receipt.confinement);
        }
        held
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.unwrap().block_on(future)
}

/// Whether a program is installed; prints a message if not.
pub(crate) fn has(program: &str, what: &str) -> bool {
    let found = ["/usr/bin", "/bin", "/usr/local/bin"]
        .iter()
        .any(|bin| Path::new(bin).join(program).exists());
    if !found {
        println!("not checked: {what}, because `{program}` does not exist here");
    }
    found
}

pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").unwrap().uid() == 0
}
