mod answer;
mod beside;
mod bundle;
mod kept;
mod lines;
mod migrate;
mod recorded;
mod sources;
mod stats;
mod table;
mod verify;
mod when;
mod witness;

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use counterfoil_guard::{export, recorded_transcript};
use counterfoil_ledger::{AuditFilter, AuditResult, LedgerSettings, verify_audit};
use counterfoil_model::ToolErrorCategory;

use crate::choices::ShownWhole;
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::state::State;
use lines::Shown;
use sources::{files, problem_line, settings, the_ledger};
use when::When;

/// Read, count and verify the audit log
///
/// The log is `audit.jsonl` in the state folder: one line per call, each linked to the previous one
/// by its digest.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil audit tail                            the latest calls
  counterfoil audit query --result blocked --since 24h
  counterfoil audit query --session s1 --format jsonl | jq .call
  counterfoil audit stats
  counterfoil audit checkpoint > kept-elsewhere.txt
  counterfoil audit verify --checkpoint kept-elsewhere.txt

Exit codes: 0 intact, 1 modified or incomplete, 2 usage or input error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the latest lines
    #[command(after_help = "Examples:\n  counterfoil audit tail\n  counterfoil audit tail -n 100 \
            --format jsonl")]
    Tail {
        /// Number of lines
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        lines: usize,
        #[command(flatten)]
        shown: Shown,
    },
    /// Show matching lines
    #[command(after_help = "\
Examples:
  counterfoil audit query --tool shell --result error
  counterfoil audit query --since 2026-11-02 --until 2026-11-03T12:00:00Z
  counterfoil audit query --execution-id shell_1735999999123_9f3a01bc")]
    Query {
        #[command(flatten)]
        wanted: Wanted,
        /// Maximum number of lines to show: the newest ones
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        #[command(flatten)]
        shown: Shown,
    },
    /// Count calls by tool, result, category and hour
    #[command(
        after_help = "Examples:\n  counterfoil audit stats\n  counterfoil audit stats --since 7d \
            --format json"
    )]
    Stats {
        #[command(flatten)]
        wanted: Wanted,
        #[command(flatten)]
        shown: ShownWhole,
    },
    /// Verify every line, link and signature of the audit log and the ledger; report the first that
    /// is broken
    ///
    /// Some changes cannot be detected from these files alone: detecting a truncated end requires a
    /// checkpoint that was kept elsewhere, and detecting a replaced key requires the public key.
    /// The output says which of them were given.
    #[command(after_help = "\
Examples:
  counterfoil audit verify
  counterfoil audit verify --checkpoint kept-elsewhere.txt --public-key ledger.pub")]
    Verify(verify::Arguments),
    /// Export recorded sessions as transcripts for `counterfoil check`, or calls as a CSV table
    ///
    /// Transcripts come from the ledger: one session per line, in the OpenAI chat format with a
    /// `receipts` member. With `--csv`, the calls come from the audit log.
    #[command(after_help = "\
Examples:
  counterfoil audit export --session s1 | counterfoil check -
  counterfoil audit export > sessions.jsonl
  counterfoil audit export --csv calls.csv")]
    Export {
        /// Export only this session [default: all]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Write the calls of the audit log to this CSV file
        #[arg(long, value_name = "FILE")]
        csv: Option<PathBuf>,
    },
    /// Print signed checkpoints of the audit log and the ledger, to be kept elsewhere
    #[command(after_help = "Examples:\n  counterfoil audit checkpoint > kept-elsewhere.txt")]
    Checkpoint,
    /// Copy the ledger in the state folder to a new ledger in PostgreSQL
    ///
    /// Events, results, checkpoints and keys are copied byte for byte, and the copy is verified
    /// before it is used. The original file and the signing key are kept; each replica needs a copy
    /// of the key.
    #[command(after_help = "\
Examples:
  counterfoil audit migrate --to postgres://counterfoil@db.example/agents
  counterfoil audit verify --ledger postgres://counterfoil@db.example/agents")]
    Migrate(migrate::Arguments),
    /// Write receipts to a single file that anyone can verify: an HTML page with a verifier in it
    ///
    /// It contains events with their proofs, the receipts derived from them, the signing keys, and
    /// a program in Python that verifies all of it without other files.
    #[command(after_help = "\
Examples:
  counterfoil audit bundle --session s1 -o s1.html
  counterfoil audit bundle --execution shell_1735999999123_9f3a01bc --with-results -o receipt.html
  counterfoil audit bundle --session s1 --format json -o - | gzip > s1.json.gz")]
    Bundle(bundle::Arguments),
    /// Verify a bundle, as the program inside it does
    #[command(after_help = "Examples:
  counterfoil audit verify-bundle s1.html --public-key ledger.pub

