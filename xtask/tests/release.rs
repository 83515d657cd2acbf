//! Tests a release without a network: building it, installing it from a local server, and refusing
//! wrong checksums.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "archives are files, and shells are started")]
#![expect(clippy::print_stdout, reason = "says what could not be tried")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const TARGET: &str = "x86_64-unknown-linux-gnu";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the command line built with this test, or `None` if it is not built.
fn program() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let program = own.with_file_name("counterfoil");
    if program.exists() {
        return Some(program);
    }
    skipped(&format!("{} is not built: `cargo build -p counterfoil`", program.display()));
    None
}

/// Reports what could not be tested; in CI, that is a failure.
fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "not tried, and this is CI: {why}");
    println!("skipped: {why}");
}

fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    found.is_ok_and(|output| output.status.success())
}

/// Whether everything that the installer needs is here.
fn can_install() -> bool {
    let missing = ["sh", "tar", "awk", "gzip"].into_iter().find(|program| !has(program));
    let missing = missing.or_else(|| (!has("curl") && !has("wget")).then_some("curl"));
    if let Some(missing) = missing {
        skipped(&format!("`{missing}` is not installed"));
    }
    missing.is_none()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Builds the files of a release from `binary`; `program` prints the completions and pages.
fn release(out: &Path, binary: &Path, program: &Path) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["release", "--target", TARGET, "--out"])
        .arg(out)
        .arg("--binary")
        .arg(binary)
        .arg("--program")
        .arg(program)
        .env("SOURCE_DATE_EPOCH", "1793620800")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (named(&path), std::fs::read(path).unwrap())).collect()
}

/// Serves files as long as the test runs.
fn serve(files: BTreeMap<String, Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client may hang up.
            let _ = answer(&files, &stream);
        }
    });
    format!("http://{address}")
}

fn answer(files: &BTreeMap<String, Vec<u8>>, mut stream: &TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
    let name = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
    let (status, body) = match files.get(name) {
        Some(body) => ("200 OK", body.as_slice()),
        None => ("404 Not Found", &b"no"[..]),
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(body)
}

/// A home folder in which an installer is run.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn bin(&self) -> PathBuf {
        self.0.path().join(".local/bin")
    }

    fn run(&self, script: &Path, base: &str, variables: &[(&str, &str)]) -> Output {
        Command::new("sh")
            .arg(script)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.0.path())
            .env("TMPDIR", self.0.path())
            .env("COUNTERFOIL_BASE_URL", base)
            .env("COUNTERFOIL_TARGET", TARGET)
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }

    /// Returns the files in the home folder, except for the program.
    fn left_behind(&self) -> Vec<String> {
        let in_bin = std::fs::read_dir(self.bin()).into_iter().flatten();
        let around = std::fs::read_dir(self.0.path()).unwrap();
        let names = in_bin.chain(around).map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        names.filter(|name| !["counterfoil", ".local", ".cache"].contains(&name.as_str())).collect()
    }
}

#[test]
fn a_release_is_the_same_bytes_every_time_and_installs() {
    let Some(program) = program() else { return };
    let made = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    made.iter().for_each(|out| release(out.path(), &program, &program));
    let [first, second] = made.map(|out| files(out.path()));
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    assert!(first == second, "two releases of one program differ");
    let archive = format!("counterfoil-{VERSION}-{TARGET}.tar.gz");
    let expected = ["SHA256SUMS", &archive, "install.sh", "verify.py"];
    assert_eq!(first.keys().collect::<Vec<_>>(), expected);
    if !can_install() {
        return;
    }
    let home = Home::new();
    let script = root().join("packages/install.sh");
    let output = home.run(&script, &serve(first.clone()), &[]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("not on your PATH"), "{output:?}");
    let checked = Command::new(home.bin().join("counterfoil"))
        .args(["check", "examples"])
        .current_dir(root())
        .env("HOME", home.0.path())
        .output()
        .unwrap();
    assert_eq!(checked.status.code(), Some(1), "the examples hold false claims");
    assert_eq!(home.left_behind(), [""; 0]);

    let out = tempfile::tempdir().unwrap();
    std::fs::write(out.path().join("a.tar.gz"), first.get(&archive).unwrap()).unwrap();
    let listed = Command::new("tar").arg("-tzf").arg(out.path().join("a.tar.gz")).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    for name in [
        "counterfoil",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "README.md",
        "CHANGELOG.md",
        "completions/counterfoil.bash",
        "completions/_counterfoil",
        "man/counterfoil.1",
        "man/counterfoil-check.1",
        "verify/verify.py",
    ] {
        let name = format!("counterfoil-{VERSION}-{TARGET}/{name}");
        assert!(listed.lines().any(|line| line == name), "{name} is not in {listed}");
    }
}

