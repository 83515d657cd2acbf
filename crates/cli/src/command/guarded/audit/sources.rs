//! Opens the audit log and the ledger.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use counterfoil_ledger::{
    AuditFiles, AuditProblem, Ledger, LedgerSettings, OpenLedgerError, ReadAuditError, Retention,
    SystemClock, SystemRandomness,
};

use crate::config;
use crate::exit::Complaint;
use crate::global::Global;
use crate::state::State;
use crate::terminal::Paint;

pub(super) fn files(state: &State) -> Result<AuditFiles, Complaint> {
    AuditFiles::open(&state.folder().audit()).map_err(|error| {
        let missing = matches!(error, ReadAuditError::Missing(_));
        let help = missing.then(|| {
            "the first call creates it; use `--state DIR` for a different state folder".to_owned()
        });
        Complaint::new(error.to_string()).maybe_help(help)
    })
}

/// Opens the shared ledger, or the one beside the log; `None` if there is none. Creates nothing.
pub(super) fn ledger(
    state: &State,
    settings: &LedgerSettings,
) -> Result<Option<Ledger>, OpenLedgerError> {
    let is_there = match settings.url {
        Some(_) => Ledger::look(settings)?.is_some(),
        None => state.folder().ledger().exists(),
    };
    if !is_there {
        return Ok(None);
    }
    let (clock, randomness) = (Arc::new(SystemClock::default()), Arc::new(SystemRandomness));
    let (ledger, notices) =
        Ledger::open(&state.folder().ledger(), settings.clone(), clock, randomness)?;
    let _ = notices.iter().try_for_each(|notice| warn(notice));
    Ok(Some(ledger))
}

/// Opens the ledger, which must exist; `why` says what it is needed for.
pub(super) fn the_ledger(
    state: &State,
    settings: &LedgerSettings,
    why: &str,
) -> Result<Ledger, Complaint> {
    ledger(state, settings)
        .map_err(|error| Complaint::from_error(&error).help(error.help()))?
        .ok_or_else(|| {
            let place = ledger_place(state, settings).display().to_string();
            Complaint::new(format!("no ledger at `{place}`"))
                .help(format!("{why}; the first call creates the ledger"))
        })
}

/// The location of the ledger: a file, or a URL without its password.
pub(super) fn ledger_place(state: &State, settings: &LedgerSettings) -> PathBuf {
    match &settings.url {
        Some(url) => PathBuf::from(url.to_string()),
        None => state.folder().ledger(),
    }
}

/// Returns the ledger settings without retention, because reading must not drop anything.
pub(super) fn settings(global: &Global) -> anyhow::Result<LedgerSettings> {
    let settings = config::find(&global.place())?.options.ledger.resolve()?;
    Ok(LedgerSettings { retention: Retention::default(), ..settings })
}

fn warn(text: &str) -> io::Result<()> {
    let paint = Paint::for_errors();
    writeln!(io::stderr(), "{}: {text}", paint.bold("warning"))
}

pub(super) fn problem_line(problem: &AuditProblem) -> io::Result<()> {
    let AuditProblem { file, line, why } = problem;
    let paint = Paint::for_errors();
    writeln!(io::stderr(), "{}: {}:{line}: {why}", paint.error("error"), file.display())
}
