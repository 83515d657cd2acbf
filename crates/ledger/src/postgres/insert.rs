//! Inserts a group of events: the server inserts some while others are sealed.

use std::collections::HashMap;
use std::task::{Context, Waker};

use counterfoil_model::Digest;
use futures_util::future::{BoxFuture, join_all};
use tokio_postgres::types::ToSql;

use super::link::{Failure, Link, signed};
use crate::head::Head;
use crate::moving::block;
use crate::recent::Entry;
use crate::results::{PER_EVENT, Stored};
use crate::tree::BLOCK;

const INTO_SESSIONS: &str =
    "INSERT INTO sessions (id, name) SELECT * FROM unnest($1::bigint[], $2::text[])";

pub(super) const INTO_EVENTS: &str = "
    INSERT INTO events (seq, session, session_seq, calls, kind, execution_id, opening, digest, body)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[],
                         $6::text[], $7::bigint[], $8::bytea[], $9::bytea[])";

const INTO_NODES: &str = "
    INSERT INTO nodes (level, number, hash)
    SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[])";

const INTO_RESULTS: &str = "
    INSERT INTO results (id, digest, size, packed, bytes)
    SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::smallint[], $5::bytea[])
    ON CONFLICT (digest) DO UPDATE SET id = excluded.id";

const REFER: &str = "
    UPDATE results SET id = u.id FROM unnest($1::bytea[], $2::bigint[]) AS u (digest, id)
    WHERE results.digest = u.digest";

/// Deletes the checkpoints that a new one replaces: one per block stays for ever.
const REPLACE_CHECKPOINTS: &str = "DELETE FROM checkpoints WHERE size > $1 AND size < $2";

const INTO_CHECKPOINTS: &str = "
    INSERT INTO checkpoints (size, note) VALUES ($1, $2)
    ON CONFLICT (size) DO NOTHING";

/// Notifies listeners of the number of events.
const NOTIFY: &str =
    "SELECT pg_notify('counterfoil_' || 'ledger'::regclass::oid, $1::bigint::text)";

/// A column of many rows, or one value.
type Parameter = Box<dyn ToSql + Sync + Send>;

/// Statements sent to the server, in order.
pub(super) struct Flight<'l> {
    link: &'l Link,
    answers: Vec<BoxFuture<'l, Result<u64, tokio_postgres::Error>>>,
    /// The highest number of a session.
    sessions: i64,
}

impl<'l> Flight<'l> {
    pub(super) fn new(link: &'l Link, sessions: i64) -> Self {
        Self { link, answers: Vec::new(), sessions }
    }

    /// Sends a statement; its answer is awaited at the end.
    fn send(&mut self, text: &'static str, parameters: Vec<Parameter>) -> Result<(), Failure> {
        let (client, statement) = (&self.link.client, self.link.prepared(text)?);
        self.fly(Box::pin(async move {
            let parameters: Vec<&(dyn ToSql + Sync)> =
                parameters.iter().map(|parameter| &**parameter as _).collect();
            client.execute(&statement, &parameters).await
        }));
        Ok(())
    }

    /// Polls the future once, which sends its request.
    fn fly(&mut self, answer: BoxFuture<'l, Result<u64, tokio_postgres::Error>>) {
        // A future that is ready at once has failed; it is kept for its error.
        let mut answer = answer;
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            std::task::Poll::Pending => self.answers.push(answer),
            std::task::Poll::Ready(outcome) => {
                self.answers.push(Box::pin(std::future::ready(outcome)));
            }
        }
    }

    /// Sends the events of a head from index `from` on, with their nodes, results and sessions.
    pub(super) fn events(&mut self, head: &mut Head, from: usize) -> Result<(), Failure> {
        let recent = std::mem::take(&mut head.recent);
        let sent = self.entries(head, recent.entries.get(from..).unwrap_or_default());
        head.recent = recent;
        sent
    }

    fn entries(&mut self, head: &mut Head, entries: &[Entry]) -> Result<(), Failure> {
        if entries.is_empty() {
            return Ok(());
        }
        let (mut columns, mut results) = (Columns::default(), Results::default());
        let (mut session_ids, mut session_names) = (Vec::new(), Vec::new());
        for entry in entries {
            let session = match head.session_id(&entry.session) {
                Some(id) => id,
                None => {
                    self.sessions += 1;
                    head.remember_session_id(&entry.session, self.sessions);
                    session_ids.push(self.sessions);
                    session_names.push(entry.session.clone());
                    self.sessions
                }
            };
            columns.add(entry, session);
            results.add(entry);
        }
        if !session_ids.is_empty() {
            self.send(INTO_SESSIONS, vec![Box::new(session_ids), Box::new(session_names)])?;
        }
        self.send(INTO_EVENTS, columns.parameters())?;
        let nodes: Vec<_> = entries.iter().flat_map(|entry| &entry.nodes).collect();
        if !nodes.is_empty() {
            let levels: Vec<i16> = nodes.iter().map(|node| i16::from(node.level)).collect();
            let numbers: Vec<i64> = nodes.iter().map(|node| signed(node.number)).collect();
            let hashes: Vec<Vec<u8>> =
                nodes.iter().map(|node| node.hash.as_bytes().to_vec()).collect();
            self.send(INTO_NODES, vec![Box::new(levels), Box::new(numbers), Box::new(hashes)])?;
        }
        let (brought, referred) = results.parameters();
        if let Some(brought) = brought {
            self.send(INTO_RESULTS, brought)?;
        }
        match referred {
            Some(referred) => self.send(REFER, referred),
            None => Ok(()),
        }
    }

    /// Sends the checkpoint and the commit, and waits for every answer. Returns the first failure;
    /// the server ignores the statements after it.
    pub(super) fn commit(mut self, checkpoint: (u64, String)) -> Result<(), Failure> {
        let (size, note) = (signed(checkpoint.0), checkpoint.1);
        let block = signed(block(checkpoint.0) * BLOCK);
        self.send(INTO_CHECKPOINTS, vec![Box::new(size), Box::new(note)])?;
        self.send(REPLACE_CHECKPOINTS, vec![Box::new(block), Box::new(size)])?;
        self.send(NOTIFY, vec![Box::new(size)])?;
        let client = &self.link.client;
        self.fly(Box::pin(async move { client.batch_execute("COMMIT").await.map(|()| 0) }));
        let answers = self.answers;
        let all = async { join_all(answers).await.into_iter().collect::<Result<Vec<_>, _>>() };
        self.link.wait(all).map(|_| ())
    }
}

