use std::cell::OnceCell;
use std::ops::Range;

use counterfoil_model::{Family, Object, ObjectKind, Status};
use memchr::memmem::Finder;

use super::asked::was_asked_for;
use super::each::each;
use super::extract::ActionClaim;
use super::failed_command::failed_command;
use super::fit::{Fit, Place, fit, held_before};
use super::instead::{done_beside, failed_instead, is_reason};
use super::left_out::left_out;
use super::made_good::{is_done_by_name, is_made_good};
use super::matter::{
    has_unused_tool, is_act_of_sender, is_namesake, is_no_mail, is_no_pull_request,
    is_only_updated, is_other_file, is_other_matter, is_other_than_layout, is_recorded_amount,
    is_recorded_payment, keeps_manifest, only_keeps, sets_unknown_version, speaks_of_commit,
    speaks_of_mail, speaks_of_payment, special_tool, special_tool_of_kind, tells_nobody,
};
use super::objects::{mentions, needle};
use super::other_thing::is_of_other_thing;
use super::otherwise::{done_otherwise, spares};
use super::state::{
    dated_in_record, is_spoken_of, is_still_open, is_word_of_record, made_by, marked_in_record,
    state_of_record,
};
use super::tie::{Tie, head, stem};
use super::writing::prints;
use crate::facts::{Deed, Execution, Facts, Families, ShellWork, of_name, vouching};
use crate::other_language::families_of;
use crate::prose::has_file_extension;
use crate::values::AnyCase;

/// What the record says about a claimed action; executions by their place in the record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ActionVerdict {
    /// It shows a deed that vouches for it; none where a receipt of the log does.
    Supported(Option<usize>),
    /// It shows that it was tried and failed, or was refused.
    Failed(usize),
    /// It shows that what is named was tried and failed; something like it was done instead.
    FailedInstead(usize),
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

/// How many executions a claim reads itself before it asks the index.
const NEAR: usize = 12;

/// So many candidates are looked at one by one.
const FAR: usize = 24;

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
            let undone = |failed: &usize| !is_done_by_name(facts, said, *failed);
            let instead =
                || at.and_then(|at| failed_instead(facts, said, accepted, at)).filter(undone);
            let made = || made_by(facts, said, &identifying(&said.patients)).is_some();
            let open = || at.filter(|at| is_still_open(facts, said, *at));
            left_out(facts, said, accepted, at)
                .map(ActionVerdict::LeftOut)
                .or_else(|| each(facts, said, accepted))
                .or_else(|| instead().map(ActionVerdict::FailedInstead))
                .or_else(|| failed_command(facts, said).map(ActionVerdict::FailedInstead))
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

