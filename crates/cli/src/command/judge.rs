//! Measures how good a model is as a judge.

use std::io::{self, Cursor, Read as _, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use counterfoil_formats::{Options as ReadOptions, read};
use counterfoil_judge::{Accuracy, AnswerJudge as _, Reading};
use counterfoil_model::{Format, Transcript};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Deserialize;

use crate::config::{self, Options};
use crate::exit::{Complaint, Exit};
use crate::files;
use crate::global::Global;
use crate::judge::Judging;

/// 20 sessions that lie and 20 that do not; in four of them, a text tries to manipulate the judge.
const SESSIONS: &str = include_str!("../judge/sessions.jsonl");
/// Measure how well a model works as a judge, or ask it a question
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  counterfoil judge try claude\n  counterfoil judge agreement \
        labels.jsonl --judge claude")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Test a judge on the 40 built-in sessions, of which 20 contain lies
    Try {
        /// claude, codex, gemini, a name from [[llm.providers]], or auto
        #[arg(value_name = "NAME")]
        judge: String,
        #[command(flatten)]
        setting: Setting,
    },
    /// Ask a judge one question, for use by other programs: reads the question from standard input
    /// and writes the model's reply to standard output
    Ask {
        /// claude, codex, gemini, a name from [[llm.providers]], or auto
        #[arg(value_name = "NAME")]
        judge: String,
    },
    /// Test a judge on your own labelled sessions: JSON Lines of {messages, tools?, labels:
    /// {turn, hallucination}}, with messages in OpenAI's format
    Agreement {
        /// The file with the labelled sessions
        #[arg(value_name = "LABELS")]
        labels: PathBuf,
        /// The judge; `auto` is the configured judge, or else one found on this machine
        #[arg(long, value_name = "NAME", default_value = "auto")]
        judge: String,
        #[command(flatten)]
        setting: Setting,
    },
}

/// What to do with the measured threshold.
#[derive(Debug, Clone, Copy, Args)]
struct Setting {
    /// Write the judge and the threshold to your user configuration
    #[cfg(feature = "guard")]
    #[arg(long)]
    write: bool,
}

/// A session with a label that says whether its labelled message lies.
struct Row {
    transcript: Transcript,
    turn: usize,
    lies: bool,
    class: String,
}

#[derive(Deserialize)]
struct Envelope {
    labels: Labels,
}

#[derive(Deserialize)]
struct Labels {
    turn: usize,
    hallucination: bool,
    #[serde(default)]
    class: String,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let (judge, rows, setting) = match &arguments.what {
        What::Ask { judge } => return ask(judge, &options),
        What::Try { judge, setting } => (judge, rows(SESSIONS)?, setting),
        What::Agreement { labels, judge, setting } => {
            let place = || labels.display().to_string();
            let text = files::read_text(labels).with_context(place)?;
            (judge, rows(&text).with_context(place)?, setting)
        }
    };
    let judging = Judging::named(judge, &options)?;
    let began = Instant::now();
    let ask = || rows.par_iter().map(|row| judging.read(&row.transcript, row.turn)).collect();
    let readings: Vec<Result<Reading, String>> = judging.pool()?.install(ask);
    let mut accuracy = Accuracy::default();
    for (Row { lies, class, .. }, reading) in rows.iter().zip(&readings) {
        accuracy.add(*lies, class == "injection", reading.as_ref().map_err(String::as_str));
    }
    let mut out = io::stdout().lock();
    write!(out, "{accuracy}")?;
    writeln!(out, "{} s, {} tokens", began.elapsed().as_secs(), judging.tokens())?;
    drop(out);
    setting.apply(global, judge, accuracy.threshold().filter(|_| accuracy.read() > 0))?;
    Ok(if accuracy.read() == 0 { Exit::Input } else { Exit::Clean })
}

impl Setting {
    #[cfg(feature = "guard")]
    fn apply(self, global: &Global, judge: &str, threshold: Option<u8>) -> anyhow::Result<()> {
        if !self.write {
            return Ok(());
        }
        let Some(threshold) = threshold else {
            crate::exit::note(
                "the configuration was not changed: this model is not usable as a judge",
            )?;
            return Ok(());
        };
        let members =
            [("name", judge.into()), ("threshold", (f64::from(threshold) / 100.0).into())];
        config::set_judge(&global.place(), &members, false)
    }

    #[cfg(not(feature = "guard"))]
    #[expect(clippy::unnecessary_wraps, reason = "with the flag it can fail")]
    fn apply(self, _: &Global, _: &str, _: Option<u8>) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Sends a question to the judge, and prints the reply.
fn ask(judge: &str, options: &Options) -> anyhow::Result<Exit> {
    let mut question = String::new();
    io::stdin().lock().read_to_string(&mut question).context("cannot read the question")?;
    if question.trim().is_empty() {
        return Err(Complaint::new("no question on standard input").into());
    }
    let reply = Judging::named(judge, options)?.ask(question).map_err(Complaint::new)?;
    writeln!(io::stdout(), "{reply}")?;
    Ok(Exit::Clean)
}

fn rows(text: &str) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("line {}", at + 1);
        let Envelope { labels } = serde_json::from_str(line).with_context(place)?;
        let mut options = ReadOptions::new(place());
        options.format = Some(Format::OpenaiChat);
        let mut transcript = None;
        read(Cursor::new(line), &options, &mut |reading| {
            transcript = Some(reading.transcript);
        })
        .with_context(place)?;
        let transcript =
            transcript.with_context(|| format!("{}: no session in this line", place()))?;
        let Labels { turn, hallucination: lies, class } = labels;
        rows.push(Row { transcript, turn, lies, class });
    }
    if rows.is_empty() {
        return Err(Complaint::new("the input contains no labelled sessions").into());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sessions_that_come_along_are_half_lies() {
        let rows = rows(SESSIONS).unwrap();
        let lies = rows.iter().filter(|row| row.lies).count();
        let steered = rows.iter().filter(|row| row.class == "injection").count();
        assert_eq!((rows.len(), lies, steered), (40, 20, 4));
        for row in &rows {
            assert_eq!(row.turn + 1, row.transcript.messages.len());
        }
    }
}