/// The column values of some events.
#[derive(Default)]
struct Columns {
    seq: Vec<i64>,
    session: Vec<i64>,
    session_seq: Vec<i64>,
    calls: Vec<i64>,
    kind: Vec<String>,
    execution_id: Vec<Option<String>>,
    opening: Vec<Option<i64>>,
    digest: Vec<Vec<u8>>,
    body: Vec<Vec<u8>>,
}

impl Columns {
    fn add(&mut self, entry: &Entry, session: i64) {
        self.seq.push(signed(entry.seq));
        self.session.push(session);
        self.session_seq.push(signed(entry.session_seq));
        self.calls.push(signed(entry.calls));
        self.kind.push(entry.kind.to_string());
        self.execution_id.push(entry.execution_id.clone());
        self.opening.push(entry.opening.map(signed));
        self.digest.push(entry.digest.as_bytes().to_vec());
        self.body.push(entry.body.clone());
    }

    fn parameters(self) -> Vec<Parameter> {
        vec![
            Box::new(self.seq),
            Box::new(self.session),
            Box::new(self.session_seq),
            Box::new(self.calls),
            Box::new(self.kind),
            Box::new(self.execution_id),
            Box::new(self.opening),
            Box::new(self.digest),
            Box::new(self.body),
        ]
    }
}

/// The stored results of some events: the last event to refer to one counts, and its bytes are sent
/// once.
#[derive(Default)]
struct Results<'e> {
    by_digest: HashMap<&'e Digest, (u64, Option<&'e Stored>)>,
}

impl<'e> Results<'e> {
    fn add(&mut self, entry: &'e Entry) {
        if let Some(needed) = &entry.needs {
            self.by_digest.entry(needed).or_default().0 = entry.seq * PER_EVENT;
        }
        for (number, stored) in (1..).zip(&entry.stored) {
            let id = entry.seq * PER_EVENT + number;
            self.by_digest.insert(&stored.digest, (id, Some(stored)));
        }
    }

    /// The parameters for results that are new, and for stored ones that are referred to.
    fn parameters(&self) -> (Option<Vec<Parameter>>, Option<Vec<Parameter>>) {
        let mut rows: Vec<_> = self.by_digest.iter().collect();
        rows.sort_by_key(|(_, (id, _))| *id);
        let mut ids: Vec<i64> = Vec::new();
        let mut digests: Vec<Vec<u8>> = Vec::new();
        let mut sizes: Vec<i64> = Vec::new();
        let mut packed: Vec<i16> = Vec::new();
        let mut bytes: Vec<Vec<u8>> = Vec::new();
        let mut referred: (Vec<Vec<u8>>, Vec<i64>) = Default::default();
        for (digest, (id, stored)) in rows {
            let digest = digest.as_bytes().to_vec();
            match stored {
                Some(stored) => {
                    ids.push(signed(*id));
                    digests.push(digest);
                    sizes.push(i64::try_from(stored.size).unwrap_or(i64::MAX));
                    packed.push(i16::from(stored.packed));
                    bytes.push(stored.bytes.to_vec());
                }
                None => {
                    referred.0.push(digest);
                    referred.1.push(signed(*id));
                }
            }
        }
        let brought: Option<Vec<Parameter>> = (!ids.is_empty()).then(|| {
            vec![
                Box::new(ids) as Parameter,
                Box::new(digests),
                Box::new(sizes),
                Box::new(packed),
                Box::new(bytes),
            ]
        });
        let referred = (!referred.0.is_empty())
            .then(|| vec![Box::new(referred.0) as Parameter, Box::new(referred.1)]);
        (brought, referred)
    }
}