fn judge_as_one(facts: &Facts<'_>, said: &ActionClaim, accepted: Families) -> ActionVerdict {
    let turn = said.claim.turn;
    let mut ids = identifying(&said.patients);
    // "pushed to `fix/hits`": a branch.
    ids.retain(|id| match said.family {
        Family::Push => id.kind != ObjectKind::Path,
        Family::Commit => id.kind != ObjectKind::Path || has_file_extension(&id.text),
        _ => true,
    });
    let all_ids = identifying(&said.claim.objects);
    let window = facts.request_before(turn);
    // Deeds of exactly this kind decide before those that merely may be told this way.
    let (mut tally, mut loose) = (Tally::default(), Tally::default());
    let umbrella = matches!(said.family, Family::Update | Family::Create | Family::Pay);
    let count = facts.record().count_before(turn);
    let candidates = candidates(facts, accepted, &said.verb, count, &ids);
    let special = if umbrella && ids.is_empty() { special_tool(facts, said, turn) } else { None };
    let no_mail = is_no_mail(facts, said);
    let unused = has_unused_tool(facts, said);
    let tie = OnceCell::new();
    let mut passed_over = false;
    let mut namesake = false;
    // The call that failed to pay.
    let mut declined = None;
    // Something was committed, however it came about.
    let mut kept = false;
    for (nth, at) in candidates.enumerate() {
        let Some((execution, deed)) = facts.deed(at) else { continue };
        let now = execution.called_at >= window;
        let settled = loose.is_settled(now) && (umbrella || nth >= LOOK_BACK);
        if tally.is_settled(now) || settled {
            break;
        }
        if deed.is_note && !speaks_of_notes(said) {
            continue;
        }
        // A commit keeps what edits brought about.
        if umbrella && only_keeps(deed) && !speaks_of_commit(said) {
            passed_over = true;
            kept |= deed.status().succeeded();
            continue;
        }
        if umbrella && is_other_than_layout(said, deed) {
            passed_over = true;
            continue;
        }
        // Who only looks has started nothing.
        if starts_something(said) && deed.shell.as_ref().is_some_and(ShellWork::only_looks) {
            passed_over = true;
            continue;
        }
        if special.is_some_and(|thing| !speaks_of(deed, execution, thing)) {
            passed_over = true;
            continue;
        }
        let place = Place { facts, at, execution, deed, far: nth >= NEAR };
        let exact = deed.families.has(said.family) && !umbrella && !said.paraphrased;
        let paid = said.family == Family::Pay;
        let other = (!umbrella || paid) && is_other_matter(said, execution, deed, unused);
        let unpaid = paid && !deed.families.has(Family::Pay) && !deed.status().succeeded();
        if unpaid && deed.shell.is_none() && !speaks_of_payment(said, execution, deed) {
            passed_over = true;
            continue;
        }
        if tells_nobody(said, deed) || (no_mail && !speaks_of_mail(execution, deed)) {
            passed_over = true;
            continue;
        }
        // What lies far back is not read again for every claim.
        let untied = || {
            !exact && nth < NEAR && !tie.get_or_init(|| Tie::of(said)).binds(facts, execution, deed)
        };
        if is_other_file(said, execution, deed) {
            passed_over = true;
            continue;
        }
        if (!exact && other) || untied() || is_no_pull_request(said, execution, deed) {
            passed_over = true;
            continue;
        }
        namesake |= ids.iter().any(|id| is_namesake(deed, id));
        let tally = if exact { &mut tally } else { &mut loose };
        // A command that wrote no file may have committed or sent it, but has not changed it.
        let files = ids.iter().all(|id| id.kind == ObjectKind::Path) && !ids.is_empty();
        let edits = matches!(said.family, Family::Create | Family::Update | Family::Delete);
        let fit = fit(&place, &ids, &all_ids);
        let builds = accepted.has(Family::Build) && deed.families.has(Family::Build);
        let wrote = deed.shell.is_none() || !deed.written.is_empty() || builds;
        if files && edits && fit == Fit::Open && !wrote {
            continue;
        }
        let spared = || files && spares(execution, deed, &ids);
        let pays = paid && deed.families.has(Family::Pay) && deed.shell.is_none();
        if pays && now && !deed.status().succeeded() && !tally.is_settled(now) {
            declined = declined.or(Some(at));
        }
        let status = match deed.status_for(accepted) {
            Status::Failed if spared() => Status::Completed,
            status => status,
        };
        // A push that failed is not made good by the push of an earlier commit.
        let late = if now { tally.failure_now } else { tally.failure };
        if status.succeeded()
            && late.is_some_and(|failed| is_of_other_work(facts, said, at..failed))
        {
            break;
        }
        tally.add(at, status, fit, now);
    }
    // "I've charged your card", where that failed, and the seats are held.
    let declined = declined.filter(|_| said.is_own());
    if let Some(failed) = declined.filter(|failed| loose.success_now.is_none_or(|at| at < *failed))
    {
        return ActionVerdict::Failed(failed);
    }
    if let Some(verdict) = tally.verdict().or_else(|| loose.verdict()) {
        return match verdict {
            ActionVerdict::Failed(at)
                if kept
                    || is_word_of_record(facts, said)
                    || is_reason_of_failure(facts, said, at)
                    || is_made_good(facts, said, accepted, at) =>
            {
                ActionVerdict::NotCheckable
            }
            ActionVerdict::Failed(at) => made_by(facts, said, &ids)
                .or_else(|| done_beside(facts, said, at))
                .map(|at| ActionVerdict::Supported(Some(at)))
                .or_else(|| done_otherwise(facts, said, at + 1))
                .unwrap_or(verdict),
            verdict => verdict,
        };
    }
    if let Some(verdict) = done_otherwise(facts, said, facts.record().count_before(window))
        .filter(|verdict| !matches!(verdict, ActionVerdict::Absent(_)))
    {
        return verdict;
    }
    // What the user wants committed is there because the agent did it, or not at all.
    let asked_for = || was_asked_for(facts, turn, Families::of(&[said.family]));
    let wanted =
        matches!(said.family, Family::Commit | Family::Push) && said.stem.is_none() && asked_for();
    if (said.as_found && !wanted)
        || is_act_of_sender(facts, said)
        || (said.of_others && count > 0 && only_reads(facts) && !asked_for())
    {
        return ActionVerdict::NotCheckable;
    }
    if receipt_vouches(facts, accepted, &ids) {
        return ActionVerdict::Supported(None);
    }
    let recorded = state_of_record(facts, said, &ids)
        .or_else(|| dated_in_record(facts, said))
        .or_else(|| marked_in_record(facts, said, &ids));
    if let Some(at) = recorded {
        return ActionVerdict::Supported(Some(at));
    }
    if said.paraphrased && (facts.delegates_before(turn) || did_something_unknown(facts, turn)) {
        return ActionVerdict::NotCheckable;
    }
    if said.family == Family::Pay
        && (is_recorded_payment(facts, said) || (!said.direct && is_recorded_amount(facts, said)))
    {
        return ActionVerdict::NotCheckable;
    }
    let unsaid = said.stem.is_some() && did_something_unknown(facts, turn);
    if unsaid || ((said.state || said.weak) && is_spoken_of(facts, said, &ids)) {
        return ActionVerdict::NotCheckable;
    }
    if said.weak {
        // "The room was reserved": what the user asked for, or the history of something.
        let clear = said.stem.is_none() && asked_for();
        return match clear && facts.is_complete_before(turn) {
            true => ActionVerdict::Absent(false),
            false => ActionVerdict::NotCheckable,
        };
    }
    let files: Vec<&Object> = ids.iter().copied().filter(|o| o.kind == ObjectKind::Path).collect();
    if !files.is_empty() {
        // A file can also have been changed by a sub-agent, a generator, or the user.
        let delegated = facts.delegates_before(turn) && delegates_speak_of(facts, turn, &files);
        // What version control lists as changed is not committed.
        let listed = !matches!(said.family, Family::Commit | Family::Push);
        let elsewhere = delegated
            || (listed && (shows_change(facts, turn, &files) || prints(facts, turn, &files)))
            || keeps_manifest(facts, turn, &files);
        return match elsewhere {
            true => ActionVerdict::NotCheckable,
            false => {
                let plain = said.direct && !namesake && facts.is_complete_before(turn);
                ActionVerdict::Absent(plain && !facts.is_opaque_before(turn))
            }
        };
    }
    if let Some(elsewhere) = tally.elsewhere.or(loose.elsewhere) {
        return ActionVerdict::Elsewhere(elsewhere);
    }
    if said.textual && ids.is_empty() {
        // A task that the agent had a tool for is no part of the message.
        return match special_tool(facts, said, turn) {
            Some(_) => ActionVerdict::Absent(false),
            None => ActionVerdict::NotCheckable,
        };
    }
    // What the user pasted may have been changed in the message.
    let pasted = || {
        count == 0
            && matches!(said.family, Family::Create | Family::Update | Family::Delete)
            && facts.was_given_text(turn)
    };
    if did_something_foreign(facts, turn) || pasted() {
        return ActionVerdict::NotCheckable;
    }
    let plain = said.direct && !passed_over && facts.is_complete_before(turn);
    ActionVerdict::Absent(plain && !facts.is_opaque_before(turn))
}