/// A name, a change to the files of a release, and the installer's expected message.
type Case = (&'static str, fn(&mut BTreeMap<String, Vec<u8>>, &str), &'static str);

#[test]
fn the_installer_refuses_what_is_not_as_it_was_made() {
    let Some(program) = program() else { return };
    if !can_install() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    release(out.path(), &program, &program);
    let whole = files(out.path());
    let archive = format!("counterfoil-{VERSION}-{TARGET}.tar.gz");
    let cases: [Case; 7] = [
        ("one other bit", |files, name| files.get_mut(name).unwrap()[1000] ^= 1, "SHA256SUMS says"),
        (
            "a cut archive",
            |files, name| files.get_mut(name).unwrap().truncate(5000),
            "SHA256SUMS says",
        ),
        (
            "another sum",
            |files, _| {
                let sums = files.get_mut("SHA256SUMS").unwrap();
                sums.iter_mut().filter(|byte| byte.is_ascii_digit()).for_each(|byte| *byte = b'0');
            },
            "does not name",
        ),
        (
            "no sum",
            |files, _| {
                files.insert("SHA256SUMS".to_owned(), Vec::new());
            },
            "does not name",
        ),
        (
            "two sums",
            |files, _| {
                let sums = files.get_mut("SHA256SUMS").unwrap();
                sums.extend(sums.clone());
            },
            "does not name",
        ),
        ("no sums", |files, _| drop(files.remove("SHA256SUMS")), "cannot be fetched"),
        ("no archive", |files, name| drop(files.remove(name)), "cannot be fetched"),
    ];
    let script = root().join("packages/install.sh");
    for (name, change, says) in cases {
        let mut changed = whole.clone();
        change(&mut changed, &archive);
        let base = serve(changed);
        for before in [None, Some("#!/bin/sh\necho before\n")] {
            let home = Home::new();
            if let Some(before) = before {
                std::fs::create_dir_all(home.bin()).unwrap();
                std::fs::write(home.bin().join("counterfoil"), before).unwrap();
            }
            let output = home.run(&script, &base, &[]);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success() && stderr.contains(says), "{name}: {stderr}");
            let there = std::fs::read_to_string(home.bin().join("counterfoil")).ok();
            assert_eq!(there.as_deref(), before, "{name}: nothing is installed or replaced");
            assert_eq!(home.left_behind(), [""; 0], "{name}");
        }
    }

    // A program with the right checksum that does not run.
    let broken = out.path().join("no-program");
    std::fs::write(&broken, "\u{7f}ELF, nearly").unwrap();
    let other = tempfile::tempdir().unwrap();
    release(other.path(), &broken, &program);
    let home = Home::new();
    let output = home.run(&script, &serve(files(other.path())), &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && stderr.contains("does not run here"), "{stderr}");
    assert!(!home.bin().join("counterfoil").exists());

    let base = serve(whole);
    for (variables, says) in [
        ([("COUNTERFOIL_TARGET", "sparc-sun-solaris")], "does not name"),
        ([("COUNTERFOIL_VERSION", "9.9.9")], "does not name"),
        ([("COUNTERFOIL_VERSION", "1.0/../..")], "is no version"),
    ] {
        let home = Home::new();
        let output = home.run(&script, &base, &variables);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && stderr.contains(says), "{variables:?}: {stderr}");
        assert!(!home.bin().exists(), "{variables:?}");
    }

    // A script cut off during the download does nothing, wherever it was cut.
    let text = std::fs::read_to_string(&script).unwrap();
    let lines = text.lines().count();
    let home = Home::new();
    for count in (1..lines).step_by(3) {
        let cut: String = text.split_inclusive('\n').take(count).collect();
        let path = home.0.path().join("cut.sh");
        std::fs::write(&path, cut).unwrap();
        home.run(&path, &base, &[]);
        assert!(!home.bin().exists(), "cut after line {count}");
    }
}

