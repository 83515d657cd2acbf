//! A connection that is restored when it is lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::address::PostgresAddress;
use super::link::{Failure, Link, Sockets};
use super::pause::Pause;
use crate::read::ReadLedgerError;
use crate::settings::Durability;

/// How long to retry while the database does not answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Holds one connection, which is made on demand.
#[derive(Debug)]
pub(super) struct Linked {
    pub(super) sockets: Arc<Sockets>,
    pub(super) address: PostgresAddress,
    durability: Durability,
    link: Option<Link>,
}

impl Linked {
    pub(super) fn new(
        sockets: Arc<Sockets>,
        address: PostgresAddress,
        durability: Durability,
    ) -> Self {
        Self { sockets, address, durability, link: None }
    }

    /// Takes the connection, connecting if necessary.
    pub(super) fn take(&mut self) -> Result<Link, Failure> {
        match self.link.take().filter(|link| !link.is_lost()) {
            Some(link) => Ok(link),
            None => Link::connect(&self.sockets, &self.address, self.durability),
        }
    }

    /// Keeps the connection for the next use, unless it is lost.
    pub(super) fn give_back(&mut self, link: Link) {
        self.link = Some(link).filter(|link| !link.is_lost());
    }

    /// Runs something with the connection, without retrying.
    pub(super) fn with<T>(
        &mut self,
        act: impl FnOnce(&Link) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let link = self.take()?;
        let done = act(&link);
        if done.is_err() {
            link.roll_back();
        }
        self.give_back(link);
        done
    }

    /// Reads something, and retries if the connection was lost.
    pub(super) fn read<T>(
        &mut self,
        mut act: impl FnMut(&Link) -> Result<T, ReadLedgerError>,
    ) -> Result<T, ReadLedgerError> {
        let until = Instant::now() + PATIENCE;
        let mut pause = Pause::default();
        loop {
            let done = match self.take() {
                Ok(link) => {
                    let done = act(&link);
                    let lost = link.is_lost();
                    self.give_back(link);
                    match done {
                        Err(_) if lost && Instant::now() < until => None,
                        done => Some(done),
                    }
                }
                Err(Failure::Lost(_)) if Instant::now() < until => None,
                Err(failure) => Some(Err(failure.into())),
            };
            match done {
                Some(done) => return done,
                None => pause.wait(),
            }
        }
    }
}
