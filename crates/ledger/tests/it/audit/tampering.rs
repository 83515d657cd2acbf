//! Every edit that changes the content of a log is found.

use std::path::Path;

use counterfoil_ledger::{AuditHead, AuditSettings, Compared, LineError};
use counterfoil_model::Digest;
use proptest::prelude::*;

use super::{Shelf, entry};

/// The first broken line: file name, line number, problem.
fn broken(shelf: &Shelf) -> Option<(String, u64, LineError)> {
    let problem = shelf.verify(None).broken?;
    let name = problem.file.file_name().unwrap().to_str().unwrap().to_owned();
    Some((name, problem.line, problem.why))
}

/// Replaces the file. (Some file systems sync a file that is truncated and rewritten.)
fn put(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn edit(path: &Path, change: impl FnOnce(&mut Vec<String>)) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    change(&mut lines);
    std::fs::write(path, lines.concat()).unwrap();
}

#[test]
fn each_byte_counts() {
    let shelf = Shelf::filled(4);
    let path = shelf.path();
    let whole = std::fs::read(&path).unwrap();
    let verification = shelf.verify(None);
    assert!(verification.sound());
    assert_eq!(verification.lines, 4);
    let mut edits = 0;
    for at in 0..whole.len() {
        // A flipped bit, a digit, white space, a line feed, invalid UTF-8.
        for byte in [whole[at] ^ 1, b'0', b' ', b'\n', 0xff] {
            if byte == whole[at] {
                continue;
            }
            let mut changed = whole.clone();
            changed[at] = byte;
            put(&path, &changed);
            let found = shelf.verify(None);
            let line = whole[..at].iter().filter(|b| **b == b'\n').count() + 1;
            let problem = found.broken.unwrap_or_else(|| panic!("byte {at} became {byte}"));
            assert_eq!(problem.line, u64::try_from(line).unwrap(), "byte {at} became {byte}");
            edits += 1;
        }
    }
    assert!(edits > 4 * whole.len());
}

#[test]
fn each_removed_or_added_byte_counts() {
    let shelf = Shelf::filled(3);
    let path = shelf.path();
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut less = whole.clone();
        less.remove(at);
        put(&path, &less);
        assert!(!shelf.verify(None).sound(), "without byte {at}");
        let mut more = whole.clone();
        more.insert(at, b' ');
        put(&path, &more);
        assert!(!shelf.verify(None).sound(), "a blank before byte {at}");
    }
}

#[test]
fn lines_that_are_removed_swapped_doubled_or_made_up() {
    let log = || ("audit.jsonl".to_owned(), LineError::WrongPrevious);
    let seq =
        |line: u64, expected, found| Some((log().0, line, LineError::WrongSeq { expected, found }));
    let check = |change: fn(&mut Vec<String>), expected: Option<(String, u64, LineError)>| {
        let shelf = Shelf::filled(6);
        edit(&shelf.path(), change);
        assert_eq!(broken(&shelf), expected);
    };
    check(|_| {}, None);
    check(|lines| drop(lines.remove(2)), seq(3, 2, 3));
    check(|lines| lines.swap(1, 2), seq(2, 1, 2));
    check(|lines| lines.swap(0, 5), seq(2, 6, 1));
    check(|lines| lines.insert(3, lines[2].clone()), seq(4, 3, 2));
    check(|lines| lines.insert(0, "{}\n".to_owned()), Some((log().0, 1, LineError::Unsealed)));
    check(
        |lines| lines[3] = lines[3].trim_end().to_owned(),
        Some((log().0, 4, LineError::WrongDigest)),
    );
    check(|lines| lines[5] = lines[5].trim_end().to_owned(), Some((log().0, 6, LineError::Torn)));
    check(
        |lines| lines[4] = format!("{}\n", "x".repeat(3_000_000)),
        Some((log().0, 5, LineError::TooLong)),
    );
    // A line that is resealed no longer matches the one after it.
    check(|lines| lines[2] = resealed(&lines[2]), Some((log().0, 4, LineError::WrongPrevious)));
}

/// The line with another tool and a matching digest.
fn resealed(line: &str) -> String {
    let (body, _) = line.split_once(",\"digest\":").unwrap();
    let body = body.replace("fetch", "fetsh");
    format!("{body},\"digest\":\"{}\"}}\n", Digest::of_bytes(body.as_bytes()))
}

