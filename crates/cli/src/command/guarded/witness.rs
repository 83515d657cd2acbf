use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use counterfoil_ledger::{KeyKind, SystemClock, SystemRandomness, VerifierKey, Witness};
use counterfoil_serve::serve_witness;
use tokio::net::TcpListener;

use crate::exit::{Complaint, Exit, note};
use crate::files;
use crate::global::Global;
use crate::signals::interrupted;
use crate::surroundings::runtime;

/// Act as a witness: keep the checkpoints of other ledgers and cosign consistent ones
///
/// Run it on a machine where the ledger's operators have no write access. `counterfoil audit
/// witness --to URL` sends it checkpoints, each with a proof that it continues the previous one.
/// The witness refuses all other checkpoints, and keeps a conflicting checkpoint of the same size
/// as evidence. It uses the C2SP witness protocol over plain HTTP; put a TLS proxy in front of it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil audit key --verifier > ledger.vkey         on the machine with the ledger
  counterfoil witness --name example.org/w1 --ledger-key ledger.vkey

Exit codes: 0 stopped, 2 usage or input error.")]
pub(crate) struct Arguments {
    /// The witness's name in its cosignatures, preferably a URL without the scheme
    #[arg(long, value_name = "NAME")]
    name: String,
    /// The key of a ledger to witness, as NAME+HASH+KEY, or a file with one such key per line
    /// (repeatable; if a ledger's key is replaced, add the new key)
    #[arg(long, value_name = "KEY", required = true)]
    ledger_key: Vec<String>,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8790")]
    listen: SocketAddr,
    /// The folder for the witness's key and the checkpoints it has seen [default: `witness` in the
    /// state folder]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut ledgers = Vec::new();
    for given in &arguments.ledger_key {
        ledgers.extend(keys(given)?);
    }
    if let Some(other) = ledgers.iter().find(|key| key.kind != KeyKind::Ledger) {
        let wrong = format!("`{}` is a witness key, not a ledger key", other.name);
        return Err(Complaint::new(wrong)
            .help("`counterfoil audit key --verifier` prints a ledger's key")
            .into());
    }
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => global.state()?.create()?.folder().witness(),
    };
    let clock = Arc::new(SystemClock::default());
    let witness = Witness::open(&folder, &arguments.name, ledgers, clock, &SystemRandomness)
        .map_err(Complaint::from_error)?;
    let runtime = runtime()?;
    let exit = runtime.block_on(async {
        let listener = TcpListener::bind(arguments.listen)
            .await
            .with_context(|| format!("cannot listen on `{}`", arguments.listen))?;
        let address = listener.local_addr()?;
        note(format!("send checkpoints to http://{address}"))?;
        note(format!("the witness key is {}", witness.verifier_key()))?;
        serve_witness(Arc::new(witness), listener, interrupted()).await?;
        Ok(Exit::Clean)
    });
    runtime.shutdown_background();
    exit
}

/// Returns the given keys: a single key, or those in a file.
fn keys(given: &str) -> Result<Vec<VerifierKey>, Complaint> {
    if let Ok(key) = given.parse() {
        return Ok(vec![key]);
    }
    let wrong = |error: &dyn std::fmt::Display| {
        Complaint::new(format!("`{given}`: {error}"))
            .help("`counterfoil audit key --verifier` prints a ledger's key")
    };
    let text = files::read_text(Path::new(given)).map_err(|error| wrong(&error))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let keys: Result<Vec<VerifierKey>, _> = lines.map(str::parse).collect();
    match keys {
        Ok(keys) if keys.is_empty() => Err(wrong(&"the file contains no key")),
        keys => keys.map_err(|error| wrong(&error)),
    }
}
