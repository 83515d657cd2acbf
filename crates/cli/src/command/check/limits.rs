//! What makes a run fail in addition to the severity of its findings.

use clap::Args;
use counterfoil_report::Summary;

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
}

impl Limits {
    /// Says which limits a run with this many warnings breaks.
    pub(super) fn broken(self, warnings: usize, summary: &Summary) -> Vec<String> {
        let mut broken = Vec::new();
        if let Some(most) = self.max_warnings.filter(|most| warnings > *most) {
            broken.push(format!("{warnings} warnings, more than --max-warnings {most}"));
        }
        let coverage = summary.coverage.map(|share| share * 100.0);
        if let (Some(least), Some(coverage)) = (self.min_coverage, coverage)
            && coverage < least
        {
            broken.push(format!("coverage is {coverage:.1}%, less than --min-coverage {least}"));
        }
        broken
    }
}

fn percent(word: &str) -> Result<f64, String> {
    let percent = word.strip_suffix('%').unwrap_or(word).parse::<f64>();
    percent
        .ok()
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| "not a percentage from 0 to 100".to_owned())
}