#[test]
fn a_cut_end_is_found_against_a_kept_head() {
    let shelf = Shelf::filled(5);
    let kept = shelf.verify(None).head;
    assert_eq!(kept.size, 5);
    let compared = |kept| shelf.verify(Some(kept)).compared;
    assert_eq!(compared(kept), Some(Compared::Continues { newer: 0 }));

    shelf.open().append(&entry(5)).unwrap();
    assert_eq!(compared(kept), Some(Compared::Continues { newer: 1 }));
    assert_eq!(compared(AuditHead::default()), Some(Compared::Continues { newer: 6 }));

    edit(&shelf.path(), |lines| lines.truncate(3));
    assert!(shelf.verify(None).sound(), "the file alone does not show it");
    assert_eq!(compared(kept), Some(Compared::Cut { expected: 5, found: 3 }));
    assert!(!shelf.verify(Some(kept)).sound());

    std::fs::write(shelf.path(), "").unwrap();
    assert_eq!(compared(kept), Some(Compared::Cut { expected: 5, found: 0 }));
}

#[test]
fn a_log_written_anew_is_found_against_a_kept_head() {
    let shelf = Shelf::filled(5);
    let kept = shelf.verify(None).head;
    std::fs::remove_file(shelf.path()).unwrap();
    let log = shelf.open();
    (0..9).for_each(|n| log.append(&entry(n)).unwrap());
    assert!(shelf.verify(None).sound(), "the file alone does not show it");
    let found = shelf.verify(Some(kept));
    assert_eq!(found.compared, Some(Compared::Differs { at: 5 }));
    assert!(!found.sound());
}

#[test]
fn the_chain_goes_on_across_files() {
    let settings = AuditSettings { rotate_bytes: Some(1500), ..AuditSettings::default() };
    let filled = || Shelf::with(settings.clone()).fill(10);
    let names = ["audit-000001.jsonl", "audit-000002.jsonl", "audit-000003.jsonl", "audit.jsonl"];

    let shelf = filled();
    assert_eq!(shelf.names(), names);
    let found = shelf.verify(None);
    assert_eq!((found.lines, found.files, found.sound()), (10, 4, true));
    // Reopened at the boundary, and appended to.
    let shelf = shelf.fill(8);
    assert_eq!(shelf.verify(None).lines, 18);
    let seqs: Vec<u64> = shelf.lines().into_iter().map(|line| line.unwrap().seq).collect();
    assert_eq!(seqs, (0..18).collect::<Vec<u64>>());

    let cases: [(fn(&Path), &str, u64); 5] = [
        (|folder| edit(&folder.join("audit-000001.jsonl"), |l| drop(l.pop())), names[1], 1),
        (|folder| edit(&folder.join("audit-000002.jsonl"), |l| drop(l.remove(0))), names[1], 1),
        (|folder| std::fs::remove_file(folder.join("audit-000002.jsonl")).unwrap(), names[2], 1),
        (
            |folder| {
                let (one, two) = (folder.join("audit-000001.jsonl"), folder.join("x"));
                std::fs::rename(&one, &two).unwrap();
                std::fs::rename(folder.join("audit-000002.jsonl"), &one).unwrap();
                std::fs::rename(&two, folder.join("audit-000002.jsonl")).unwrap();
            },
            names[1],
            1,
        ),
        (
            |folder| edit(&folder.join("audit-000003.jsonl"), |l| l[2] = l[2].replace('f', "g")),
            names[2],
            3,
        ),
    ];
    for (n, (change, name, line)) in cases.into_iter().enumerate() {
        let shelf = filled();
        change(shelf.folder());
        let (found, at, _) = broken(&shelf).unwrap_or_else(|| panic!("case {n}"));
        assert_eq!((found.as_str(), at), (name, line), "case {n}");
    }
}

#[test]
fn a_log_whose_beginning_is_kept_elsewhere() {
    let settings = AuditSettings { rotate_bytes: Some(2000), ..AuditSettings::default() };
    let shelf = Shelf::with(settings).fill(12);
    let whole = shelf.verify(None).head;
    std::fs::remove_file(shelf.folder().join("audit-000001.jsonl")).unwrap();
    let found = shelf.verify(Some(whole));
    assert!(found.missing_before > 0);
    assert_eq!(found.missing_before + found.lines, 12);
    assert_eq!(found.compared, Some(Compared::Continues { newer: 0 }));
    assert!(!found.sound(), "lines are missing, and nobody said that this is right");
    assert!(found.sound_from_here());
    let early = AuditHead { size: 1, ..whole };
    assert_eq!(shelf.verify(Some(early)).compared, Some(Compared::NotHere));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// After any edit, either the bytes are unchanged or the comparison with the head finds it.
    #[test]
    fn any_edit_is_found(at in 0usize..3000, cut in 0usize..40, put in any::<Vec<u8>>()) {
        let shelf = Shelf::filled(4);
        let kept = shelf.verify(None).head;
        let whole = std::fs::read(shelf.path()).unwrap();
        let at = at % whole.len();
        let end = (at + cut).min(whole.len());
        let changed = [&whole[..at], &put, &whole[end..]].concat();
        std::fs::write(shelf.path(), &changed).unwrap();
        prop_assert_eq!(shelf.verify(Some(kept)).sound(), changed == whole);
    }
}
