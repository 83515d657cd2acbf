//! Writes groups of events, one transaction each, while no other replica writes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use counterfoil_model::Digest;

use super::insert::Flight;
use super::link::{Failure, Link, signed};
use super::linked::Linked;
use super::lookups::{Found, LookupKeys};
use super::pause::Pause;
use super::tables::digest_at;
use super::turn::{End, begin};
use crate::append::{AppendError, Item};
use crate::group::WritesGroups;
use crate::head::{Head, hold, last_checkpoint};
use crate::log::Extent;
use crate::note::Checkpoint;
use crate::ports::Clock;
use crate::read::ReadLedgerError;
use crate::seal::{Outcome, Placed, Trouble, seal};
use crate::signer::Signer;
use crate::tables::Tables;

/// How long to retry a group while the database does not answer, before its callers get an error.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of events sealed before they are sent.
const TOGETHER: usize = 256;

/// The maximum size of a transaction in bytes; larger groups are split.
const LARGEST: usize = 16 * 1024 * 1024;

/// Writes to the ledger for this replica.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) linked: Linked,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) signer: Signer,
    /// The end of the ledger as this replica knows it; `None` if it must be read again.
    pub(super) head: Option<Head>,
}

/// A group that was sent, but may or may not have been committed.
struct Sent {
    placed: Vec<Result<Placed, AppendError>>,
    head: Head,
    /// The number and digest of its first event.
    first: (u64, Digest),
}

/// The result of one attempt.
enum Attempt {
    Done(Vec<Result<Placed, AppendError>>),
    /// Nothing was written, and a retry would not help.
    Refused(AppendError),
    /// Nothing was written, but a retry may help.
    Failed(String),
    Unsure(Box<Sent>, String),
}

impl WritesGroups for Writer {
    fn write(&mut self, items: Vec<Item>) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(items.len());
        let (mut part, mut bytes) = (Vec::new(), 0);
        for item in items {
            let stored: usize = item.stored.iter().map(|stored| stored.bytes.len()).sum();
            bytes += stored + item.bytes.len();
            part.push(item);
            if bytes > LARGEST {
                outcomes.extend(self.write_all(std::mem::take(&mut part)));
                bytes = 0;
            }
        }
        outcomes.extend(self.write_all(part));
        outcomes
    }

    fn after_group(&mut self) {}
}

impl Writer {
    /// Writes the items in one transaction, all or none. INVARIANT: what is answered with an event
    /// is committed; what is answered with an error other than `Unknown` is not.
    fn write_all(&mut self, items: Vec<Item>) -> Vec<Outcome> {
        if items.is_empty() {
            return Vec::new();
        }
        let until = Instant::now() + PATIENCE;
        let (mut unsure, mut pause) = (None, Pause::default());
        loop {
            let attempt = match unsure.take() {
                None => self.attempt(&items),
                Some(sent) => self.resolve(sent),
            };
            let why = match attempt {
                Ok(Attempt::Done(placed)) => return events(placed, items),
                Ok(Attempt::Refused(error)) | Err(Trouble(error)) => {
                    self.head = None;
                    return vec![Err(error); items.len()];
                }
                Ok(Attempt::Failed(why)) => why,
                Ok(Attempt::Unsure(sent, why)) => {
                    unsure = Some(sent);
                    why
                }
            };
            self.head = None;
            if Instant::now() >= until {
                return given_up(unsure, items.len(), &why);
            }
            pause.wait();
        }
    }

    fn attempt(&mut self, items: &[Item]) -> Result<Attempt, Trouble> {
        let link = match self.linked.take() {
            Ok(link) => link,
            Err(failure) => return Ok(refused(failure)),
        };
        let attempt = self.attempt_on(&link, items);
        let lost = link.is_lost();
        self.linked.give_back(link);
        match attempt {
            // What was read through a lost connection failed because of it.
            Err(Trouble(error)) if lost => Ok(Attempt::Failed(error.to_string())),
            attempt => attempt,
        }
    }

