//! `witness` and `audit witness`: checkpoints kept elsewhere.

#![expect(clippy::print_stdout, reason = "says what could not be tried")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;

use crate::{Desk, Ran};

/// A witness in a process of its own, which is ended when dropped.
struct Standing {
    child: Child,
    /// Its further output.
    lines: BufReader<ChildStderr>,
    url: String,
    key: String,
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn stand(desk: &Desk) -> Standing {
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterfoil"))
        .args(["witness", "--name", "example.org/w1", "--ledger-key", "ledger.vkey"])
        .args(["--listen", "127.0.0.1:0", "--folder", "elsewhere"])
        .current_dir(desk.path())
        .env_clear()
        .env("HOME", desk.path().join("home"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut after = |start: &str| {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        line.trim_end().strip_prefix(start).unwrap().to_owned()
    };
    let url = after("note: send checkpoints to ");
    let key = after("note: the witness key is ");
    Standing { child, lines, url, key }
}

fn recorded(desk: &Desk, count: usize) {
    for number in 0..count {
        let ran =
            desk.run(&format!("run read_file path=missing-{number} --session s --state state"));
        assert_eq!(ran.code, 1, "{ran}");
    }
}

fn audit(desk: &Desk, line: &str) -> Ran {
    desk.run(&format!("audit {line} --state state"))
}

/// Starts a server that answers every request with this text; returns its URL.
fn answering(text: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ";
            stream.write_all(format!("{head}{}\r\n\r\n{text}", text.len()).as_bytes()).unwrap();
        }
    });
    format!("http://{address}")
}

/// Copies a state folder.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_witness_cosigns_one_history() {
    let desk = Desk::with(&[]);
    recorded(&desk, 2);
    let vkey = audit(&desk, "key --verifier");
    std::fs::write(desk.path().join("ledger.vkey"), &vkey.out).unwrap();
    let standing = stand(&desk);
    let (url, key) = (standing.url.clone(), standing.key.clone());
    let send = || audit(&desk, &format!("witness --to {url} --witness-key {key}"));
    let first = send();
    assert_eq!(first.code, 0, "{first}");
    assert!(first.out.contains("\u{2014} example.org/w1 "), "{first}");
    std::fs::write(desk.path().join("kept.txt"), &first.out).unwrap();
    cosignature_by_python(&desk, &key);
    copied(&desk.path().join("state"), &desk.path().join("before"));
    recorded(&desk, 2);
    assert_eq!(send().code, 0);
    let verified = audit(&desk, &format!("verify --witnessed {url}"));
    assert!(
        verified.code == 0 && verified.out.contains("matches the saved checkpoint"),
        "{verified}"
    );
    assert!(verified.out.contains("the identity of"), "{verified}");
    let verified = audit(&desk, &format!("verify --witnessed {url} --witness-key {key}"));
    assert!(
        verified.code == 0 && verified.out.contains("cosigned the checkpoint at"),
        "{verified}"
    );
    // A server in between with an old note of the ledger does not count as the witness.
    let signed = first.out.split_inclusive('\n').filter(|line| !line.contains("example.org/w1"));
    let pretends = answering(signed.collect());
    let verified = audit(&desk, &format!("verify --witnessed {pretends} --witness-key {key}"));
    assert!(verified.code == 1 && verified.out.contains("did not cosign"), "{verified}");
    // The note with both signatures is a checkpoint like any other.
    let verified = audit(&desk, "verify --witnessed kept.txt");
    assert!(
        verified.code == 0 && verified.out.contains("matches the saved checkpoint"),
        "{verified}"
    );
    let file = audit(&desk, &format!("verify --witnessed kept.txt --witness-key {key}"));
    assert!(file.code == 2 && file.err.contains("a file cannot sign"), "{file}");
    // Another kind of answer does not come from a witness, and accuses no one.
    let page = answering("<html>sign in to the network</html>".to_owned());
    let ran = audit(&desk, &format!("witness --to {page}"));
    assert!(ran.code == 2 && ran.err.contains("unexpected answer"), "{ran}");
    let other = audit(&desk, &format!("witness --to {url} --witness-key {}", vkey.out.trim()));
    assert!(
        other.code == 1 && other.err.contains("not signed by the given witness key"),
        "{other}"
    );

    // After a restart it remembers.
    drop(standing);
    let standing = stand(&desk);
    assert_eq!(standing.key, key);
    let url = standing.url.clone();
    // The ledger is reset to an earlier state, so it is shorter than what was witnessed.
    std::fs::remove_dir_all(desk.path().join("state")).unwrap();
    copied(&desk.path().join("before"), &desk.path().join("state"));
    let cut = audit(&desk, &format!("witness --to {url}"));
    assert!(cut.code == 1 && cut.err.contains("BROKEN"), "{cut}");
    let verified = audit(&desk, &format!("verify --witnessed {url}"));
    assert!(verified.code == 1 && verified.out.contains("BROKEN"), "{verified}");
    // It continues differently, until it is longer.
    recorded(&desk, 5);
    let forked = audit(&desk, &format!("witness --to {url}"));
    assert!(forked.code == 1 && forked.err.contains("the witness did not cosign: 422"), "{forked}");
    let verified = audit(&desk, &format!("verify --witnessed {url}"));
    assert!(verified.code == 1 && verified.out.contains("BROKEN"), "{verified}");
    drop(standing);
    for line in [
        format!("witness --to {url}"),
        format!("verify --witnessed {url}"),
        "witness --to http://".to_owned(),
        "witness --to kept.txt --witness-key nothing".to_owned(),
        "verify --witnessed missing.txt".to_owned(),
    ] {
        let ran = audit(&desk, &line);
        assert!(ran.code == 2 && ran.err.starts_with("error:"), "{line}: {ran}");
    }
}

