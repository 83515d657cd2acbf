//! Bundles of receipts for others: one page for a browser that contains a program to verify it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use counterfoil_ledger::{
    Bundle, BundleError, BundleMark, BundleVerification, LedgerSettings, NoBundle, Provable,
    PublicKey, Receipt,
};
use counterfoil_model::Digest;
use serde::Serialize;
use serde_json::{Value, json};

use super::kept;
use super::sources::the_ledger;
use super::when::When;
use crate::choices::{ShownWhole, WholeFormat};
use crate::exit::{Complaint, Exit};
use crate::files;
use crate::state::State;
use crate::terminal::Paint;
use counterfoil_report::counted;

mod page;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Include everything recorded in this session
    #[arg(long, value_name = "ID", required_unless_present = "execution")]
    session: Option<String>,
    /// Include these executions
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with = "session")]
    execution: Vec<String>,
    /// Include only what was recorded in the session since this time: a date, a time (RFC 3339),
    /// or how long ago
    #[arg(long, value_name = "WHEN", requires = "session", conflicts_with = "execution")]
    since: Option<When>,
    /// Include results and texts (recorded with secrets already removed), not only their digests
    #[arg(long)]
    with_results: bool,
    /// The output file, or - for standard output
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// A self-contained HTML page, or only its JSON
    #[arg(long, value_name = "FORMAT", default_value = "html")]
    format: BundleFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BundleFormat {
    /// A page for a browser, with a program that verifies it
    Html,
    /// The JSON that this program reads
    Json,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArguments {
    /// The bundle: the page, or its JSON
    file: PathBuf,
    /// The ledger's public key, from a copy kept elsewhere: a PEM file, or the key's fingerprint
    #[arg(long, value_name = "KEY")]
    public_key: Option<String>,
    #[command(flatten)]
    shown: ShownWhole,
}

/// Makes a bundle.
pub(super) fn make(
    state: &State,
    settings: &LedgerSettings,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let ledger = the_ledger(state, settings, "receipts are read from the ledger")?;
    let wanted = match &arguments.session {
        Some(name) => {
            let since = arguments.since.map(When::millis);
            Provable::Session { name: name.clone(), since }
        }
        None => Provable::Executions(arguments.execution.clone()),
    };
    let bundle = Bundle::create(&ledger, &wanted, arguments.with_results).map_err(|error| {
        let help = match &error {
            BundleError::Nothing(_) => Some("`counterfoil audit query` shows recent calls"),
            BundleError::NothingSince(_) => Some("use an earlier time, or omit `--since`"),
            _ => None,
        };
        Complaint::new(error.to_string()).maybe_help(help.map(str::to_owned))
    })?;
    let line = bundle.to_line()?;
    let text = match arguments.format {
        BundleFormat::Json => format!("{line}\n"),
        BundleFormat::Html => {
            let found = BundleVerification::run(&line, Some(&ledger.public_key().fingerprint()))
                .map_err(|error| anyhow::anyhow!("the new bundle cannot be verified: {error}"))?;
            page::render(&bundle, &found.receipts, &line)
        }
    };
    if arguments.output == Path::new("-") {
        io::stdout().lock().write_all(text.as_bytes())?;
    } else {
        let folder = arguments.output.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
            .with_context(|| format!("`{}` cannot be written", arguments.output.display()))?;
        file.write_all(text.as_bytes())?;
        file.persist_noclobber(&arguments.output).map_err(|error| {
            let shown = arguments.output.display();
            if error.error.kind() == io::ErrorKind::AlreadyExists {
                let advice = "use another file name, or delete the existing file first";
                return Complaint::new(format!("`{shown}` already exists")).help(advice);
            }
            Complaint::new(format!("cannot write `{shown}`: {}", error.error))
        })?;
    }
    let paint = Paint::for_errors();
    let key = ledger.public_key().fingerprint();
    writeln!(
        io::stderr(),
        "{}, {}. Send this key to the recipient separately, not with the file: {}",
        counted(bundle.events.len(), "event"),
        counted(bundle.receipts.len(), "receipt"),
        paint.bold(&format!("sha256:{key}")),
    )?;
    Ok(Exit::Clean)
}

/// Returns the line of a page that contains the bundle, or the whole text if it is not a page.
fn find_bundle(text: &str) -> &str {
    // Changed line endings must not hide the bundle, so that they can be reported.
    let is_marker = |line: &&str| line.strip_suffix('\r').unwrap_or(line) == page::MARKER;
    let marked = text.split('\n').filter(is_marker).count() == 1;
    let mut lines = text.split('\n').skip_while(|line| !is_marker(line)).skip(1);
    if marked {
        return lines.next().unwrap_or_default();
    }
    text.strip_suffix('\n').unwrap_or(text)
}

/// Verifies a bundle with a key.
pub(super) fn verify(arguments: &VerifyArguments) -> anyhow::Result<Exit> {
    let path = &arguments.file;
    let given = arguments.public_key.as_deref().map(fingerprint).transpose()?;
    let text = files::read_text(path)
        .map_err(|error| Complaint::new(format!("`{}` cannot be read: {error}", path.display())))?;
    let found = BundleVerification::run(find_bundle(&text), given.as_ref()).map_err(|error| {
        let help = match &error {
            NoBundle::Reframed => {
                "ask the sender for an unmodified copy, for example in an archive"
            }
            NoBundle::Version(_) => "verify it with the version of Counterfoil that created it",
            _ => "create one with `counterfoil audit bundle`",
        };
        Complaint::new(format!("`{}`: {error}", path.display())).help(help)
    })?;
    let verified = found.is_sound() && found.events > 0 && given.is_some();
    let verdict = match (found.is_sound(), found.events) {
        (false, _) => "BROKEN: the content does not match what the ledger signed",
        (true, 0) => "NOT VERIFIED: the bundle is empty",
        _ if verified => "VERIFIED: the ledger with this key signed the events",
        _ => "CONSISTENT, NOT VERIFIED: compare its key with a public key obtained separately",
    };
    let mut out = io::stdout().lock();
    let paint = Paint::for_output(arguments.shown.color);
    match arguments.shown.format {
        WholeFormat::Text => {
            for (mark, what) in &found.rows {
                let mark = match mark {
                    BundleMark::Holds => paint.code("holds "),
                    BundleMark::Broken => paint.error("BROKEN"),
                    BundleMark::Open => "open  ".to_owned(),
                };
                writeln!(out, "{mark}  {what}")?;
            }
            writeln!(out, "{}", paint.bold(verdict))?;
        }
        WholeFormat::Json => {
            let rows: Vec<_> = found
                .rows
                .iter()
                .map(|(mark, what)| json!({ "mark": format!("{mark:?}").to_lowercase(), "what": what }))
                .collect();
            #[derive(Serialize)]
            struct Verified {
                sound: bool,
                verified: bool,
                rows: Vec<Value>,
                receipts: Vec<Receipt>,
            }
            let (sound, receipts) = (found.is_sound(), found.receipts.clone());
            let answer = Verified { sound, verified, rows, receipts };
            writeln!(out, "{}", counterfoil_report::json_pretty(&answer))?;
        }
    }
    Ok(if found.is_sound() { Exit::Clean } else { Exit::Findings })
}

/// Returns the fingerprint of a given key.
fn fingerprint(given: &str) -> Result<Digest, Complaint> {
    let plain = given.to_lowercase();
    let plain = plain.trim().trim_start_matches("sha256:").replace([':', ' '], "");
    match Digest::from_hex(&plain) {
        Some(digest) => Ok(digest),
        None => kept::public_key(Path::new(given)).map(|key| key.fingerprint()).map_err(|error| {
            error.help(
                "pass the public key as a PEM file or as a fingerprint of 64 hex digits; \
                `counterfoil audit key` prints both",
            )
        }),
    }
}

/// Prints the signing key for verifiers.
pub(super) fn key(
    state: &State,
    settings: &LedgerSettings,
    verifier: bool,
) -> anyhow::Result<Exit> {
    let ledger = the_ledger(state, settings, "the signing key belongs to the ledger")?;
    let key: PublicKey = ledger.public_key();
    let mut out = io::stdout().lock();
    if verifier {
        writeln!(out, "{}", key.verifier_key(&ledger.origin()))?;
    } else {
        write!(out, "{key}")?;
    }
    writeln!(io::stderr(), "sha256:{}", key.fingerprint())?;
    Ok(Exit::Clean)
}
