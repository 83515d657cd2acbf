//! One replica: a process that writes until the quota is used up.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use anyhow::{Context as _, Result, ensure};
use counterfoil_ledger::{
    AppendError, Draft, Durability, Ledger, LedgerSettings, LedgerUrl, SystemClock,
    SystemRandomness,
};
use counterfoil_model::Digest;

use super::SESSION;
use crate::receipts::{closed, opened};

/// The number of calls that one replica has in progress.
const UNDER_WAY: usize = 1024;

/// The outcome of one call.
pub(super) enum Told {
    Acknowledged(String),
    Unknown(String),
    Error(String),
}

pub(super) fn open(url: &str, key: &Path) -> Result<Ledger> {
    let settings = LedgerSettings {
        durability: Durability::Batch,
        url: Some(LedgerUrl::new(url)),
        key: Some(key.to_owned()),
        ..LedgerSettings::default()
    };
    let clock = Arc::new(SystemClock::default());
    Ok(Ledger::open(key, settings, clock, Arc::new(SystemRandomness))?.0)
}

/// Opens and closes executions until the quota is used up, and prints the outcome of each.
pub(super) fn run(url: &str, key: &Path, name: &str, quota: u64) -> Result<()> {
    let ledger = open(url, key)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut under_way = VecDeque::new();
    let mut number = 0_u32;
    let mut exhausted = false;
    while !exhausted || !under_way.is_empty() {
        while !exhausted && under_way.len() < UNDER_WAY {
            let id = format!("{name}_1735999999123_{number:08x}");
            let began = ledger.open_execution(SESSION, opened(&id), Some(quota));
            let result = format!("result {number} of {name}: {}", "lorem ipsum ".repeat(20));
            let draft = Draft::Closed(closed(&id, Digest::of_bytes(result.as_bytes())));
            let ended = ledger.append(SESSION, draft, vec![result.into_bytes()]);
            under_way.push_back((id, began, ended));
            number += 1;
        }
        let (id, began, ended) = under_way.pop_front().context("one is under way")?;
        match (began.wait(), ended.wait()) {
            (Ok(_), Ok(_)) => writeln!(out, "+ {id}")?,
            (Err(AppendError::QuotaExhausted { .. }), _) => exhausted = true,
            (Err(AppendError::Unknown(_)), _) | (_, Err(AppendError::Unknown(_))) => {
                writeln!(out, "? {id}")?;
            }
            (Err(error), _) | (_, Err(error)) => writeln!(out, "! {id}: {error}")?,
        }
        if under_way.len() < UNDER_WAY / 2 || number.is_multiple_of(64) {
            out.flush()?;
        }
    }
    Ok(out.flush()?)
}

/// A replica's process, seen from outside.
pub(super) struct Replica(Child);

impl Replica {
    #[expect(clippy::disallowed_methods, reason = "replicas are processes that can be killed")]
    pub(super) fn start(
        url: &str,
        key: &Path,
        name: &str,
        quota: u64,
        told: &Sender<Told>,
    ) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["replicas", "--work", url])
            .arg(key)
            .args([name, &quota.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting a replica")?;
        let stdout = child.stdout.take().context("its output is piped")?;
        let told = told.clone();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            // A line cut off by the kill is not an acknowledgement.
            while stdout.read_line(&mut line).is_ok_and(|n| n > 0) && line.ends_with('\n') {
                let said = line.trim_end().split_at_checked(2).map(|(mark, rest)| match mark {
                    "+ " => Told::Acknowledged(rest.to_owned()),
                    "? " => Told::Unknown(rest.to_owned()),
                    _ => Told::Error(rest.to_owned()),
                });
                line.clear();
                if said.is_some_and(|said| told.send(said).is_err()) {
                    return;
                }
            }
        });
        Ok(Self(child))
    }

    /// Sends SIGKILL: the process cannot clean up.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    pub(super) fn wait(&mut self) -> Result<()> {
        let status = self.0.wait()?;
        ensure!(status.success(), "a replica ended with {status}");
        Ok(())
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
