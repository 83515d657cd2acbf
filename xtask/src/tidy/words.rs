//! Rejects words that no file may contain; the list is `forbidden.txt`.

use anyhow::{Context as _, Result};

use super::complaint::Complaint;
use super::house::House;

const LIST: &str = include_str!("forbidden.txt");

/// Files that have to contain the words.
const EXCUSED: [&str; 3] = ["xtask/src/tidy/forbidden.txt", "Cargo.lock", "fuzz/Cargo.lock"];

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for row in LIST.lines().filter(|row| !row.starts_with('#')) {
        let mut cells = row.splitn(3, '|').map(str::trim);
        let mut cell = || cells.next().context("a row of forbidden.txt has three cells");
        let (place, word, help) = (cell()?, cell()?, cell()?);
        for (path, text) in house.texts() {
            if EXCUSED.contains(&path) || place != "any" && !path.ends_with(place) {
                continue;
            }
            for (at, line) in text.lines().enumerate() {
                if occurs_in(line, word) {
                    let message = format!("found the word `{word}`");
                    complaints.push(Complaint::new(path, at + 1, message, help));
                }
            }
        }
    }
    Ok(complaints)
}

fn occurs_in(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let inside = |c: char| c.is_alphanumeric() || "._-~/*}".contains(c);
        !(word.starts_with('/') && !word.starts_with("//") && before.is_some_and(inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_counts_from_its_beginning() {
        let cases = [
            ("see /etc/motd", "/etc/", true),
            ("\"/etc/motd\"", "/etc/", true),
            ("home/etc/motd", "/etc/", false),
            ("    // LATER: x", "// LATER", true),
            ("an example.org page", "example.org", true),
        ];
        for (line, word, expected) in cases {
            assert_eq!(occurs_in(line, word), expected, "{line}");
        }
    }

    #[test]
    fn every_row_is_read() {
        assert_eq!(check(&House::with_files(&[("a.rs", "fn main() {}")])).unwrap(), []);
    }
}
