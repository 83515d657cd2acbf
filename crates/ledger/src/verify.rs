//! Recomputes a ledger and reports what was changed, cut off or inserted.

mod chain;
mod logged;
mod signed;
mod stored;
mod verification;

use super::log::{Read, Record};
use super::read::ReadLedgerError;
use super::tables::Tables;
use chain::Chain;
use signed::Signed;
use verification::Stop;
pub use verification::{Broken, Expected, HeldAgainst, Verification};

/// Verifies the whole ledger, including the events that are only in its log. The tables must not
/// change meanwhile.
pub(super) fn verify(
    tables: &impl Tables,
    log: Read,
    expected: &Expected,
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, ReadLedgerError> {
    let mut found = Verification::default();
    match run(tables, log, expected, progress, &mut found) {
        Ok(()) => Ok(found),
        Err(Stop::Broken(broken)) => Ok(Verification { broken: Some(broken), ..found }),
        Err(Stop::Unread(error)) => Err(error),
    }
}

fn run(
    tables: &impl Tables,
    log: Read,
    expected: &Expected,
    progress: &mut dyn FnMut(u64),
    found: &mut Verification,
) -> Result<(), Stop> {
    if expected.checkpoint.is_some() {
        found.checkpoint = HeldAgainst::DoesNotFit;
    }
    if !expected.public_keys.is_empty() {
        found.public_key = HeldAgainst::DoesNotFit;
    }
    tables.verify_definitions()?;
    let names = tables.names()?;
    let [origin] = names.as_slice() else {
        return Err(Broken::new("the ledger has no name, or more than one").into());
    };
    let notes = log.records.iter().filter_map(|record| match record {
        Record::Checkpoint(note) => Some(note.as_str()),
        Record::Event(..) => None,
    });
    let signed = Signed::read(tables, origin, notes)?;
    signed.hold_against(origin, expected, found)?;
    let mut chain = Chain::begin(tables, origin, &signed, expected.checkpoint.as_ref(), found)?;
    chain.verify_events(progress)?;
    chain.verify_log(&log)?;
    progress(chain.events());
    chain.end()
}
