//! `cargo xtask tidy`: the house rules as code. One check per file, in one table: [`CHECKS`].

mod crate_ceilings;
mod documents;
mod doors;
mod floors;
mod formats;
mod generated;
mod house;
mod length;
mod links;
mod names;
mod rules;
mod siblings;
mod words;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

pub(crate) use house::House;

/// Every check, in the order in which they run.
const CHECKS: &[fn(&House) -> Result<Vec<Complaint>>] = &[
    floors::check,
    doors::check,
    siblings::check,
    rules::check,
    formats::check,
    length::check,
    names::check,
    words::check,
    generated::check,
    documents::check,
    links::check,
];

/// A violation of a house rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Complaint {
    path: String,
    /// 1-based; 0 when it concerns the whole file.
    line: usize,
    message: String,
    /// What to do.
    help: String,
}

impl Complaint {
    fn new(
        path: impl Into<String>,
        line: usize,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), line, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message)?,
            line => write!(f, "{}:{line}: {}", self.path, self.message)?,
        }
        write!(f, "\n  help: {}", self.help)
    }
}

/// Runs every check on the repository at `root` and prints the violations.
#[expect(clippy::print_stderr, reason = "a developer reads it")]
pub(crate) fn run(root: &Path) -> Result<()> {
    let complaints = complaints(root)?;
    for complaint in &complaints {
        eprintln!("{complaint}");
    }
    match complaints.len() {
        0 => Ok(()),
        1 => bail!("1 thing is against the house rules"),
        many => bail!("{many} things are against the house rules"),
    }
}

fn complaints(root: &Path) -> Result<Vec<Complaint>> {
    let house = House::at(root)?;
    let mut all = Vec::new();
    for check in CHECKS {
        all.extend(check(&house)?);
    }
    all.extend(crate_ceilings::check(root)?);
    Ok(all)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_house_is_tidy() {
        let complaints = super::complaints(&crate::root()).unwrap();
        let shown: Vec<String> = complaints.iter().map(ToString::to_string).collect();
        assert!(shown.is_empty(), "\n{}\n", shown.join("\n"));
    }
}
