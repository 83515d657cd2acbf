use std::collections::{HashMap, HashSet};

use counterfoil_model::Digest;

use super::chain::{Chain, Session};
use super::verification::{Broken, Stop};
use crate::append::names;
use crate::body::Outline;
use crate::log::{Read, Record};
use crate::results::Stored;
use crate::tables::Tables;

/// What the log alone has added so far.
struct Brought<'b> {
    /// Sessions by name.
    sessions: HashMap<String, i64>,
    executions: HashSet<String>,
    results: HashSet<&'b Digest>,
}

impl<T: Tables> Chain<'_, T> {
    /// Continues with the events that are only in the log.
    pub(super) fn verify_log(&mut self, log: &Read) -> Result<(), Stop> {
        let sessions = self.sessions.iter().map(|(id, session)| (session.name.clone(), *id));
        let mut brought = Brought {
            sessions: sessions.collect(),
            executions: HashSet::new(),
            results: HashSet::new(),
        };
        for record in &log.records {
            if let Record::Event(body, stored) = record {
                self.logged(body, stored, &mut brought)?;
            }
        }
        if log.unfinished > 0 {
            let what = format!(
                "the last {} bytes of its log are not an event: they are an incomplete write or \
                 were changed",
                log.unfinished
            );
            return Err(Broken::new(what).into());
        }
        Ok(())
    }

    fn logged<'b>(
        &mut self,
        body: &[u8],
        stored: &'b [Stored],
        brought: &mut Brought<'b>,
    ) -> Result<(), Stop> {
        let seq = self.frontier.size();
        let outline = Outline::read(body)
            .map_err(|error| Broken::event(seq, format!("it cannot be read: {error}")))?;
        if outline.seq < seq {
            // It is in the tables, and was verified there.
            return Ok(());
        }
        if outline.seq > seq {
            return Err(Broken::event(seq, "it is missing").into());
        }
        let broken = |what: String| Broken::outlined(seq, &outline, what);
        self.check_continues(seq, &outline)?;
        let draft = &outline.draft;
        let session = self.session_in_log(&outline.session, brought);
        session.seq += 1;
        session.calls += u64::from(draft.is_first_attempt());
        if outline.session_seq != session.seq {
            let what = format!(
                "its position in the session is {}, expected {}",
                outline.session_seq, session.seq
            );
            return Err(broken(what).into());
        }
        if let Some(id) = draft.opens() {
            brought.executions.insert(id.to_owned());
        }
        if let Some(id) = draft.follows()
            && !brought.executions.contains(id)
            && self.tables.opening_seq(id)?.is_none()
            && self.found.first == 0
        {
            return Err(broken(format!("the start of the execution `{id}` is missing")).into());
        }
        self.hold_results_in_log(body, stored, &outline, brought)?;
        self.move_on(seq, &outline, Digest::of_bytes(body));
        // Stored nodes are written only when the event moves.
        let last = self.last;
        self.frontier.push(&last, |_| {});
        self.found.events += 1;
        self.hold_against_here()
    }

    /// Checks that the results stored with an event are those it names, and that the one it needs
    /// is there.
    fn hold_results_in_log<'b>(
        &mut self,
        body: &[u8],
        stored: &'b [Stored],
        outline: &Outline<'_>,
        brought: &mut Brought<'b>,
    ) -> Result<(), Stop> {
        let broken = |what: String| Err(Broken::outlined(outline.seq, outline, what).into());
        for stored in stored {
            let digest = &stored.digest;
            if stored.whole().is_none() {
                return broken(format!("its stored result {digest} was changed or damaged"));
            }
            if !names(body, digest) {
                return broken(format!("its stored result {digest} does not belong to it"));
            }
            self.found.results += u64::from(brought.results.insert(digest));
        }
        if let Some(needed) = outline.draft.needs().filter(|n| *n != Digest::of_bytes(b""))
            && !brought.results.contains(&needed)
            && !self.tables.is_stored(&needed)?
        {
            return broken(format!("its stored result {needed} is missing"));
        }
        Ok(())
    }

    fn session_in_log(&mut self, name: &str, brought: &mut Brought<'_>) -> &mut Session {
        let next = -1 - i64::try_from(brought.sessions.len()).unwrap_or(i64::MAX);
        let id = *brought.sessions.entry(name.to_owned()).or_insert(next);
        let fresh = || Session { name: name.to_owned(), ..Session::default() };
        self.sessions.entry(id).or_insert_with(fresh)
    }
}
