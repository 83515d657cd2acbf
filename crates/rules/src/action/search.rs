//! The calls before a claim that may have done what it tells, looked at one by one.

use std::cell::OnceCell;

use counterfoil_model::{Family, Object, ObjectKind, Status};
use memchr::memmem::Finder;

use super::extract::ActionClaim;
use super::fit::{Fit, fit};
use super::judge::{ActionVerdict, LOOK_BACK, args, identifying};
use super::matter::{
    has_unused_tool, is_other_file, is_other_matter, only_keeps, speaks_of_commit,
    speaks_of_payment, special_tool, tells_nobody,
};
use super::otherwise::spares;
use super::tie::{Tie, stem};
use crate::facts::{Deed, Execution, Facts, Families, ShellWork};
use crate::prose::has_file_extension;
use crate::values::AnyCase;

/// What is looked for.
pub(super) struct Search<'f, 't> {
    pub(super) facts: &'f Facts<'t>,
    pub(super) said: &'f ActionClaim,
    /// The kinds of deeds that may be told this way.
    pub(super) accepted: Families,
    /// What it was done to.
    pub(super) ids: Vec<&'f Object>,
    /// The same, and what else the claim names.
    all_ids: Vec<&'f Object>,
    /// When the user last spoke.
    pub(super) window: usize,
    /// Its verb says little of what was done.
    umbrella: bool,
    /// A thing for which there was a tool that nobody called.
    special: Option<&'f str>,
    unused_tool: bool,
    tie: OnceCell<Tie<'f>>,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Deeds of exactly this kind, which decide before those that merely may be told this way.
    pub(super) exact: Tally,
    pub(super) loose: Tally,
    /// A deed may have been it, and was another one as far as can be told.
    pub(super) passed_over: bool,
    /// The call that failed to pay.
    pub(super) declined: Option<usize>,
    /// Something was committed, however it came about.
    pub(super) kept: bool,
    /// More may have been it than was looked at.
    pub(super) cut: bool,
}

impl<'f, 't> Search<'f, 't> {
    pub(super) fn of(facts: &'f Facts<'t>, said: &'f ActionClaim, accepted: Families) -> Self {
        let turn = said.claim.turn;
        let mut ids = identifying(&said.patients);
        // "pushed to `fix/hits`": a branch.
        ids.retain(|id| match said.family {
            Family::Push => id.kind != ObjectKind::Path,
            Family::Commit => id.kind != ObjectKind::Path || has_file_extension(&id.text),
            _ => true,
        });
        let umbrella = matches!(said.family, Family::Update | Family::Create | Family::Pay);
        let is_special = umbrella && ids.is_empty();
        Self {
            facts,
            said,
            accepted,
            all_ids: identifying(&said.claim.objects),
            window: facts.request_before(turn),
            umbrella,
            special: is_special.then(|| special_tool(facts, said, turn)).flatten(),
            unused_tool: has_unused_tool(facts, said),
            ids,
            tie: OnceCell::new(),
        }
    }

    /// How many executions are before the claim.
    pub(super) fn count(&self) -> usize {
        self.facts.record().count_before(self.said.claim.turn)
    }

    pub(super) fn run(&self) -> Found {
        let Self { facts, said, .. } = *self;
        let mut found = Found::default();
        let candidates = candidates(facts, self.accepted, &said.verb, self.count());
        for (nth, at) in candidates.enumerate() {
            if nth == LOOK_BACK {
                found.cut = true;
                break;
            }
            let Some((execution, deed)) = facts.deed(at).filter(|(_, deed)| !deed.is_note) else {
                continue;
            };
            let now = execution.called_at >= self.window;
            if found.exact.is_settled(now) || (self.umbrella && found.loose.is_settled(now)) {
                break;
            }
            // A commit keeps what edits brought about.
            let keeps = self.umbrella && only_keeps(deed) && !speaks_of_commit(said);
            if keeps || self.is_another_act(execution, deed) {
                found.passed_over = true;
                found.kept |= keeps && deed.status().succeeded();
                continue;
            }
            self.weigh(at, execution, deed, &mut found);
        }
        found
    }

    /// Whether a deed is of the very kind, whatever else its verb may mean.
    fn is_exact(&self, deed: &Deed<'_>) -> bool {
        deed.families.has(self.said.family) && !self.umbrella && !self.said.paraphrased
    }

