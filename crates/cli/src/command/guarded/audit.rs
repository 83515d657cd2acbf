mod answer;
mod beside;
mod bundle;
mod kept;
mod lines;
mod migrate;
mod recorded;
mod stats;
mod table;
mod verify;
mod when;
mod witness;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use counterfoil_guard::{export, recorded_transcript};
use counterfoil_ledger::{
    AuditFiles, AuditFilter, AuditProblem, AuditResult, Ledger, LedgerSettings, OpenLedgerError,
    ReadAuditError, Retention, SystemClock, SystemRandomness, verify_audit,
};
use counterfoil_model::ToolErrorCategory;

use super::Global;
use crate::choices::Colour;
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::state::State;
use crate::terminal;
use when::When;

/// Read, count and verify the audit log
///
/// The log is `audit.jsonl` in the state folder: one line for every call, each bound to the one
/// before by its digest.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil audit tail                            what was called last
  counterfoil audit query --result blocked --since 24h
  counterfoil audit query --session s1 --format jsonl | jq .call
  counterfoil audit stats
  counterfoil audit checkpoint > kept-elsewhere.txt
  counterfoil audit verify --checkpoint kept-elsewhere.txt

Exit codes: 0 all is as it was written, 1 something is not, 2 usage or input error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the last lines
    #[command(
        after_help = "Examples:\n  counterfoil audit tail\n  counterfoil audit tail -n 100 --format jsonl"
    )]
    Tail {
        /// How many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        lines: usize,
        #[command(flatten)]
        shown: Shown,
    },
    /// Show the lines that match
    #[command(after_help = "\
Examples:
  counterfoil audit query --tool shell --result error
  counterfoil audit query --since 2026-11-02 --until 2026-11-03T12:00:00Z
  counterfoil audit query --execution-id shell_1735999999123_9f3a01bc")]
    Query {
        #[command(flatten)]
        wanted: Wanted,
        /// Stop after so many
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        #[command(flatten)]
        shown: Shown,
    },
    /// Count calls by tool, result, category and hour
    #[command(
        after_help = "Examples:\n  counterfoil audit stats\n  counterfoil audit stats --since 7d --format json"
    )]
    Stats {
        #[command(flatten)]
        wanted: Wanted,
        /// How the counts are shown
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: WholeFormat,
        /// When to use colours
        #[arg(long, value_name = "WHEN", default_value = "auto")]
        color: Colour,
    },
    /// Check every line, link and signature, of the ledger too, and name the first that is broken
    ///
    /// What the files alone cannot show is shown by what was kept elsewhere: a cut end by a
    /// checkpoint, a replaced key by the public key. The answer says which of them it had.
    #[command(after_help = "\
Examples:
  counterfoil audit verify
  counterfoil audit verify --checkpoint kept-elsewhere.txt --public-key ledger.pub")]
    Verify(verify::Arguments),
    /// Print recorded sessions as transcripts, which `counterfoil check` reads, or write calls as a table
    ///
    /// As transcripts: one session a line, in the OpenAI chat form with a `receipts` member, made from
    /// the ledger. With `--csv`, the calls of the audit log as a table.
    #[command(after_help = "\
Examples:
  counterfoil audit export --session s1 | counterfoil check -
  counterfoil audit export > sessions.jsonl
  counterfoil audit export --csv calls.csv")]
    Export {
        /// Only this session; all of them otherwise
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Write the calls of the audit log to this file, as a table in CSV
        #[arg(long, value_name = "FILE")]
        csv: Option<PathBuf>,
    },
    /// Print signed checkpoints of the audit log and of the ledger, to be kept elsewhere
    #[command(after_help = "Examples:\n  counterfoil audit checkpoint > kept-elsewhere.txt")]
    Checkpoint,
    /// Copy the ledger of the state folder to PostgreSQL, where there is none yet
    ///
    /// Events, results, checkpoints and keys stay as they are, byte for byte; the copy is verified
    /// before it counts. The file stays, and so does the signing key: replicas get a copy of it.
    #[command(after_help = "\
Examples:
  counterfoil audit migrate --to postgres://counterfoil@db.example/agents
  counterfoil audit verify --ledger postgres://counterfoil@db.example/agents")]
    Migrate(migrate::Arguments),
    /// Write receipts into one file that anybody can verify: a page with its own verifiers
    ///
    /// It holds events with their proofs, the receipts that they add up to, the keys that signed, and
    /// programs in Python and JavaScript that check all of it and need nothing else.
    #[command(after_help = "\
Examples:
  counterfoil audit bundle --session s1 -o s1.html
  counterfoil audit bundle --execution shell_1735999999123_9f3a01bc --with-results -o receipt.html
  counterfoil audit bundle --session s1 --format json -o - | gzip > s1.json.gz")]
    Bundle(bundle::Arguments),
    /// Verify a bundle, as the programs in it do
    #[command(after_help = "\