    fn attempt_on(&mut self, link: &Link, items: &[Item]) -> Result<Attempt, Trouble> {
        let keys = LookupKeys::by(items);
        let (end, rows) = match begin(link, &keys) {
            Ok(begun) => begun,
            Err(failure) => {
                link.roll_back();
                return Ok(refused(failure));
            }
        };
        let found = Found::read(link, &keys, &rows.0, &rows.1);
        let head = found.map_err(Trouble::from).and_then(|found| {
            let head = self.follow(link, &end)?;
            Ok((found, head))
        });
        let mut flight = Flight::new(link, end.sessions);
        let sealed = head.and_then(|(found, mut head)| {
            let placed = self.seal(items, &found, &mut head, &mut flight)?;
            Ok((placed, head))
        });
        let (placed, mut head) = match sealed {
            Ok(sealed) => sealed,
            Err(trouble) => {
                drop(flight);
                link.roll_back();
                return Err(trouble);
            }
        };
        let Some(first) = head.recent.entries.first().map(|entry| (entry.seq, entry.digest)) else {
            link.roll_back();
            // Other replicas may write to the sessions that were looked up.
            head.forget();
            self.head = Some(head);
            return Ok(Attempt::Done(placed));
        };
        let size = head.frontier.size();
        let note = self.signer.checkpoint(size, head.frontier.root()).to_string();
        head.signed = size;
        head.forget();
        match flight.commit((size, note)) {
            Ok(()) => {
                self.head = Some(head);
                Ok(Attempt::Done(placed))
            }
            Err(Failure::Lost(why)) => {
                Ok(Attempt::Unsure(Box::new(Sent { placed, head, first }), why))
            }
            // The server reported it, so it has rolled back.
            Err(failure) => {
                link.roll_back();
                Ok(refused(failure))
            }
        }
    }

    /// Seals the items in order, while the server inserts those sealed before.
    fn seal(
        &self,
        items: &[Item],
        found: &Found,
        head: &mut Head,
        flight: &mut Flight<'_>,
    ) -> Result<Vec<Result<Placed, AppendError>>, Trouble> {
        let mut placed = Vec::with_capacity(items.len());
        for some in items.chunks(TOGETHER) {
            let from = head.recent.entries.len();
            for item in some {
                placed.push(seal(found, head, item, self.clock.wall())?);
            }
            flight.events(head, from)?;
        }
        Ok(placed)
    }

    /// Finds out whether a group was committed. Holding the lock proves that its transaction has
    /// ended.
    fn resolve(&mut self, sent: Box<Sent>) -> Result<Attempt, Trouble> {
        let nothing = LookupKeys::default();
        let found = self.linked.with(|link| {
            begin(link, &nothing)?;
            let query = "SELECT digest FROM events WHERE seq = $1";
            let row = link.row(query, &[&signed(sent.first.0)])?;
            let found = row.map(|row| digest_at(&row, 0)).transpose()?;
            link.batch("ROLLBACK")?;
            Ok(found)
        });
        match found {
            Ok(Some(digest)) if digest == sent.first.1 => {
                self.head = Some(sent.head);
                Ok(Attempt::Done(sent.placed))
            }
            Ok(_) => Ok(Attempt::Failed("the connection was lost".to_owned())),
            Err(failure) => Ok(Attempt::Unsure(sent, failure.message().to_owned())),
        }
    }

    /// The current end of the ledger, including what other replicas wrote.
    pub(super) fn follow(&mut self, link: &Link, end: &End) -> Result<Head, Trouble> {
        let known = self.head.take();
        if end.key != self.signer.number {
            self.signer.follow_rotation(link)?;
        }
        let Some(mut head) = known else {
            let head = Head::load(link, &self.signer.origin, Extent::default())?;
            return if head.signed == head.frontier.size() { Ok(head) } else { Err(unsigned()) };
        };
        let size = head.frontier.size();
        head.cut = end.cut;
        if end.size < size {
            // Acknowledged events are gone: nothing may continue from the rest.
            self.head = Some(head);
            let what = format!("it has {} events, but had {size} before", end.size);
            return Err(ReadLedgerError::Broken { what }.into());
        }
        if end.size > size {
            // A checkpoint signed with one of our keys certifies everything below it. Every group
            // has one: events beyond the last checkpoint were written without a key.
            let last = last_checkpoint(link)?.filter(|last| last.size() == end.size);
            let last = last.ok_or_else(unsigned)?;
            for digest in link.digests(size, end.size)? {
                head.frontier.push(&digest, |_| {});
                head.last = digest;
            }
            hold(&last, head.frontier.root(), link)?;
            head.signed = end.size;
        }
        Ok(head)
    }

