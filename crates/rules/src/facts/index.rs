//! Caches of where things are in the record, so that each claim need not search all of it.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::hash::Hash;
use std::ops::Range;
use std::rc::Rc;

use counterfoil_model::Family;
use counterfoil_record::RunEnd;
use rustc_hash::FxHashMap;

use super::families::Families;

/// Cached answers to questions that many claims ask about the whole record.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By families and verb stem: the deeds that may support such a claim.
    candidates: Memo<(Families, String), Rc<RefCell<Candidates>>>,
    /// By name: the first message at which the agent was given it.
    pub(crate) given: Memo<String, Option<usize>>,
    /// By name: the executions that used a tool of that name, ascending.
    pub(crate) named: Memo<String, Rc<[usize]>>,
    /// By kind of check: its latest run, as far as the record was searched.
    checks: RefCell<FxHashMap<Family, LatestRun>>,
    /// By kind of check and execution: what the result says about such checks.
    pub(crate) reported: Memo<(Family, usize), Reported>,
    /// By kind of check and execution: whether the result states how such a check ended.
    pub(crate) stated: Memo<(Family, usize), bool>,
    /// By claimed outcome: whether a result reports it.
    pub(crate) reports: Memo<CheckQuery, bool>,
    /// The first execution that ran a command line.
    pub(crate) shell: FirstDeed,
    /// The first execution that may have done more than its words show.
    pub(crate) opaque: FirstDeed,
    /// The first execution that delegated work to another agent.
    pub(crate) delegates: FirstDeed,
    /// The first execution that may have changed anything, by a command line or a file edit.
    pub(crate) changes_freely: FirstDeed,
    /// The first execution of a tool whose effects are unknown.
    pub(crate) unknown: FirstDeed,
    /// The messages with the user's requests, ascending.
    pub(crate) requests: OnceCell<Vec<usize>>,
}

/// Values by key, each computed once.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(RefCell<FxHashMap<K, V>>);

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    /// The value of a key. `make` computes it the first time.
    pub(crate) fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let value = make();
        self.0.borrow_mut().insert(key, value.clone());
        value
    }
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

/// The latest run of a check among the first executions of a record.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct LatestRun {
    /// The number of executions that were searched.
    pub(crate) upto: usize,
    /// The index of the latest run, and how it ended.
    pub(crate) found: Option<(usize, RunEnd)>,
    /// Whether another agent was at work, and may have run the check unseen.
    pub(crate) delegated: bool,
}

/// The kind of check, the number of executions before the claim, how many checks passed, and
/// whether those are only some.
pub(crate) type CheckQuery = (Family, usize, Option<u64>, bool);

/// What a result says about checks, by any runner.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Reported {
    /// The number that passed.
    pub(crate) passed: Option<u64>,
    /// Whether everything passed.
    pub(crate) good: bool,
}

/// The first execution that did a certain thing, as far as the record was searched.
#[derive(Debug, Default)]
pub(crate) struct FirstDeed(Cell<(usize, Option<usize>)>);

impl FirstDeed {
    /// Whether one of the first `count` executions did it.
    pub(crate) fn is_before(&self, count: usize, did: impl Fn(usize) -> bool) -> bool {
        let (upto, mut found) = self.0.get();
        if found.is_none() && upto < count {
            found = (upto..count).find(|at| did(*at));
            self.0.set((count, found));
        }
        found.is_some_and(|first| first < count)
    }
}

/// The deeds that may support a claim, in the part of the record that was searched, which grows in
/// both directions.
#[derive(Debug)]
pub(crate) struct Candidates {
    stretch: Range<usize>,
    /// In ascending order.
    found: VecDeque<usize>,
}

impl Candidates {
    /// The latest one before an index. `test` is called once for each execution.
    pub(crate) fn latest_before(
        &mut self,
        at: usize,
        test: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        while self.stretch.end < at {
            if test(self.stretch.end) {
                self.found.push_back(self.stretch.end);
            }
            self.stretch.end += 1;
        }
        loop {
            let known = self.found.partition_point(|&found| found < at);
            if let Some(&latest) = known.checked_sub(1).and_then(|n| self.found.get(n)) {
                return Some(latest);
            }
            self.stretch.start = self.stretch.start.checked_sub(1)?;
            if test(self.stretch.start) {
                self.found.push_front(self.stretch.start);
            }
        }
    }
}

impl Index {
    /// The candidates for a claim. The first request for them determines where the search starts.
    pub(crate) fn candidates(
        &self,
        accepted: Families,
        stem: &str,
        at: usize,
    ) -> Rc<RefCell<Candidates>> {
        let begin = Candidates { stretch: at..at, found: VecDeque::new() };
        self.candidates.get((accepted, stem.to_owned()), || Rc::new(RefCell::new(begin)))
    }

    /// The latest run of a check, as far as the record was searched.
    pub(crate) fn check(&self, family: Family) -> LatestRun {
        self.checks.borrow().get(&family).copied().unwrap_or_default()
    }

    /// Keeps the result of a further search.
    pub(crate) fn keep_check(&self, family: Family, latest: LatestRun) {
        self.checks.borrow_mut().insert(family, latest);
    }
}

#[cfg(test)]
mod tests {
    use counterfoil_model::{
        ClaimKind, EvidenceSource, Format, Message, Outcome, Role, ToolCall, Transcript,
    };

    use crate::check::check as judged;
    use crate::settings::Settings;

    /// A session with this many file edits and then a message.
    fn session(edits: usize, answer: &str) -> Transcript {
        let mut session = Transcript::new("s", Format::OpenaiChat);
        session.messages.push(Message::text(Role::User, "Please tidy up."));
        for n in 0..edits {
            let (call_id, text) = (format!("c{n}"), format!("edited, see note_{n}.md"));
            let arguments =
                format!(r#"{{"path":"src/file_{n}.rs","old_string":"W{n:07}","new_string":"b"}}"#);
            let call = ToolCall::new(&call_id, "edit_file", arguments);
            let outcome = Outcome { call_id, text, ..Outcome::default() };
            let calls = Message { calls: vec![call], ..Message::text(Role::Assistant, "") };
            let results = Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") };
            session.messages.extend([calls, results]);
        }
        session.messages.push(Message::text(Role::Assistant, answer));
        session
    }

    /// Checks the verdict of the only action claim, and the call that supports it.
    fn check(edits: usize, answer: &str, expected: &str) {
        let report = judged(&session(edits, answer), &Settings::default());
        let found: Vec<String> = report
            .judgements
            .iter()
            .filter(|judgement| matches!(judgement.claim.kind, ClaimKind::Action(_)))
            .map(|judgement| {
                let calls = judgement.evidence.iter().map(|e| match &e.source {
                    EvidenceSource::Call { call_id } => call_id.as_str(),
                    _ => "",
                });
                format!("{} {}", judgement.verdict.name(), calls.collect::<String>())
            })
            .collect();
        assert_eq!(found, [expected], "{edits} {answer}");
    }

    /// An execution that is too far back to be searched neither supports nor contradicts.
    #[test]
    fn far_back() {
        for edits in [4, 40] {
            check(edits, "I've updated `src/file_1.rs`.", "supported c1");
            // A name in a result or in the file's content is not the edited file.
            check(edits, "I've updated `docs/note_2.md`.", "not checkable ");
            check(edits, "I've updated order W0000003.", "not checkable ");
        }
        check(400, "I've updated `src/file_1.rs`.", "not checkable ");
        check(400, "I've updated `src/file_390.rs`.", "supported c390");
    }
}
