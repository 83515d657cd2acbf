//! Whether what a deed was done to is what a claim names.

use counterfoil_model::{Object, ObjectKind};

use super::judge::args;
use super::matter::is_namesake;
use super::objects::{Sought, mentions, needle, shape};
use crate::facts::{Deed, Execution, Facts, Holders};

/// How a deed's object compares with the claim's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The same thing, or the claim names none.
    Same,
    /// Neither confirmed nor excluded.
    Open,
    /// A different thing of the same kind.
    Other,
}

/// One execution, as a claim sees it.
pub(super) struct Place<'f, 't> {
    pub(super) facts: &'f Facts<'t>,
    pub(super) at: usize,
    pub(super) execution: &'f Execution<'t>,
    pub(super) deed: &'f Deed<'t>,
    /// So many were looked at before it that looking things up costs less than reading.
    pub(super) far: bool,
}

impl Place<'_, '_> {
    /// Whether its arguments or its result speak of the thing.
    fn speaks_of(&self, object: &Object) -> bool {
        let read = || {
            let sought = Sought::of(object);
            sought.stands_in(args(self.execution)) || sought.stands_in(self.execution.text())
        };
        match self.far && self.deed.changes() {
            true => holders(self.facts).holds(self.at, needle(object)).unwrap_or_else(read),
            false => read(),
        }
    }

    /// Whether its arguments hold an id of the same form.
    fn holds_rival_of(&self, id: &str) -> bool {
        let shape = shape(id);
        let read = || has_shape(args(self.execution), &shape);
        if self.far { self.facts.index().is_shaped(&shape, self.at, read) } else { read() }
    }
}

/// Where the deeds that change something speak of what is claimed to have been changed.
fn holders<'f>(facts: &'f Facts<'_>) -> &'f Holders {
    facts.holders(|| {
        let claims = facts.action_claims().iter();
        let objects = claims.flat_map(|said| said.patients.iter().chain(&said.claim.objects));
        let objects = objects.filter(|o| matches!(o.kind, ObjectKind::Id | ObjectKind::Path));
        let changing = (0..facts.record().executions().len())
            .filter_map(|at| Some((at, facts.deed(at)?)))
            .filter(|(_, (_, deed))| deed.changes());
        let texts = changing.flat_map(|(at, (e, _))| [(at, args(e)), (at, e.text())]);
        Holders::of(objects.map(needle), texts).unwrap_or_default()
    })
}

/// The executions before a place that changed something and speak of one of the things, ascending;
/// `None` where nothing is named, or a command line may have done it.
pub(super) fn held_before(facts: &Facts<'_>, ids: &[&Object], place: usize) -> Option<Vec<usize>> {
    if ids.is_empty() || facts.runs_shell_before(usize::MAX) {
        return None;
    }
    let mut found = Vec::new();
    for id in ids {
        found.extend(holders(facts).of_word(needle(id))?.iter().filter(|at| **at < place));
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// How what the execution was done to compares with what is claimed: by what tells it from others,
/// `ids`, or by `all` that the claim names.
pub(super) fn fit(place: &Place<'_, '_>, ids: &[&Object], all: &[&Object]) -> Fit {
    if ids.is_empty() && all.is_empty() {
        return Fit::Same;
    }
    let deed = place.deed;
    let holds = |object: &Object| {
        if deed.written.iter().any(|path| mentions(path, object)) {
            return !is_namesake(deed, object);
        }
        match (&deed.shell, object.kind) {
            // Naming a file on a command line does not write it, unless nobody knows what ran.
            (Some(work), ObjectKind::Path) => work.opaque && mentions(&work.command, object),
            _ => place.speaks_of(object),
        }
    };
    if ids.iter().any(|id| holds(id)) {
        return Fit::Same;
    }
    if ids.is_empty() {
        return if all.iter().any(|id| holds(id)) { Fit::Same } else { Fit::Open };
    }
    let rival = ids.iter().any(|id| match id.kind {
        ObjectKind::Path => !deed.written.is_empty() || names_file(args(place.execution)),
        ObjectKind::Id => place.holds_rival_of(&id.text),
        _ => false,
    });
    if rival { Fit::Other } else { Fit::Open }
}

/// Whether a text holds a token of this shape.
fn has_shape(text: &str, wanted: &str) -> bool {
    let symbol = |c: char| c == '#' || c == '_' || c == '-';
    text.split(|c: char| !c.is_ascii_alphanumeric() && !symbol(c))
        .any(|token| token.len() == wanted.len() && shape(token) == wanted)
}

/// Whether a text names some file by its path.
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