#[test]
fn a_file_is_a_witness_too() {
    let desk = Desk::with(&[("elsewhere/.keep", "")]);
    recorded(&desk, 1);
    copied(&desk.path().join("state"), &desk.path().join("before"));
    let send = || audit(&desk, "witness --to elsewhere");
    assert!(send().err.contains("first checkpoint of this ledger"));
    assert!(send().err.contains("no new events"));
    recorded(&desk, 1);
    assert!(send().err.contains("continues the last checkpoint"));
    let file = std::fs::read_dir(desk.path().join("elsewhere")).unwrap();
    let file = file.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some());
    let file = file.unwrap();
    let line = format!("verify --witnessed {}", file.display());
    assert_eq!(audit(&desk, &line).code, 0);
    std::fs::remove_dir_all(desk.path().join("state")).unwrap();
    copied(&desk.path().join("before"), &desk.path().join("state"));
    let before = std::fs::read(&file).unwrap();
    let cut = send();
    assert!(cut.code == 1 && cut.err.contains("BROKEN"), "{cut}");
    assert_eq!(audit(&desk, &line).code, 1);
    recorded(&desk, 4);
    let forked = send();
    assert!(
        forked.code == 1 && forked.err.contains("does not match the last checkpoint"),
        "{forked}"
    );
    assert_eq!(audit(&desk, &line).code, 1);
    assert_eq!(std::fs::read(&file).unwrap(), before, "nothing was added");
}

