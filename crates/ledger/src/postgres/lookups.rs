//! Looks up what new events depend on, for many events at once.

use std::collections::{BTreeSet, HashMap, HashSet};

use counterfoil_model::Digest;
use tokio_postgres::Row;

use super::link::{Failure, Link, column, number, signed};
use super::tables::{digest_at, event_of};
use crate::append::Item;
use crate::body::Outline;
use crate::lookups::{Lookups, Opening, SessionHead};
use crate::read::ReadLedgerError;

/// What the events of a group have to look up.
#[derive(Debug, Default)]
pub(super) struct LookupKeys<'i> {
    pub(super) sessions: Vec<&'i str>,
    pub(super) executions: Vec<&'i str>,
    results: Vec<Digest>,
    /// Approvals that a call uses up: the session and the place in it.
    approvals: Vec<(&'i str, u64)>,
    /// Sessions in which people decide on calls, and the latest place that they had seen.
    decisions: Vec<(&'i str, u64)>,
}

impl<'i> LookupKeys<'i> {
    pub(super) fn by(items: &'i [Item]) -> Self {
        let (mut sessions, mut executions) = (BTreeSet::new(), BTreeSet::new());
        let mut keys = Self::default();
        for item in items {
            sessions.insert(item.session.as_str());
            executions.extend(item.draft.opens().or(item.draft.follows()));
            keys.results.extend(item.missing());
            if let Some(seen) = item.seen {
                keys.decisions.push((item.session.as_str(), seen));
            }
            keys.approvals.extend(item.draft.uses().map(|place| (item.session.as_str(), place)));
        }
        keys.sessions = sessions.into_iter().collect();
        keys.executions = executions.into_iter().collect();
        keys
    }
}

/// The results of the lookups, valid while no other replica writes.
#[derive(Debug, Default)]
pub(super) struct Found {
    sessions: HashMap<String, SessionHead>,
    openings: HashMap<String, Opening>,
    results: HashSet<Digest>,
    used: HashSet<(String, u64)>,
    /// The last place in a session at which a person decided on a call.
    decided: HashMap<(String, Digest), u64>,
}

/// The end of each session.
pub(super) const SESSIONS: &str = "
    SELECT s.name, s.id, coalesce(e.session_seq, 0), coalesce(e.calls, 0)
    FROM sessions s
    LEFT JOIN LATERAL (
        SELECT session_seq, calls FROM events WHERE session = s.id
        ORDER BY session_seq DESC LIMIT 1
    ) e ON true
    WHERE s.name = ANY($1)";

/// The events that opened executions, and how often each was closed.
pub(super) const OPENINGS: &str = "
    SELECT o.execution_id, o.seq, o.kind = 'rejected',
           (SELECT count(*) FROM events f WHERE f.opening = o.seq AND f.kind = 'closed')
    FROM events o WHERE o.execution_id = ANY($1)";

const RESULTS: &str = "SELECT digest FROM results WHERE digest = ANY($1)";

/// Candidates for calls that used an approval: those whose bytes contain its place.
const USES: &str = "
    SELECT u.name, u.place, e.body
    FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS u (name, place, mark)
    JOIN sessions s ON s.name = u.name
    JOIN events e ON e.session = s.id AND e.session_seq > u.place AND e.kind = 'opened'
    WHERE position(u.mark IN e.body) > 0";

/// The decisions of people in sessions, each after a place.
const DECISIONS: &str = "
    SELECT DISTINCT e.seq, e.digest, e.body, s.name
    FROM unnest($1::text[], $2::bigint[]) AS d (name, seen)
    JOIN sessions s ON s.name = d.name
    JOIN events e ON e.session = s.id AND e.session_seq > d.seen
        AND e.kind IN ('approved', 'declined')";

impl Found {
    /// Reads the answers to [`SESSIONS`] and [`OPENINGS`], and runs the other lookups.
    pub(super) fn read(
        link: &Link,
        keys: &LookupKeys<'_>,
        sessions: &[Row],
        openings: &[Row],
    ) -> Result<Self, ReadLedgerError> {
        let mut found = Self::default();
        for row in sessions {
            let head = SessionHead::known(column(row, 1)?, number(row, 2)?, number(row, 3)?);
            found.sessions.insert(column(row, 0)?, head);
        }
        for row in openings {
            let opening = Opening::new(number(row, 1)?, number(row, 3)?, column(row, 2)?);
            found.openings.insert(column(row, 0)?, opening);
        }
        if !keys.results.is_empty() {
            let digests: Vec<&[u8]> =
                keys.results.iter().map(|digest| digest.as_bytes().as_slice()).collect();
            let rows = link.rows(RESULTS, &[&digests])?;
            let digests: Result<_, Failure> = rows.iter().map(|row| digest_at(row, 0)).collect();
            found.results = digests?;
        }
        if !keys.approvals.is_empty() {
            found.read_uses(link, &keys.approvals)?;
        }
        if !keys.decisions.is_empty() {
            found.read_decisions(link, &keys.decisions)?;
        }
        Ok(found)
    }

    pub(super) fn read_uses(
        &mut self,
        link: &Link,
        approvals: &[(&str, u64)],
    ) -> Result<(), ReadLedgerError> {
        let names: Vec<&str> = approvals.iter().map(|(name, _)| *name).collect();
        let places: Vec<i64> = approvals.iter().map(|(_, place)| signed(*place)).collect();
        let marks: Vec<Vec<u8>> =
            approvals.iter().map(|(_, place)| format!("\"uses\":{place}").into_bytes()).collect();
        for row in link.rows(USES, &[&names, &places, &marks])? {
            let (name, place): (String, u64) = (column(&row, 0)?, number(&row, 1)?);
            if Outline::uses(column(&row, 2)?, &name)? == Some(place) {
                self.used.insert((name, place));
            }
        }
        Ok(())
    }

    fn read_decisions(
        &mut self,
        link: &Link,
        decisions: &[(&str, u64)],
    ) -> Result<(), ReadLedgerError> {
        let names: Vec<&str> = decisions.iter().map(|(name, _)| *name).collect();
        let seen: Vec<i64> = decisions.iter().map(|(_, seen)| signed(*seen)).collect();
        for row in link.rows(DECISIONS, &[&names, &seen])? {
            let name: String = column(&row, 3)?;
            let event = event_of(&row)?;
            let Some(digest) = event.draft.decides() else { continue };
            let last = self.decided.entry((name, digest)).or_default();
            *last = event.session_seq.max(*last);
        }
        Ok(())
    }

    /// Whether a call of the session has used the approval at this place.
    pub(super) fn uses(&self, session: &str, approval: u64) -> bool {
        self.used.contains(&(session.to_owned(), approval))
    }
}

impl Lookups for Found {
    fn session(&self, name: &str) -> Result<Option<SessionHead>, ReadLedgerError> {
        Ok(self.sessions.get(name).copied())
    }

    fn opening(&self, id: &str) -> Result<Option<Opening>, ReadLedgerError> {
        Ok(self.openings.get(id).copied())
    }

    fn has_result(&self, digest: &Digest) -> Result<bool, ReadLedgerError> {
        Ok(self.results.contains(digest))
    }

    fn has_used(&self, session: &str, approval: u64) -> Result<bool, ReadLedgerError> {
        Ok(self.uses(session, approval))
    }

    fn has_decision(
        &self,
        session: &str,
        digest: Digest,
        seen: u64,
    ) -> Result<bool, ReadLedgerError> {
        let last = self.decided.get(&(session.to_owned(), digest));
        Ok(last.is_some_and(|last| *last > seen))
    }
}