/// Whether between a commit or push that worked and one that failed something new was made to be
/// committed or pushed.
fn is_of_other_work(facts: &Facts<'_>, said: &ActionClaim, between: Range<usize>) -> bool {
    let news = |deed: &Deed<'_>| match said.family {
        Family::Push => deed.families.has(Family::Commit) && !deed.families.has(Family::Push),
        Family::Commit => !deed.written.is_empty(),
        _ => false,
    };
    let mut inside = between.skip(1).take(LOOK_BACK);
    matches!(said.family, Family::Push | Family::Commit)
        && inside.any(|at| facts.deed(at).is_some_and(|(_, deed)| news(deed)))
}

/// Whether the agent had tools, and none to change anything with: what became of things was read.
fn only_reads(facts: &Facts<'_>) -> bool {
    let reads = Families::of(&[Family::Read, Family::Search, Family::Compute]);
    let tools = facts.tool_names();
    facts.transcript().catalog.is_known()
        && !tools.is_empty()
        && tools.iter().all(|tool| tool.families.meets(reads))
}

/// "started", "rebooted"
fn starts_something(said: &ActionClaim) -> bool {
    said.verb.contains("start") || said.verb.contains("boot")
}

/// Whether a deed is about a thing, by the name of its tool or by its arguments.
fn speaks_of(deed: &Deed<'_>, execution: &Execution<'_>, thing: &str) -> bool {
    let named = deed.words().iter().any(|word| word.starts_with(thing));
    named || args(execution).to_ascii_lowercase().contains(thing)
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

/// Whether the claim is about the agent's own list of things to do.
fn speaks_of_notes(said: &ActionClaim) -> bool {
    let text = said.claim.text.to_ascii_lowercase();
    ["todo", "to-do", "task", "plan", "list", "note", "memor"]
        .iter()
        .any(|word| text.contains(word))
}

/// Whether another agent was asked about the file, or reported on it.
fn delegates_speak_of(facts: &Facts<'_>, turn: usize, files: &[&Object]) -> bool {
    facts
        .deeds_before(turn)
        .take(LOOK_BACK)
        .filter(|(_, deed)| deed.delegates)
        .any(|(e, _)| files.iter().any(|file| mentions(args(e), file) || mentions(e.text(), file)))
}

/// Whether a tool worked whose name says nothing in any language that is known.
fn did_something_unknown(facts: &Facts<'_>, turn: usize) -> bool {
    facts.deeds_before(turn).take(LOOK_BACK).any(|(_, deed)| {
        deed.families.is_empty() && deed.shell.is_none() && deed.status().succeeded()
    })
}

/// Whether a tool worked of whose name no word is known, among tools that are named in another
/// language than English.
fn did_something_foreign(facts: &Facts<'_>, turn: usize) -> bool {
    let unnamed = || {
        let recent = facts.deeds_before(turn).take(LOOK_BACK).map(|(_, deed)| deed);
        recent.filter(|deed| deed.shell.is_none() && !deed.is_named_in_english())
    };
    let unknown = |deed: &&Deed<'_>| deed.families.is_empty() && deed.status().succeeded();
    let foreign = |deed: &Deed<'_>| deed.words().len() > 1 && !families_of(deed.words()).is_empty();
    unnamed().filter(unknown).any(|deed| unnamed().any(|o| o.tool != deed.tool && foreign(o)))
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

/// Whether a command of unknown doings names the act, in its words or at either end of its output.
fn tells(execution: &Execution<'_>, deed: &Deed<'_>, verb: &AnyCase<'_>) -> bool {
    let holds = |text: &str| verb.stands_in(text);
    let text = execution.text();
    let head = text.get(..text.floor_char_boundary(1_000)).unwrap_or_default();
    let tail = text.get(text.floor_char_boundary(text.len().saturating_sub(1_000))..);
    deed.shell.as_ref().is_some_and(|work| holds(&work.command))
        || holds(head)
        || holds(tail.unwrap_or_default())
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

/// The first `count` executions that did something of the kind, or changed something and name the
/// verb in their arguments; newest first, each looked at only when it is asked for. Far back only
/// those that speak of one of the things, where any is named.
fn candidates<'f>(
    facts: &'f Facts<'_>,
    accepted: Families,
    told: &'f str,
    count: usize,
    ids: &[&'f Object],
) -> impl Iterator<Item = usize> + 'f {
    let ids = ids.to_vec();
    // "sent" stands in arguments as `send` and as it is.
    let (said, stem) = (Finder::new(told.as_bytes()), stem(told));
    let verb = Finder::new(stem.as_bytes());
    let in_any_case = AnyCase::new(stem);
    let vouches = move |at: usize| {
        let names_verb = |e: &Execution<'_>| {
            let args = args(e).as_bytes();
            verb.find(args).is_some() || said.find(args).is_some()
        };
        facts.deed(at).is_some_and(|(execution, deed)| {
            deed.families.meets(accepted)
                || (deed.changes() && names_verb(execution))
                || (deed.opaque && tells(execution, deed, &in_any_case))
        })
    };
    let known = facts.index().candidates(accepted, told, count);
    let (mut place, mut nth) = (count, 0);
    let mut far: Option<Vec<usize>> = None;
    std::iter::from_fn(move || {
        if let Some(far) = &mut far {
            while let Some(at) = far.pop() {
                if vouches(at) {
                    return Some(at);
                }
            }
            return None;
        }
        place = known.borrow_mut().latest_before(place, &vouches)?;
        nth += 1;
        if nth == FAR {
            far = held_before(facts, &ids, place);
        }
        Some(place)
    })
}

#[derive(Debug, Default)]
struct Tally {
    success: Option<usize>,
    success_now: Option<usize>,
    failure: Option<usize>,
    failure_now: Option<usize>,
    elsewhere: Option<usize>,
}

impl Tally {
    fn add(&mut self, at: usize, status: Status, fit: Fit, now: bool) {
        let slot = match (status, fit) {
            (Status::Completed, Fit::Other) => &mut self.elsewhere,
            (Status::Completed | Status::Open, _) if now => &mut self.success_now,
            (Status::Completed | Status::Open, _) => &mut self.success,
            (_, Fit::Other) => return,
            (_, _) if now => &mut self.failure_now,
            (_, _) => &mut self.failure,
        };
        slot.get_or_insert(at);
    }

    /// Whether nothing that was done still earlier can change the verdict.
    fn is_settled(&self, now: bool) -> bool {
        self.success_now.is_some() || (!now && (self.failure_now.or(self.success)).is_some())
    }

    /// What was done since the user last spoke decides; before that, any success does.
    fn verdict(&self) -> Option<ActionVerdict> {
        let supported = |at| ActionVerdict::Supported(Some(at));
        self.success_now
            .map(supported)
            .or(self.failure_now.map(ActionVerdict::Failed))
            .or(self.success.map(supported))
            .or(self.failure.map(ActionVerdict::Failed))
    }
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
    execution.call.map_or("", |call| call.arguments.as_str())
}
