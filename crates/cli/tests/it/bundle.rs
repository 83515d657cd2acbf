//! Bundles: every verifier finds every change, and reports it in the same words.

#![expect(clippy::print_stdout, reason = "says what could not be checked, and what was counted")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use counterfoil_ledger::{
    Bundle, BundleMark, BundleVerification, Draft, Ledger, LedgerSettings, Provable,
};
use counterfoil_model::{Digest, canonical_bytes};
use serde_json::{Value, json};

use crate::Desk;
use crate::steady::{Counted, Ticking};

pub(crate) fn opened(id: &str, arguments: &Value) -> Value {
    json!({
        "event": "opened", "execution_id": id, "tool": "shell", "origin": { "kind": "builtin" },
        "call_id": "", "phase": "executor", "requested": "by_user",
        "emitted_digest": Digest::of_json(arguments), "arguments_digest": Digest::of_json(arguments),
        "arguments": arguments, "permit": { "by": "policy", "rules": ["reading"] },
        "trust": "trusted", "started_at": 1_793_620_800_000_i64,
    })
}

pub(crate) fn closed(id: &str, status: &str, result: &[u8]) -> Value {
    let digest = Digest::of_bytes(result);
    json!({
        "event": "closed", "execution_id": id, "status": status, "truncated": false,
        "attempts": 1, "ended_at": 1_793_620_801_000_i64, "duration_us": 1_000_000,
        "raw_digest": digest, "recorded_digest": digest, "exit_code": 0,
    })
}

/// Records every kind of event, varied texts, and a replaced key.
fn record(state: &Path, salt: u64) -> Ledger {
    let clock = Arc::new(Ticking::from(1_793_620_800_000));
    let randomness = Arc::new(Counted::from(salt));
    let ledger =
        Ledger::open(&state.join("ledger.db"), LedgerSettings::default(), clock, randomness);
    let (ledger, _) = ledger.unwrap();
    let append = |session: &str, draft: Value, stored: &[&[u8]]| {
        let draft: Draft = serde_json::from_value(draft).unwrap();
        let stored = stored.iter().map(|bytes| bytes.to_vec()).collect();
        ledger.append(session, draft, stored).wait().unwrap();
    };
    let (tools, message, binary) =
        (&b"[]"[..], "Is it <done>? \u{1f600}".as_bytes(), &b"\xff\x00\xfe"[..]);
    let answer = b"It is done.";
    append("s1", json!({ "event": "began", "tools": Digest::of_bytes(tools), "at": 1 }), &[tools]);
    append("s2", opened("shell_1793620800000_0000000a", &json!({ "command": "ls" })), &[]);
    let text = Digest::of_bytes(message);
    append("s1", json!({ "event": "said", "role": "user", "text": text, "at": 1 }), &[message]);
    let odd = json!({
        "command": "echo '</script>' \u{2028}\u{0}\u{7f}", "numbers": [0.1, 1e21, 1e-7, -3, 1.5e300, 123_456_789_012_345_680_000_u128 as f64],
        "long": [1_234_567_890_123_456_789_u64, u64::MAX, i64::MIN],
        "\u{e000}": 1, "\u{1f600}": 2, "__proto__": { "a": [] }, "10": null, "9": true,
    });
    append("s1", opened("shell_1793620800000_00000001", &odd), &[]);
    append("s1", closed("shell_1793620800000_00000001", "completed", b"one\n"), &[b"one\n"]);
    append(
        "s1",
        json!({ "event": "shown", "execution_id": "shell_1793620800000_00000001",
                "digest": Digest::of_bytes(b"1"), "filters": ["cut"] }),
        &[],
    );
    ledger.rotate_key().unwrap();
    let mut call = opened("shell_1793620800000_00000002", &json!({ "command": "sudo ls" }));
    call.as_object_mut().unwrap().remove("event");
    call["caller_id"] = json!("helper");
    append(
        "s1",
        json!({ "event": "rejected", "call": call, "status": "denied", "category": "PolicyBlocked",
                "codes": ["approval_declined"], "answer": "ada said no: not today" }),
        &[],
    );
    let mut again = opened("shell_1793620800000_00000003", &json!({ "command": "cat x" }));
    again["links"] = json!({ "retry_of": "shell_1793620800000_00000001" });
    again["permit"] = json!({ "by": "approval", "who": "ada", "reason": "asked" });
    again["warnings"] = json!(["doubtful"]);
    append("s1", again, &[]);
    let mut failed = closed("shell_1793620800000_00000003", "failed", binary);
    failed["category"] = json!("PermanentFailure");
    failed["side_effects"] = json!([{ "wrote": "a" }, { "reached": "example.org" }]);
    failed["confinement"] = json!({ "profile": "workspace" });
    failed["background"] =
        json!({ "started_by": "shell_1793620800000_00000001", "status": "completed" });
    if serde_json::from_value::<Draft>(failed.clone()).is_err() {
        failed["side_effects"] = json!([{ "Wrote": "a" }, { "Reached": "example.org" }]);
    }
    append("s1", failed, &[binary]);
    // Decisions of people, and a cleared session.
    let digest = Digest::of_bytes(b"sudo ls");
    append(
        "s1",
        json!({ "event": "approved", "arguments_digest": digest, "tool": "shell", "by": "ada",
                "reason": "once", "lasts": "once" }),
        &[],
    );
    append(
        "s1",
        json!({ "event": "declined", "arguments_digest": digest, "tool": "shell", "by": "ada",
                "reason": "no <more>" }),
        &[],
    );
    append("s1", json!({ "event": "cleared" }), &[]);
    append(
        "s1",
        json!({ "event": "judged", "answer": Digest::of_bytes(answer), "at": 1, "window_secs": 0,
                "findings": [] }),
        &[answer],
    );
    append("s2", closed("shell_1793620800000_0000000a", "completed", b""), &[b""]);
    append("s1", json!({ "event": "ended" }), &[]);
    ledger
}

