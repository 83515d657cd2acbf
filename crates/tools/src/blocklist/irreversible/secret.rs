//! Recognises words that name keys, tokens and passwords.

use super::tables::Tables;
use crate::blocklist::wildcards::like_any;
use crate::secret_places::is_secret;

/// The parts of a word that may be paths: `file=@.env`, `$(cat ~/.netrc)`, `a:b`.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.contains("$(") || text.contains('`') || text.contains("<(");
    let between = move |c: char| {
        "@=:,;<".contains(c) || runs && (c.is_whitespace() || ">()'\"`|".contains(c))
    };
    std::iter::once(text).chain(text.split(between))
}

/// Whether a word names a place where most machines keep secrets.
pub(super) fn is_place(text: &str) -> bool {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    // The key that signs receipts, wherever the state folder is.
    if text.ends_with("/ledger.db.key") || text.contains("COUNTERFOIL_STATE") {
        return true;
    }
    // The environment of a process.
    if text.starts_with("/proc/") && text.ends_with("/environ") {
        return true;
    }
    [text, text.rsplit(['@', '=', ':']).next().unwrap_or(text)].into_iter().any(is_secret)
}

/// Whether a word, relative to the folder that the script changed to, names such a place.
pub(super) fn is_place_in(folder: Option<&str>, text: &str) -> bool {
    let folder = folder.filter(|folder| !folder.is_empty() && !text.starts_with(['/', '~', '$']));
    folder.is_some_and(|folder| is_place(&format!("{folder}/{text}")))
}

/// Whether a word contains the name of such a place, or of a file of secrets.
pub(super) fn holds_keys(text: &str) -> bool {
    let is_address = text.contains("://") && !text.contains('$');
    !is_address && pieces(text).any(|piece| is_secret(piece) || is_file_of_secrets(piece))
}

/// Whether a path is a file of secrets: `.env`, `deploy/prod.pem`.
pub(super) fn is_file_of_secrets(path: &str) -> bool {
    let tables = Tables::own();
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is = |list: &str| tables.words(list).iter().any(|glob| like_any(glob, &name));
    is("files of secrets") && !is("no secrets")
}

/// Whether a word contains a variable with the name of a secret: `key=$STRIPE_SECRET_KEY`.
pub(super) fn holds_variable(text: &str) -> bool {
    text.split('$').skip(1).any(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let rest = rest.strip_prefix('!').unwrap_or(rest);
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let (name, after) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or_default();
        // `${#TOKEN}` and `${TOKEN:+set}` do not expand to the secret.
        is_name(name) && !after.starts_with(":+") && !after.starts_with('+')
    })
}

/// Whether a variable has the name of a secret.
pub(super) fn is_name(name: &str) -> bool {
    let ends = Tables::own().words("names of secrets");
    ends.iter().any(|end| name.to_uppercase().ends_with(end.as_str()))
}

/// Whether a search text is about secrets.
pub(super) fn is_about(text: &str) -> bool {
    let text = text.to_lowercase();
    Tables::own().words("looks for secrets").iter().any(|word| text.contains(word.as_str()))
}