/// A partial checkpoint from a crash does not affect the others, and is reported; another kind of
/// file is left unchanged.
#[test]
fn a_file_that_was_torn_goes_on() {
    let desk = Desk::with(&[("empty.txt", ""), ("letter.txt", "Dear all,\n\nno.\n")]);
    recorded(&desk, 1);
    let file = desk.path().join("kept.txt");
    let verify = || audit(&desk, "verify --witnessed kept.txt");
    for (name, words) in [("empty", "contains no checkpoint"), ("letter", "no checkpoint")] {
        let ran = audit(&desk, &format!("verify --witnessed {name}.txt"));
        assert!(ran.code == 2 && ran.err.contains(words), "{ran}");
    }
    let letter = audit(&desk, "witness --to ./letter.txt");
    assert!(
        letter.code == 2 && letter.err.contains("something other than checkpoints"),
        "{letter}"
    );
    let empty = audit(&desk, "witness --to ./empty.txt");
    assert!(empty.code == 0 && empty.err.contains("first checkpoint of this ledger"), "{empty}");
    let first = std::fs::read(desk.path().join("empty.txt")).unwrap();
    let half = first.iter().position(|byte| *byte == 0xe2).unwrap() + 1;
    recorded(&desk, 1);
    for (before, cut) in [(&b""[..], 10), (b"", half), (&first, 3), (&first, half)] {
        let torn = [before, &first[..cut]].concat();
        std::fs::write(&file, &torn).unwrap();
        let whole = !before.is_empty();
        let ran = verify();
        if whole {
            assert!(ran.code == 0 && ran.out.contains("matches the saved checkpoint"), "{ran}");
            assert!(ran.out.contains("outside complete checkpoints"), "{ran}");
        } else {
            assert!(ran.code == 2 && ran.err.contains("contains no checkpoint"), "{ran}");
        }
        let ran = audit(&desk, "witness --to kept.txt");
        let words =
            if whole { "continues the last checkpoint" } else { "first checkpoint of this ledger" };
        assert!(ran.code == 0 && ran.err.contains(words), "{ran}");
        assert!(ran.err.contains("outside complete checkpoints"), "{ran}");
        assert!(std::fs::read(&file).unwrap().starts_with(&torn), "it is added to, and no more");
        let ran = verify();
        assert!(ran.code == 0 && ran.out.contains("matches the saved checkpoint"), "{ran}");
        assert!(audit(&desk, "witness --to kept.txt").err.contains("no new events"));
    }
    // Copying text often loses the last line break.
    std::fs::write(&file, &first[..first.len() - 1]).unwrap();
    let ran = verify();
    assert!(ran.code == 0 && !ran.out.contains("outside complete checkpoints"), "{ran}");
    assert_eq!(audit(&desk, "witness --to kept.txt").code, 0);
    assert_eq!(verify().code, 0, "{}", verify());
}

/// A ledger that was witnessed existed, so a missing one is a verdict, no matter who witnessed it.
#[test]
fn a_ledger_that_is_gone_is_broken() {
    let desk = Desk::with(&[]);
    recorded(&desk, 1);
    let vkey = audit(&desk, "key --verifier");
    std::fs::write(desk.path().join("ledger.vkey"), &vkey.out).unwrap();
    let standing = stand(&desk);
    assert_eq!(audit(&desk, &format!("witness --to {}", standing.url)).code, 0);
    assert_eq!(audit(&desk, "witness --to kept.txt").code, 0);
    let everywhere = [standing.url.clone(), "kept.txt".to_owned()];
    std::fs::remove_file(desk.path().join("state/ledger.db")).unwrap();
    for gone in ["the ledger", "everything"] {
        for witness in &everywhere {
            let ran = audit(&desk, &format!("verify --witnessed {witness}"));
            assert!(ran.code == 1 && ran.out.contains("no ledger"), "{gone}: {ran}");
        }
        std::fs::remove_dir_all(desk.path().join("state")).unwrap();
        std::fs::create_dir(desk.path().join("state")).unwrap();
    }
    // Without a witness, nothing is broken.
    assert_eq!(audit(&desk, "verify").code, 2);
    // The whole folder is gone, too.
    std::fs::remove_dir(desk.path().join("state")).unwrap();
    for seen in
        [&*format!("--witnessed {}", standing.url), "--witnessed kept.txt", "--checkpoint kept.txt"]
    {
        let ran = audit(&desk, &format!("verify {seen}"));
        assert!(ran.code == 1 && ran.out.contains("no ledger"), "{seen}: {ran}");
    }
    assert_eq!(audit(&desk, "verify").code, 2);
    assert!(!desk.path().join("state").exists(), "nothing is begun");
}

