//! A PostgreSQL server for one test run: in a temporary folder, reached through a socket there,
//! stopped at the end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The user that owns the databases.
pub(crate) const USER: &str = "counterfoil";

/// How long the server may take to start or stop.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    programs: PathBuf,
    folder: TempDir,
    options: Vec<String>,
    process: Option<Child>,
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stop {
    /// Ends transactions and writes everything.
    Fast,
    /// As in a crash.
    AtOnce,
}

impl Server {
    /// Starts a server with these settings.
    ///
    /// # Errors
    /// The reason, such as missing programs.
    pub(crate) fn start(options: &[&str]) -> Result<Self, String> {
        let programs = programs().ok_or("initdb and postgres are not installed")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut server = Self {
            programs,
            folder,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            process: None,
        };
        if is_root() {
            let owned = Command::new("chown").arg("postgres").arg(server.folder.path()).status();
            if !owned.is_ok_and(|status| status.success()) {
                return Err("there is no user `postgres` to run the server as".to_owned());
            }
        }
        let made = server
            .command("initdb")
            .args(["--username", USER, "--auth=trust", "--no-sync", "--encoding=UTF8"])
            .args(["--locale=C", "--pgdata"])
            .arg(server.data())
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| error.to_string())?;
        if !made.status.success() {
            return Err(format!("initdb failed: {}", String::from_utf8_lossy(&made.stderr)));
        }
        server.start_again()?;
        Ok(server)
    }

    /// Starts the server again after it was stopped.
    pub(crate) fn start_again(&mut self) -> Result<(), String> {
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        command.args(["-c", "listen_addresses="]);
        for option in &self.options {
            command.args(["-c", option]);
        }
        let process = command.spawn().map_err(|error| error.to_string())?;
        self.process = Some(process);
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let ready = self
                .command("pg_isready")
                .arg("-q")
                .arg("-h")
                .arg(self.folder.path())
                .args(["-d", "postgres", "-p"])
                .arg(self.port())
                .status();
            if ready.is_ok_and(|status| status.success()) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err("the server does not start".to_owned())
    }

    /// Stops the server and waits until it is gone.
    pub(crate) fn stop(&mut self, how: Stop) {
        let Some(mut process) = self.process.take() else { return };
        let signal = match how {
            Stop::Fast => "-INT",
            Stop::AtOnce => "-QUIT",
        };
        let _ = Command::new("kill").arg(signal).arg(process.id().to_string()).status();
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if process.try_wait().is_ok_and(|status| status.is_some()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = process.kill();
        let _ = process.wait();
    }

    /// Stops the server and starts it with more settings.
    pub(crate) fn restart_with(&mut self, options: &[String]) {
        self.stop(Stop::Fast);
        self.options.extend_from_slice(options);
        self.start_again().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Writes a file into the folder of the server, readable by the server only.
    pub(crate) fn write(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.folder.path().join(name);
        let written = std::fs::write(&path, text)
            .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)));
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if is_root() {
            let _ = Command::new("chown").arg("postgres").arg(&path).status();
        }
    }

    /// Creates a schema, and returns its address.
    pub(crate) fn schema(&self, name: &str) -> String {
        self.sql(&format!("CREATE SCHEMA {name}"));
        self.address(name)
    }

    /// The address of a schema.
    pub(crate) fn address(&self, schema: &str) -> String {
        let socket = self.folder.path().display();
        format!("postgres:///postgres?host={socket}&user={USER}&options=-csearch_path%3D{schema}")
    }

    /// Runs statements as the owner of all databases.
    ///
    /// # Panics
    /// When a statement fails.
    pub(crate) fn sql(&self, statements: &str) -> String {
        self.try_sql(statements).unwrap_or_else(|error| panic!("{statements}: {error}"))
    }

    /// Runs statements as the owner of all databases, returning errors.
    pub(crate) fn try_sql(&self, statements: &str) -> Result<String, String> {
        let output = self
            .command("psql")
            .args(["-v", "ON_ERROR_STOP=1", "-XqAt", "-U", USER, "-d", "postgres", "-h"])
            .arg(self.folder.path())
            .args(["-p", self.port(), "-c", statements])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// The folder of the server, which the server can read.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn port(&self) -> &str {
        let set = self.options.iter().find_map(|option| option.strip_prefix("port="));
        set.unwrap_or("5432")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A command that runs a program of the server, as another user if this one is root, which the
    /// server refuses.
    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]);
            command.arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir("/").env_remove("PGOPTIONS").env("LC_ALL", "C");
        command.env_remove("PGHOST").env_remove("PGPORT").env_remove("PGPASSWORD");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(Stop::AtOnce);
    }
}

/// Where Debian installs the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.join("initdb").exists() && bin.join("postgres").exists())
        .collect();
    found.sort();
    found.pop()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