    /// Whether a deed is something else than what is told.
    fn is_another_act(&self, execution: &Execution<'_>, deed: &Deed<'_>) -> bool {
        let said = self.said;
        // Who only looks has started nothing.
        let only_looks = || deed.shell.as_ref().is_some_and(ShellWork::only_looks);
        if starts_something(said) && only_looks()
            || self.special.is_some_and(|thing| !speaks_of(deed, execution, thing))
            || tells_nobody(said, deed)
            || is_other_file(said, execution, deed)
        {
            return true;
        }
        let paid = said.family == Family::Pay;
        let unpaid = paid && !deed.families.has(Family::Pay) && !deed.status().succeeded();
        if unpaid && deed.shell.is_none() && !speaks_of_payment(said, execution, deed) {
            return true;
        }
        let other =
            || (!self.umbrella || paid) && is_other_matter(said, execution, deed, self.unused_tool);
        let tie = || self.tie.get_or_init(|| Tie::of(said));
        let untied = || !tie().binds(self.facts, execution, deed);
        !self.is_exact(deed) && (other() || untied())
    }

    /// Counts a deed that may have been it.
    fn weigh(&self, at: usize, execution: &Execution<'_>, deed: &Deed<'_>, found: &mut Found) {
        let (said, ids) = (self.said, &self.ids);
        let now = execution.called_at >= self.window;
        let tally = if self.is_exact(deed) { &mut found.exact } else { &mut found.loose };
        // A command that wrote no file may have committed or sent it, but has not changed it.
        let files = ids.iter().all(|id| id.kind == ObjectKind::Path) && !ids.is_empty();
        let edits = matches!(said.family, Family::Create | Family::Update | Family::Delete);
        let fit = fit(execution, deed, ids, &self.all_ids);
        let builds = self.accepted.has(Family::Build) && deed.families.has(Family::Build);
        let wrote = deed.shell.is_none() || !deed.written.is_empty() || builds;
        if files && edits && fit == Fit::Open && !wrote {
            return;
        }
        let pays =
            said.family == Family::Pay && deed.families.has(Family::Pay) && deed.shell.is_none();
        if pays && now && !deed.status().succeeded() && !tally.is_settled(now) {
            found.declined = found.declined.or(Some(at));
        }
        let status = match deed.status_for(self.accepted) {
            Status::Failed if files && spares(execution, deed, ids) => Status::Completed,
            status => status,
        };
        tally.add(at, status, fit, now);
    }
}

/// "started", "rebooted"
pub(super) fn starts_something(said: &ActionClaim) -> bool {
    said.verb.contains("start") || said.verb.contains("boot")
}

/// Whether a deed is about a thing, by the name of its tool or by its arguments.
pub(super) fn speaks_of(deed: &Deed<'_>, execution: &Execution<'_>, thing: &str) -> bool {
    let named = deed.words().iter().any(|word| word.starts_with(thing));
    named || args(execution).to_ascii_lowercase().contains(thing)
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

/// The first `count` executions that did something of the kind, or changed something and name the
/// verb in their arguments; newest first, each looked at only when it is asked for.
fn candidates<'f>(
    facts: &'f Facts<'_>,
    accepted: Families,
    told: &'f str,
    count: usize,
) -> impl Iterator<Item = usize> + 'f {
    // Arguments may have the verb as it is told, "sent", or as a name has it, `send`.
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
    let mut place = count;
    std::iter::from_fn(move || {
        place = known.borrow_mut().latest_before(place, &vouches)?;
        Some(place)
    })
}

/// The newest deeds of each outcome, by their places in the record.
#[derive(Debug, Default)]
pub(super) struct Tally {
    success: Option<usize>,
    pub(super) success_now: Option<usize>,
    failure: Option<usize>,
    failure_now: Option<usize>,
    pub(super) elsewhere: Option<usize>,
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
    pub(super) fn verdict(&self) -> Option<ActionVerdict> {
        self.success_now
            .map(ActionVerdict::Possible)
            .or(self.failure_now.map(ActionVerdict::Failed))
            .or(self.success.map(ActionVerdict::Possible))
            .or(self.failure.map(ActionVerdict::Failed))
    }
}
