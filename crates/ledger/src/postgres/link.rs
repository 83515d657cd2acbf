//! A connection to the database for blocking threads.
//!
//! A separate thread drives the sockets of a ledger, so that callers may be inside or outside an
//! async runtime.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, ToSql};
use tokio_postgres::{Client, Row, Statement};

use super::address::PostgresAddress;
use super::tls;
use crate::read::ReadLedgerError;
use crate::seal::Trouble;
use crate::settings::Durability;

/// How long to wait for an answer before the connection counts as lost.
const ANSWER: Duration = Duration::from_secs(60);
/// How long to wait for an answer about the whole ledger.
const LONG_ANSWER: Duration = Duration::from_secs(6 * 60 * 60);

/// The thread that drives the sockets.
#[derive(Debug)]
pub(super) struct Sockets {
    pub(super) runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sockets {
    pub(super) fn start() -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("postgres".to_owned()).spawn(move || {
            // Also ends when the sender is dropped.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Why the database did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The connection is gone, or the server is shutting down: a new connection may help.
    Lost(String),
    /// The server cannot do it now, but may later.
    Busy(String),
    /// The server refuses, with its reason.
    Refused(String, SqlState),
    /// A column contains something unexpected.
    Column(String),
}

impl Failure {
    pub(super) fn from_error(error: &tokio_postgres::Error) -> Self {
        let Some(reported) = error.as_db_error() else {
            let message = with_sources(error);
            return if error.is_closed() || std::error::Error::source(error).is_some() {
                Self::Lost(message)
            } else {
                Self::Column(message)
            };
        };
        let message = reported.message().to_owned();
        let code = reported.code().clone();
        let fatal = matches!(reported.severity(), "FATAL" | "PANIC");
        // 53: not enough connections or memory at present. 57P: the server is stopping or starting.
        if code.code().starts_with("57P") || code == SqlState::TOO_MANY_CONNECTIONS {
            Self::Lost(message)
        } else if matches!(
            code,
            SqlState::T_R_SERIALIZATION_FAILURE
                | SqlState::T_R_DEADLOCK_DETECTED
                | SqlState::LOCK_NOT_AVAILABLE
                | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        ) {
            if fatal { Self::Lost(message) } else { Self::Busy(message) }
        } else {
            Self::Refused(message, code)
        }
    }

    pub(super) fn message(&self) -> &str {
        match self {
            Self::Lost(message)
            | Self::Busy(message)
            | Self::Refused(message, _)
            | Self::Column(message) => message,
        }
    }
}

impl From<Failure> for ReadLedgerError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Column(what) => {
                Self::Broken { what: format!("unexpected query result: {what}") }
            }
            other => Self::Storage(other.message().to_owned()),
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        ReadLedgerError::from(failure).into()
    }
}

/// The message of a driver error, with its sources.
pub(super) fn with_sources(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut below = std::error::Error::source(error);
    while let Some(source) = below {
        let more = source.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        below = source.source();
    }
    text
}

/// A connection. One thread at a time uses it.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) client: Client,
    statements: RefCell<HashMap<&'static str, Statement>>,
    /// The ids of the openings in the page of events read last.
    pub(super) openings: RefCell<HashMap<u64, String>>,
    lost: Cell<bool>,
    patience: Cell<Duration>,
}

impl Link {
    /// Connects, and configures the connection.
    pub(super) fn connect(
        sockets: &Sockets,
        address: &PostgresAddress,
        durability: Durability,
    ) -> Result<Self, Failure> {
        let tls =
            tls::connector(address).map_err(|why| Failure::Refused(why, SqlState::IO_ERROR))?;
        let (config, (sender, receiver)) = (address.config.clone(), sync_channel(1));
        sockets.runtime.spawn(async move {
            let connected = match config.connect(tls).await {
                Ok((client, connection)) => {
                    tokio::spawn(connection);
                    Ok(client)
                }
                Err(error) => Err(error),
            };
            let _ = sender.send(connected);
        });
        let client = match receiver.recv_timeout(ANSWER) {
            Ok(connected) => connected.map_err(|error| Failure::from_error(&error))?,
            Err(_) => return Err(Failure::Lost("the server does not respond".to_owned())),
        };
        let link = Self {
            client,
            statements: RefCell::default(),
            openings: RefCell::default(),
            lost: Cell::new(false),
            patience: Cell::new(ANSWER),
        };
        link.batch(&behaviour(durability))?;
        Ok(link)
    }

