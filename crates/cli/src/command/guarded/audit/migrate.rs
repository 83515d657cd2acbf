use std::convert::Infallible;
use std::io::{self, Write as _};
use std::sync::Arc;

use clap::Args;
use counterfoil_ledger::{
    Ledger, LedgerSettings, LedgerUrl, MigrateError, SystemClock, SystemRandomness,
};

use crate::exit::{Complaint, Exit};
use crate::state::State;
use counterfoil_report::counted;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The new location of the ledger [default: `--ledger` or `ledger.url`]
    #[arg(long, value_name = "URL", value_parser = |text: &str| Ok::<_, Infallible>(LedgerUrl::new(text)))]
    to: Option<LedgerUrl>,
}

pub(super) fn run(
    state: &State,
    settings: LedgerSettings,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let password = std::env::var("PGPASSWORD").ok();
    let to = arguments.to.clone().map(|url| match &password {
        Some(password) => url.or_password(password),
        None => url,
    });
    let Some(url) = to.or_else(|| settings.url.clone()) else {
        return Err(Complaint::new("missing --to <URL>")
            .help("pass `--to postgres://USER@HOST/DATABASE`")
            .into());
    };
    let from = state.folder().ledger();
    if !from.exists() {
        let missing = format!("no ledger at `{}`", from.display());
        return Err(Complaint::new(missing).help("the first call creates it").into());
    }
    let settings = LedgerSettings { url: Some(url.clone()), ..settings };
    let (clock, randomness) = (Arc::new(SystemClock::default()), Arc::new(SystemRandomness));
    let moved = Ledger::migrate(&from, &settings, clock, randomness, &mut |_| {});
    let moved = moved.map_err(|error| match &error {
        MigrateError::Open(open) => Complaint::new(open.to_string()).help(open.help()),
        MigrateError::NotEmpty { .. } => Complaint::new(error.to_string())
            .help("use an empty database, or an empty schema with `options=-csearch_path%3DNAME`"),
        MigrateError::Grew { .. } => Complaint::new(error.to_string())
            .help("stop the processes that write to the ledger, then try again"),
        _ => Complaint::new(error.to_string()),
    })?;
    let found = moved.verification;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "copied {} (from {}) and {} to {url}, and verified the copy; signed events: {}",
        counted(found.events, "event"),
        counted(found.sessions, "session"),
        counted(found.results, "stored result"),
        found.signed,
    )?;
    let key = settings.key.unwrap_or_else(|| {
        let mut beside = from.clone().into_os_string();
        beside.push(".key");
        beside.into()
    });
    writeln!(
        out,
        "Give every replica a copy of the key {} and set `ledger.url`; stop writing to {}.",
        key.display(),
        from.display()
    )?;
    Ok(Exit::Clean)
}