#[test]
fn the_pre_commit_hook_installs_once_and_checks() {
    let Some(program) = program() else { return };
    if !can_install() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    release(out.path(), &program, &program);
    let home = Home::new();
    let base = serve(files(out.path()));
    let hook = root().join("packages/pre-commit.sh");
    let run = |base: &str| {
        Command::new("sh")
            .arg(&hook)
            .arg("examples/openai-chat-wrong-order.json")
            .current_dir(root())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", home.0.path())
            .env("COUNTERFOIL_BASE_URL", base)
            .env("COUNTERFOIL_TARGET", TARGET)
            .output()
            .unwrap()
    };
    let first = run(&base);
    assert_eq!(first.status.code(), Some(1), "{first:?}");
    assert!(String::from_utf8_lossy(&first.stdout).contains("FK010"), "{first:?}");
    let again = run("http://127.0.0.1:9");
    assert_eq!(again.status.code(), Some(1), "it is there already: {again:?}");
    assert_eq!(again.stdout, first.stdout);
}

/// The action's script in a folder of its own.
struct Action {
    desk: TempDir,
    bin: PathBuf,
}

impl Action {
    /// Creates the action, or returns `None` if it cannot be tested here.
    fn here() -> Option<Self> {
        let program = program()?;
        if !has("bash") {
            skipped("`bash` is not installed");
            return None;
        }
        let bin = program.parent().unwrap().to_owned();
        let desk = tempfile::tempdir().unwrap();
        Some(Self { desk, bin })
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.desk.path().join(name)).unwrap_or_default()
    }

    /// Runs the script with fresh outputs.
    fn run(&self, variables: &[(&str, &str)]) -> Output {
        for name in ["output", "summary", "sarif"] {
            let _ = std::fs::remove_file(self.desk.path().join(name));
        }
        Command::new("bash")
            .arg(root().join("packages/action.sh"))
            .current_dir(root())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("BIN", &self.bin)
            .env("HOME", self.desk.path())
            .envs([("FAIL_ON", "error"), ("FORMAT", "text"), ("ARGUMENTS", "")])
            .env("SARIF_FILE", self.desk.path().join("sarif"))
            .env("GITHUB_OUTPUT", self.desk.path().join("output"))
            .env("GITHUB_STEP_SUMMARY", self.desk.path().join("summary"))
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }
}

