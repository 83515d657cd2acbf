use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;
use counterfoil_ledger::{
    AuditHead, AuditVerification, Checkpoint, Compared, Expected, Ledger, LedgerSettings,
    OpenLedgerError, PublicKey, VerifierKey, verify_audit,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::answer::{Answer, Mark};
use super::beside::held;
use super::kept::{Signers, checkpoints, public_key};
use super::recorded::{Recorded, no_ledger, recorded};
use super::sources::{files, ledger, ledger_place};
use super::witness::witnessed;
use crate::choices::{ShownWhole, WholeFormat};
use crate::exit::{Complaint, Exit};
use crate::state::State;
use crate::terminal::Paint;
use counterfoil_report::counted;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A file with checkpoints that were kept elsewhere, as printed by `counterfoil audit
    /// checkpoint`
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// Where checkpoints of the ledger were witnessed: a file, or the URL of a Counterfoil witness
    #[arg(long, value_name = "FILE|URL")]
    witnessed: Vec<String>,
    /// The key of the witness at the `--witnessed` URL (NAME+HASH+KEY); a checkpoint that it did not
    /// cosign is rejected
    #[arg(long, value_name = "KEY", requires = "witnessed")]
    witness_key: Option<VerifierKey>,
    /// A PEM file with the ledger's public key, obtained separately from the ledger
    #[arg(long, value_name = "FILE")]
    public_key: Vec<PathBuf>,
    /// The first files of the log are archived elsewhere and may be missing here
    #[arg(long)]
    archived: bool,
    #[command(flatten)]
    shown: ShownWhole,
}

impl Arguments {
    /// Whether an argument shows that a ledger or log existed.
    pub(super) fn was_seen(&self) -> bool {
        !self.checkpoint.is_empty() || !self.witnessed.is_empty()
    }
}

pub(super) fn run(
    state: &State,
    settings: &LedgerSettings,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let (mut kept, mut by_witnesses) = (Vec::new(), Vec::new());
    for path in &arguments.checkpoint {
        let (checkpoints, row) = checkpoints(path)?;
        kept.extend(checkpoints);
        by_witnesses.extend(row);
    }
    for target in &arguments.witnessed {
        let (checkpoints, row) =
            witnessed(state, settings, target, arguments.witness_key.as_ref())?;
        kept.extend(checkpoints);
        by_witnesses.extend(row);
    }
    let keys: Vec<PublicKey> =
        arguments.public_key.iter().map(|path| public_key(path)).collect::<Result<_, _>>()?;
    let (of_audit, of_ledger): (Vec<_>, Vec<_>) =
        kept.into_iter().partition(|checkpoint| checkpoint.origin().ends_with("/audit"));
    let opened = ledger(state, settings);
    let beside = opened.as_ref().ok().and_then(Option::as_ref);
    let mut answer = Answer::default();
    let recorded = of_ledger_at(settings, &opened, &of_ledger, &keys);
    let signers = Signers { given: &keys, ledger: beside, vouched: recorded.key_fits };
    let shared = settings.url.is_some();
    // Each replica has its own log; a machine without one verifies only the ledger.
    if shared && of_audit.is_empty() && !state.folder().audit().exists() {
        let row = "no audit log found; only the ledger was verified".to_owned();
        answer.add(&state.folder().audit(), "audit", vec![(Mark::Open, row)], json!(null));
    } else {
        audit(state, &of_audit, &signers, arguments, shared, &mut answer)?;
    }
    let rows = by_witnesses.into_iter().chain(recorded.rows).collect();
    answer.add(&ledger_place(state, settings), "ledger", rows, recorded.json);
    let mut out = io::stdout().lock();
    match arguments.shown.format {
        WholeFormat::Text => {
            write!(out, "{}", answer.text(Paint::for_output(arguments.shown.color)))?
        }
        WholeFormat::Json => {
            answer.json.insert("sound".to_owned(), json!(answer.sound()));
            writeln!(out, "{}", counterfoil_report::json_pretty(&answer.json))?;
        }
    }
    Ok(if answer.sound() { Exit::Clean } else { Exit::Findings })
}

/// Verifies the ledger.
fn of_ledger_at(
    settings: &LedgerSettings,
    opened: &Result<Option<Ledger>, OpenLedgerError>,
    kept: &[Checkpoint],
    keys: &[PublicKey],
) -> Recorded {
    match opened {
        Ok(Some(ledger)) => {
            let verify = |expected: &Expected| {
                ledger.verify(expected, &mut |_| {}).map_err(|error| error.to_string())
            };
            recorded(verify, kept, keys)
        }
        // Reading a shared ledger needs no signing key.
        Err(OpenLedgerError::MissingKey { .. }) if settings.url.is_some() => {
            let verify = |expected: &Expected| {
                let found = Ledger::verify_shared(settings, expected, &mut |_| {});
                found.map_err(|error| error.to_string())
            };
            recorded(verify, kept, keys)
        }
        Ok(None) => Recorded { rows: no_ledger(kept), ..Recorded::default() },
        Err(error) => Recorded {
            rows: vec![(Mark::Broken, format!("{error}: {}", error.help()))],
            json: json!({ "broken": error.to_string() }),
            key_fits: false,
        },
    }
}

