use std::borrow::Cow;

use counterfoil_model::{Gap, Message, MessageKind, Role};
use counterfoil_record::{CallStatus, Label, Record, ValueKind};

use crate::session::{session, shell};

#[test]
fn a_sheet_says_what_happened() {
    let lines: Vec<(String, Option<i32>, &str)> = [
        ("cargo test -p api", Some(101), "test result: FAILED. 40 passed; 3 failed; 0 ignored"),
        ("sed -i s/a/b/ src/lib.rs", Some(0), ""),
        ("npm run lint | tail -3", Some(0), ""),
        ("pytest -q || true", Some(0), "2 failed, 5 passed in 0.3s"),
        ("git commit -m wip", Some(0), "[main a1b2c3d] wip\n 1 file changed"),
        (
            "git push",
            Some(1),
            "! [rejected] main -> main (fetch first)\nerror: failed to push some refs",
        ),
    ]
    .map(|(line, exit, text)| (shell(line), exit, text))
    .into();
    let mut steps: Vec<_> =
        lines.iter().map(|(line, exit, text)| ("Bash", line.as_str(), *exit, *text)).collect();
    steps.push(("list_orders", "{}", None, r#"{"orders": [1, 2, 3], "next": null}"#));
    steps.push(("Edit", r#"{"file_path": "/repo/src/main.rs", "new_string": "x"}"#, None, "ok"));
    let transcript = session(&steps);
    let record = Record::new(&transcript);
    let sheet: Vec<String> = record.up_to(16).sheet().into_iter().map(|line| line.text).collect();
    let expected = [
        "calls by tool: Bash ×6, Edit ×1, list_orders ×1",
        "tests: `cargo test -p api` (R1, partial: `-p api`) ended with status 101, 3 failed, \
         40 passed; src/main.rs was edited after it (C8), src/lib.rs was edited after it (C2)",
        "tests: `pytest -q` (R4) was on a command line that ended with status 0; `||` hid its own \
         status, 2 failed, 5 passed; src/main.rs was edited after it (C8)",
        "build: no run in the record",
        "lint: `npm run lint` (R3) was on a command line that ended with status 0; a pipe hid its \
         own status; src/main.rs was edited after it (C8)",
        "type check: no run in the record",
        "commit: `git commit -m wip` (R5) ended with status 0, made a1b2c3d",
        "push: `git push` (R6) ended with status 1",
        "calls that failed: C1, C6",
        "src/main.rs: edited (C8)",
        "src/lib.rs: edited (C2)",
        "R7: `orders` has 3 entries",
    ];
    assert_eq!(sheet, expected, "{}", sheet.join("\n"));
}

#[test]
fn what_came_later_is_not_known() {
    let test = shell("cargo test");
    let steps = [("Bash", test.as_str(), Some(0), "test result: ok. 4 passed; 0 failed")];
    let transcript = session(&steps);
    let record = Record::new(&transcript);
    let before = record.up_to(1);
    assert_eq!(before.status(&before.calls()[0]), CallStatus::Unfinished);
    assert!(
        before.sheet().iter().any(|l| l.text == "tests: `cargo test` (R1) has no recorded end")
    );
    assert_eq!(before.line(Label::parse("R1").unwrap()), None);
    let after = record.up_to(2);
    assert_eq!(after.status(&after.calls()[0]), CallStatus::Completed);
    assert_eq!(record.up_to(0).calls().len(), 0);
}

#[test]
fn a_gap_is_reported() {
    let mut transcript = session(&[("search", "{}", None, "x")]);
    transcript.completeness.add(Gap::Compacted, 1);
    let record = Record::new(&transcript);
    assert!(record.up_to(0).is_complete());
    let facts = record.up_to(2);
    assert!(!facts.is_complete());
    let text = "the record is not complete: a summary replaced earlier messages";
    assert_eq!(facts.sheet()[0].text, text);
}

#[test]
fn every_line_has_a_name_and_is_redacted() {
    let mut transcript = session(&[("login", r#"{"key": "hunter2"}"#, None, "hunter2 is in")]);
    let reasoning =
        Message { kind: MessageKind::Reasoning, ..Message::text(Role::Assistant, "hunter2?") };
    transcript.messages.insert(0, Message::text(Role::User, "Use hunter2."));
    transcript.messages.insert(1, reasoning);
    let record = Record::redacted(&transcript, &|text| match text.contains("hunter2") {
        true => Cow::Owned(text.replace("hunter2", "[secret]")),
        false => Cow::Borrowed(text),
    });
    let lines: Vec<String> =
        record.lines().iter().map(|line| format!("{} {}", line.label, line.text)).collect();
    let expected =
        ["U1 Use [secret].", r#"C1 login {"key": "[secret]"}"#, "R1 [secret] is in", "A1 Done."];
    assert_eq!(lines, expected);
    assert_eq!(record.text_line(4).unwrap().text, "Done.");
}

#[test]
fn values_are_found_where_they_are() {
    let transcript = session(&[
        ("find", r#"{"id": "W-12"}"#, None, r#"{"total": "1,250.00", "mail": "a@b.example"}"#),
        ("find", "{}", None, "see src/a.rs:4"),
    ]);
    let record = Record::new(&transcript);
    let places = |until, kind, key: &str| -> Vec<String> {
        let facts = record.up_to(until);
        facts
            .places_of(kind, key)
            .map(|(line, range)| format!("{} {}", line.label, line.text.get(range).unwrap()))
            .collect()
    };
    assert_eq!(places(9, ValueKind::Number, "1250"), ["R1 1,250.00"]);
    assert_eq!(places(9, ValueKind::Id, "w-12"), ["C1 W-12"]);
    assert_eq!(places(9, ValueKind::Path, "src/a.rs"), ["R2 src/a.rs:4"]);
    assert_eq!(places(2, ValueKind::Path, "src/a.rs"), [] as [String; 0]);
    let mails: Vec<_> = record.up_to(9).values_of(ValueKind::Email).map(|(_, text)| text).collect();
    assert_eq!(mails, ["a@b.example"]);
}

#[test]
fn a_run_in_the_background_ends_later() {
    let test = shell("cargo test");
    let mut transcript = session(&[
        ("Bash", test.as_str(), None, ""),
        ("BashOutput", r#"{"bash_id": "1"}"#, Some(101), "test result: FAILED. 1 passed; 2 failed"),
    ]);
    transcript.messages[1].outcomes[0].running = true;
    let record = Record::new(&transcript);
    let sheet = record.up_to(9).sheet();
    let text = "tests: `cargo test` (R2) ended with status 101, 2 failed, 1 passed";
    assert!(sheet.iter().any(|line| line.text == text), "{sheet:#?}");
}
