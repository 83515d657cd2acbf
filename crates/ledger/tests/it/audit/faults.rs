//! Behaviour when the environment fails.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use counterfoil_ledger::{AppendAuditError, AuditSettings, LineError, OnFailure, OpenAuditError};

use super::{Shelf, entry};

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_its_owner_may_read_it() {
    let shelf = Shelf::with(AuditSettings { rotate_bytes: Some(1), ..AuditSettings::default() });
    let log = shelf.open();
    assert_eq!(log.notices(), Vec::<String>::new());
    (0..3).for_each(|n| log.append(&entry(n)).unwrap());
    for name in shelf.names() {
        assert_eq!(mode(&shelf.folder().join(&name)), 0o600, "{name}");
    }
    std::fs::set_permissions(shelf.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let notices = shelf.open().notices().join("\n");
    assert!(notices.ends_with("had mode 644; changed it to 600"), "{notices}");
    assert_eq!(mode(&shelf.path()), 0o600);
}

#[test]
fn neither_a_link_nor_a_folder_nor_a_pipe_is_a_log() {
    let shelf = Shelf::new();
    let target = shelf.folder().join("target");
    std::fs::write(&target, "").unwrap();
    symlink(&target, shelf.path()).unwrap();
    assert!(matches!(shelf.try_open(), Err(OpenAuditError::Link(path)) if path == shelf.path()));
    assert_eq!(std::fs::read(&target).unwrap(), b"");

    std::fs::remove_file(shelf.path()).unwrap();
    std::fs::create_dir(shelf.path()).unwrap();
    assert!(matches!(shelf.try_open(), Err(OpenAuditError::Io { .. })));

    std::fs::remove_dir(shelf.path()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(shelf.path()).status();
    if made.is_ok_and(|status| status.success()) {
        let error = shelf.try_open().unwrap_err().to_string();
        assert!(error.ends_with("it is not a regular file"), "{error}");
    } else {
        println!("not checked: there is no mkfifo here");
    }
}

#[test]
fn a_folder_that_is_not_there_or_no_folder() {
    let shelf = Shelf::new();
    for name in ["absent/audit.jsonl", "file/audit.jsonl"] {
        std::fs::write(shelf.folder().join("file"), "").unwrap();
        let path = shelf.folder().join(name);
        let clock = std::sync::Arc::new(counterfoil_ledger::SystemClock::default());
        let log = counterfoil_ledger::AuditLog::open(&path, AuditSettings::default(), clock);
        assert!(matches!(log, Err(OpenAuditError::Io { .. })), "{name}");
    }
}

#[test]
fn somebody_elses_file_is_left_alone() {
    for (text, why) in [
        ("{\"type\":\"user\"}\n", LineError::Unsealed),
        ("hello\n", LineError::Unsealed),
        ("hello", LineError::NoEntry),
        ("\n", LineError::Unsealed),
    ] {
        let shelf = Shelf::new();
        std::fs::write(shelf.path(), text).unwrap();
        match shelf.try_open() {
            Err(OpenAuditError::BrokenEnd { path, why: found }) => {
                assert_eq!((path, found), (shelf.path(), why), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
        assert_eq!(std::fs::read_to_string(shelf.path()).unwrap(), text);
    }
}

#[test]
fn a_last_line_that_was_changed_is_not_continued() {
    let shelf = Shelf::filled(3);
    let text = std::fs::read_to_string(shelf.path()).unwrap();
    std::fs::write(shelf.path(), text.replace("fault 2", "fault 3")).unwrap();
    let error = shelf.try_open().unwrap_err();
    assert!(matches!(&error, OpenAuditError::BrokenEnd { why: LineError::WrongDigest, .. }));
    assert!(error.help().contains("counterfoil audit verify"));
}

/// A process that dies during a write may leave any part of a line.
#[test]
fn a_torn_line_is_named_and_set_aside() {
    let whole = std::fs::read(Shelf::filled(3).path()).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    let every_few = (last + 1..whole.len()).step_by(13);
    for cut in every_few.chain([last + 2, whole.len() - 1]) {
        let shelf = Shelf::new();
        std::fs::write(shelf.path(), &whole[..cut]).unwrap();
        let torn = shelf.verify(None);
        assert_eq!((torn.lines, torn.broken.unwrap().why), (2, LineError::Torn), "{cut}");

        let log = shelf.open();
        let notices = log.notices().join("\n");
        let size = cut - last;
        assert!(notices.contains(&format!("its {size} bytes were moved to `")), "{cut}: {notices}");
        let aside = shelf.folder().join("audit.torn-2");
        assert_eq!(std::fs::read(&aside).unwrap(), whole[last..cut]);
        assert_eq!(mode(&aside), 0o600);

        log.append(&entry(2)).unwrap();
        log.append(&entry(3)).unwrap();
        assert!(shelf.verify(None).sound(), "{cut}");
        let set_aside: Vec<u64> =
            shelf.lines().into_iter().map(|line| line.unwrap().set_aside).collect();
        assert_eq!(set_aside, [0, 0, u64::try_from(size).unwrap(), 0]);
    }
}

#[test]
fn a_torn_first_line_of_a_new_file() {
    let settings = AuditSettings { rotate_bytes: Some(1), ..AuditSettings::default() };
    let shelf = Shelf::with(settings).fill(2);
    let text = std::fs::read(shelf.path()).unwrap();
    std::fs::write(shelf.path(), &text[..100]).unwrap();
    let log = shelf.open();
    assert_eq!((log.notices().len(), log.head().size), (1, 1));
    log.append(&entry(1)).unwrap();
    assert!(shelf.verify(None).sound());
}

#[test]
fn what_others_do_to_the_file_is_not_continued() {
    let shelf = Shelf::filled(2);
    let log = shelf.open();
    let whole = std::fs::read(shelf.path()).unwrap();

    std::fs::write(shelf.path(), &whole[..whole.len() / 2 - 100]).unwrap();
    let cut = log.append(&entry(2)).unwrap_err();
    assert!(matches!(cut, AppendAuditError::Cut { expected: 2, .. }), "{cut}");

    std::fs::write(shelf.path(), [&whole, &b"{\"version\":1}\n"[..]].concat()).unwrap();
    let foreign = log.append(&entry(2)).unwrap_err();
    assert!(matches!(foreign, AppendAuditError::Foreign { why: LineError::Unsealed, .. }));

    std::fs::remove_file(shelf.path()).unwrap();
    let gone = log.append(&entry(2)).unwrap_err();
    assert!(matches!(gone, AppendAuditError::Cut { expected: 2, found: 0, .. }), "{gone}");

    symlink("elsewhere", shelf.path()).unwrap_err();
    std::fs::remove_file(shelf.path()).unwrap();
    symlink(shelf.folder().join("elsewhere"), shelf.path()).unwrap();
    let link = log.append(&entry(2)).unwrap_err();
    assert!(matches!(link, AppendAuditError::Reopen(OpenAuditError::Link(_))), "{link}");

    // Once the file is restored, the log continues and records the missed lines.
    std::fs::remove_file(shelf.path()).unwrap();
    std::fs::write(shelf.path(), &whole).unwrap();
    log.append(&entry(2)).unwrap();
    let missed: Vec<u64> = shelf.lines().into_iter().map(|line| line.unwrap().missed).collect();
    assert_eq!(missed, [0, 0, 4]);
}

#[test]
fn a_call_that_cannot_be_written_is_denied_or_counted() {
    for (on_failure, passes) in [(OnFailure::Deny, false), (OnFailure::Continue, true)] {
        let shelf = Shelf::with(AuditSettings { on_failure, ..AuditSettings::default() }).fill(1);
        let log = shelf.open();
        let whole = std::fs::read(shelf.path()).unwrap();
        std::fs::write(shelf.path(), "").unwrap();
        assert_eq!(log.record(&entry(1)).is_ok(), passes);
        std::fs::write(shelf.path(), whole).unwrap();
        log.record(&entry(2)).unwrap();
        assert_eq!(shelf.lines()[1].as_ref().unwrap().missed, 1);
    }
}
