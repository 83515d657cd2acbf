use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use counterfoil_guard::CitationFault;
use counterfoil_model::{Status, ToolErrorCategory};
use serde_json::json;

use super::room::{Room, wait};

const PATIENCE: Duration = Duration::from_secs(60);

/// Reports when the last writer of a pipe in the workspace is gone.
fn end_of(room: &Room, name: &str) -> (Receiver<String>, Receiver<()>) {
    assert_eq!(room.run(&format!("mkfifo {name}")).receipt.exit_code, Some(0));
    let path = room.path("w").join(name);
    let ((line, lines), (gone, end)) = (channel(), channel());
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(File::open(path).unwrap());
        let mut first = String::new();
        pipe.read_line(&mut first).unwrap();
        line.send(first).unwrap();
        pipe.read_to_end(&mut Vec::new()).unwrap();
        gone.send(()).unwrap();
    });
    (lines, end)
}

fn start(room: &Room, command: &str) -> String {
    let ran = room.call("shell", &json!({ "command": command, "background": true }));
    assert_eq!(ran.receipt.status, Status::Completed, "{}", ran.answer.text);
    assert!(ran.answer.text.contains("there is no result yet"), "{}", ran.answer.text);
    assert_eq!(ran.receipt.exit_code, None, "nobody knows it yet");
    let run = ran.receipt.background.as_ref().unwrap();
    assert_eq!((&run.started_by, run.status), (&ran.receipt.execution_id, Status::Open));
    assert_eq!(cited(room, &ran.receipt.execution_id), Err(CitationFault::ExecutionIncomplete));
    assert_eq!(ran.receipt.confinement.unwrap().profile, "workspace");
    ran.answer.text.split('`').nth(1).unwrap().to_owned()
}

/// Whether an answer may cite the execution that started a command.
fn cited(room: &Room, execution_id: &str) -> Result<(), CitationFault> {
    let cited = room.session.cited(execution_id, "shell", None).unwrap();
    cited.map(drop).map_err(|fault| fault.reason)
}

/// A command may be cited as completed once a later call has seen that it ended well.
#[test]
fn a_command_in_the_background_has_completed_when_its_end_is_seen() {
    let room = Room::new();
    for (command, expected) in
        [("true", Ok(())), ("false", Err(CitationFault::ExecutionIncomplete))]
    {
        let run = start(&room, command);
        let deadline = Instant::now() + PATIENCE;
        let seen = loop {
            let seen = room.call("shell_output", &json!({ "run": run })).receipt;
            let run = seen.background.unwrap();
            if run.status != Status::Open {
                break run;
            }
            assert!(Instant::now() < deadline);
        };
        assert_eq!(cited(&room, &seen.started_by), expected, "{command}");
    }
}

#[test]
fn a_command_in_the_background_is_read_and_ended() {
    let room = Room::new();
    let (lines, gone) = end_of(&room, "pipe");
    let run = start(&room, "echo hello; { echo up; sleep 1000; } > pipe");
    assert_eq!(run, "run-1");
    assert_eq!(lines.recv_timeout(PATIENCE).unwrap(), "up\n");
    let about = json!({ "run": run });
    let deadline = Instant::now() + PATIENCE;
    loop {
        let ran = room.call("shell_output", &about);
        if ran.answer.text == "hello\n[run-1: still running]" {
            break;
        }
        assert!(Instant::now() < deadline, "{}", ran.answer.text);
    }
    let ran = room.call("shell_stop", &about);
    assert!(ran.answer.text.starts_with("hello\n[run-1: ended"), "{}", ran.answer.text);
    gone.recv_timeout(PATIENCE).unwrap();

    let run = start(&room, "echo done; exit 7");
    let about = json!({ "run": run });
    let deadline = Instant::now() + PATIENCE;
    while room.call("shell_output", &about).answer.text != "done\n[run-2: ended with exit code 7]" {
        assert!(Instant::now() < deadline);
    }
    let ran = room.call("shell_output", &json!({ "run": "run-9" }));
    assert_eq!(ran.receipt.category, Some(ToolErrorCategory::InvalidParameters));
}

#[test]
fn it_ends_with_its_session() {
    let room = Room::new();
    let (lines, gone) = end_of(&room, "pipe");
    start(&room, "{ echo up; sleep 1000 & sleep 1000; } > pipe");
    assert_eq!(lines.recv_timeout(PATIENCE).unwrap(), "up\n");
    wait(room.session.end()).unwrap();
    gone.recv_timeout(PATIENCE).unwrap();
    assert_eq!(
        std::fs::read_dir(room.path("tmp")).unwrap().count(),
        0,
        "its temporary folder, too"
    );
}

#[test]
fn it_ends_with_the_guard() {
    let room = Room::new();
    let (lines, gone) = end_of(&room, "pipe");
    start(&room, "{ echo up; sleep 1000; } > pipe");
    assert_eq!(lines.recv_timeout(PATIENCE).unwrap(), "up\n");
    drop(room);
    gone.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn the_blocklist_and_the_confinement_hold_in_the_background() {
    let room = Room::new();
    let ran = room.call("shell", &json!({ "command": "sudo true", "background": true }));
    assert_eq!(ran.receipt.category, Some(ToolErrorCategory::PolicyBlocked));
    let run = start(&room, "echo x > ../outside/new; echo tried");
    let deadline = Instant::now() + PATIENCE;
    loop {
        let ran = room.call("shell_output", &json!({ "run": run }));
        if ran.answer.text.contains("ended with exit code") {
            assert!(ran.answer.text.contains("Permission denied"), "{}", ran.answer.text);
            break;
        }
        assert!(Instant::now() < deadline);
    }
    assert!(!room.path("outside/new").exists());
}
