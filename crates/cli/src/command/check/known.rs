//! Findings that are known: accepted in a baseline, or in an earlier report.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;
use clap::Args;
use counterfoil_model::{Finding, Gap, Severity, Transcript};
use counterfoil_report::{Accepted, Baseline, Comparison, KnownFinding, Summary};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::outcome::{Occurred, Outcome, names};
use crate::config::CheckOptions;
use crate::exit::Complaint;
use crate::files;
use crate::inputs::Input;
use crate::outputs;
use counterfoil_report::counted;

/// The flags about known findings.
#[derive(Debug, Args)]
pub(super) struct KnownArguments {
    /// File with accepted findings; these are counted but not shown, and never fail the run
    #[arg(long, value_name = "FILE", env = "COUNTERFOIL_BASELINE", help_heading = "Findings")]
    baseline: Option<PathBuf>,
    /// Write the current findings to the baseline and exit with code 0
    #[arg(long, help_heading = "Findings")]
    write_baseline: bool,
    /// Add only the finding with this fingerprint (which --why shows) to the baseline and exit with
    /// code 0 (repeatable)
    #[arg(
        long,
        value_name = "FINGERPRINT",
        requires = "reason",
        conflicts_with = "write_baseline",
        help_heading = "Findings"
    )]
    accept: Vec<String>,
    /// The reason for accepting the finding, for reviewers of the baseline
    #[arg(long, value_name = "TEXT", requires = "accept", help_heading = "Findings")]
    reason: Option<String>,
    /// Compare with an earlier `check --format json` report: show and fail on new findings only
    #[arg(long, value_name = "OLD.json", help_heading = "Findings")]
    against: Option<PathBuf>,
}

/// The known findings, and what to write after the run.
pub(super) struct Known {
    baseline: Baseline,
    path: Option<PathBuf>,
    write: Write,
    earlier: Option<Baseline>,
    against: Option<PathBuf>,
}

enum Write {
    Nothing,
    /// All findings that occur.
    All,
    /// Those with these fingerprints, for this reason.
    These {
        accept: Vec<String>,
        reason: String,
    },
}

impl KnownArguments {
    /// Reads the known findings.
    pub(super) fn known(&self, options: &CheckOptions) -> anyhow::Result<Known> {
        let configured = options.baseline.as_ref().map(PathBuf::from);
        let path = self.baseline.clone().or(configured);
        let write = match (self.write_baseline, &self.reason) {
            (true, _) => Write::All,
            (false, Some(reason)) if reason.trim().is_empty() => {
                return Err(Complaint::new("the reason is empty")
                    .help("tell reviewers why the finding is accepted: `--reason TEXT`")
                    .into());
            }
            (false, Some(reason)) => {
                Write::These { accept: self.accept.clone(), reason: reason.trim().to_owned() }
            }
            (false, None) => Write::Nothing,
        };
        let writes = !matches!(write, Write::Nothing);
        let baseline = match &path {
            Some(path) => read_baseline(path, writes)?,
            None if writes => {
                let flag = if self.write_baseline { "--write-baseline" } else { "--accept" };
                return Err(Complaint::new(format!("{flag} needs a file to write to"))
                    .help("specify the file with `--baseline FILE`")
                    .into());
            }
            None => Baseline::default(),
        };
        let earlier = self.against.as_deref().map(read_report).transpose()?;
        Ok(Known { baseline, path, write, earlier, against: self.against.clone() })
    }
}

impl Known {
    /// The files that are read, which no output may overwrite.
    pub(super) fn read(&self) -> [Option<&Path>; 2] {
        [self.path.as_deref(), self.against.as_deref()]
    }

    /// Whether a file is written after the run, which then does not fail because of findings.
    pub(super) fn writes(&self) -> bool {
        !matches!(self.write, Write::Nothing)
    }

    /// Whether findings are shown with their fingerprints.
    pub(super) fn is_used(&self) -> bool {
        self.path.is_some()
    }

    /// The file that is written after the run.
    pub(super) fn written(&self) -> Option<&Path> {
        self.path.as_deref().filter(|_| self.writes())
    }

    /// Takes the known findings of a transcript out, and counts them. Returns the others, in a
    /// comparison those of the earlier report, and those that are accepted; the known ones if they
    /// have at least this severity.
    pub(super) fn new_of(
        &self,
        (path, transcript): (&str, &Transcript),
        findings: Vec<Finding>,
        least: Severity,
        Outcome { occurred, summary, .. }: &mut Outcome,
    ) -> (Vec<Finding>, Option<Vec<Finding>>, Vec<Accepted>) {
        occurred.findings.accept(transcript, &findings);
        occurred.transcripts.extend(names(transcript));
        let damage = |(gap, _): &(Gap, usize)| matches!(gap, Gap::Unreadable | Gap::CutEnd);
        if transcript.completeness.gaps().iter().any(damage) {
            occurred.damaged.extend(names(transcript));
        }
        let (new, accepted) = self.baseline.split(transcript, findings);
        summary.baselined += accepted.len();
        let shown = accepted.into_iter().filter(|finding| finding.severity >= least);
        let accepted = shown.map(|finding| self.baseline.accepted(transcript, finding)).collect();
        let Some(earlier) = &self.earlier else { return (new, None, accepted) };
        let (new, mut same) = earlier.split(transcript, new);
        same.retain(|finding| finding.severity >= least);
        let known = |findings: &[Finding]| {
            let shown = findings.iter().filter(|finding| finding.severity >= least);
            shown.map(|finding| KnownFinding::new(path, transcript, finding)).collect()
        };
        let compared = Comparison { new: known(&new), same: known(&same), ..Comparison::default() };
        summary.against.get_or_insert_default().merge(compared);
        (new, Some(same), accepted)
    }

