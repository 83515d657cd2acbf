//! Checks that generated pages are current.

use anyhow::Result;

use super::complaint::Complaint;
use super::house::House;
use crate::docs;

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let pages = docs::pages(|path| house.text(path).map(str::to_owned))?;
    let stale = pages.into_iter().filter(|page| house.text(page.path) != Some(&page.text));
    Ok(stale
        .map(|page| {
            Complaint::new(
                page.path,
                0,
                "the generated text is not current",
                "run `cargo xtask docs` and commit what it writes",
            )
        })
        .collect())
}
