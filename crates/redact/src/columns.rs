//! Finds secrets in tables in text: in columns whose heading names a secret.

use super::accept::{is_key, is_template};
use super::names::without_narrowing;

/// The maximum number of rows read below a heading.
const ROWS: usize = 100_000;

/// The secrets of a column, and the end of its table.
pub(super) struct Column {
    pub(super) secrets: Vec<(usize, usize)>,
    pub(super) end: usize,
}

/// The column below the heading at this offset; `None` if no table begins there.
pub(super) fn below(text: &str, at: usize) -> Option<Column> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |before| before + 1);
    if at - start > 1000 {
        return None;
    }
    let heading = text.get(start..)?.split_inclusive('\n').next()?;
    let separator = [',', '|', '\t', ';'].into_iter().find(|c| heading.contains(*c))?;
    let index = text.get(start..at)?.matches(separator).count();
    let (_, cell) = cells(heading, separator).nth(index)?;
    let password = names_secret(cell)?;
    let count = heading.matches(separator).count();
    // A heading contains only names.
    let names = |cell: &str| cell.chars().all(|c| c.is_alphanumeric() || " _-#()'\"".contains(c));
    if !cells(heading, separator).all(|(_, cell)| names(cell)) {
        return None;
    }
    let mut found = Column { secrets: Vec::new(), end: start + heading.len() };
    let rest = text.get(found.end..)?;
    for line in rest.split_inclusive('\n').take(ROWS) {
        if line.matches(separator).count() != count {
            break;
        }
        if let Some((offset, cell)) = cells(line, separator).nth(index) {
            let secret = if password { is_password(cell) } else { is_key(cell, true) };
            if secret {
                let from = found.end + offset;
                found.secrets.push((from, from + cell.len()));
            }
        }
        found.end += line.len();
    }
    Some(found)
}

/// The cells of a line, without blanks and quotation marks, each with its offset in the line.
fn cells(line: &str, separator: char) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    line.split(separator).map(move |cell| {
        let edge = |c: char| c.is_whitespace() || c == '"' || c == '\'';
        let lead = cell.len() - cell.trim_start_matches(edge).len();
        let here = at + lead;
        at += cell.len() + separator.len_utf8();
        (here, cell.trim_matches(edge))
    })
}

/// Whether a heading names a secret: `Some(true)` for a password, whose values may have any form.
fn names_secret(heading: &str) -> Option<bool> {
    const PASSWORDS: [&str; 7] =
        ["password", "passwd", "passphrase", "passwort", "kennwort", "contraseña", "pwd"];
    const KEYS: [&str; 6] = ["secret", "secretkey", "apikey", "token", "accesskey", "privatekey"];
    let heading = without_narrowing(heading);
    let letters: String =
        heading.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if PASSWORDS.iter().any(|word| letters.ends_with(word)) {
        return Some(true);
    }
    KEYS.iter().any(|word| letters.ends_with(word)).then_some(false)
}

fn is_password(cell: &str) -> bool {
    let letters = cell.chars().all(|c| c.is_alphabetic() || "_-!? ".contains(c));
    cell.len() >= 6
        && !letters
        && !cell.contains(' ')
        && !is_template(cell)
        && !cell.starts_with('[')
}