Examples:
  counterfoil audit verify-bundle s1.html --public-key ledger.pub

Exit codes: 0 nothing is broken, 1 something is, 2 usage or input error.")]
    VerifyBundle(bundle::VerifyArguments),
    /// Print the public key that signs, in PEM form; its fingerprint goes to standard error
    #[command(
        after_help = "Examples:\n  counterfoil audit key > ledger.pub\n  counterfoil audit key --verifier > ledger.vkey"
    )]
    Key {
        /// In the one-line form NAME+HASH+KEY, which witnesses take
        #[arg(long)]
        verifier: bool,
    },
    /// Have a fresh checkpoint kept elsewhere, with the proof that it continues the last one there
    ///
    /// To a file it is added; a witness cosigns it, and the note with both signatures is printed.
    /// What does not continue the last one is not added, and no witness cosigns it.
    #[command(after_help = "\
Examples:
  counterfoil audit witness --to /mnt/elsewhere/checkpoints.txt
  counterfoil audit witness --to https://witness.example.org --witness-key \"$(cat w1.vkey)\"

Exit codes: 0 it is kept, 1 the ledger does not continue what was kept, 2 usage or input error.")]
    Witness(witness::Arguments),
}

impl Action {
    /// Whether something from elsewhere shows that there was a ledger or a log.
    fn was_seen(&self) -> bool {
        matches!(self, Self::Verify(arguments) if arguments.was_seen())
    }

    /// Whether the audit log of the state folder has to be there.
    fn reads_log(&self) -> bool {
        match self {
            Self::Tail { .. } | Self::Query { .. } | Self::Stats { .. } | Self::Checkpoint => true,
            Self::Export { csv, .. } => csv.is_some(),
            Self::Verify(_)
            | Self::Migrate(_)
            | Self::Bundle(_)
            | Self::VerifyBundle(_)
            | Self::Key { .. }
            | Self::Witness(_) => false,
        }
    }
}

/// Which lines are wanted.
#[derive(Debug, Args)]
struct Wanted {
    /// Calls of this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Calls with this result
    #[arg(long, value_name = "RESULT", value_parser = PossibleValuesParser::new(AuditResult::WORDS))]
    result: Option<String>,
    /// Calls of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Calls of this sub-agent
    #[arg(long, value_name = "ID")]
    caller: Option<String>,
    /// Calls that failed in this way: `PolicyBlocked`, `Timeout`, …
    #[arg(long, value_name = "CATEGORY", value_parser = category())]
    category: Option<String>,
    /// The call with this id
    #[arg(long, value_name = "ID")]
    execution_id: Option<String>,
    /// Not before: a date, a time (RFC 3339), or how long ago (`90m`, `24h`, `7d`)
    #[arg(long, value_name = "WHEN")]
    since: Option<When>,
    /// Before: the same forms
    #[arg(long, value_name = "WHEN")]
    until: Option<When>,
}

fn category() -> PossibleValuesParser {
    PossibleValuesParser::new(ToolErrorCategory::ALL.map(ToolErrorCategory::name))
}

impl Wanted {
    fn filter(&self) -> AuditFilter {
        let named = |name: &String| ToolErrorCategory::ALL.into_iter().find(|c| c.name() == name);
        AuditFilter {
            tool: self.tool.clone(),
            result: self.result.clone(),
            session_id: self.session.clone(),
            caller_id: self.caller.clone(),
            category: self.category.as_ref().and_then(named),
            execution_id: self.execution_id.clone(),
            since: self.since.map(When::millis),
            until: self.until.map(When::millis),
        }
    }
}

