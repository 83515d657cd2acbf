//! Compares the object of a deed with the object of a claim.

use counterfoil_model::{Object, ObjectKind};

use super::objects::{Sought, mentions, shape};
use crate::facts::{Deed, Execution};

/// How the two objects compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The same thing, or the claim names none.
    Same,
    /// Neither confirmed nor excluded.
    Open,
    /// A different thing of the same kind.
    Other,
}

/// Compares what the execution acted on with what is claimed: by the identifying objects `ids`, or
/// else by `all` objects that the claim names.
pub(super) fn fit(
    execution: &Execution<'_>,
    deed: &Deed<'_>,
    ids: &[&Object],
    all: &[&Object],
) -> Fit {
    if ids.is_empty() && all.is_empty() {
        return Fit::Same;
    }
    let holds = |object: &Object| {
        if deed.written.iter().any(|path| mentions(path, object)) {
            return true;
        }
        match (&deed.shell, object.kind) {
            // A file that a command line only names is not written by it, unless the command's
            // effects are unknown.
            (Some(work), ObjectKind::Path) => work.opaque && mentions(&work.command, object),
            _ => {
                let sought = Sought::new(object);
                sought.occurs_in(execution.arguments()) || sought.occurs_in(execution.text())
            }
        }
    };
    if ids.iter().any(|id| holds(id)) {
        return Fit::Same;
    }
    if ids.is_empty() {
        return if all.iter().any(|id| holds(id)) { Fit::Same } else { Fit::Open };
    }
    let rival = ids.iter().any(|id| match id.kind {
        ObjectKind::Path => !deed.written.is_empty() || names_file(execution.arguments()),
        ObjectKind::Id => has_shape(execution.arguments(), &shape(&id.text)),
        _ => false,
    });
    if rival { Fit::Other } else { Fit::Open }
}

/// Whether a text contains a token of this shape.
fn has_shape(text: &str, wanted: &str) -> bool {
    let symbol = |c: char| c == '#' || c == '_' || c == '-';
    text.split(|c: char| !c.is_ascii_alphanumeric() && !symbol(c))
        .any(|token| token.len() == wanted.len() && shape(token) == wanted)
}

/// Whether a text contains a file path.
fn names_file(text: &str) -> bool {
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | '(' | ')'))
        .filter(|word| word.contains('/'))
        .filter_map(|word| word.rsplit('/').next()?.rsplit_once('.'))
        .any(|(stem, extension)| {
            !stem.is_empty()
                && (1..=5).contains(&extension.len())
                && extension.bytes().all(|b| b.is_ascii_lowercase())
        })
}
