//! The object of an action, as its clause names it.

use std::ops::Range;

use counterfoil_model::{Object, ObjectKind};

use super::extract::{direct_object, things_in};
use super::no_act::speaks_of_thing;
use super::objects::{objects_in, patients_in};
use super::several::enumerated;
use super::told_act::ToldAct;
use crate::prose::Voice;

/// The object of an action.
pub(super) struct Named {
    /// The objects that were acted on, as far as they can be told apart from the others in the
    /// clause.
    pub(super) patients: Vec<Object>,
    /// The nouns for them: `bag`, `reservation`.
    pub(super) things: Vec<String>,
    /// All objects that the clause names.
    pub(super) objects: Vec<Object>,
    /// The objects that it enumerates.
    pub(super) listed: Vec<Object>,
}

/// The reason for a clause without an object of its own: the list after it names what was done.
pub(super) const INTRODUCES: &str = "introduces what follows";

impl Named {
    pub(super) fn of(act: &ToldAct<'_, '_>) -> Result<Self, &'static str> {
        let ToldAct { prose, clause, predicate, .. } = *act;
        let told = told(act);
        let range = match predicate.voice {
            Voice::Active | Voice::Bare => direct_object(prose, &told),
            _ => predicate.subject_tokens.clone(),
        };
        let patients = patients(act, range.clone());
        let files = patients.iter().any(|o| o.kind == ObjectKind::Path);
        if act.sentence.introduces && !files && !speaks_of_thing(prose, predicate) {
            return Err(INTRODUCES);
        }
        let things = things_in(prose, range.clone());
        let mut objects = objects_in(prose, clause.tokens.start..told.end);
        objects.dedup();
        let listed = enumerated_in(act, range);
        Ok(Self { patients, things, objects, listed })
    }
}

/// The tokens of the object. "`a.rs`: adapted, new test `x`": nothing after the comma.
fn told(act: &ToldAct<'_, '_>) -> Range<usize> {
    let tokens = act.predicate.object_tokens.clone();
    let apart = act.prose.tokens(tokens.clone()).first().is_some_and(|t| t.is(','));
    let end = if act.predicate.voice == Voice::Bare && apart { tokens.start } else { tokens.end };
    tokens.start..end
}

fn patients(act: &ToldAct<'_, '_>, range: Range<usize>) -> Vec<Object> {
    let ToldAct { prose, predicate, .. } = *act;
    let is_file = |object: &Object| object.kind == ObjectKind::Path;
    let mut patients = patients_in(prose, range);
    if predicate.voice == Voice::Bare && !predicate.subject_tokens.is_empty() {
        // "`src/a.rs` - Added a check": the label names the file.
        let mut label = objects_in(prose, predicate.subject_tokens.clone());
        label.retain(is_file);
        if !label.is_empty() {
            patients = label;
        }
    }
    patients
}

/// The objects that the clause itself enumerates.
fn enumerated_in(act: &ToldAct<'_, '_>, range: Range<usize>) -> Vec<Object> {
    let typed =
        |o: &Object| matches!(o.kind, ObjectKind::Id | ObjectKind::Path | ObjectKind::Email);
    let named = objects_in(act.prose, range.clone()).iter().any(typed);
    let range = if named { range } else { act.predicate.object_tokens.clone() };
    enumerated(act.prose, range)
}