/// A bundle as written, with the fingerprint of its key.
struct Made {
    desk: Desk,
    ledger: Ledger,
    line: String,
    key: Digest,
}

fn made() -> Made {
    let desk = Desk::with(&[("state/.keep", "")]);
    let ledger = record(&desk.path().join("state"), 0);
    let wanted = Provable::Session { name: "s1".to_owned(), since: None };
    let line = Bundle::create(&ledger, &wanted, true).unwrap().to_line().unwrap();
    let key = ledger.public_key().fingerprint();
    Made { desk, ledger, line, key }
}

pub(crate) type Rows = (bool, Vec<(String, String)>);

/// Returns our verdict on a bundle.
fn ours((line, key): &(String, Option<Digest>)) -> Rows {
    let found = match BundleVerification::run(line, key.as_ref()) {
        Ok(found) => found,
        Err(error) => return (false, vec![("none".to_owned(), error.to_string())]),
    };
    let rows = found.rows.iter().map(|(mark, what)| {
        let mark = match mark {
            BundleMark::Holds => "holds ",
            BundleMark::Broken => "BROKEN",
            BundleMark::Open => "open  ",
        };
        (mark.to_owned(), what.clone())
    });
    (found.is_sound(), rows.collect())
}

const IN_PYTHON: &str = "
import json, sys
sys.path.insert(0, '.')
import verify
for line in sys.stdin:
    text, key = json.loads(line)
    try:
        found = verify.verify(text, key)
        print(json.dumps([found.is_sound(), found.rows]))
    except verify.NoBundle as error:
        print(json.dumps([False, [['none', str(error)]]]))
";
/// Whether Python is installed; in CI it must be.
pub(crate) fn has_python() -> bool {
    let there = Command::new("python3").arg("--version").output().is_ok();
    if !there {
        assert!(std::env::var_os("CI").is_none(), "`python3` cannot be run, and this is CI");
        println!("skipped: `python3` cannot be run here, and the verifier in Python was not tried");
    }
    there
}

/// Where the verifier in Python is.
pub(crate) const VERIFIER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/src/command/guarded/audit/bundle/verify.py");

/// What a program in Python, which can import the verifier, prints for each line of its input.
pub(crate) fn in_python(folder: &Path, program: &str, lines: String) -> Vec<Value> {
    std::fs::copy(VERIFIER, folder.join("verify.py")).unwrap();
    let mut child = Command::new("python3")
        .args(["-c", program])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn all_agree(
    folder: &Path,
    names: &[String],
    bundles: &[(String, Option<Digest>)],
) -> Vec<Rows> {
    let expected: Vec<Rows> = bundles.iter().map(ours).collect();
    if has_python() {
        let lines = bundles.iter().map(|(line, key)| format!("{}\n", json!([line, key])));
        let found = in_python(folder, IN_PYTHON, lines.collect());
        assert_eq!(found.len(), expected.len());
        for ((found, expected), name) in found.iter().zip(&expected).zip(names) {
            assert_eq!(*found, json!(expected), "verify.py says of `{name}`");
        }
    }
    expected
}

fn written(bundle: &Value) -> String {
    String::from_utf8(canonical_bytes(bundle)).unwrap().replace('<', r"\u003c")
}

/// Changes a text in a bundle.
fn with_text(bundle: &mut Value, pointer: &str, change: &dyn Fn(&str) -> String) {
    let place = bundle.pointer_mut(pointer).unwrap();
    *place = Value::String(change(place.as_str().unwrap()));
}

/// Returns the note with its signature changed.
fn signed(note: &str, change: &dyn Fn(&mut Vec<u8>)) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let (text, signature) = note.trim_end().rsplit_once(' ').unwrap();
    let mut bytes = STANDARD.decode(signature).unwrap();
    change(&mut bytes);
    format!("{text} {}\n", STANDARD.encode(bytes))
}

