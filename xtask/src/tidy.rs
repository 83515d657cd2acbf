//! `cargo xtask tidy`: the house rules as code. One check per file, in one table: [`CHECKS`].

mod complaint;
mod crate_ceilings;
mod crates;
mod documents;
mod doors;
mod floors;
mod formats;
mod generated;
mod house;
mod imports;
mod length;
mod links;
mod names;
mod rules;
mod siblings;
mod word_lists;
mod words;

use std::path::Path;

use anyhow::{Result, bail};

use complaint::Complaint;
use house::House;

/// Every check, in the order in which they run.
const CHECKS: &[fn(&House) -> Result<Vec<Complaint>>] = &[
    floors::check,
    doors::check,
    siblings::check,
    rules::check,
    formats::check,
    length::check,
    crates::check,
    names::check,
    words::check,
    word_lists::check,
    generated::check,
    documents::check,
    links::check,
];

/// Prints the size of every crate in the repository at `root`, and the violations that the checks
/// find.
#[expect(clippy::print_stderr, reason = "a developer reads it")]
pub(crate) fn run(root: &Path) -> Result<()> {
    let house = House::at(root)?;
    crates::print(&house)?;
    let complaints = complaints(&house, root)?;
    for complaint in &complaints {
        eprintln!("{complaint}");
    }
    match complaints.len() {
        0 => Ok(()),
        1 => bail!("1 thing is against the house rules"),
        many => bail!("{many} things are against the house rules"),
    }
}

fn complaints(house: &House, root: &Path) -> Result<Vec<Complaint>> {
    let mut all = Vec::new();
    for check in CHECKS {
        all.extend(check(house)?);
    }
    all.extend(crate_ceilings::check(root)?);
    Ok(all)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_house_is_tidy() {
        let root = crate::root();
        let complaints = super::complaints(&super::House::at(&root).unwrap(), &root).unwrap();
        let shown: Vec<String> = complaints.iter().map(ToString::to_string).collect();
        assert!(shown.is_empty(), "\n{}\n", shown.join("\n"));
    }
}
