//! Keeps checkpoints elsewhere: in a file, or with a witness.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use counterfoil_ledger::{
    Checkpoint, Ledger, LedgerSettings, ReadLedgerError, Submission, VerifierKey,
};
use counterfoil_serve::{WitnessAnswer, ask_witness, latest_witnessed};
use jiff::Timestamp;

use super::answer::Mark;
use super::kept::{self, Kept};
use super::sources::{ledger, the_ledger};
use crate::exit::{Complaint, Exit, note};
use crate::state::State;
use crate::surroundings::runtime;
use crate::terminal::Paint;

const FILE_WITH_KEY: &str = "`--witness-key` needs the URL of a witness, not a file: a file \
    cannot sign";

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The URL of a witness, or a file on another disk or machine, to which checkpoints are
    /// appended
    #[arg(long, value_name = "FILE|URL")]
    to: String,
    /// The key of the witness (NAME+HASH+KEY); an answer without its signature is rejected
    #[arg(long, value_name = "KEY")]
    witness_key: Option<VerifierKey>,
}

/// Sends a new checkpoint, with the proof that it continues the last one there.
pub(super) fn send(
    state: &State,
    settings: &LedgerSettings,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let ledger = the_ledger(state, settings, "witnesses sign the ledger's checkpoints")?;
    if is_url(&arguments.to) {
        to_witness(&ledger, &arguments.to, arguments.witness_key.as_ref())
    } else if arguments.witness_key.is_some() {
        Err(Complaint::new(FILE_WITH_KEY).into())
    } else {
        is_a_file(&arguments.to)?;
        to_file(&ledger, Path::new(&arguments.to))
    }
}

/// Refuses a name that may be a host without its scheme, so that it is not taken for a file.
fn is_a_file(target: &str) -> anyhow::Result<()> {
    let named = Path::new(target);
    if target.contains("://") {
        let wrong = format!("`{target}` is not the URL of a witness");
        return Err(Complaint::new(wrong)
            .help("use a URL that begins with `https://` or `http://`")
            .into());
    }
    if target.contains('/') || named.exists() || named.extension().is_some_and(|e| e == "txt") {
        return Ok(());
    }
    Err(Complaint::new(format!("`{target}` could be a file or a host"))
        .help(format!("write `./{target}` for a file, `https://{target}` for a witness"))
        .into())
}

fn is_url(target: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| target.starts_with(scheme))
}

/// Returns the checkpoints kept at `target`, to verify the log and the ledger with, and for a
/// witness whether its cosignature was checked.
pub(super) fn witnessed(
    state: &State,
    settings: &LedgerSettings,
    target: &str,
    key: Option<&VerifierKey>,
) -> anyhow::Result<(Vec<Checkpoint>, Option<(Mark, String)>)> {
    if !is_url(target) {
        if key.is_some() {
            return Err(Complaint::new(FILE_WITH_KEY).into());
        }
        return kept::checkpoints(Path::new(target));
    }
    // A ledger that was witnessed existed, so a missing one is a failure.
    let not_queried = |mark, why: &str| {
        let row = format!("the witness `{target}` was not queried: {why}");
        Ok((Vec::new(), Some((mark, row))))
    };
    let ledger = match ledger(state, settings) {
        Ok(Some(ledger)) => ledger,
        Ok(None) => return not_queried(Mark::Broken, "the witnessed ledger no longer exists"),
        Err(_) => return not_queried(Mark::Open, "cannot read the ledger"),
    };
    let found = runtime()?
        .block_on(latest_witnessed(target, &ledger.origin()))
        .map_err(Complaint::from_error)?;
    let Some(note) = found else {
        let wrong = format!("`{target}` has no checkpoint for `{}`", ledger.origin());
        return Err(Complaint::new(wrong)
            .help("send one with `counterfoil audit witness --to`")
            .into());
    };
    let read: Checkpoint =
        note.parse().map_err(|error| Complaint::new(format!("`{target}`: {error}")))?;
    let row = match key.map(|key| (key, key.cosigned(&read, &note))) {
        None => (
            Mark::Open,
            format!(
                "the identity of `{target}` was not checked: pass its key with `--witness-key`"
            ),
        ),
        Some((key, None)) => (
            Mark::Broken,
            format!("`{target}` returned a checkpoint that `{}` did not cosign", key.name),
        ),
        Some((key, Some(seconds))) => {
            let time = i64::try_from(seconds).ok().and_then(|s| Timestamp::from_second(s).ok());
            let time = time.map_or_else(|| seconds.to_string(), |time| time.to_string());
            (Mark::Holds, format!("`{}` cosigned the checkpoint at {time}", key.name))
        }
    };
    Ok((vec![read], Some(row)))
}

/// The reply of a ledger to someone who has seen a checkpoint of a given size.
enum Shown {
    Continues(Submission),
    /// The ledger does not continue the checkpoint: it is another ledger, or a shorter one.
    Broken(String),
}