    /// Whether a new connection is needed.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.get() || self.client.is_closed()
    }

    /// Waits for an answer.
    pub(super) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        let outcome = match wait(answer, Instant::now() + self.patience.get()) {
            Some(Ok(answer)) => return Ok(answer),
            Some(Err(error)) => Failure::from_error(&error),
            None => Failure::Lost("the server does not respond".to_owned()),
        };
        if matches!(outcome, Failure::Lost(_)) {
            self.lost.set(true);
        }
        Err(outcome)
    }

    /// Runs statements without parameters and results.
    pub(super) fn batch(&self, statements: &str) -> Result<(), Failure> {
        self.wait(self.client.batch_execute(statements))
    }

    /// A prepared statement, prepared once per connection.
    pub(super) fn prepared(&self, text: &'static str) -> Result<Statement, Failure> {
        if let Some(statement) = self.statements.borrow().get(text) {
            return Ok(statement.clone());
        }
        let statement = self.wait(self.client.prepare(text))?;
        self.statements.borrow_mut().insert(text, statement.clone());
        Ok(statement)
    }

    pub(super) fn rows(
        &self,
        text: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Failure> {
        let statement = self.prepared(text)?;
        self.wait(self.client.query(&statement, parameters))
    }

    pub(super) fn row(
        &self,
        text: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, Failure> {
        Ok(self.rows(text, parameters)?.into_iter().next())
    }

    pub(super) fn execute(
        &self,
        text: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, Failure> {
        let statement = self.prepared(text)?;
        self.wait(self.client.execute(&statement, parameters))
    }

    /// Rolls back a failed transaction. If that fails too, the connection is given up, which ends
    /// the transaction.
    pub(super) fn roll_back(&self) {
        if !self.is_lost() && self.batch("ROLLBACK").is_err() {
            self.lost.set(true);
        }
    }

    /// Reads in one transaction, from one snapshot of the ledger.
    pub(super) fn moment<T>(
        &self,
        act: impl FnOnce() -> Result<T, ReadLedgerError>,
    ) -> Result<T, ReadLedgerError> {
        self.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        let done = self.unhurried(act);
        self.roll_back();
        done
    }

    /// Runs something in a transaction without the usual time limits, because it reads everything.
    pub(super) fn unhurried<T>(
        &self,
        act: impl FnOnce() -> Result<T, ReadLedgerError>,
    ) -> Result<T, ReadLedgerError> {
        self.batch("SET LOCAL statement_timeout = 0")?;
        self.patience.set(LONG_ANSWER);
        let done = act();
        self.patience.set(ANSWER);
        done
    }
}

/// The value of a column, converted to its type.
pub(super) fn column<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, Failure> {
    row.try_get(column).map_err(|error| Failure::Column(with_sources(&error)))
}

/// The value of a column that is never negative.
pub(super) fn number(row: &Row, at: usize) -> Result<u64, Failure> {
    let number: i64 = column(row, at)?;
    u64::try_from(number).map_err(|_| Failure::Column(format!("{number} is negative")))
}

/// A number as the database stores it.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The settings of a connection. Indexes are always used, so plans prepared while the tables were
/// small stay good.
fn behaviour(durability: Durability) -> String {
    let synchronous = match durability {
        Durability::Full | Durability::Batch => "on",
        Durability::Os => "off",
    };
    format!(
        "SET client_min_messages = warning;
         SET synchronous_commit = {synchronous};
         SET lock_timeout = '20s';
         SET statement_timeout = '50s';
         SET idle_in_transaction_session_timeout = '20s';
         SET plan_cache_mode = force_generic_plan;
         SET enable_seqscan = off;
         SET enable_hashjoin = off;
         SET enable_mergejoin = off;
         SET jit = off;
         SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', false);"
    )
}

/// Blocks until the future is ready; `None` if it takes too long.
fn wait<T>(future: impl Future<Output = T>, until: Instant) -> Option<T> {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        let left = until.checked_duration_since(Instant::now())?;
        std::thread::park_timeout(left);
    }
}