/// Adds the order of the group to the second half of a signature, which lax verifiers accept.
fn with_larger_scalar(signature: &mut [u8]) {
    const ORDER: [u8; 16] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14,
    ];
    let mut carry = 0;
    for (at, byte) in signature[36..68].iter_mut().enumerate() {
        let add = ORDER.get(at).copied().unwrap_or(if at == 31 { 0x10 } else { 0 });
        let sum = u16::from(*byte) + u16::from(add) + carry;
        (*byte, carry) = (sum.to_le_bytes()[0], sum >> 8);
    }
}

/// Returns a note signed by the neutral point, a key that accepts any signature.
fn by_no_key(note: &str) -> String {
    let (text, _) = note.rsplit_once("\n\n").unwrap();
    let name = text.split('\n').next().unwrap();
    let text = format!(
        "{}\nAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        text.rsplit_once('\n').unwrap().0
    );
    let key =
        counterfoil_ledger::PublicKey::from_bytes(std::array::from_fn(|at| u8::from(at == 0)));
    let verifier = key.verifier_key(name);
    let short = verifier.split('+').nth(1).unwrap();
    let short = u32::from_str_radix(short, 16).unwrap().to_be_bytes();
    let note = format!("{text}\n\n\u{2014} {name} AAAA\n");
    signed(&note, &|bytes| {
        *bytes = [&short[..], &[1], &[0; 63]].concat();
    })
}

type Change = fn(&mut Value);