Exit codes: 0 intact, 1 broken, 2 usage or input error.")]
    VerifyBundle(bundle::VerifyArguments),
    /// Print the public signing key in PEM format, and its fingerprint on standard error
    #[command(
        after_help = "Examples:\n  counterfoil audit key > ledger.pub\n  counterfoil audit key \
            --verifier > ledger.vkey"
    )]
    Key {
        /// Print the key in the one-line format NAME+HASH+KEY that witnesses accept
        #[arg(long)]
        verifier: bool,
    },
    /// Store a new checkpoint elsewhere, with proof that it continues the last one stored there
    ///
    /// If the target is a file, the checkpoint is appended to it. If the target is a witness, the
    /// witness cosigns the checkpoint, and the note with both signatures is printed. A checkpoint
    /// that does not continue the last one is neither appended nor cosigned.
    #[command(after_help = "Examples:
  counterfoil audit witness --to /mnt/elsewhere/checkpoints.txt
  counterfoil audit witness --to https://witness.example.org --witness-key \"$(cat w1.vkey)\"

Exit codes: 0 checkpoint stored, 1 the ledger does not continue the last checkpoint, 2 usage or
input error.")]
    Witness(witness::Arguments),
}

impl Action {
    /// Whether an argument shows that a ledger or log existed.
    fn was_seen(&self) -> bool {
        matches!(self, Self::Verify(arguments) if arguments.was_seen())
    }

    /// Whether the action needs the audit log in the state folder.
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

/// The filter for lines.
#[derive(Debug, Args)]
struct Wanted {
    /// Only calls to this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only calls with this result
    #[arg(long, value_name = "RESULT", value_parser = PossibleValuesParser::new(AuditResult::WORDS))]
    result: Option<String>,
    /// Only calls in this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only calls by this sub-agent
    #[arg(long, value_name = "ID")]
    caller: Option<String>,
    /// Only calls that failed with this error category: `PolicyBlocked`, `Timeout`, …
    #[arg(long, value_name = "CATEGORY", value_parser = category())]
    category: Option<String>,
    /// Only the call with this id
    #[arg(long, value_name = "ID")]
    execution_id: Option<String>,
    /// Only calls since this time: a date, a time (RFC 3339), or how long ago (`90m`, `24h`, `7d`)
    #[arg(long, value_name = "WHEN")]
    since: Option<When>,
    /// Only calls before this time, in the same formats
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

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    if let Action::VerifyBundle(arguments) = &arguments.action {
        // The bundle comes from elsewhere, so no state is needed.
        return bundle::verify(arguments);
    }
    let state = global.state()?;
    let settings = settings(global)?;
    // A shared ledger can be read without a local log.
    let state = match settings.url {
        Some(_) if !arguments.action.reads_log() => state,
        // The folder existed when it was seen, so a missing folder is a verdict.
        _ if arguments.action.was_seen() => state,
        _ => state.existing()?,
    };
    match &arguments.action {
        Action::Tail { lines, shown } => lines::tail(files(&state)?, *lines, shown),
        Action::Query { wanted, limit, shown } => {
            lines::query(files(&state)?, &wanted.filter(), *limit, shown)
        }
        Action::Stats { wanted, shown } => stats::run(files(&state)?, &wanted.filter(), *shown),
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

fn export_sessions(
    state: &State,
    settings: &LedgerSettings,
    session: Option<&str>,
) -> anyhow::Result<Exit> {
    let ledger = the_ledger(state, settings, "sessions are exported from the ledger")?;
    let sessions = match session {
        Some(session) => vec![session.to_owned()],
        None => ledger.sessions()?,
    };
    let mut out = io::stdout().lock();
    for session in sessions {
        let Some(transcript) = recorded_transcript(&ledger, &session)? else {
            return Err(Complaint::new(format!("the ledger has no session `{session}`"))
                .help("`counterfoil audit query` lists recorded calls with their sessions")
                .into());
        };
        writeln!(out, "{}", export(&transcript))?;
    }
    Ok(Exit::Clean)
}

/// Prints a checkpoint, but only of a log that verifies, because it is signed.
fn checkpoint(state: &State, settings: &LedgerSettings) -> anyhow::Result<Exit> {
    let found = verify_audit(files(state)?, None, &mut |_| {}).map_err(Complaint::from_error)?;
    if let Some(problem) = found.broken {
        problem_line(&problem)?;
        return Ok(Exit::Findings);
    }
    let ledger = the_ledger(state, settings, "the ledger's key signs checkpoints")?;
    let own = ledger.checkpoint().map_err(Complaint::from_error)?;
    let mut out = io::stdout().lock();
    write!(out, "{}{own}", ledger.sign_audit(found.head))?;
    Ok(Exit::Clean)
}
