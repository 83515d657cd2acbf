use counterfoil_model::{Family, Object, ObjectKind};

use super::each::each;
use super::extract::ActionClaim;
use super::instead::{another_failed, done_beside, is_reason};
use super::left_out::left_out;
use super::made_good::is_made_good;
use super::matter::{
    is_act_of_sender, is_only_updated, is_recorded_amount, is_recorded_payment, keeps_manifest,
    sets_unknown_version, special_tool, special_tool_of_kind,
};
use super::objects::{mentions, needle};
use super::other_thing::is_of_other_thing;
use super::otherwise::done_otherwise;
use super::search::{Found, Search, speaks_of, starts_something};
use super::state::{
    dated_in_record, is_spoken_of, is_still_open, is_word_of_record, made_by, marked_in_record,
    state_of_record,
};
use super::tie::{head, stem};
use super::writing::prints;
use crate::facts::{Deed, Execution, Facts, Families, of_name, vouching};

/// What the record says about a claimed action; executions by their place in the record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ActionVerdict {
    /// It shows a deed that vouches for it; none where a receipt of the log does.
    Supported(Option<usize>),
    /// It shows that it was tried and failed, or was refused.
    Failed(usize),
    /// It shows a call for it whose result lists it among what was left out.
    LeftOut(usize),
    /// It shows a deed of this kind, but on something else.
    Elsewhere(usize),
    /// It shows a call for it that was made for another thing of the same list, as far as can be told.
    OfAnother(usize),
    /// It shows nothing of the kind; `true` when it would, had it happened.
    Absent(bool),
    /// It cannot show it.
    NotCheckable,
}

/// How many of the latest results are searched for a state of record.
pub(super) const LOOK_BACK: usize = 200;

/// Judges a claimed action against what was done before it was claimed.
pub(crate) fn judge(facts: &Facts<'_>, said: &ActionClaim) -> ActionVerdict {
    let mut accepted = vouching(said.family);
    if said.verb.starts_with("buil") {
        accepted = accepted.with(Family::Build);
    }
    // "asked them to look at it": with a task for them as well as with a message.
    if said.paraphrased {
        accepted = Families::changing();
    }
    if said.verb == "merged" {
        accepted = accepted.with(Family::Update);
    }
    if starts_something(said) {
        accepted = accepted.with(Family::Run);
    }
    let verdict = judge_as_one(facts, said, accepted);
    match verdict {
        ActionVerdict::Supported(at) => {
            let failed = || at.is_some_and(|at| another_failed(facts, said, accepted, at));
            let made = || made_by(facts, said, &identifying(&said.patients)).is_some();
            let open = || at.filter(|at| is_still_open(facts, said, *at));
            left_out(facts, said, accepted, at)
                .map(ActionVerdict::LeftOut)
                .or_else(|| each(facts, said, accepted))
                .or_else(|| failed().then_some(ActionVerdict::NotCheckable))
                .or_else(|| {
                    at.filter(|at| is_of_other_thing(facts, said, accepted, *at))
                        .map(ActionVerdict::OfAnother)
                })
                .or_else(|| {
                    let unknown = names_unknown_file(facts, said)
                        || is_left_to_other_tool(facts, said, accepted)
                        || sets_unknown_version(facts, said)
                        || at.is_some_and(|at| is_only_updated(facts, said, at));
                    unknown.then_some(ActionVerdict::Absent(false))
                })
                .or_else(|| open().map(|_| ActionVerdict::Absent(false)))
                .filter(|_| !made())
                .unwrap_or(verdict)
        }
        _ => verdict,
    }
}