/// A change, and the beginning of the row that reports it.
const CHANGES: &[(&str, &str, Change)] = &[
    ("the body of an event", "event 3 is not in the signed tree", |b| {
        with_text(b, "/events/2/body", &|body| body.replace("echo", "true"));
    }),
    ("a proof", "event 0 is not in the signed tree", |b| {
        with_text(b, "/events/0/proof/1", &|hash| hash.replace(['0', '1', '2'], "3"));
    }),
    ("a shorter proof", "event 0 is not in the signed tree", |b| {
        b["events"][0]["proof"].as_array_mut().unwrap().pop();
    }),
    ("a longer proof", "event 0 is not in the signed tree", |b| {
        let more = b["events"][0]["proof"][0].clone();
        b["events"][0]["proof"].as_array_mut().unwrap().push(more);
    }),
    ("an event's place", "event 1 is not in the signed tree", |b| b["events"][0]["seq"] = json!(1)),
    ("the size of the checkpoint", "the checkpoint is not signed", |b| {
        with_text(b, "/checkpoint", &|note| note.replacen("\n15\n", "\n16\n", 1));
    }),
    ("the root of the checkpoint", "the checkpoint is not signed", |b| {
        with_text(b, "/checkpoint", &|note| {
            let root = note.split('\n').nth(2).unwrap();
            note.replace(root, "sr2XUhTNy0fLaR7XcOo3Z4BwekYPdmPc2XZLBSsciUs=")
        });
    }),
    ("the name in the checkpoint", "key 0 is not certified", |b| {
        with_text(b, "/checkpoint", &|note| {
            note.replace("counterfoil/ledger", "counterfoil/other")
        });
    }),
    ("a line more in the checkpoint", "the checkpoint is not signed", |b| {
        with_text(b, "/checkpoint", &|note| note.replace("\n\n", "\nmore\n\n"));
    }),
    ("the signature", "the checkpoint is not signed", |b| {
        with_text(b, "/checkpoint", &|note| signed(note, &|bytes| bytes[20] ^= 1));
    }),
    ("a signature that lax verifiers take", "the checkpoint is not signed", |b| {
        with_text(b, "/checkpoint", &|note| signed(note, &|bytes| with_larger_scalar(bytes)));
    }),
    ("the same signature, twice", "the checkpoint is not signed", |b| {
        with_text(b, "/checkpoint", &|note| {
            let (_, line) = note.rsplit_once("\n\n").unwrap();
            format!("{note}{line}")
        });
    }),
    ("the signer's short hash", "the checkpoint is not signed", |b| {
        with_text(b, "/checkpoint", &|note| signed(note, &|bytes| bytes[0] ^= 1));
    }),
    ("a key's note", "key 1 is not certified", |b| {
        with_text(b, "/keys/1", &|note| note.replacen("\n6\n", "\n5\n", 1));
    }),
    ("a key that everything fits", "key 0 is not certified", |b| {
        with_text(b, "/keys/0", &by_no_key);
    }),
    ("keys in another order", "key 0 is not certified", |b| {
        b["keys"].as_array_mut().unwrap().reverse();
    }),
    ("a key that is missing", "key 0 is not certified", |b| {
        b["keys"].as_array_mut().unwrap().remove(0);
    }),
    ("no key", "the checkpoint is not signed", |b| b["keys"] = json!([])),
    ("the new key alone is missing", "the checkpoint is not signed", |b| {
        b["keys"].as_array_mut().unwrap().pop();
    }),
    ("swapped events", "event 2 is out of order: it is listed after event 3", |b| {
        b["events"].as_array_mut().unwrap().swap(1, 2);
    }),
    ("an event, twice", "event 0 is out of order: it is listed after event 0", |b| {
        let again = b["events"][0].clone();
        b["events"].as_array_mut().unwrap().insert(1, again);
    }),
    ("a missing event", "session `s1`: its events in the bundle are not exactly", |b| {
        b["events"].as_array_mut().unwrap().remove(4);
    }),
    ("the last event is missing", "session `s1`: its events in the bundle are not exactly", |b| {
        b["events"].as_array_mut().unwrap().pop();
    }),
    ("no event", "session `s1`: its events in the bundle are not exactly", |b| {
        b["events"] = json!([])
    }),
    ("a session of other places", "session `s1`: its events in the bundle are not exactly", |b| {
        b["sessions"][0]["last"] = json!(9);
    }),
    ("another session", "session `s\\u{202e}3`: its events in the bundle are not exactly", |b| {
        b["sessions"][0]["session"] = json!("s\u{202e}3");
    }),
    ("a session, twice", "a session is listed twice", |b| {
        let again = b["sessions"][0].clone();
        b["sessions"].as_array_mut().unwrap().push(again);
    }),
    (
        "a receipt's status",
        "receipt `shell_1793620800000_00000003` does not match its events",
        |b| {
            b["receipts"][2]["status"] = json!("completed");
        },
    ),
    (
        "a receipt's arguments",
        "receipt `shell_1793620800000_00000001` does not match its events",
        |b| {
            b["receipts"][0]["arguments"]["numbers"][0] = json!(0.2);
        },
    ),
    (
        "a receipt's result",
        "receipt `shell_1793620800000_00000001` does not match its events",
        |b| {
            with_text(b, "/receipts/0/recorded_digest", &|hash| hash.replace(['0', '1', '2'], "3"));
        },
    ),
    (
        "a member more in a receipt",
        "receipt `shell_1793620800000_00000001` does not match its events",
        |b| {
            b["receipts"][0]["more"] = json!(1);
        },
    ),
    ("receipts in another order", "the receipts are not in the same order", |b| {
        b["receipts"].as_array_mut().unwrap().swap(0, 2);
    }),
    (
        "a receipt of another name",
        "receipt `shell_1793620800000_00000001` does not match its events",
        |b| {
            b["receipts"][0]["execution_id"] = json!(["shell_1793620800000_00000001"]);
        },
    ),
    (
        "a missing receipt",
        "receipt `shell_1793620800000_00000003` does not match its events",
        |b| {
            b["receipts"].as_array_mut().unwrap().pop();
        },
    ),
    ("another receipt", "1 other receipt: their events are not in the bundle", |b| {
        let again = b["receipts"][0].clone();
        b["receipts"].as_array_mut().unwrap().push(again);
    }),
    ("a result", "result", |b| {
        let text = b["results"].as_array().unwrap().iter().position(|r| r["text"] == "one\n");
        b["results"][text.unwrap()]["text"] = json!("two\n");
    }),
    ("results in another order", "result", |b| b["results"].as_array_mut().unwrap().reverse()),
    ("a result that no event names", "no event refers to result ", |b| {
        b["results"] = json!([{ "digest": Digest::of_bytes(b"else"), "text": "else" }]);
    }),
    ("a member more", "the bundle was modified after", |b| b["more"] = json!(1)),
    ("a member less", "the bundle was modified after", |b| {
        b.as_object_mut().unwrap().remove("sessions");
    }),
    ("another version", "bundle version 3 is not supported", |b| b["version"] = json!(3)),
    ("another form", "the bundle was modified after", |b| b["form"] = json!("something else")),
    ("a place that is no number", "the bundle was modified after", |b| {
        b["events"][0]["seq"] = json!("0");
    }),
    ("a digest that is none", "the bundle was modified after", |b| {
        b["events"][0]["proof"][0] = json!("00");
    }),
    ("a digest in capitals", "the bundle was modified after", |b| {
        with_text(b, "/events/0/proof/0", &str::to_uppercase);
    }),
    ("both forms of a result", "the bundle was modified after", |b| {
        b["results"][0]["base64"] = json!("AA==");
    }),
];

