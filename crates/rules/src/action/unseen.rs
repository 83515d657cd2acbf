//! Finds claimed changes of files that the record mentions nowhere.

use counterfoil_model::{Family, Object, ObjectKind, Role};

use super::extract::ActionClaim;
use super::objects::without_lines;
use crate::facts::Facts;
use crate::prose::has_file_extension;
use crate::values::AnyCase;

/// The file that the agent says it changed, if a record of all its work mentions no file of this
/// name.
pub(crate) fn unseen_file<'s>(facts: &Facts<'_>, said: &'s ActionClaim) -> Option<&'s Object> {
    let turn = said.claim.turn;
    let edits = !matches!(said.family, Family::Read | Family::Search | Family::Compute);
    let mut files = said.claim.objects.iter().filter(|object| object.kind == ObjectKind::Path);
    let file = files.find(|object| edits && is_unseen(facts, object, turn))?;
    let whole = said.direct
        && facts.shows_all_before(turn)
        && facts.record().count_before(turn) > 0
        && !facts.delegates_before(turn)
        && !facts.called_unknown_tool_before(turn);
    whole.then_some(file)
}

/// Whether no call, result or instruction before a message contains the name of the file, not even
/// without its extension.
fn is_unseen(facts: &Facts<'_>, file: &Object, turn: usize) -> bool {
    /// Shorter names occur within other words.
    const SHORTEST: usize = 3;
    let path = without_lines(&file.text);
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if !has_file_extension(path) || stem.len() < SHORTEST {
        return false;
    }
    if facts.source_of(name, turn, true).is_some() {
        return false;
    }
    let stem = AnyCase::new(stem);
    let record = facts.record();
    let calls = record.executions().iter().take(record.count_before(turn));
    let mut calls = calls.flat_map(|call| [call.arguments(), call.text()]);
    let messages = facts.transcript().messages.iter().take(turn);
    let mut told = messages.filter(|message| message.role != Role::Assistant);
    !calls.any(|text| stem.stands_in(text)) && !told.any(|message| stem.stands_in(&message.text))
}