fn shown(ledger: &Ledger, old: u64) -> anyhow::Result<Shown> {
    match ledger.consistency(old) {
        Ok((checkpoint, proof)) => Ok(Shown::Continues(Submission { old, proof, checkpoint })),
        Err(ReadLedgerError::Broken { what }) => Ok(Shown::Broken(what)),
        Err(error) => Err(Complaint::new(error.to_string()).into()),
    }
}

fn to_file(ledger: &Ledger, path: &Path) -> anyhow::Result<Exit> {
    let path = match path.is_dir() {
        true => path.join(file_name(ledger)),
        false => path.to_owned(),
    };
    let origin = ledger.origin();
    let there = if path.exists() { Kept::read(&path)? } else { Kept::default() };
    if there.checkpoints.is_empty() && !is_begun(&there.rest, &origin) {
        let wrong = format!("`{}` contains something other than checkpoints", path.display());
        return Err(Complaint::new(wrong).help("use a file that contains only checkpoints").into());
    }
    let last = there.checkpoints.iter().rfind(|checkpoint| checkpoint.origin() == origin);
    let old = last.map_or(0, Checkpoint::size);
    let Submission { proof, checkpoint, .. } = match shown(ledger, old)? {
        Shown::Continues(submission) => submission,
        Shown::Broken(what) => {
            return broken(&format!("the ledger does not continue the last checkpoint: {what}"));
        }
    };
    if let Some(last) = last {
        let new = (checkpoint.size(), &checkpoint.root());
        if old > 0 && !proof.holds((old, &last.root()), new) {
            return broken("the history of this ledger does not match the last checkpoint");
        }
        if last.size() == checkpoint.size() {
            writeln!(io::stderr(), "{}: no new events since the last checkpoint", path.display())?;
            return Ok(Exit::Clean);
        }
    }
    if let Some((_, torn)) = there.torn(&path) {
        note(torn)?;
    }
    // Ends a partial line with empty lines, because the file may be append-only.
    let before = match (there.rest.is_empty(), there.unended) {
        (false, _) => "\n\n",
        (true, true) => "\n",
        (true, false) => "",
    };
    added(&path, &format!("{before}{checkpoint}"))
        .with_context(|| format!("{} cannot be written", path.display()))?;
    let continues = match last {
        Some(_) => format!("continues the last checkpoint (at {old} events)"),
        None => "first checkpoint of this ledger".to_owned(),
    };
    let size = checkpoint.size();
    writeln!(io::stderr(), "{}: {size} events; {continues}", path.display())?;
    Ok(Exit::Clean)
}

/// Appends text to a file, which is created if missing, and syncs it to disk.
fn added(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Whether the bytes may be the beginning of this ledger's first checkpoint.
fn is_begun(bytes: &[u8], origin: &str) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    bytes.is_empty() || !first.is_empty() && origin.as_bytes().starts_with(first)
}

/// The name of a ledger's file in a folder for several ledgers.
fn file_name(ledger: &Ledger) -> PathBuf {
    let origin = ledger.origin();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    PathBuf::from(format!("{}.txt", origin.chars().map(plain).collect::<String>()))
}

fn to_witness(ledger: &Ledger, url: &str, key: Option<&VerifierKey>) -> anyhow::Result<Exit> {
    let runtime = runtime()?;
    // The witness's first answer says what size it has seen.
    let mut old = 0;
    for _ in 0..3 {
        let submission = match shown(ledger, old)? {
            Shown::Continues(submission) => submission,
            Shown::Broken(what) => {
                return broken(&format!("the witness has seen {old} events: {what}"));
            }
        };
        let answer = runtime
            .block_on(ask_witness(url, submission.to_string()))
            .map_err(Complaint::from_error)?;
        match answer {
            WitnessAnswer::OtherSize(size) => old = size,
            WitnessAnswer::Refused(why) => {
                return broken(&format!("the witness did not cosign: {why}"));
            }
            WitnessAnswer::Cosigned(lines) => {
                let by_key =
                    key.is_none_or(|key| key.cosigned(&submission.checkpoint, &lines).is_some());
                if !by_key {
                    return broken("the answer is not signed by the given witness key");
                }
                write!(io::stdout().lock(), "{}{lines}", submission.checkpoint)?;
                if key.is_none() {
                    note("the cosignature was not verified; pass `--witness-key` to verify it")?;
                }
                return Ok(Exit::Clean);
            }
        }
    }
    Err(Complaint::new("the witness reports a different size each time")
        .help(
            "another process is sending checkpoints of this ledger to the same witness; try again",
        )
        .into())
}

fn broken(what: &str) -> anyhow::Result<Exit> {
    writeln!(io::stderr(), "{}: {what}", Paint::for_errors().error("BROKEN"))?;
    Ok(Exit::Findings)
}