#[test]
fn what_was_changed_is_found_by_all_in_the_same_words() {
    let Made { desk, line, key, .. } = made();
    let whole: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(written(&whole), line);
    let mut names = vec!["unchanged".to_owned(), "unchanged, without a key".to_owned()];
    let mut bundles = vec![(line.clone(), Some(key)), (line.clone(), None)];
    for (name, _, change) in CHANGES {
        let mut bundle = whole.clone();
        change(&mut bundle);
        names.push((*name).to_owned());
        bundles.push((written(&bundle), Some(key)));
    }
    // Other spellings of a text that mean the same to most readers.
    for (name, text) in [
        ("white space", line.replacen(':', ": ", 1)),
        (
            "a member, twice",
            line.replacen("{\"checkpoint\"", "{\"checkpoint\":\"\",\"checkpoint\"", 1),
        ),
        ("an escape", line.replacen("counterfoil", "\\u0063ounterfoil", 1)),
        ("a plain <", line.replacen("\\u003c", "<", 1)),
        ("nothing", String::new()),
        ("half of it", line.get(..line.len() / 2).unwrap().to_owned()),
        ("no JSON", "<html>".to_owned()),
        ("a list", "[]".to_owned()),
        ("other line ends", format!("{line}\r")),
        ("other line ends and another byte", format!("{}\r", line.replacen("ada", "bob", 1))),
    ] {
        names.push(name.to_owned());
        bundles.push((text, Some(key)));
    }
    let found = all_agree(desk.path(), &names, &bundles);
    let ((sound, rows), rest) = found.split_first().unwrap();
    assert!(sound, "{rows:#?}");
    assert!(rows.iter().all(|(mark, _)| mark == "holds "), "{rows:#?}");
    let ((sound, rows), rest) = rest.split_first().unwrap();
    assert!(*sound && rows.iter().filter(|(mark, _)| mark == "open  ").count() == 1, "{rows:#?}");
    let expected = CHANGES.iter().map(|(name, row, _)| (*name, *row));
    let expected = expected.chain(names.iter().skip(2 + CHANGES.len()).map(|n| (n.as_str(), "")));
    for ((sound, rows), (name, row)) in rest.iter().zip(expected) {
        let says = |mark: &str| ["BROKEN", "none"].contains(&mark);
        let is_reported = rows.iter().any(|(mark, what)| says(mark) && what.starts_with(row));
        assert!(!sound && is_reported, "{name}: {rows:#?}");
    }
    println!("{} changes, all found", rest.len());
}

/// A file that is not a bundle is not a forgery, and an empty bundle shows nothing.
#[test]
fn what_shows_nothing_is_open_or_no_bundle() {
    let Made { desk, line, key, .. } = made();
    let mut empty: Value = serde_json::from_str(&line).unwrap();
    for name in ["events", "receipts", "results", "sessions"] {
        empty[name] = json!([]);
    }
    let later = include_str!("../fixtures/bundles/a-kind-that-came-later.json").trim_end();
    let other = line.replace("\"version\":2}", "\"version\":3}");
    let cases = [
        (
            "empty",
            written(&empty),
            "open  ",
            "the bundle is empty: it has no events, and therefore no receipts",
        ),
        (
            "a kind that came later",
            later.to_owned(),
            "open  ",
            "event 1 has the unknown kind `praised`: its content was not checked",
        ),
        ("a text", "Dear all,".to_owned(), "none", "it is not a bundle"),
        ("a table", "{\"a\":1,\"version\":2}".to_owned(), "none", "it is not a bundle"),
        ("nothing", String::new(), "none", "it is not a bundle"),
        (
            "a half",
            line.chars().take(line.len() / 2).collect(),
            "BROKEN",
            "the bundle was modified",
        ),
        (
            "a later version",
            other,
            "none",
            "bundle version 3 is not supported; supported versions are 1 and 2",
        ),
        (
            "line ends",
            format!("{line}\r"),
            "none",
            "the file was modified (line endings or text around the bundle)",
        ),
    ];
    let names: Vec<String> = cases.iter().map(|case| case.0.to_owned()).collect();
    let own = |name: &str| (name != "a kind that came later").then_some(key);
    let bundles: Vec<_> = cases.iter().map(|case| (case.1.clone(), own(case.0))).collect();
    for ((sound, rows), (name, _, mark, what)) in
        all_agree(desk.path(), &names, &bundles).iter().zip(&cases)
    {
        assert_eq!(*sound, *mark == "open  ", "{name}: {rows:#?}");
        let is_reported = rows.iter().any(|(found, text)| found == mark && text.starts_with(what));
        assert!(is_reported, "{name}: {rows:#?}");
    }
    // Through the command lines, with files of every kind.
    let page = desk.run("audit bundle --session s1 -o - --state state").out;
    let kind = "a-kind-that-came-later.json";
    for (name, text) in [
        ("empty.json", format!("{}\n", written(&empty))),
        (kind, format!("{later}\n")),
        ("text", "Dear all,\n".to_owned()),
        ("ends.html", page.replace('\n', "\r\n")),
        ("ends.json", format!("{line}\r\n")),
        ("mark.json", format!("\u{feff}{line}\n")),
        ("blank.json", format!("\n{line} \n\n")),
    ] {
        std::fs::write(desk.path().join(name), text).unwrap();
    }
    let fingerprint = format!("sha256:{key}");
    let kind_key = "sha256:324be2dea8bc44461b0233e51fa48902ed6b1cc671e7739af2551e0bfe68f54e";
    for (name, key, code, says) in [
        ("empty.json", &*fingerprint, 0, "NOT VERIFIED: the bundle is empty\n"),
        (kind, kind_key, 0, "VERIFIED: the ledger with this key signed the events\n"),
        ("text", &fingerprint, 2, "it is not a bundle\n"),
        (
            "ends.html",
            &fingerprint,
            2,
            "the file was modified (line endings or text around the bundle)\n",
        ),
        (
            "ends.json",
            &fingerprint,
            2,
            "the file was modified (line endings or text around the bundle)\n",
        ),
        (
            "mark.json",
            &fingerprint,
            2,
            "the file was modified (line endings or text around the bundle)\n",
        ),
        (
            "blank.json",
            &fingerprint,
            2,
            "the file was modified (line endings or text around the bundle)\n",
        ),
    ] {
        let ours = desk.run(&format!("audit verify-bundle {name} --public-key {key}"));
        assert_eq!(ours.code, code, "{name}: {ours}");
        let output = if code == 2 { &ours.err } else { &ours.out };
        assert!(output.contains(says), "{name}: {ours}");
        let json =
            desk.run(&format!("audit verify-bundle {name} --public-key {key} --format json"));
        assert_eq!(json.out.contains("\"verified\": true"), name == kind, "{name}: {json}");
        if !has_python() {
            continue;
        }
        let ran = Command::new("python3")
            .args(["verify.py", name, "--key", key])
            .current_dir(desk.path())
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(code), "{name}: {ran:?}");
        let (out, err) = (ran.stdout, String::from_utf8(ran.stderr).unwrap());
        match code {
            2 => assert!(out.is_empty() && err.ends_with(says), "{name}: {err}"),
            _ => assert_eq!(String::from_utf8(out).unwrap(), ours.out, "{name}"),
        }
    }
}