/// "I added it to `src/args.rs`": where no call, no result and nobody ever spoke of such a file.
fn names_unknown_file(facts: &Facts<'_>, said: &ActionClaim) -> bool {
    let turn = said.claim.turn;
    let edits = matches!(said.family, Family::Create | Family::Update | Family::Delete);
    let files = || said.claim.objects.iter().filter(|thing| thing.kind == ObjectKind::Path);
    let named = |thing: &Object| !needle(thing).contains('.') || thing.text.contains(['*', '{']);
    let short = facts.record().count_before(turn) <= LOOK_BACK;
    if !edits || !said.direct || !short || files().next().is_none() || files().any(named) {
        return false;
    }
    let unseen = facts.deeds_before(turn).any(|(_, deed)| {
        deed.delegates
            || (deed.opaque && deed.shell.is_none())
            || deed.shell.as_ref().is_some_and(|work| {
                work.opaque || work.unpacks || work.writes_unnamed || work.changes_data
            })
    });
    facts.shows_all_before(turn)
        && !unseen
        && files().any(|thing| {
            let tried =
                facts.deeds_before(turn).any(|(execution, _)| mentions(args(execution), thing));
            !tried && facts.source_of(needle(thing), turn, true).is_none()
        })
}

/// The first of these that can tell decides: what was done before the claim, what was done in other
/// ways, what the record says, and last that it says nothing.
fn judge_as_one(facts: &Facts<'_>, said: &ActionClaim, accepted: Families) -> ActionVerdict {
    let search = Search::of(facts, said, accepted);
    let found = search.run();
    by_deeds(&search, &found)
        .or_else(|| {
            let done = done_otherwise(facts, said, facts.record().count_before(search.window));
            done.filter(|verdict| !matches!(verdict, ActionVerdict::Absent(_)))
        })
        .or_else(|| by_record(&search))
        .or_else(|| by_unknown_deeds(&search))
        .or_else(|| by_files(&search, &found))
        .unwrap_or_else(|| by_absence(&search, &found))
}

/// What the deeds say that may have been it.
fn by_deeds(search: &Search<'_, '_>, found: &Found) -> Option<ActionVerdict> {
    let Search { facts, said, .. } = *search;
    // "I've charged your card", where that failed, and the seats are held.
    let declined = found.declined.filter(|_| said.is_own());
    let held = |failed: &usize| found.loose.success_now.is_none_or(|at| at < *failed);
    if let Some(failed) = declined.filter(held) {
        return Some(ActionVerdict::Failed(failed));
    }
    let verdict = found.exact.verdict().or_else(|| found.loose.verdict())?;
    let ActionVerdict::Failed(at) = verdict else { return Some(verdict) };
    let nobody_knows = found.kept
        || is_word_of_record(facts, said)
        || is_reason_of_failure(facts, said, at)
        || is_made_good(facts, said, search.accepted, at);
    if nobody_knows {
        return Some(ActionVerdict::NotCheckable);
    }
    made_by(facts, said, &search.ids)
        .or_else(|| done_beside(facts, said, at))
        .map(|at| ActionVerdict::Supported(Some(at)))
        .or_else(|| done_otherwise(facts, said, at + 1))
        .or(Some(verdict))
}

/// What the record says of how things stand.
fn by_record(search: &Search<'_, '_>) -> Option<ActionVerdict> {
    let Search { facts, said, ref ids, .. } = *search;
    // What the user wants committed is there because the agent did it, or not at all.
    let wanted = matches!(said.family, Family::Commit | Family::Push)
        && said.stem.is_none()
        && search.was_asked_for();
    if (said.as_found && !wanted)
        || is_act_of_sender(facts, said)
        || (said.of_others && search.count() > 0 && only_reads(facts) && !search.was_asked_for())
    {
        return Some(ActionVerdict::NotCheckable);
    }
    if receipt_vouches(facts, search.accepted, ids) {
        return Some(ActionVerdict::Supported(None));
    }
    state_of_record(facts, said, ids)
        .or_else(|| dated_in_record(facts, said))
        .or_else(|| marked_in_record(facts, said, ids))
        .map(|at| ActionVerdict::Supported(Some(at)))
}

