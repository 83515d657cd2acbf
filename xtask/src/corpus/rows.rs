use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use countersign_formats::{Options, decompressed, read};
use countersign_model::{Digest, Format, Transcript};
use serde::Deserialize;

/// One labelled transcript.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) transcript: Transcript,
    pub(crate) class: String,
    pub(crate) hallucination: Option<bool>,
    pub(crate) turn: Option<usize>,
    pub(crate) claim: String,
    /// In the third that nobody looks at.
    pub(crate) untouched: bool,
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

/// Reads a set, one row a line.
pub(crate) fn rows(path: &Path) -> Result<Vec<Row>> {
    let file = BufReader::new(File::open(path)?);
    let lines = decompressed(file)?.lines();
    let mut rows = Vec::new();
    for (number, line) in lines.enumerate() {
        let line = line?;
        let envelope: Envelope =
            serde_json::from_str(&line).with_context(|| format!("line {}", number + 1))?;
        let mut readings = Vec::new();
        let options =
            Options { format: Some(Format::OpenaiChat), ..Options::new(envelope.id.clone()) };
        read(line.as_bytes(), &options, &mut |reading| readings.push(reading))?;
        let reading = readings.into_iter().next().context("no transcript in the row")?;
        let labels = envelope.labels;
        let base = labels
            .base_id
            .unwrap_or_else(|| envelope.id.split("::").next().unwrap_or_default().to_owned());
        let base = base.split('#').next().unwrap_or_default();
        let untouched = Digest::of_bytes(base.as_bytes()).as_bytes()[0] % 3 == 0;
        rows.push(Row {
            id: envelope.id,
            transcript: reading.transcript,
            class: labels.class.unwrap_or_default(),
            hallucination: labels.hallucination,
            turn: labels.turn,
            claim: labels.claim_text.unwrap_or_default(),
            untouched,
        });
    }
    Ok(rows)
}