#[test]
fn the_action_writes_sarif_annotations_and_the_exit_code() {
    let Some(action) = Action::here() else { return };
    let lying = "examples/openai-chat-wrong-order.json";
    let cases = [
        (&format!("{lying}\n"), "error", "text", "", "exit-code=1\nsarif=written\n"),
        (
            &lying.to_owned(),
            "never",
            "markdown",
            "--ignore=FK012\n",
            "exit-code=0\nsarif=written\n",
        ),
        (&"missing.json".to_owned(), "error", "text", "", "exit-code=2\nsarif=none\n"),
        (&"--help".to_owned(), "error", "text", "", "exit-code=2\nsarif=none\n"),
    ];
    for (paths, fail_on, format, arguments, expected) in cases {
        let output = action.run(&[
            ("CHECKED", paths),
            ("FAIL_ON", fail_on),
            ("FORMAT", format),
            ("ARGUMENTS", arguments),
        ]);
        assert!(output.status.success(), "{paths}: {output:?}");
        assert_eq!(action.read("output"), expected, "{paths}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        if expected.contains("written") {
            let sarif: serde_json::Value = serde_json::from_str(&action.read("sarif")).unwrap();
            assert_eq!(sarif.pointer("/version").unwrap(), "2.1.0");
            assert!(stdout.contains("::error "), "{stdout}");
            assert_eq!(action.read("summary").contains("FK010"), format == "markdown");
        }
    }
    let wrong = action.run(&[("CHECKED", lying), ("FORMAT", "html")]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

/// Write errors and failures in a later run are not findings, and are not hidden.
#[test]
fn the_action_says_what_went_wrong_whichever_run_it_was() {
    let Some(mut action) = Action::here() else { return };
    let lying = "examples/openai-chat-wrong-order.json";
    for (variable, says) in [
        ("SARIF_FILE", "exit-code=2\nsarif=none\n"),
        ("GITHUB_STEP_SUMMARY", "exit-code=2\nsarif=written\n"),
    ] {
        let nowhere = action.desk.path().join("no-folder/file");
        let nowhere = nowhere.to_str().unwrap();
        let output = action.run(&[("CHECKED", lying), ("FORMAT", "markdown"), (variable, nowhere)]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(action.read("output"), says, "{variable}");
    }
    // A program that fails in only one of the runs.
    let real = action.bin.join("counterfoil");
    action.bin = action.desk.path().join("bin");
    std::fs::create_dir(&action.bin).unwrap();
    for (format, fails, expected) in [
        ("sarif", 3, "exit-code=3\nsarif=none\n"),
        ("github", 3, "exit-code=3\nsarif=written\n"),
        ("text", 2, "exit-code=2\nsarif=written\n"),
    ] {
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *'--format {format}'*) echo '::error::lies' >&2; exit {fails} ;; \
             esac\nexec '{}' \"$@\"\n",
            real.display()
        );
        let placed = action.bin.join("counterfoil");
        std::fs::write(&placed, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&placed, mode).unwrap();
        let output = action.run(&[("CHECKED", lying)]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(action.read("output"), expected, "{format}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(
            stdout.contains("::error::lies")
                && !obeyed(&stdout).contains(&"error::lies".to_owned())
        );
    }
}

/// Returns the commands that a runner executes in a step's output: a line that begins with `::`, or
/// has `##[` anywhere in it, unless commands are stopped until a given word.
fn obeyed(output: &str) -> Vec<String> {
    let mut obeyed = Vec::new();
    let mut stopped: Option<String> = None;
    for line in output.split(['\n', '\r']) {
        let second = line.trim_start().strip_prefix("::").filter(|rest| rest.contains("::"));
        let first = line.split_once("##[").map(|(_, rest)| rest).filter(|rest| rest.contains(']'));
        let Some(command) = second.or(first) else { continue };
        let name = command.split([':', ']', ' ']).next().unwrap();
        match &stopped {
            Some(word) if name == word => stopped = None,
            Some(_) => {}
            None if name == "stop-commands" => {
                stopped = command.rsplit("::").next().map(str::to_owned);
            }
            None => obeyed.push(command.to_owned()),
        }
    }
    assert_eq!(stopped, None, "commands are heard again at the end: {output}");
    obeyed
}

#[test]
fn what_logs_say_commands_no_runner() {
    assert_eq!(
        obeyed("a\n ::error::x\nb ##[error]y\n::stop-commands::w\n::error::z\n::w::\n").len(),
        2
    );
    let Some(action) = Action::here() else { return };
    let text =
        std::fs::read_to_string(root().join("examples/openai-chat-wrong-order.json")).unwrap();
    let forged = ["::add-path::/forged", "##[error]forged", "::error file=forged::forged"];
    let folder = action.desk.path().join("logs");
    std::fs::create_dir(&folder).unwrap();
    for (at, forged) in forged.iter().enumerate() {
        let claim = format!("\\n{forged}\\r{forged}\\nOrder #B20481 has been cancelled.");
        let text = text.replace("Order #B20481 has been cancelled.", &claim);
        assert!(text.contains("forged"));
        // File names can be chosen by an attacker, too.
        for (name, text) in [("a", text.as_str()), ("broken", "{\"messages\": [")] {
            let name = format!("{name}{at}\n{}\r{0}\n.json", forged.replace('/', "|"));
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    std::fs::write(action.desk.path().join("odd\n::error::forged"), "").unwrap();
    let odd = folder.with_file_name("odd\r##[error]forged");
    for checked in [folder.to_str().unwrap(), odd.to_str().unwrap()] {
        for format in ["text", "markdown"] {
            let output = action.run(&[("CHECKED", checked), ("FORMAT", format)]);
            let stdout = String::from_utf8(output.stdout).unwrap();
            for command in obeyed(&stdout) {
                let (name, rest) = command.split_once(' ').unwrap_or((&command, ""));
                assert!(["error", "warning", "notice"].contains(&name), "{command}");
                assert!(!rest.starts_with("file=forged"), "{command}");
            }
            let errors = String::from_utf8(output.stderr).unwrap();
            assert_eq!(obeyed(&errors), [""; 0], "what is said beside it, too");
        }
    }
}

/// Every script that a workflow, the action or the hook runs exists and is executable.
#[test]
fn workflows_name_only_what_is_there() {
    use std::os::unix::fs::PermissionsExt as _;
    let files = [
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
        "action.yml",
        ".pre-commit-hooks.yaml",
    ];
    let mut named = 0;
    for file in files {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let read: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        let mut commands = Vec::new();
        runs(&read, &mut commands);
        assert!(!commands.is_empty(), "{file} runs nothing");
        for word in commands.iter().flat_map(|command| command.split_whitespace()) {
            let word = word.trim_matches('"').trim_start_matches("$ACTION/");
            if [".ci/", "packages/"].iter().any(|folder| word.starts_with(folder))
                && !word.contains('*')
            {
                let script = root().join(word);
                let mode = std::fs::metadata(&script).map(|script| script.permissions().mode());
                assert!(mode.is_ok_and(|mode| mode & 0o111 != 0), "{file} runs {word}");
                named += 1;
            }
        }
        for command in commands.iter().filter_map(|command| command.split("cargo xtask ").nth(1)) {
            let own = command.split_whitespace().next().unwrap();
            let help = Command::new(env!("CARGO_BIN_EXE_xtask")).args([own, "--help"]).output();
            assert!(help.unwrap().status.success(), "{file} runs `cargo xtask {own}`");
        }
        // A foreign value is never part of a script: it is passed as a variable.
        let inside = commands.iter().find(|command| command.contains("${{"));
        assert_eq!(inside, None, "{file}");
    }
    assert!(named >= 6, "{named} scripts were looked for");
}

/// The actions, the commits that they are pinned to, and the releases of these commits. A commit in
/// no release of its action may be a guess: look it up before adding it here.
const PINS: [(&str, &str, &str); 5] = [
    ("actions/checkout", "08c6903cd8c0fde910a37f88322edcfb5dd907a8", "v5.0.0"),
    ("actions/upload-artifact", "ea165f8d65b6e75b540449e92b4886f43607fa02", "v4.6.2"),
    ("actions/download-artifact", "d3f86a106a0bac45b974a628896c90dbdf5c8093", "v4.3.0"),
    ("actions/setup-node", "a0853c24544627f65ddf259abe73b1d18a591444", "v5.0.0"),
    ("actions/attest-build-provenance", "a2bbfa25375fe432b6a289bc6b6cd05ecd0c4c32", "v4.1.0"),
];

#[test]
fn workflows_use_the_commits_that_they_name() {
    let mut used = BTreeSet::new();
    for file in ["ci.yml", "release.yml"] {
        let text = std::fs::read_to_string(root().join(".github/workflows").join(file)).unwrap();
        for line in text.lines().filter(|line| line.contains("uses:")) {
            let (_, named) = line.split_once("uses: ").unwrap();
            let pin = PINS.iter().find(|(action, commit, release)| {
                named == format!("{action}@{commit} # {release}")
            });
            assert!(pin.is_some(), "{file} uses `{named}`");
            used.extend(pin.map(|(action, ..)| *action));
        }
    }
    assert_eq!(used.len(), PINS.len(), "{used:?}");
}

/// GitHub creates a missing environment, so the variable has to prevent publishing.
#[test]
fn a_workflow_publishes_only_where_the_repository_says_so() {
    let path = root().join(".github/workflows/release.yml");
    let read: serde_json::Value =
        serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let gated = |value: &serde_json::Value| {
        let when = value.get("if").and_then(serde_json::Value::as_str).unwrap_or_default();
        when == "github.ref_type == 'tag' && vars.PUBLISH == 'true'"
    };
    let mut publishing = Vec::new();
    for (name, job) in read["jobs"].as_object().unwrap() {
        let steps = job["steps"].as_array().unwrap();
        let attests = |step: &&serde_json::Value| {
            step["uses"].as_str().is_some_and(|uses| uses.contains("attest"))
        };
        for step in steps.iter().filter(attests) {
            assert!(gated(step), "{name}: {step}");
        }
        let mut commands = Vec::new();
        runs(job, &mut commands);
        let published = commands.iter().any(|run| run.contains("publish") || run.contains("gh "));
        if published || job.get("environment").is_some() {
            assert!(published && job.get("environment").is_some() && gated(job), "{name}");
            publishing.push(name.as_str());
        }
        // Every job waits for the check of the tag.
        assert!(name == "tag" || job.get("needs").is_some(), "{name}");
    }
    assert_eq!(publishing, ["publish", "pypi", "npm"]);
}

#[test]
fn a_tag_is_that_of_the_version() {
    if !has("bash") {
        return skipped("`bash` is not installed");
    }
    for (tag, fits) in [
        (format!("v{VERSION}"), true),
        (VERSION.to_owned(), false),
        (format!("v{VERSION}-rc.1"), false),
        ("v9.9.9".to_owned(), false),
        (String::new(), false),
    ] {
        let ran = Command::new(root().join(".ci/release-tag")).arg(&tag).output().unwrap();
        assert_eq!(ran.status.success(), fits, "{tag}: {ran:?}");
        let stderr = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(stderr.contains(&format!("is `v{VERSION}`")), !fits, "{tag}: {stderr}");
    }
}

/// Collects the values of `run:` and `entry:`.
fn runs(read: &serde_json::Value, commands: &mut Vec<String>) {
    match read {
        serde_json::Value::Object(members) => {
            for (name, value) in members {
                match value.as_str() {
                    Some(text) if name == "run" || name == "entry" => {
                        commands.push(text.to_owned())
                    }
                    _ => runs(value, commands),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| runs(item, commands)),
        _ => {}
    }
}