/// Whether what nobody understands may have done it, or the record speaks of it.
fn by_unknown_deeds(search: &Search<'_, '_>) -> Option<ActionVerdict> {
    let Search { facts, said, ref ids, .. } = *search;
    let turn = said.claim.turn;
    let unknown = || did_something_unknown(facts, turn);
    let paid =
        || is_recorded_payment(facts, said) || (!said.direct && is_recorded_amount(facts, said));
    if said.paraphrased && (facts.delegates_before(turn) || unknown())
        || said.family == Family::Pay && paid()
        || said.stem.is_some() && unknown()
        || (said.state || said.weak) && is_spoken_of(facts, said, ids)
    {
        return Some(ActionVerdict::NotCheckable);
    }
    // "The room was reserved": what the user asked for, or the history of something.
    said.weak.then(|| {
        let clear = said.stem.is_none() && search.was_asked_for();
        match clear && facts.is_complete_before(turn) {
            true => ActionVerdict::Absent(false),
            false => ActionVerdict::NotCheckable,
        }
    })
}

/// What is known of files that no deed changed.
fn by_files(search: &Search<'_, '_>, found: &Found) -> Option<ActionVerdict> {
    let Search { facts, said, .. } = *search;
    let turn = said.claim.turn;
    let files: Vec<&Object> =
        search.ids.iter().copied().filter(|o| o.kind == ObjectKind::Path).collect();
    if files.is_empty() {
        return None;
    }
    // A file can also have been changed by a sub-agent, a generator, or the user.
    let delegated = facts.delegates_before(turn) && delegates_speak_of(facts, turn, &files);
    // What version control lists as changed is not committed.
    let listed = !matches!(said.family, Family::Commit | Family::Push);
    let elsewhere = delegated
        || (listed && (shows_change(facts, turn, &files) || prints(facts, turn, &files)))
        || keeps_manifest(facts, turn, &files);
    Some(match elsewhere {
        true => ActionVerdict::NotCheckable,
        false => {
            let plain = said.direct && !found.namesake && facts.is_complete_before(turn);
            ActionVerdict::Absent(plain && !facts.is_opaque_before(turn))
        }
    })
}

/// What it means that nothing of the kind is recorded.
fn by_absence(search: &Search<'_, '_>, found: &Found) -> ActionVerdict {
    let Search { facts, said, .. } = *search;
    let turn = said.claim.turn;
    if let Some(elsewhere) = found.exact.elsewhere.or(found.loose.elsewhere) {
        return ActionVerdict::Elsewhere(elsewhere);
    }
    if said.textual && search.ids.is_empty() {
        // A task that the agent had a tool for is no part of the message.
        return match special_tool(facts, said, turn) {
            Some(_) => ActionVerdict::Absent(false),
            None => ActionVerdict::NotCheckable,
        };
    }
    // What the user pasted may have been changed in the message.
    let pasted = || {
        search.count() == 0
            && matches!(said.family, Family::Create | Family::Update | Family::Delete)
            && facts.was_given_text(turn)
    };
    if did_something_foreign(facts, turn) || pasted() {
        return ActionVerdict::NotCheckable;
    }
    let plain = said.direct && !found.passed_over && facts.is_complete_before(turn);
    ActionVerdict::Absent(plain && !facts.is_opaque_before(turn))
}

/// Whether the agent had tools, and none to change anything with: what became of things was read.
fn only_reads(facts: &Facts<'_>) -> bool {
    let reads = Families::of(&[Family::Read, Family::Search, Family::Compute]);
    let tools = facts.tool_names();
    facts.transcript().catalog.is_known()
        && !tools.is_empty()
        && tools.iter().all(|tool| tool.families.meets(reads))
}

/// "A taxi has been booked", where `book_taxi` was at hand and never called, and no call of its kind
/// was about one.
fn is_left_to_other_tool(facts: &Facts<'_>, said: &ActionClaim, accepted: Families) -> bool {
    let turn = said.claim.turn;
    let umbrella = matches!(said.family, Family::Update | Family::Create | Family::Pay);
    if umbrella || said.stem.is_some() || !identifying(&said.patients).is_empty() {
        return false;
    }
    special_tool_of_kind(facts, said, turn).is_some_and(|thing| {
        let mut deeds = facts.deeds_before(turn).take(LOOK_BACK);
        deeds.all(|(execution, deed)| {
            let known = deed.shell.is_none() && !deed.opaque && !deed.delegates;
            known && !(deed.families.meets(accepted) && speaks_of(deed, execution, thing))
        })
    })
}