#[test]
fn the_page_shows_why_a_call_was_refused() {
    let Made { desk, .. } = made();
    let page = desk.run("audit bundle --session s1 --with-results -o - --state state").out;
    for shown in [
        "denied: PolicyBlocked (approval_declined)",
        "<summary>what the model was told</summary><pre>ada said no: not today</pre>",
        "<td>ada: asked</td>",
        "<summary>result</summary><pre>one\n</pre>",
        "<strong>This page proves nothing by itself.</strong>",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

/// Every byte matters: a change to any single one is found.
#[test]
fn a_bundle_with_one_other_byte_never_verifies() {
    let Made { desk, line, key, .. } = made();
    let mut state = 0x5eed_u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut names, mut bundles) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        let (at, bit) = (random(line.len()), random(8));
        let mut bytes = line.clone().into_bytes();
        bytes[at] ^= 1 << bit;
        // Text that is not UTF-8 is not read at all.
        if let Ok(text) = String::from_utf8(bytes) {
            names.push(format!("bit {bit} of byte {at}"));
            bundles.push((text, Some(key)));
        }
    }
    for (bundle, name) in bundles.iter().zip(&names) {
        assert!(!ours(bundle).0, "{name}");
    }
    println!("{} bundles with one other bit, none verified", bundles.len());
    // The verifier in Python is slower.
    names.truncate(200);
    bundles.truncate(200);
    all_agree(desk.path(), &names, &bundles);
}

#[test]
fn keys_from_elsewhere() {
    let Made { desk, ledger, line, key } = made();
    let other = Desk::with(&[("state/.keep", "")]);
    let other = record(&other.path().join("state"), 1000);
    let wanted = Provable::Session { name: "s1".to_owned(), since: None };
    let forged = Bundle::create(&other, &wanted, true).unwrap().to_line().unwrap();
    let note: Value = serde_json::from_str(&line).unwrap();
    let first = note["keys"][0].as_str().unwrap().split('\n').nth(4).unwrap();
    let first = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.decode(first).unwrap()
    };
    let first = counterfoil_ledger::PublicKey::from_bytes(first.try_into().unwrap()).fingerprint();
    // A key that came after the signed part proves nothing about it.
    ledger.rotate_key().unwrap();
    let later = ledger.public_key().fingerprint();
    let cases = [
        ("its own", &line, key, true, "that key is the separately obtained public key"),
        (
            "the one before",
            &line,
            first,
            true,
            "the separately obtained public key certified that key",
        ),
        ("a later one", &line, later, false, "that key is neither the separately"),
        ("a stranger's bundle", &forged, key, false, "that key is neither the separately"),
    ];
    let names: Vec<String> = cases.iter().map(|case| case.0.to_owned()).collect();
    let bundles: Vec<_> = cases.iter().map(|case| (case.1.clone(), Some(case.2))).collect();
    for ((sound, rows), case) in all_agree(desk.path(), &names, &bundles).iter().zip(cases) {
        assert_eq!(*sound, case.3, "{}: {rows:#?}", case.0);
        assert!(rows.iter().any(|(_, what)| what.starts_with(case.4)), "{}: {rows:#?}", case.0);
    }
}

