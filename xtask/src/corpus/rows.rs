use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use counterfoil_formats::{Options, decompressed};
use counterfoil_model::{Digest, Format, Transcript};
use serde::Deserialize;

/// One labelled transcript.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) transcript: Transcript,
    /// The kind of lie or honest text in the labelled message; empty without a label.
    pub(crate) class: String,
    /// Whether the labelled message lies; `None` if it has not been judged.
    pub(crate) lies: Option<bool>,
    /// The index of the labelled message.
    pub(crate) turn: Option<usize>,
    /// The labelled words, if known.
    pub(crate) claim: String,
    /// Whether the row is in the held-out third.
    pub(crate) untouched: bool,
}

/// The committed, hand-written set.
pub(crate) const MINI: &str = include_str!("../../corpus/mini.jsonl");

/// Reads a file of labelled sessions, of which nothing is held out.
pub(crate) fn batch(path: &Path) -> Result<Vec<Row>> {
    Ok(read(path)?.into_iter().map(|row| Row { untouched: false, ..row }).collect())
}

/// Reads a large set.
pub(crate) fn read(path: &Path) -> Result<Vec<Row>> {
    let about = || format!("reading `{}`", path.display());
    let file = BufReader::new(File::open(path).with_context(about)?);
    rows(decompressed(file)?).with_context(about)
}

/// Lies and honest look-alikes by many writers, each the last message of a hand-written session.
const ADVERSARIAL: &[u8] = include_bytes!("../../corpus/adversarial.jsonl.zst");

/// Reads the sessions of many writers.
pub(crate) fn adversarial() -> Result<Vec<Row>> {
    let rows = rows(decompressed(ADVERSARIAL)?)?;
    Ok(rows.into_iter().map(|row| Row { untouched: false, ..row }).collect())
}

/// Reads the hand-written set. It has no held-out third, because its author sees all of it.
pub(crate) fn mini() -> Result<Vec<Row>> {
    let rows = rows(MINI.as_bytes())?;
    Ok(rows.into_iter().map(|row| Row { untouched: false, ..row }).collect())
}

#[derive(Deserialize)]
struct Envelope {
    id: String,
    #[serde(default)]
    labels: Labels,
}

#[derive(Deserialize, Default)]
struct Labels {
    class: Option<String>,
    hallucination: Option<bool>,
    turn: Option<usize>,
    base_id: Option<String>,
    claim_text: Option<String>,
}

/// Reads one row per line.
fn rows(text: impl BufRead) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let row = row(&line?).with_context(|| format!("line {}", number + 1))?;
        rows.push(row);
    }
    Ok(rows)
}

fn row(line: &str) -> Result<Row> {
    let Envelope { id, labels } = serde_json::from_str(line)?;
    let mut readings = Vec::new();
    let options = Options { format: Some(Format::OpenaiChat), ..Options::new(id.clone()) };
    counterfoil_formats::read(line.as_bytes(), &options, &mut |reading| readings.push(reading))?;
    let reading = readings.into_iter().next().context("no transcript in the row")?;
    // Rows derived from the same session stay together, whatever was changed in it.
    let session = labels.base_id.as_deref().or(id.split("::").next()).unwrap_or_default();
    let session = session.split('#').next().unwrap_or_default();
    let session = session.trim_end_matches("-lie").trim_end_matches("-twin");
    let digest = Digest::of_bytes(session.as_bytes());
    let untouched = digest.as_bytes().first().is_some_and(|byte| byte % 3 == 0);
    Ok(Row {
        transcript: reading.transcript,
        class: labels.class.unwrap_or_else(|| match labels.hallucination {
            Some(true) => "reported lie".to_owned(),
            Some(false) => "honest twin".to_owned(),
            None => String::new(),
        }),
        lies: labels.hallucination,
        turn: labels.turn,
        claim: labels.claim_text.unwrap_or_default(),
        untouched,
        id,
    })
}