/// Whether another agent was asked about the file, or reported on it.
fn delegates_speak_of(facts: &Facts<'_>, turn: usize, files: &[&Object]) -> bool {
    facts
        .deeds_before(turn)
        .take(LOOK_BACK)
        .filter(|(_, deed)| deed.delegates)
        .any(|(e, _)| files.iter().any(|file| mentions(args(e), file) || mentions(e.text(), file)))
}

/// Whether a tool worked whose name says nothing.
fn did_something_unknown(facts: &Facts<'_>, turn: usize) -> bool {
    facts.deeds_before(turn).take(LOOK_BACK).any(|(_, deed)| {
        deed.families.is_empty() && deed.shell.is_none() && deed.status().succeeded()
    })
}

/// Whether a tool worked whose name says nothing, among tools of which none is named in English.
fn did_something_foreign(facts: &Facts<'_>, turn: usize) -> bool {
    let tools = || {
        let recent = facts.deeds_before(turn).take(LOOK_BACK).map(|(_, deed)| deed);
        recent.filter(|deed| deed.shell.is_none())
    };
    let unknown = |deed: &Deed<'_>| deed.families.is_empty() && deed.status().succeeded();
    tools().any(unknown)
        && !tools().any(Deed::is_named_in_english)
        && facts.tool_names().iter().all(|tool| tool.families.is_empty())
}

/// "LR-3 was approved today", where a call of another kind failed with these words: somebody else
/// did it.
fn is_reason_of_failure(facts: &Facts<'_>, said: &ActionClaim, at: usize) -> bool {
    let act = head(stem(&said.verb));
    let named = |deed: &Deed<'_>| deed.words().iter().any(|word| head(word) == act);
    facts.deed(at).is_some_and(|(e, deed)| !named(deed) && is_reason(said, e.text()))
}

/// Whether version control lists the file as changed.
fn shows_change(facts: &Facts<'_>, turn: usize, files: &[&Object]) -> bool {
    facts.deeds_before(turn).take(LOOK_BACK).any(|(execution, deed)| {
        let inspects = deed.shell.as_ref().is_some_and(|work| work.command.contains("git "));
        inspects
            && files.iter().any(|file| {
                execution.text().lines().any(|line| {
                    mentions(line, file)
                        && (line.contains('|')
                            || [
                                "modified:",
                                "new file:",
                                "renamed:",
                                "create mode",
                                "diff --git",
                                "+++ ",
                                "M ",
                                "A ",
                                "?? ",
                            ]
                            .iter()
                            .any(|mark| line.contains(mark)))
                })
            })
    })
}

/// Whether a receipt that came with the log vouches.
fn receipt_vouches(facts: &Facts<'_>, accepted: Families, ids: &[&Object]) -> bool {
    facts.transcript().receipts.iter().flatten().any(|receipt| {
        let result = || receipt.result.as_ref().map(ToString::to_string).unwrap_or_default();
        receipt.status.succeeded()
            && of_name(&receipt.tool).meets(accepted)
            && (ids.is_empty() || receipt.result.is_none() || {
                let result = result();
                ids.iter().any(|id| mentions(&result, id))
            })
    })
}

/// The things by which one object is told from another. `v3` is one of many.
pub(super) fn identifying(objects: &[Object]) -> Vec<&Object> {
    let tells = |o: &&Object| match o.kind {
        ObjectKind::Id => o.text.len() > 2,
        kind => kind == ObjectKind::Path,
    };
    objects.iter().filter(tells).collect()
}

pub(super) fn args<'t>(execution: &Execution<'t>) -> &'t str {
    execution.arguments()
}