    /// Adds the known findings that no longer occur. `runs` says whether a rule was on.
    pub(super) fn finish(
        &self,
        occurred: &Occurred,
        runs: impl Fn(&str) -> bool,
        summary: &mut Summary,
    ) {
        let was_checked = |known: &KnownFinding| {
            let removed = known.path.as_ref().is_some_and(|path| !Path::new(path).exists());
            occurred.was_checked(&runs, known) || (removed && runs(&known.rule))
        };
        if !matches!(self.write, Write::All) {
            summary.stale = self.baseline.gone(&occurred.findings, was_checked);
        }
        if let Some(earlier) = &self.earlier {
            let missing = earlier.missing(&occurred.findings);
            let (gone, unchecked): (Vec<_>, Vec<_>) = missing.into_iter().partition(was_checked);
            let against = summary.against.get_or_insert_default();
            (against.gone, against.unchecked) = (gone, unchecked.len());
        }
    }

    /// Writes the baseline, if requested.
    pub(super) fn write(
        &self,
        occurred: &Occurred,
        runs: impl Fn(&str) -> bool,
        inputs: &[Input],
        quiet: bool,
    ) -> anyhow::Result<()> {
        let Some(path) = self.written() else { return Ok(()) };
        let was_checked = |known: &KnownFinding| occurred.was_checked(&runs, known);
        let baseline = match &self.write {
            Write::These { accept, reason } => self.with(&occurred.findings, accept, reason)?,
            Write::All | Write::Nothing => {
                self.baseline.renewed(occurred.findings.clone(), was_checked)
            }
        };
        outputs::write_baseline(path, &baseline, inputs)?;
        if !quiet {
            let added = counted(baseline.added_to(&self.baseline), "finding");
            let (all, path) = (counted(baseline.len(), "finding"), path.display());
            writeln!(io::stderr(), "{added} added to {path}, which now accepts {all}")?;
        }
        Ok(())
    }

    /// Returns the baseline with the findings that have these fingerprints.
    fn with(
        &self,
        occurred: &Baseline,
        accept: &[String],
        reason: &str,
    ) -> anyhow::Result<Baseline> {
        let today = Timestamp::try_from(SystemTime::now())?.to_zoned(TimeZone::UTC).date();
        let mut all = Baseline::default();
        for print in accept {
            let print = print.trim().to_ascii_lowercase();
            if let Some(old) = self.baseline.reason(&print).filter(|old| *old != reason) {
                let wrong = format!("`{print}` is already accepted with a different reason: {old}");
                return Err(Complaint::new(wrong)
                    .help("give the same reason, or delete the entry from the baseline first")
                    .into());
            }
            let one =
                occurred.with_reason(&print, reason, &today.to_string()).ok_or_else(|| {
                    Complaint::new(format!("no finding has the fingerprint `{print}`"))
                        .help("`--why`, JSON and CSV show the fingerprint of each finding")
                })?;
            all.merge(one);
        }
        // The first entry of a finding stays, with its reason.
        all.merge(self.baseline.clone());
        Ok(all)
    }
}

/// Reads a baseline. One that is to be written may be missing; another file is refused later.
fn read_baseline(path: &Path, writes: bool) -> anyhow::Result<Baseline> {
    let text = match files::read_text(path) {
        Ok(text) => text,
        Err(error) if writes && error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let complaint =
                Complaint::new(format!("the baseline {} cannot be read: {error}", path.display()));
            return Err(match error.kind() {
                io::ErrorKind::NotFound => complaint
                    .help("create it with `--write-baseline`, or with `--accept FINGERPRINT`"),
                _ => complaint,
            }
            .into());
        }
    };
    match Baseline::from_json(&text) {
        Err(_) if writes => Ok(Baseline::default()),
        read => read.with_context(|| path.display().to_string()),
    }
}

fn read_report(path: &Path) -> anyhow::Result<Baseline> {
    let shown = path.display();
    let text = files::read_text(path)
        .with_context(|| format!("the earlier report {shown} cannot be read"))?;
    Baseline::from_report(&text).map_err(|error| {
        Complaint::new(format!("{shown}: {error}"))
            .help("create it with `counterfoil check … --format json --output OLD.json`")
            .into()
    })
}