/// The witness drops what a crash left incomplete and reports it; everything else is kept.
#[test]
fn a_witness_says_what_it_drops() {
    let desk = Desk::with(&[]);
    recorded(&desk, 1);
    let vkey = audit(&desk, "key --verifier");
    std::fs::write(desk.path().join("ledger.vkey"), &vkey.out).unwrap();
    let mut standing = stand(&desk);
    let send = |url: &str| audit(&desk, &format!("witness --to {url}"));
    assert_eq!(send(&standing.url).code, 0);
    let kept: Vec<_> = std::fs::read_dir(desk.path().join("elsewhere")).unwrap().collect();
    let kept = kept.into_iter().map(|entry| entry.unwrap().path());
    let file = kept.into_iter().find(|path| path.extension().is_some_and(|e| e == "checkpoints"));
    let file = file.unwrap();
    let whole = std::fs::read(&file).unwrap();
    let half = whole.iter().position(|byte| *byte == 0xe2).unwrap() + 1;
    std::fs::write(&file, [&whole[..], &whole[..half]].concat()).unwrap();
    recorded(&desk, 1);
    let verified = audit(&desk, &format!("verify --witnessed {}", standing.url));
    assert_eq!(verified.code, 0, "{verified}");
    assert_eq!(send(&standing.url).code, 0);
    standing.child.kill().unwrap();
    let mut output = String::new();
    standing.lines.read_to_string(&mut output).unwrap();
    let words = format!("dropping {half} bytes of an incomplete checkpoint of");
    assert!(output.contains(&words), "{output}");
    let now = std::fs::read(&file).unwrap();
    assert!(
        now.starts_with(&whole) && now.len() == 2 * whole.len(),
        "{}",
        String::from_utf8_lossy(&now)
    );
}

/// Verifies the cosignature with a program that shares no code with ours.
fn cosignature_by_python(desk: &Desk, key: &str) {
    const PROGRAM: &str = "
import base64, hashlib, sys
sys.path.insert(0, sys.argv[1])
import verify
name, short, typed = sys.argv[2].split('+', 2)
typed = base64.b64decode(typed)
assert typed[0] == 4
note = open('kept.txt', encoding='utf-8').read()
text, _, lines = note.partition('\\n\\n')
line = [line for line in lines.split('\\n') if line.startswith('\\u2014 ' + name + ' ')][0]
signature = base64.b64decode(line.split(' ')[2])
assert signature[:4].hex() == short
assert signature[:4] == hashlib.sha256(name.encode() + b'\\n' + typed).digest()[:4]
seconds = int.from_bytes(signature[4:12], 'big')
said = 'cosignature/v1\\ntime %d\\n%s\\n' % (seconds, text)
assert verify.signed_by(typed[1:], said.encode(), signature[12:])
assert not verify.signed_by(typed[1:], said.replace('time ', 'time 1').encode(), signature[12:])
print(seconds)
";
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/src/command/guarded/audit/bundle");
    let output = Command::new("python3")
        .args(["-B", "-c", PROGRAM, own, key])
        .current_dir(desk.path())
        .output();
    let Ok(output) = output else {
        assert!(std::env::var_os("CI").is_none(), "`python3` cannot be run, and this is CI");
        println!("skipped: `python3` cannot be run here");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seconds: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(seconds.as_u64().unwrap() > 1_700_000_000);
}

#[test]
fn a_name_without_a_scheme_is_no_file_by_chance() {
    let desk = Desk::with(&[]);
    recorded(&desk, 1);
    for (to, words) in [
        ("example.org", "`https://example.org` for a witness"),
        ("ftp://example.org", "begins with `https://`"),
        ("nowhere/at/all.txt", "nowhere/at/all.txt cannot be written"),
    ] {
        let ran = audit(&desk, &format!("witness --to {to}"));
        assert!(ran.code == 2 && ran.err.contains(words), "{ran}");
    }
    assert!(!desk.path().join("example.org").exists());
}

/// A changed ledger is a finding, not wrong usage.
#[test]
fn a_changed_event_has_a_verdict() {
    let desk = Desk::with(&[]);
    recorded(&desk, 2);
    assert_eq!(audit(&desk, "verify").code, 0);
    let file = desk.path().join("state/ledger.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let words = b"missing-1";
    let places: Vec<usize> =
        (0..bytes.len() - words.len()).filter(|at| bytes[*at..].starts_with(words)).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|at| bytes[*at] = b'M');
    std::fs::write(&file, bytes).unwrap();
    let ran = audit(&desk, "verify");
    assert!(ran.code == 1 && ran.out.contains("BROKEN"), "{ran}");
}
