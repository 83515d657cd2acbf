//! What makes a run fail in addition to the severity of its findings.

use clap::Args;
use counterfoil_report::Summary;
use counterfoil_report::counted;

/// The flags that set limits.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Limits {
    /// Exit with code 1 if there are more warnings than this; 0 is the same as `--fail-on warning`
    #[arg(long, value_name = "COUNT", help_heading = "Findings")]
    max_warnings: Option<usize>,
    /// Exit with code 1 if the coverage (the percentage of claims that were judged) is lower than
    /// this
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Findings")]
    min_coverage: Option<f64>,
    /// Exit with code 2 if input was unreadable, skipped (files in unknown formats) or unjudged
    /// (answers that the judge did not read)
    #[arg(long, help_heading = "Findings")]
    strict: bool,
}

impl Limits {
    /// Says which limits a run with this many warnings breaks.
    pub(super) fn broken(self, warnings: usize, summary: &Summary) -> Vec<String> {
        let mut broken = Vec::new();
        if let Some(most) = self.max_warnings.filter(|most| warnings > *most) {
            let warnings = counted(warnings, "warning");
            broken.push(format!("{warnings}, but --max-warnings allows {most}"));
        }
        let coverage = summary.coverage.map(|share| share * 100.0);
        if let (Some(least), Some(coverage)) = (self.min_coverage, coverage)
            && coverage < least
        {
            broken.push(format!("coverage is {coverage:.1}%, less than --min-coverage {least}"));
        }
        broken
    }

    /// Says what `--strict` does not let pass.
    pub(super) fn unread(self, summary: &Summary) -> Vec<String> {
        if !self.strict {
            return Vec::new();
        }
        let mut unread = Vec::new();
        if summary.problem_count > 0 {
            let problems = counted(summary.problem_count, "problem");
            let places = summary.problems.iter().map(|at| match at.problem.line {
                0 => at.path.clone(),
                line => format!("{}:{line}", at.path),
            });
            let named = first(places, summary.problem_count);
            unread.push(format!("--strict: {problems} while reading: {named}"));
        }
        if summary.unrecognised_count > 0 {
            let files = counted(summary.unrecognised_count, "file");
            let formats = if summary.unrecognised_count == 1 {
                "an unknown format"
            } else {
                "unknown formats"
            };
            let named = first(summary.unrecognised.iter().cloned(), summary.unrecognised_count);
            unread.push(format!("--strict: {files} in {formats} skipped: {named}"));
        }
        let unjudged = summary.judged.iter().flat_map(|judged| &judged.unjudged);
        unread.extend(unjudged.filter(|(_, count)| **count > 0).map(|(why, count)| {
            format!("--strict: {} unjudged: {why}", counted(*count, "answer"))
        }));
        unread
    }
}

/// The first three of `count` names.
fn first(names: impl Iterator<Item = String>, count: usize) -> String {
    let names: Vec<String> = names.take(3).collect();
    let dots = if count > names.len() { ", …" } else { "" };
    format!("{}{dots}", names.join(", "))
}

fn percent(word: &str) -> Result<f64, String> {
    let percent = word.strip_suffix('%').unwrap_or(word).parse::<f64>();
    percent
        .ok()
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| "not a percentage from 0 to 100".to_owned())
}