/// Reports what is left out of a bundle, if it cannot be verified.
#[test]
fn what_is_not_in_a_bundle_is_reported() {
    let Made { desk, ledger, key, .. } = made();
    let id = |n: &str| format!("shell_1793620800000_0000000{n}");
    let since = Some(1_793_620_807_000);
    let cases = [
        (
            Provable::Executions(vec![id("1"), id("a")]),
            false,
            vec![
                "session `s2`: the bundle has 2 of its events 1 to 2; there may be others",
                "session `s1`: the bundle has 3 of its events 3 to 5; there may be others",
                "missing from the bundle: 2 results, recorded only as a digest",
            ],
        ),
        (
            Provable::Session { name: "s1".to_owned(), since },
            true,
            vec!["session `s1`: its events before 6 are not in the bundle"],
        ),
        (
            Provable::Session { name: "s2".to_owned(), since: None },
            true,
            vec!["session `s2`: its last event does not end the session, which may have continued"],
        ),
    ];
    let lines = cases.iter().map(|(wanted, with_results, _)| {
        (Bundle::create(&ledger, wanted, *with_results).unwrap().to_line().unwrap(), Some(key))
    });
    let mut bundles: Vec<_> = lines.collect();
    let mut expected: Vec<Vec<&str>> = cases.into_iter().map(|case| case.2).collect();
    // Cutting the end of an execution and recomputing its receipt cannot be detected, but the
    // missing end is reported.
    let mut cut: Value = serde_json::from_str(&bundles[0].0).unwrap();
    cut["events"]
        .as_array_mut()
        .unwrap()
        .retain(|event| !event["body"].as_str().unwrap().contains("closed"));
    cut["events"]
        .as_array_mut()
        .unwrap()
        .retain(|event| !event["body"].as_str().unwrap().contains("shown"));
    for at in [0, 1] {
        let receipt = &mut cut["receipts"][at];
        for name in [
            "ended_at",
            "duration_us",
            "exit_code",
            "raw_digest",
            "recorded_digest",
            "shown_digest",
        ] {
            receipt[name] = Value::Null;
        }
        receipt["status"] = json!("open");
        receipt["attempts"] = json!(0);
        receipt["filters"] = json!([]);
    }
    let digests: Vec<Digest> = cut["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| Digest::of_bytes(event["body"].as_str().unwrap().as_bytes()))
        .collect();
    cut["receipts"][0]["digest"] = json!(digests[0]);
    cut["receipts"][1]["digest"] = json!(digests[1]);
    bundles.push((written(&cut), Some(key)));
    expected.push(vec![
        "session `s2`: the bundle has 1 of its events 1 to 1; there may be others",
        "session `s1`: the bundle has 1 of its events 3 to 3; there may be others",
        "2 receipts without an end event: the event is not in the bundle, or the execution had not \
         ended yet",
    ]);
    let names: Vec<String> = (0..bundles.len()).map(|n| n.to_string()).collect();
    for ((sound, rows), expected) in all_agree(desk.path(), &names, &bundles).iter().zip(expected) {
        let open = rows.iter().filter(|(mark, _)| mark == "open  ");
        let open: Vec<&str> = open.map(|(_, what)| what.as_str()).collect();
        assert!(sound, "{rows:#?}");
        assert_eq!(open, expected);
    }
}

#[test]
fn the_command_line() {
    let Made { desk, .. } = made();
    let run = |line: &str| desk.run(&format!("audit {line}"));
    let key = run("key --state state");
    assert_eq!(key.code, 0, "{key}");
    std::fs::write(desk.path().join("ledger.pub"), &key.out).unwrap();
    let made = run("bundle --session s1 --with-results -o page.html --state state");
    assert_eq!(made.code, 0, "{made}");
    assert!(made.err.contains(key.err.trim()), "{made}");
    let page = desk.path().join("page.html");
    let before = std::fs::read(&page).unwrap();
    let again = run("bundle --session s2 -o page.html --state state");
    assert!(again.code == 2 && again.err.contains("`page.html` already exists"), "{again}");
    assert_eq!(std::fs::read(&page).unwrap(), before);
    let verified = run("verify-bundle page.html --public-key ledger.pub");
    assert_eq!(verified.code, 0, "{verified}");
    assert!(verified.out.ends_with("VERIFIED: the ledger with this key signed the events\n"));
    let fingerprint = key.err.trim();
    assert_eq!(
        run(&format!("verify-bundle page.html --public-key {fingerprint}")).out,
        verified.out
    );
    let unheld = run("verify-bundle page.html");
    assert!(unheld.code == 0 && unheld.out.contains("CONSISTENT, NOT VERIFIED"), "{unheld}");
    let json = run("verify-bundle page.html --public-key ledger.pub --format json");
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&json["sound"], &json["verified"]), (&json!(true), &json!(true)));

    let page = std::fs::read_to_string(desk.path().join("page.html")).unwrap();
    let alone = run("bundle --session s1 --with-results --format json -o - --state state");
    let line = alone.out.trim_end();
    assert!(page.contains(&format!("\n{line}\n")), "the page holds the JSON");
    std::fs::write(desk.path().join("bundle.json"), &alone.out).unwrap();
    assert_eq!(run("verify-bundle bundle.json --public-key ledger.pub").out, verified.out);
    std::fs::write(desk.path().join("broken.html"), page.replace("PolicyBlocked", "PolicyBlockes"))
        .unwrap();
    let broken = run("verify-bundle broken.html --public-key ledger.pub");
    assert!(
        broken.code == 1
            && broken.out.ends_with("BROKEN: the content does not match what the ledger signed\n")
    );

    for line in [
        "bundle --session nobody -o x.html --state state",
        "bundle --execution nothing -o x.html --state state",
        "bundle -o x.html --state state",
        "bundle --execution x --since 1d -o x.html --state state",
        "verify-bundle missing.html",
        "verify-bundle page.html --public-key page.html",
    ] {
        let ran = run(line);
        assert_eq!(ran.code, 2, "{line}: {ran}");
        assert!(ran.out.is_empty() && ran.err.starts_with("error:"), "{line}: {ran}");
    }
    // A session with events, but none since the given time, is not called empty.
    let none = run("bundle --session s1 --since 2100-01-01 -o x.html --state state");
    let says = "the session `s1` has events, but none since the given time";
    assert!(none.code == 2 && none.err.contains(says), "{none}");
    let none = run("bundle --session nobody --since 2100-01-01 -o x.html --state state");
    assert!(none.code == 2 && none.err.contains("no events of the session `nobody`"), "{none}");
    let both =
        run("bundle --execution shell_1793620800000_00000001 --since 1d -o x.html --state state");
    assert!(both.code == 2 && both.err.contains("cannot be used with"), "{both}");
    assert!(!desk.path().join("x.html").exists());

    // The instructions on the page: the program is cut out of it and run.
    if !has_python() {
        return;
    }
    let line = page.lines().find(|line| line.contains("> verify.py && ")).unwrap();
    for (file, key, code) in [
        ("page.html", "ledger.pub", 0),
        ("bundle.json", fingerprint, 0),
        ("broken.html", "ledger.pub", 1),
        ("page.html", "missing.pub", 2),
        ("missing.html", "ledger.pub", 2),
    ] {
        // The program is cut out of the page, whichever file it checks.
        let script =
            line.replacen("FILE", "page.html", 1).replace("FILE", file).replace("KEY", key);
        let output =
            Command::new("sh").args(["-c", &script]).current_dir(desk.path()).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{script}: {stdout}");
        if code < 2 {
            assert_eq!(stdout, if code == 0 { &*verified.out } else { &*broken.out }, "{script}");
        }
    }
    let output = Command::new("python3")
        .args(["verify.py", "page.html", "--key", "ledger.pub", "--receipts"])
        .current_dir(desk.path())
        .output()
        .unwrap();
    let receipts = String::from_utf8(output.stdout).unwrap();
    let receipts: Vec<Value> =
        receipts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        json!(receipts),
        json!(serde_json::from_str::<Value>(line_of(&page)).unwrap()["receipts"])
    );
}

/// Returns the bundle in a page.
fn line_of(page: &str) -> &str {
    page.split_once("id=\"bundle\">\n").unwrap().1.split('\n').next().unwrap()
}

/// No content of a page can end the part that contains it.
#[test]
fn a_page_keeps_its_parts_apart() {
    let Made { desk, .. } = made();
    let page = desk.run("audit bundle --session s1 --with-results -o - --state state").out;
    assert!(line_of(&page).contains(r"\u003c/script>"));
    assert_eq!(page.matches("</script>").count(), 2);
    assert_eq!(page.matches("<!--").count(), 1);
    for elsewhere in ["http:", "https:", "src="] {
        let found = page.replace(line_of(&page), "");
        assert!(!found.contains(elsewhere), "a page needs nothing else: {elsewhere}");
    }
}
