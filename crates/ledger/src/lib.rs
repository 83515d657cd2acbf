//! What happened: a tamper-evident sequence of events, and an audit log with a line per call.
//!
//! A receipt is the sum of the events of one execution; nothing is ever updated. Every event
//! contains the digest of the one before it, and is a leaf of one Merkle tree whose heads are
//! signed. [`AuditLog`] keeps a separate log with one line per call.
//!
//! Deliberately not here: what may happen, who may do it, tools, sessions, transcripts. The ledger
//! records what it is given; the caller removes secrets first.
//!
//! Start with [`LedgerStore`], then [`Event`] and [`Receipt`].
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod append;
mod audit;
mod body;
mod bundle;
mod changes;
mod circumstances;
mod decisions;
mod event;
mod export;
mod group;
mod head;
mod kept;
mod key;
mod log;
mod log_file;
mod lookups;
mod moving;
mod note;
mod open;
mod options;
mod patience;
mod pending;
mod ports;
#[cfg(feature = "postgres")]
mod postgres;
mod queries;
mod read;
mod receipt;
mod recent;
mod results;
mod retention;
mod rotation;
mod schema;
mod seal;
mod settings;
mod shared;
mod signer;
mod sqlite;
mod sqlite_tables;
mod store;
mod tables;
mod tombstone;
mod tree;
mod url;
mod verify;
mod witness;
mod writer;

pub use append::AppendError;
pub use audit::{
    AppendAuditError, AuditEntry, AuditFiles, AuditFilter, AuditHead, AuditLine, AuditLog,
    AuditOptions, AuditProblem, AuditResult, AuditSettings, AuditStats, AuditVerification,
    Compared, Egress, ExitCode, LineError, OnFailure, OpenAuditError, ReadAuditError, Reading,
    tail_audit, verify_audit,
};
pub use bundle::{
    Bundle, BundleError, BundleMark, BundleResult, BundleSession, BundleVerification, NoBundle,
};
pub use changes::Changes;
pub use circumstances::{Phase, Requested, TraceContext, TraceContextError, TrustLevel};
pub use event::{
    APPROVAL_DECLINED, APPROVAL_REQUIRED, Approved, Closed, Declined, Draft, Event, Lasts, Links,
    Opened, Rejected, Said,
};
pub use export::{ExportError, ExportedEvent, ExportedReceipt, Provable, Proved};
pub use kept::KeptNotes;
pub use key::{KeyFileError, PublicKey, PublicKeyError};
pub use log_file::{LogFile, SystemLogFile};
pub use note::{Checkpoint, CheckpointError};
pub use open::OpenLedgerError;
pub use options::{LedgerOptions, LedgerOptionsError};
pub use pending::Pending;
pub use ports::{Clock, Randomness, RandomnessError, SystemClock, SystemRandomness};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresAddress, PostgresAddressError, PostgresLedger};
pub use read::ReadLedgerError;
pub use receipt::Receipt;
pub use settings::{Durability, LedgerSettings, Retention};
pub use shared::{MigrateError, Migrated};
pub use sqlite::SqliteLedger;
pub use store::{Ledger, LedgerStore};
pub use tree::{ConsistencyProof, InclusionProof};
pub use url::LedgerUrl;
pub use verify::{Broken, Expected, HeldAgainst, Verification};
pub use witness::{
    KeyKind, OpenWitnessError, Submission, VerifierKey, VerifierKeyError, Witness, WitnessRefusal,
};