#[derive(Debug, Args)]
struct Shown {
    /// How lines are shown
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: LineFormat,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LineFormat {
    /// For people
    Text,
    /// A JSON array of the lines as they stand in the file
    Json,
    /// The lines as they stand in the file
    Jsonl,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WholeFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    if let Action::VerifyBundle(arguments) = &arguments.action {
        // It comes from elsewhere: nothing needs to be recorded here.
        return bundle::verify(arguments);
    }
    let state = global.state()?;
    let settings = settings(global)?;
    // What is asked of a shared ledger needs no log of its own.
    let state = match settings.url {
        Some(_) if !arguments.action.reads_log() => state,
        // What somebody saw was there: that its folder is gone is a verdict.
        _ if arguments.action.was_seen() => state,
        _ => state.existing()?,
    };
    match &arguments.action {
        Action::Tail { lines, shown } => lines::tail(files(&state)?, *lines, shown),
        Action::Query { wanted, limit, shown } => {
            lines::query(files(&state)?, &wanted.filter(), limit.unwrap_or(usize::MAX), shown)
        }
        Action::Stats { wanted, format, color } => {
            stats::run(files(&state)?, &wanted.filter(), *format, *color)
        }
        Action::Verify(arguments) => verify::run(&state, &settings, arguments),
        Action::Export { session, csv: Some(path) } => {
            let filter = AuditFilter { session_id: session.clone(), ..AuditFilter::default() };
            table::write(files(&state)?, &filter, path)
        }
        Action::Export { session, csv: None } => {
            export_sessions(&state, &settings, session.as_deref())
        }
        Action::Checkpoint => checkpoint(&state, &settings),
        Action::Migrate(arguments) => migrate::run(&state, settings, arguments),
        Action::Bundle(arguments) => bundle::make(&state, &settings, arguments),
        Action::VerifyBundle(arguments) => bundle::verify(arguments),
        Action::Key { verifier } => bundle::key(&state, &settings, *verifier),
        Action::Witness(arguments) => witness::send(&state, &settings, arguments),
    }
}

fn files(state: &State) -> Result<AuditFiles, Complaint> {
    AuditFiles::open(&state.folder().audit()).map_err(|error| {
        let missing = matches!(error, ReadAuditError::Missing(_));
        let help = missing.then(|| {
            "it is begun by the first call; `--state DIR` names another state folder".to_owned()
        });
        Complaint::new(error.to_string()).maybe_help(help)
    })
}

/// The ledger beside the log, or the shared one; `None`: there is none. Nothing is begun.
fn ledger(state: &State, settings: &LedgerSettings) -> Result<Option<Ledger>, OpenLedgerError> {
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

/// The ledger beside the log, which has to be there; `why` says what for.
fn the_ledger(state: &State, settings: &LedgerSettings, why: &str) -> Result<Ledger, Complaint> {
    ledger(state, settings)
        .map_err(|error| Complaint::new(error.to_string()).help(error.help()))?
        .ok_or_else(|| {
            let place = ledger_place(state, settings).display().to_string();
            Complaint::new(format!("there is no ledger `{place}`"))
                .help(format!("{why}; it is begun by the first call"))
        })
}

/// Where the ledger is: a file, or a URL without its password.
fn ledger_place(state: &State, settings: &LedgerSettings) -> PathBuf {
    match &settings.url {
        Some(url) => PathBuf::from(url.to_string()),
        None => state.folder().ledger(),
    }
}

/// How the ledger is kept, but for what is dropped: looking drops nothing.
fn settings(global: &Global) -> anyhow::Result<LedgerSettings> {
    let settings = config::find(&global.place())?.options.ledger.resolve()?;
    Ok(LedgerSettings { retention: Retention::default(), ..settings })
}

fn export_sessions(
    state: &State,
    settings: &LedgerSettings,
    session: Option<&str>,
) -> anyhow::Result<Exit> {
    let ledger = the_ledger(state, settings, "sessions are recorded there")?;
    let sessions = match session {
        Some(session) => vec![session.to_owned()],
        None => ledger.sessions()?,
    };
    let mut out = io::stdout().lock();
    for session in sessions {
        let Some(transcript) = recorded_transcript(&ledger, &session)? else {
            return Err(Complaint::new(format!("the ledger has no session `{session}`"))
                .help("`counterfoil audit query` shows the sessions of recent calls")
                .into());
        };
        writeln!(out, "{}", export(&transcript))?;
    }
    Ok(Exit::Clean)
}

/// A checkpoint is signed only over a log that is sound: a signature is a word given.
fn checkpoint(state: &State, settings: &LedgerSettings) -> anyhow::Result<Exit> {
    let found = verify_audit(files(state)?, None, &mut |_| {})
        .map_err(|error| Complaint::new(error.to_string()))?;
    if let Some(problem) = found.broken {
        problem_line(&problem)?;
        return Ok(Exit::Findings);
    }
    let ledger = the_ledger(state, settings, "its key signs checkpoints")?;
    let own = ledger.checkpoint().map_err(|error| Complaint::new(error.to_string()))?;
    let mut out = io::stdout().lock();
    write!(out, "{}{own}", ledger.sign_audit(found.head))?;
    Ok(Exit::Clean)
}

fn warn(text: &str) -> io::Result<()> {
    let paint = terminal::Paint::for_errors();
    writeln!(io::stderr(), "{}: {text}", paint.bold("warning"))
}

fn problem_line(problem: &AuditProblem) -> io::Result<()> {
    let AuditProblem { file, line, why } = problem;
    let paint = terminal::Paint::for_errors();
    writeln!(io::stderr(), "{}: {}:{line}: {why}", paint.error("error"), file.display())
}
