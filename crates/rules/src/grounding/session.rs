//! The words of a text.

use super::stem::stem;

/// The stems of the words of a text; those of names in code, too.
pub(super) fn stems(text: &str) -> impl Iterator<Item = String> {
    parts(text).map(stem)
}

/// The words of a text, those of names in code one by one.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.flat_map(|run| {
        let mut rest = run;
        std::iter::from_fn(move || {
            let mut small = false;
            let begins =
                |c: char| std::mem::replace(&mut small, c.is_lowercase()) && c.is_uppercase();
            let cut = rest.find(begins).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(cut);
            rest = behind;
            (!part.is_empty()).then_some(part)
        })
    })
}
