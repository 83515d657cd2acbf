//! The files with opinions and with questions.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, BufWriter, ErrorKind, Write as _};
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context as _;
use counterfoil_judge::{BatchForm, OpinionLine, Opinions, Prompt, batch_line};
use counterfoil_model::Digest;

use crate::exit::Complaint;
use crate::global::Global;
#[cfg(feature = "guard")]
use crate::state::State;

/// Kept opinions, and the file for new ones.
pub(super) struct Keeper {
    opinions: Opinions,
    file: Option<Mutex<File>>,
}

/// The size at which the file in the state folder is emptied, in bytes.
#[cfg(feature = "guard")]
const LONGEST: u64 = 64 << 20;

impl Keeper {
    /// Reads a file of opinions. `asks` says that new ones are appended, so that the file may be
    /// missing.
    pub(super) fn open(path: &Path, asks: bool) -> anyhow::Result<Self> {
        let shown = path.display();
        let opinions = match File::open(path) {
            Ok(file) => opinions_of(BufReader::new(file), path)?,
            Err(error) if error.kind() == ErrorKind::NotFound && asks => Opinions::default(),
            Err(error) => {
                return Err(Complaint::new(format!(
                    "cannot read the opinions file {shown}: {error}"
                ))
                .help(
                    "create the file with `--judge NAME`, or with `--judge-batch FILE` and a \
                     batch API",
                )
                .into());
            }
        };
        let file = if asks { Some(Mutex::new(appended(path)?)) } else { None };
        Ok(Self { opinions, file })
    }

    /// Opens the opinions of earlier runs on this machine. If they cannot be kept, prints a note,
    /// and answers are judged again.
    #[cfg(feature = "guard")]
    pub(super) fn in_state(global: &Global) -> anyhow::Result<Self> {
        let opened = global.state().and_then(State::create).map_err(anyhow::Error::from);
        let kept = opened.and_then(|state| Self::of_the_machine(&state.folder().opinions()));
        match kept {
            Ok(kept) => Ok(kept),
            Err(error) => {
                crate::exit::note(format!("opinions are not saved: {error:#}"))?;
                Ok(Self::none())
            }
        }
    }

    /// The linter alone has no state folder.
    #[cfg(not(feature = "guard"))]
    #[expect(clippy::unnecessary_wraps, reason = "in the build with a state folder, it can fail")]
    pub(super) fn in_state(_: &Global) -> anyhow::Result<Self> {
        Ok(Self::none())
    }

    #[cfg(feature = "guard")]
    fn of_the_machine(path: &Path) -> anyhow::Result<Self> {
        let file = appended(path)?;
        if file.metadata()?.len() > LONGEST {
            file.set_len(0)?;
        }
        let mut opinions = Opinions::default();
        for line in BufReader::new(File::open(path)?).split(b'\n') {
            // Skip a line of another version or of a killed process; its answer is judged again.
            let line = String::from_utf8(line?).unwrap_or_default();
            let _ = opinions.add(&line);
        }
        Ok(Self { opinions, file: Some(Mutex::new(file)) })
    }

    /// Keeps no opinions.
    pub(super) fn none() -> Self {
        Self { opinions: Opinions::default(), file: None }
    }

    /// Returns the kept opinion about a case: that of this judge, or of any judge if none is given.
    pub(super) fn about(
        &self,
        digest: Digest,
        judge: Option<&str>,
    ) -> Option<Result<OpinionLine, String>> {
        let kept = self.opinions.about(digest)?;
        let usable = match (kept, judge) {
            (Ok(line), Some(judge)) => line.model == judge,
            (Err(_), Some(_)) => false,
            (_, None) => true,
        };
        usable.then(|| kept.clone())
    }

    /// Appends an opinion to the file, if there is one.
    pub(super) fn keep(&self, line: &OpinionLine) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        let text = line.write().map_err(|error| error.to_string())?;
        let mut file = file.lock().map_err(|_| "the opinions file is broken".to_owned())?;
        file.write_all(format!("{text}\n").as_bytes())
            .map_err(|error| format!("cannot save the opinion: {error}"))
    }
}

fn appended(path: &Path) -> anyhow::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.with_context(|| format!("cannot write the opinions file {}", path.display()))
}

fn opinions_of(file: BufReader<File>, path: &Path) -> anyhow::Result<Opinions> {
    let mut opinions = Opinions::default();
    for (at, line) in file.lines().enumerate() {
        let place = || format!("{}:{}", path.display(), at + 1);
        let line = line.with_context(place)?;
        if !line.trim().is_empty() {
            opinions.add(&line).with_context(place)?;
        }
    }
    Ok(opinions)
}

/// A file of questions, without duplicates.
pub(super) struct Batch {
    out: BufWriter<File>,
    form: BatchForm,
    model: String,
    written: std::collections::HashSet<Digest>,
}

impl Batch {
    pub(super) fn create(path: &Path, form: BatchForm, model: String) -> anyhow::Result<Self> {
        let file = File::create(path)
            .with_context(|| format!("cannot write the questions to {}", path.display()))?;
        let written = std::collections::HashSet::new();
        Ok(Self { out: BufWriter::new(file), form, model, written })
    }

    pub(super) fn add(&mut self, digest: Digest, prompt: &Prompt) -> Result<(), String> {
        if !self.written.insert(digest) {
            return Ok(());
        }
        let line = batch_line(self.form, &self.model, digest, prompt);
        let written = writeln!(self.out, "{line}");
        written.map_err(|error| format!("cannot write the question: {error}"))
    }

    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        self.out.flush().context("cannot write the questions")
    }
}
