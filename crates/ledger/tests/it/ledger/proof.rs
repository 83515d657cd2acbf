//! An exported receipt can be verified, by this crate and with standard tools.

use std::process::Command;

use counterfoil_ledger::{Checkpoint, Expected, ExportError, ExportedReceipt, PublicKey};
use serde_json::Value;

use super::*;

/// The receipt of an execution in the middle of a ledger with three sessions.
fn exported() -> (ExportedReceipt, PublicKey) {
    let ledger = in_memory();
    for number in 0..150 {
        execute(&ledger, &format!("s{}", number % 3), &id(number), b"what came back");
    }
    (ledger.export(&id(70)).unwrap().unwrap(), ledger.public_key())
}

#[test]
fn what_was_changed_in_an_export_is_found() {
    let (exported, key) = exported();
    assert_eq!(exported.verify(&key), Ok(()));
    let again: ExportedReceipt =
        serde_json::from_str(&serde_json::to_string(&exported).unwrap()).unwrap();
    assert_eq!(again, exported);
    let changed = |change: fn(&mut ExportedReceipt)| {
        let mut other = exported.clone();
        change(&mut other);
        other.verify(&key)
    };
    let seq = exported.events[0].seq;
    let not_in = Err(ExportError::Inclusion { seq });
    assert_eq!(changed(|e| e.events[0].body = e.events[0].body.replace("a.md", "b.md")), not_in);
    assert_eq!(changed(|e| e.events[0].proof.0.swap(0, 1)), not_in);
    assert_eq!(changed(|e| e.events[0].proof.0.truncate(3)), not_in);
    assert_eq!(changed(|e| drop(e.events.pop())), Err(ExportError::Receipt));
    assert_eq!(changed(|e| e.receipt.truncated = true), Err(ExportError::Receipt));
    assert_eq!(
        changed(|e| {
            let other = e.checkpoint.to_string().replace("\n300\n", "\n301\n");
            e.checkpoint = other.parse().unwrap();
        }),
        Err(ExportError::Signature)
    );
    let other = Ledger::in_memory(SetClock::at(NOW), Arc::new(Counted(9.into()))).unwrap();
    assert_eq!(exported.verify(&other.public_key()), Err(ExportError::Signature));
}

/// Exported receipts can be verified for ever, in every version.
#[test]
fn receipts_of_every_version_still_verify() {
    let (exported, key) = exported();
    let goldens = [(1, include_str!("receipt.v1.json")), (2, include_str!("receipt.v2.json"))];
    for (version, golden) in goldens {
        let read: ExportedReceipt = serde_json::from_str(golden).unwrap();
        assert_eq!((read.verify(&key), read.receipt.version), (Ok(()), version));
    }
    let text = serde_json::to_string_pretty(&exported).unwrap() + "\n";
    assert_eq!(text, goldens[1].1);
}

/// A ledger written in event format 1, whose numbers are doubles, by the build before format 2.
#[test]
fn a_ledger_in_form_1_verifies_and_goes_on_in_form_2() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("ledger.db", &include_bytes!("../../fixtures/ledger-1/ledger.db")[..]),
        ("ledger.db.key", include_bytes!("../../fixtures/ledger-1/ledger.db.key")),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
    }
    let ledger = open(folder.path(), Durability::Os);
    let verified = || {
        let found = ledger.verify(&Expected::default(), &mut |_| {}).unwrap();
        assert!(found.broken.is_none(), "{found:?}");
        found.events
    };
    assert_eq!(verified(), 5);
    let old = "pay_1793620800000_00000001";
    let receipt = ledger.receipt(old).unwrap().unwrap();
    assert_eq!(receipt.version, 1);
    assert_eq!(
        receipt.arguments["message_id"], 1_234_567_890_123_456_800_u64,
        "as it was recorded"
    );
    let exported = ledger.export(old).unwrap().unwrap();
    assert_eq!(exported.verify(&ledger.public_key()), Ok(()));
    execute(&ledger, "s2", &id(1), b"done");
    let event = ledger.events_of("s2", 0, 1).unwrap().remove(0);
    assert_eq!((event.version, verified()), (2, 7));
}

#[test]
fn checkpoints_are_signed_notes() {
    let (exported, key) = exported();
    let text = exported.checkpoint.to_string();
    let read: Checkpoint = text.parse().unwrap();
    assert_eq!((read.size(), read.is_signed_by(&key)), (300, true));
    assert_eq!(read, exported.checkpoint);
    let origin = exported.checkpoint.origin();
    assert!(key.verifier_key(origin).starts_with(&format!("{origin}+")));
    assert_eq!(key.to_string().parse(), Ok(key));
    for broken in
        ["", "a\n", "a\n1\n\n", "\n1\nAAAA\n\n\u{2014} a b\n", &text.replace("300", "0300")]
    {
        assert!(broken.parse::<Checkpoint>().is_err(), "{broken:?}");
    }
}

/// Runs the program on the documentation page.
#[test]
fn the_page_verifies_a_receipt_with_stock_tools() {
    const PAGE: &str = include_str!("../../../../../docs/verify-a-receipt.md");
    let (_, program) = PAGE.split_once("```python\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("verify.py"), program).unwrap();
    let (exported, key) = exported();
    std::fs::write(at("key.pem"), key.to_string()).unwrap();
    let run = |receipt: &Value| {
        std::fs::write(at("receipt.json"), receipt.to_string()).unwrap();
        let output = Command::new("python3")
            .args(["verify.py", "receipt.json", "key.pem"])
            .current_dir(folder.path())
            .output();
        output.map(|output| {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
            (output.status.success(), stdout, stderr)
        })
    };
    let receipt = serde_json::to_value(&exported).unwrap();
    for (tool, argument) in [("python3", "--version"), ("openssl", "version")] {
        if let Err(error) = Command::new(tool).arg(argument).output() {
            assert!(std::env::var_os("CI").is_none(), "`{tool}` cannot be run, and this is CI");
            println!("skipped: `{tool}` cannot be run here: {error}");
            return;
        }
    }
    let (good, stdout, stderr) = run(&receipt).unwrap();
    assert!(good, "{stderr}");
    assert!(stdout.contains(r#""execution_id":"read_file_1735999999123_00000046""#), "{stdout}");
    let changed = |pointer: &str, change: &dyn Fn(&str) -> String| {
        let mut receipt = receipt.clone();
        let field = receipt.pointer_mut(pointer).unwrap();
        *field = Value::String(change(field.as_str().unwrap()));
        run(&receipt).unwrap().0
    };
    assert!(!changed("/events/0/body", &|body| body.replace("a.md", "b.md")));
    assert!(!changed("/events/1/body", &|body| body.replace("completed", "cancelled")));
    assert!(!changed("/events/0/proof/0", &|hash| hash.replace(['0', '1'], "2")));
    assert!(!changed("/checkpoint", &|note| note.replace("\n300\n", "\n301\n")));
    // A receipt with a key of its own does not verify with ours.
    let other = Ledger::in_memory(SetClock::at(NOW), Arc::new(Counted(9.into()))).unwrap();
    std::fs::write(at("key.pem"), other.public_key().to_string()).unwrap();
    assert!(!run(&receipt).unwrap().0);
}
