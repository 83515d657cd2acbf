//! What a user sees and types on a terminal. If no terminal can be created, the tests say so.

use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use serde_json::{Value, json};

use crate::Desk;
use crate::chat::{calls, chat, desk, model, says};

/// A program on a terminal of its own.
struct Terminal {
    pty: Arc<Pty>,
    child: Child,
    screen: Arc<Mutex<vt100::Parser>>,
    /// All output, with escape codes.
    raw: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Runs a program; `None` if no terminal can be created.
    #[expect(clippy::print_stdout, reason = "what is not checked is printed")]
    fn run(desk: &Desk, words: &[&str], (rows, columns): (u16, u16)) -> Option<Self> {
        let (pty, pts) = match open() {
            Ok(opened) => opened,
            Err(error) => {
                println!("not checked: no terminal can be made here: {error}");
                return None;
            }
        };
        pty.resize(Size::new(rows, columns)).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_counterfoil"))
            .args(words)
            .current_dir(desk.path())
            .env_clear()
            .env("HOME", desk.path().join("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("TERM", "xterm-256color")
            .env("USER", "maria")
            .env("COUNTERFOIL_STATE", "state")
            .spawn(pts)
            .unwrap();
        let screen = Arc::new(Mutex::new(vt100::Parser::new(lines(rows), lines(columns), 0)));
        let (pty, raw) = (Arc::new(pty), Arc::new(Mutex::new(Vec::new())));
        let (shown, reads, kept) = (Arc::clone(&screen), Arc::clone(&pty), Arc::clone(&raw));
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = (&*reads).read(&mut piece) {
                shown.lock().unwrap().process(&piece[..count]);
                kept.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        });
        Some(Self { pty, child, screen, raw })
    }

    fn write(&self, text: &str) {
        (&*self.pty).write_all(text.as_bytes()).unwrap();
    }

    fn shown(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the text appears.
    #[track_caller]
    fn see(&self, text: &str) {
        let begun = Instant::now();
        while !self.shown().contains(text) {
            let shown = self.shown();
            assert!(begun.elapsed() < Duration::from_secs(30), "`{text}` is not in:\n{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes the terminal larger, and waits until the program uses the new rows.
    #[track_caller]
    fn enlarge(&self, rows: u16, columns: u16) {
        let before = self.shown().lines().count();
        self.screen.lock().unwrap().screen_mut().set_size(lines(rows), lines(columns));
        self.pty.resize(Size::new(rows, columns)).unwrap();
        let begun = Instant::now();
        while self.shown().lines().count() <= before {
            assert!(begun.elapsed() < Duration::from_secs(30), "not redrawn:\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the program to end; returns its exit code and all output.
    fn ended(mut self) -> (i32, String) {
        let code = self.child.wait().unwrap().code().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        (code, String::from_utf8_lossy(&self.raw.lock().unwrap()).into_owned())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn lines(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

const CONTROL_C: &str = "\u{3}";
const CONTROL_D: &str = "\u{4}";
const CONTROL_R: &str = "\u{12}";
const ESCAPE: &str = "\u{1b}";

/// Waits, because input right after a question appears does not answer it.
fn pause() {
    std::thread::sleep(Duration::from_millis(700));
}

fn runs(command: &str) -> Value {
    calls("shell", &json!({ "command": command }))
}

#[test]
fn a_conversation_on_a_screen() {
    let (port, _) = model(vec![
        runs("echo one; sleep 1; echo two; sleep 1; echo three"),
        says("I ran the command, and it printed three lines."),
        says("I ran the tests and all 42 tests pass."),
        says("No test was run."),
    ]);
    let desk = desk(port, "");
    let Some(terminal) = Terminal::run(&desk, &["chat", "--yes"], (24, 80)) else { return };
    terminal.see("`/help` lists commands");
    terminal.write("Count\r");
    terminal.see("> Count");
    terminal.see("running shell: two");
    terminal.see("it printed three lines.");
    let shown = terminal.shown();
    assert!(shown.contains("  completed, shell_") && shown.contains("  three"), "{shown}");
    terminal.write(CONTROL_R);
    terminal.see("Receipts and claims of the last answer");
    terminal.see("Verdict");
    terminal.write("q");
    // Keys typed before the page is closed belong to the page. The size changes only after that,
    // because the library may report a key that arrives together with a resize only with the next
    // key.
    terminal.see("it printed three lines.");
    terminal.enlarge(40, 140);
    terminal.see("1 receipt: Ctrl-R");
    terminal.write("Run the tests\r");
    terminal.see("an answer was held back");
    terminal.see("No test was run.");
    assert!(!terminal.shown().contains("42 tests"));
    terminal.write("/status\r");
    terminal.see("Gates: ");
    terminal.see("Sandbox: workspace");
    terminal.write(CONTROL_D);
    let (code, raw) = terminal.ended();
    assert_eq!(code, 0);
    let (_, left) = raw.rsplit_once("\u{1b}[?1049l").expect("the screen is given back");
    for stays in
        ["> Count", "it printed three lines.", "No test was run.", "resume this session with"]
    {
        assert!(left.contains(stays), "{stays}: {left}");
    }
    assert!(!raw.contains("42 tests"), "what is held back is never shown");
}

#[test]
fn a_gate_asks_and_one_key_answers() {
    let asks = "[tools.permissions]\nrules = [{ tool = \"shell\", action = \"ask\" }]";
    let cases: [(&[&str], [bool; 2], &str); 5] = [
        (&["y", "n"], [true, false], "first"),
        (&["s"], [true, true], "first"),
        (&["v"], [false, false], "not in this session"),
        (&["wnot before noon\r", "n"], [false, false], "not before noon"),
        // Up one line, the command loses a character, and Ctrl-S runs it.
        (
            &["e\u{1b}[A\u{1b}[F\u{1b}[D\u{8}\u{13}", "n"],
            [true, false],
            "changed the arguments before the call ran",
        ),
    ];
    // In parallel, because the cases mostly wait.
    std::thread::scope(|scope| {
        for (keys, ran, expected) in cases {
            scope.spawn(move || a_question_answered(asks, keys, ran, expected));
        }
    });
}

/// Answers the questions about two calls with these keys, and checks which calls run and what the
/// model is told.
fn a_question_answered(asks: &str, keys: &[&str], ran: [bool; 2], expected: &str) {
    let (port, requests) = model(vec![runs("echo first"), runs("echo first"), says("Done.")]);
    let desk = desk(port, asks);
    let words = ["chat", "--session", "s"];
    let Some(terminal) = Terminal::run(&desk, &words, (30, 100)) else { return };
    terminal.see("`/help` lists commands");
    // Input typed before the question does not answer it.
    terminal.write("Go\ryyyy");
    for key in keys {
        terminal.see("Approve?");
        pause();
        terminal.write(key);
        terminal.see("→");
    }
    terminal.see("Done.");
    terminal.write(CONTROL_C);
    terminal.write(CONTROL_D);
    assert_eq!(terminal.ended().0, 0);
    let query = "audit query --tool shell --format jsonl";
    let receipts = desk.run_in(&[("COUNTERFOIL_STATE", "state")], query);
    let ended = receipts.out.lines().map(|line| {
        let receipt: Value = serde_json::from_str(line).unwrap();
        receipt["result"] == "success"
    });
    assert_eq!(ended.collect::<Vec<_>>(), ran, "{receipts}");
    let read = requests.iter().nth(1).unwrap().to_string();
    assert!(read.contains(expected), "{expected}: {read}");
}

#[test]
fn what_runs_is_broken_off_and_the_conversation_goes_on() {
    let (port, _) = model(vec![runs("echo begun; sleep 60"), says("I am still here.")]);
    let desk = desk(port, "");
    let Some(terminal) = Terminal::run(&desk, &["chat", "--yes"], (24, 80)) else { return };
    terminal.see("`/help` lists commands");
    terminal.write("Wait\r");
    terminal.see("running shell: begun");
    terminal.write("And now?\r");
    terminal.see("next: And now?");
    terminal.write(ESCAPE);
    terminal.see("interrupted");
    terminal.see("I am still here.");
    terminal.write(CONTROL_C);
    terminal.see("again to quit");
    terminal.write(CONTROL_C);
    assert_eq!(terminal.ended().0, 0);
}

#[test]
fn plain_lines_have_no_escape_codes_but_those_of_a_question() {
    let asks = "[tools.permissions]\nrules = [{ tool = \"shell\", action = \"ask\" }]";
    let (port, _) = model(vec![runs("echo first"), says("Done.")]);
    let desk = desk(port, asks);
    let Some(terminal) = Terminal::run(&desk, &["chat", "--plain"], (24, 80)) else { return };
    terminal.see("`/help` lists commands");
    terminal.write("Go\n");
    terminal.see("Approve?");
    pause();
    terminal.write("y\n");
    terminal.see("Done.");
    terminal.write(CONTROL_D);
    let (code, raw) = terminal.ended();
    assert_eq!(code, 0);
    assert!(raw.contains("completed, shell_"), "{raw}");
    assert!(!raw.contains(ESCAPE), "{raw:?}");
}

#[test]
fn a_word_is_enough_to_leave() {
    for word in ["exit", "quit", "/exit"] {
        let (port, _) = model(Vec::new());
        let desk = desk(port, "");
        let Some(terminal) = Terminal::run(&desk, &["chat", "--plain"], (24, 80)) else { return };
        terminal.see("`/help` lists commands");
        terminal.write(&format!("{word}\n"));
        assert_eq!(terminal.ended().0, 0, "{word}");
    }
}

#[test]
fn a_person_learns_why_nothing_was_summarised() {
    let (port, _) = model(Vec::new());
    let desk = desk(port, "");
    let Some(terminal) = Terminal::run(&desk, &["chat", "--plain"], (24, 80)) else { return };
    terminal.see("`/help` lists commands");
    terminal.write("/compact\n");
    terminal.see("nothing to compress");
    terminal.write(CONTROL_D);
    let (code, raw) = terminal.ended();
    assert_eq!(code, 0);
    assert!(!raw.contains("tool_error") && !raw.contains("category"), "{raw}");
}

#[test]
fn what_waits_is_approved_on_a_terminal() {
    // In parallel, because the cases mostly wait.
    std::thread::scope(|scope| {
        scope.spawn(|| approved_on_a_terminal(&[]));
        if let Some(server) = crate::shared_ledger::start() {
            approved_on_a_terminal(&["--ledger", &server.schema("approved")]);
        }
    });
}

/// Runs with these flags for every command.
fn approved_on_a_terminal(flags: &[&str]) {
    let rule = "[tools.permissions]\nrules = [{ tool = \"write_file\", action = \"ask\" }]";
    let desk = Desk::with(&[("counterfoil.toml", rule)]);
    let args = json!({ "path": "a.txt", "content": "x" }).to_string();
    let run = || {
        let words = ["run", "write_file", "--from-agent", "--session", "s", "--json", "--args"];
        let words = [&words[..], &[&args], flags].concat();
        let ran = desk.spawn(&[("COUNTERFOIL_STATE", "state")], &words, "");
        serde_json::from_str::<Value>(&ran.out).unwrap()
    };
    let denied = run();
    assert_eq!(denied["status"], "denied", "{denied}");
    let id = denied["execution_id"].as_str().unwrap();
    for (answer, code, status) in [("n\n", 2, "denied"), ("y\n", 0, "completed")] {
        let words = [&["approve", id], flags].concat();
        let Some(terminal) = Terminal::run(&desk, &words, (24, 80)) else { return };
        terminal.see("a.txt");
        pause();
        terminal.write(answer);
        assert_eq!(terminal.ended().0, code);
        assert_eq!(run()["status"], status);
    }
    // Without `--session`, the session ends with the call.
    let words = ["run", "write_file", "--from-agent", "--args", &args];
    desk.spawn(&[("COUNTERFOIL_STATE", "state")], &[&words[..], flags].concat(), "");
    let words = [&["approve", "--last"], flags].concat();
    let Some(terminal) = Terminal::run(&desk, &words, (24, 120)) else { return };
    terminal.see(", which has ended: no one is waiting for this approval");
    pause();
    terminal.write("y\n");
    let (code, output) = terminal.ended();
    assert!(code == 0 && output.contains("approved: but no one is waiting for it"), "{output}");
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_command_changed_is_put_back() {
    let (port, requests) =
        model(vec![runs("echo theirs > notes.txt"), says("Done."), says("Yes.")]);
    let desk = desk(port, "[tools.shell]\ntransactional = true\nkeep_snapshots = 2");
    let words = ["chat", "--yes", "--plain"];
    let Some(terminal) = Terminal::run(&desk, &words, (24, 80)) else { return };
    terminal.see("`/help` lists commands");
    terminal.write("Go\n");
    terminal.see("Done.");
    assert_eq!(std::fs::read_to_string(desk.path().join("notes.txt")).unwrap(), "theirs\n");
    terminal.write("/undo\n");
    terminal.see("undone: 1 restored, 0 removed");
    assert_eq!(
        std::fs::read_to_string(desk.path().join("notes.txt")).unwrap(),
        "the door is green\n"
    );
    terminal.write("And?\n");
    terminal.see("Yes.");
    let request = requests.iter().nth(2).unwrap().to_string();
    assert!(request.contains("The user has undone shell_"), "{request}");
    terminal.write(CONTROL_D);
    assert_eq!(terminal.ended().0, 0);
}

#[test]
fn a_session_is_gone_on_with_by_one_at_a_time() {
    let (port, _) = model(vec![says("Hello.")]);
    let desk = desk(port, "");
    let words = ["chat", "--plain", "--session", "s"];
    let Some(terminal) = Terminal::run(&desk, &words, (24, 80)) else { return };
    terminal.see("`/help` lists commands");
    let other = chat(&desk, &["--session", "s", "-p", "And?"], "");
    assert_eq!(other.code, 2, "{other}");
    assert!(other.err.contains("another `counterfoil chat` has session `s` open"), "{other}");
    terminal.write(CONTROL_D);
    assert_eq!(terminal.ended().0, 0);
    let next = chat(&desk, &["--session", "s", "-p", "And?"], "");
    assert_eq!((next.code, next.out.as_str()), (0, "Hello.\n"), "{next}");
}