    /// Changes the tables in one transaction, based on the current end of the ledger.
    pub(super) fn transaction<T>(
        &mut self,
        act: impl Fn(&Link, &mut Self, &mut Head) -> Result<T, Trouble>,
    ) -> Result<T, AppendError> {
        let until = Instant::now() + PATIENCE;
        let mut pause = Pause::default();
        loop {
            let link = match self.linked.take() {
                Ok(link) => link,
                Err(Failure::Lost(_)) if Instant::now() < until => {
                    pause.wait();
                    continue;
                }
                Err(failure) => return Err(AppendError::Storage(failure.message().to_owned())),
            };
            let done =
                begin(&link, &LookupKeys::default()).map_err(Trouble::from).and_then(|(end, _)| {
                    let mut head = self.follow(&link, &end)?;
                    Ok((act(&link, self, &mut head)?, head))
                });
            let committed = done.map(|(done, head)| (done, head, link.batch("COMMIT")));
            if committed.is_err() {
                link.roll_back();
            }
            let lost = link.is_lost();
            self.linked.give_back(link);
            match committed {
                Ok((done, mut head, Ok(()))) => {
                    head.forget();
                    self.head = Some(head);
                    return Ok(done);
                }
                Ok((_, _, Err(failure))) => {
                    return Err(AppendError::Unknown(failure.message().to_owned()));
                }
                Err(_) if lost && Instant::now() < until => pause.wait(),
                Err(Trouble(error)) => return Err(error),
            }
        }
    }

    /// The checkpoint of everything in the ledger, signed now if necessary.
    pub(super) fn checkpoint(&mut self) -> Result<Checkpoint, AppendError> {
        self.transaction(|link, writer, head| {
            let last = last_checkpoint(link)?.filter(|last| last.size() == head.frontier.size());
            match last {
                Some(last) => Ok(last),
                None => writer.sign_in_tables(link, head),
            }
        })
    }

    /// Signs the head inside a transaction.
    pub(super) fn sign_in_tables(
        &mut self,
        link: &Link,
        head: &mut Head,
    ) -> Result<Checkpoint, Trouble> {
        let size = head.frontier.size();
        let checkpoint = self.signer.checkpoint(size, head.frontier.root());
        let query = "INSERT INTO checkpoints (size, note) VALUES ($1, $2)";
        link.execute(query, &[&signed(size), &checkpoint.to_string()])?;
        head.signed = size;
        Ok(checkpoint)
    }
}

fn unsigned() -> Trouble {
    let what = "no signed checkpoint covers its last events".to_owned();
    ReadLedgerError::Broken { what }.into()
}

fn refused(failure: Failure) -> Attempt {
    match failure {
        Failure::Lost(why) | Failure::Busy(why) => Attempt::Failed(why),
        failure => Attempt::Refused(AppendError::Storage(failure.message().to_owned())),
    }
}

/// The outcomes of items that have their places.
fn events(placed: Vec<Result<Placed, AppendError>>, items: Vec<Item>) -> Vec<Outcome> {
    let event = |(placed, item): (Result<Placed, AppendError>, Item)| {
        placed.map(|placed| placed.event(item))
    };
    placed.into_iter().zip(items).map(event).collect()
}

/// The outcomes when the time is up.
fn given_up(unsure: Option<Box<Sent>>, count: usize, why: &str) -> Vec<Outcome> {
    match unsure {
        None => {
            vec![Err(AppendError::Storage(format!("the database is unreachable: {why}"))); count]
        }
        Some(sent) => {
            let unknown = |placed: Result<Placed, AppendError>| {
                Err(placed.err().unwrap_or_else(|| AppendError::Unknown(why.to_owned())))
            };
            sent.placed.into_iter().map(unknown).collect()
        }
    }
}