/// Verifies the audit log against every kept checkpoint of it.
fn audit(
    state: &State,
    kept: &[Checkpoint],
    signers: &Signers<'_>,
    arguments: &Arguments,
    shared: bool,
    answer: &mut Answer,
) -> anyhow::Result<()> {
    // A missing log is a failure if there is a ledger, or if someone has seen the log before.
    let was_there = signers.ledger.is_some() || arguments.was_seen();
    let here = match files(state) {
        Err(missing) if was_there && !state.folder().audit().exists() => {
            let broken = json!({ "broken": missing.to_string() });
            answer.add(
                &state.folder().audit(),
                "audit",
                vec![(Mark::Broken, missing.to_string())],
                broken,
            );
            return Ok(());
        }
        here => here?,
    };
    let bar = progress(here.bytes());
    let found = verify_audit(here, kept.first().map(head), &mut |done| bar.set_position(done));
    bar.finish_and_clear();
    let found = found.map_err(Complaint::from_error)?;
    let mut rows = chain(&found, arguments.archived);
    let (kept_here, against_kept) = against_kept(state, kept, signers, &found)?;
    rows.extend(against_kept);
    if kept.is_empty() {
        let open = "no separately kept checkpoint was given: a log truncated or rewritten \
            together with its ledger would go undetected";
        rows.push((Mark::Open, open.to_owned()));
    }
    let mut against_ledger = None;
    if let Some(ledger) = signers.ledger.filter(|_| found.broken.is_none()) {
        // Errors of the ledger are reported with the ledger.
        match held(files(state)?, ledger, &found, shared) {
            Ok(beside) => {
                rows.extend(beside.rows);
                against_ledger = Some(beside.json);
            }
            Err(error) => {
                let open = format!("the log cannot be compared with the ledger: {error}");
                rows.push((Mark::Open, open));
            }
        }
    }
    let broken = found.broken.as_ref().map(|problem| {
        json!({ "file": problem.file, "line": problem.line, "why": problem.why.to_string() })
    });
    let json = json!({
        "lines": found.lines, "files": found.files, "missing_before": found.missing_before,
        "size": found.head.size, "head": found.head.digest, "broken": broken,
        "checkpoints": kept_here, "ledger": against_ledger,
    });
    answer.add(&state.folder().audit(), "audit", rows, json);
    Ok(())
}

/// Compares the log with each kept checkpoint. The first one has already been compared.
fn against_kept(
    state: &State,
    kept: &[Checkpoint],
    signers: &Signers<'_>,
    found: &AuditVerification,
) -> anyhow::Result<(Vec<Value>, Vec<(Mark, String)>)> {
    let first = kept.first().map(head);
    let (mut shown, mut rows) = (Vec::new(), Vec::new());
    for checkpoint in kept {
        let compared = if Some(head(checkpoint)) == first {
            found.compared
        } else {
            let again = verify_audit(files(state)?, Some(head(checkpoint)), &mut |_| {});
            again.map_err(Complaint::from_error)?.compared
        };
        let signer = signers.signer(checkpoint);
        shown.push(json!({
            "size": checkpoint.size(), "origin": checkpoint.origin(),
            "compared": compared, "signed_by": signer.name(),
        }));
        rows.push(against(checkpoint, compared));
        rows.push(signer.row(checkpoint, signers.ledger));
    }
    Ok((shown, rows))
}

fn head(checkpoint: &Checkpoint) -> AuditHead {
    AuditHead { size: checkpoint.size(), digest: checkpoint.root() }
}

fn chain(found: &AuditVerification, archived: bool) -> Vec<(Mark, String)> {
    let AuditVerification { lines, files, missing_before, .. } = found;
    let lines = counted(*lines, "line");
    let mut rows = Vec::new();
    match &found.broken {
        None => rows.push((
            Mark::Holds,
            format!(
                "{lines} in {}: all unmodified, each linked to the previous one",
                counted(*files, "file")
            ),
        )),
        Some(problem) => {
            let place = format!("{}:{}", problem.file.display(), problem.line);
            rows.push((Mark::Broken, format!("{place}: {}", problem.why)));
            rows.push((
                Mark::Open,
                format!("unmodified before that line: {lines}; the lines after it prove nothing"),
            ));
        }
    }
    if *missing_before > 0 {
        let missing = format!("the first {} are missing here", counted(*missing_before, "line"));
        rows.push(if archived {
            (Mark::Open, format!("{missing}: verify these where the archive is kept"))
        } else {
            (Mark::Broken, format!("{missing}; pass `--archived` if they were archived elsewhere"))
        });
    }
    rows
}

fn against(checkpoint: &Checkpoint, compared: Option<Compared>) -> (Mark, String) {
    let size = counted(checkpoint.size(), "line");
    match compared {
        Some(Compared::Continues { newer }) => (
            Mark::Holds,
            format!("the log continues the saved checkpoint ({size}); newer lines: {newer}"),
        ),
        Some(Compared::Cut { expected, found }) => (
            Mark::Broken,
            format!(
                "truncated: the saved checkpoint covers {expected} lines, but the log has only \
                 {found}"
            ),
        ),
        Some(Compared::Differs { at }) => (
            Mark::Broken,
            format!("not the same log: line {at} does not match the saved checkpoint"),
        ),
        Some(Compared::NotHere) => (
            Mark::Open,
            format!("the saved checkpoint ({size}) refers to files that are missing here"),
        ),
        None => (
            Mark::Open,
            format!("the saved checkpoint ({size}) refers to lines after the broken one"),
        ),
    }
}

/// Creates a progress bar for long work, shown only on a terminal.
fn progress(bytes: u64) -> ProgressBar {
    const LONG: u64 = 64 * 1024 * 1024;
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    if bytes < LONG {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    match ProgressStyle::with_template("verifying {wide_bar} {bytes}/{total_bytes} {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
