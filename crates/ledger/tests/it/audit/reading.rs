//! Tail, query and stats read the log and report changed lines.

use std::collections::BTreeMap;

use counterfoil_ledger::{
    AuditEntry, AuditFiles, AuditFilter, AuditResult, AuditSettings, AuditStats, LineError,
    ReadAuditError, tail_audit,
};
use counterfoil_model::ToolErrorCategory;
use serde_json::json;

use super::Shelf;

fn rotating(count: usize) -> Shelf {
    Shelf::with(AuditSettings { rotate_bytes: Some(2000), ..AuditSettings::default() }).fill(count)
}

#[test]
fn the_last_lines_come_from_as_many_files_as_it_takes() {
    let shelf = rotating(20);
    for count in [0, 1, 2, 3, 4, 7, 19, 20, 21, 1000] {
        let lines = tail_audit(AuditFiles::open(&shelf.path()).unwrap(), count).unwrap();
        let seqs: Vec<u64> = lines.into_iter().map(|line| line.unwrap().seq).collect();
        let expected: Vec<u64> = (20 - u64::try_from(count.min(20)).unwrap()..20).collect();
        assert_eq!(seqs, expected, "{count}");
    }
}

#[test]
fn a_filter_takes_what_fits_every_part_of_it() {
    let shelf = rotating(30);
    let all: Vec<_> = shelf.lines().into_iter().map(Result::unwrap).collect();
    let some = |text: &str| Some(text.to_owned());
    let cases: [(AuditFilter, Vec<u64>); 9] = [
        (AuditFilter::default(), (0..30).collect()),
        (AuditFilter { tool: some("fetch"), ..<_>::default() }, (2..30).step_by(3).collect()),
        (AuditFilter { result: some("timeout"), ..<_>::default() }, (3..30).step_by(5).collect()),
        (AuditFilter { session_id: some("s1"), ..<_>::default() }, (1..30).step_by(2).collect()),
        (AuditFilter { caller_id: some("x"), ..<_>::default() }, vec![]),
        (
            AuditFilter { category: Some(ToolErrorCategory::TypeMismatch), ..<_>::default() },
            vec![2, 24],
        ),
        (
            AuditFilter { execution_id: some("shell_1793620800003_9f3a01bc"), ..<_>::default() },
            vec![3],
        ),
        (
            AuditFilter { since: Some(all[4].at), until: Some(all[7].at), ..<_>::default() },
            vec![4, 5, 6],
        ),
        (
            AuditFilter { tool: some("shell"), result: some("success"), ..<_>::default() },
            vec![0, 15],
        ),
    ];
    for (filter, expected) in cases {
        let found: Vec<u64> =
            all.iter().filter(|line| filter.wants(line)).map(|line| line.seq).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

#[test]
fn a_broken_line_is_a_problem_in_its_place() {
    let shelf = Shelf::filled(4);
    let text = std::fs::read_to_string(shelf.path()).unwrap();
    let text = text.replace("fault 2", "fault 3") + "{\"vers";
    std::fs::write(shelf.path(), text).unwrap();
    let read: Vec<_> = shelf
        .lines()
        .into_iter()
        .map(|line| line.map(|line| line.seq).map_err(|problem| (problem.line, problem.why)))
        .collect();
    let expected =
        [Ok(0), Ok(1), Err((3, LineError::WrongDigest)), Ok(3), Err((5, LineError::Torn))];
    assert_eq!(read, expected);
    let tail = tail_audit(AuditFiles::open(&shelf.path()).unwrap(), 3).unwrap();
    let tail: Vec<_> = tail
        .into_iter()
        .map(|line| line.map(|line| line.seq).map_err(|problem| (problem.line, problem.why)))
        .collect();
    assert_eq!(tail, expected[2..]);
}

#[test]
fn counts() {
    let mut stats = AuditStats::default();
    Shelf::filled(10).lines().iter().for_each(|line| stats.add(line.as_ref().unwrap()));
    let count = |rows: &[(&'static str, u64)]| rows.iter().copied().collect::<BTreeMap<_, _>>();
    let expected = AuditStats {
        calls: 10,
        ran_ahead: 0,
        rejected: 2,
        failed: 8,
        missed: 0,
        first: Some(1_793_620_800_000),
        last: Some(1_793_620_809_000),
        by_tool: BTreeMap::from([
            ("fetch".to_owned(), count(&[("error", 1), ("success", 1), ("timeout", 1)])),
            ("read_file".to_owned(), count(&[("blocked", 1), ("error", 1), ("rollback", 1)])),
            (
                "shell".to_owned(),
                count(&[("blocked", 1), ("rollback", 1), ("success", 1), ("timeout", 1)]),
            ),
        ]),
        by_result: count(&[
            ("blocked", 2),
            ("error", 2),
            ("rollback", 2),
            ("success", 2),
            ("timeout", 2),
        ]),
        by_category: count(&[
            ("Cancelled", 1),
            ("ConfirmationRequired", 1),
            ("InvalidParameters", 1),
            ("NetworkError", 1),
            ("RateLimited", 1),
            ("Timeout", 2),
            ("TypeMismatch", 1),
        ]),
        by_hour: BTreeMap::from([("2026-11-02T12Z".to_owned(), 10)]),
    };
    assert_eq!(stats, expected);
    let ahead = Shelf::new();
    let entry = AuditEntry::new("t", json!({}), AuditResult::Success);
    ahead.open().append(&AuditEntry { speculative: true, ..entry }).unwrap();
    ahead.lines().iter().for_each(|line| stats.add(line.as_ref().unwrap()));
    assert_eq!(stats, AuditStats { ran_ahead: 1, ..expected });
}

#[test]
fn a_missing_log_is_reported() {
    let shelf = Shelf::new();
    for path in [shelf.path(), shelf.folder().join("absent/audit.jsonl")] {
        assert!(matches!(AuditFiles::open(&path), Err(ReadAuditError::Missing(p)) if p == path));
    }
}
