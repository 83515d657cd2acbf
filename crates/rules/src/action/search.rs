//! Searches the calls before a claim for the ones that may have done it.

use counterfoil_model::{Family, Object, ObjectKind, Status};
use memchr::memmem::Finder;

use super::extract::ActionClaim;
use super::fit::{Fit, fit};
use super::objects::mentions;
use super::verdict::ActionVerdict;
use super::words::{head, stem};
use crate::facts::{Deed, Execution, Facts, Families, LOOK_BACK};
use crate::prose::has_file_extension;
use crate::values::AnyCase;

/// The search for the deeds of one claim.
pub(super) struct Search<'f, 't> {
    pub(super) facts: &'f Facts<'t>,
    pub(super) claimed: &'f ActionClaim,
    /// The families of deeds that the claim's verb may describe.
    pub(super) accepted: Families,
    /// The identifying objects that were acted on.
    pub(super) ids: Vec<&'f Object>,
    /// All identifying objects that the claim names.
    all_ids: Vec<&'f Object>,
    /// The message from which on deeds answer the user's latest request.
    window: usize,
}

/// The deeds that were found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Deeds of exactly the claimed family. They take precedence over those that the verb may
    /// merely describe.
    pub(super) exact: Tally,
    pub(super) loose: Tally,
    /// Whether there were more candidates than were examined.
    pub(super) cut: bool,
}

impl<'f, 't> Search<'f, 't> {
    pub(super) fn new(facts: &'f Facts<'t>, claimed: &'f ActionClaim, accepted: Families) -> Self {
        let mut ids = identifying(&claimed.patients);
        // "pushed to `fix/hits`": a branch.
        ids.retain(|id| match claimed.family {
            Family::Push => id.kind != ObjectKind::Path,
            Family::Commit => id.kind != ObjectKind::Path || has_file_extension(&id.text),
            _ => true,
        });
        let window = facts.request_before(claimed.claim.turn);
        Self { facts, claimed, accepted, all_ids: identifying(&claimed.claim.objects), window, ids }
    }

    /// The number of executions before the claim.
    pub(super) fn count(&self) -> usize {
        self.facts.record().count_before(self.claimed.claim.turn)
    }

    pub(super) fn run(&self) -> Found {
        let Self { facts, claimed, .. } = *self;
        let mut found = Found::default();
        let candidates = candidates(facts, self.accepted, &claimed.verb, self.count());
        for (nth, at) in candidates.enumerate() {
            if nth == LOOK_BACK {
                found.cut = true;
                break;
            }
            let Some((execution, deed)) = facts.deed(at).filter(|(_, deed)| !deed.is_note) else {
                continue;
            };
            let now = execution.called_at >= self.window;
            if found.exact.is_settled(now) {
                break;
            }
            self.weigh(at, execution, deed, &mut found);
        }
        found
    }

    /// Whether a deed is of exactly the claimed family, which must not be a broad one.
    fn is_exact(&self, deed: &Deed<'_>) -> bool {
        let umbrella = matches!(self.claimed.family, Family::Update | Family::Create);
        deed.families.has(self.claimed.family) && !umbrella
    }

    /// Counts a deed that may be the claimed action.
    fn weigh(&self, at: usize, execution: &Execution<'_>, deed: &Deed<'_>, found: &mut Found) {
        let (claimed, ids) = (self.claimed, &self.ids);
        let now = execution.called_at >= self.window;
        let tally = if self.is_exact(deed) { &mut found.exact } else { &mut found.loose };
        // A command that wrote no file may have committed or sent it, but has not changed it.
        let files = ids.iter().all(|id| id.kind == ObjectKind::Path) && !ids.is_empty();
        let edits = matches!(claimed.family, Family::Create | Family::Update | Family::Delete);
        let fit = fit(execution, deed, ids, &self.all_ids);
        let wrote = deed.shell.is_none() || !deed.written.is_empty();
        if files && edits && fit == Fit::Open && !wrote {
            return;
        }
        let status = match deed.status_for(self.accepted) {
            Status::Failed if files && spares(execution, deed, ids) => Status::Completed,
            status => status,
        };
        let named = match ids.is_empty() {
            true => self.is_named_after_thing(deed),
            false => fit == Fit::Same,
        };
        tally.add(at, status, fit, now);
        tally.weigh_names(at, status, named);
    }

    /// `book_visit`, for "your visit": whether the deed is named after the object.
    pub(super) fn is_named_after_thing(&self, deed: &Deed<'_>) -> bool {
        let things = || self.claimed.things.iter();
        let mut words = deed.words().iter().filter(|word| word.len() > 3);
        deed.shell.is_none() && words.any(|word| things().any(|thing| head(thing) == head(word)))
    }
}

/// The objects that identify a single thing. A short id such as `v3` does not.
fn identifying(objects: &[Object]) -> Vec<&Object> {
    let tells = |o: &&Object| match o.kind {
        ObjectKind::Id => o.text.len() > 2,
        kind => kind == ObjectKind::Path,
    };
    objects.iter().filter(tells).collect()
}

/// Whether a failed command may still have done its work on the files, because its output does not
/// mention them: `rm a b` without a `b`; `sed -i … a.rs && cargo build`.
fn spares(execution: &Execution<'_>, deed: &Deed<'_>, ids: &[&Object]) -> bool {
    let output = execution.text();
    deed.shell.is_some() && !output.trim().is_empty() && ids.iter().all(|id| !mentions(output, id))
}

/// Whether a command with unknown effects names the action, in its words or at either end of its
/// output.
fn tells(execution: &Execution<'_>, deed: &Deed<'_>, verb: &AnyCase<'_>) -> bool {
    let holds = |text: &str| verb.occurs_in(text);
    let text = execution.text();
    let head = text.get(..text.floor_char_boundary(1_000)).unwrap_or_default();
    let tail = text.get(text.floor_char_boundary(text.len().saturating_sub(1_000))..);
    deed.shell.as_ref().is_some_and(|work| holds(&work.command))
        || holds(head)
        || holds(tail.unwrap_or_default())
}

/// The candidates among the first `count` executions, newest first: those that did something of the
/// kind, those that changed something and name the verb in their arguments, and opaque ones that
/// name it. They are examined lazily.
fn candidates<'f>(
    facts: &'f Facts<'_>,
    accepted: Families,
    claimed_verb: &'f str,
    count: usize,
) -> impl Iterator<Item = usize> + 'f {
    // Arguments may contain the verb as claimed ("sent") or as in a name (`send`).
    let (as_claimed, stem) = (Finder::new(claimed_verb.as_bytes()), stem(claimed_verb));
    let verb = Finder::new(stem.as_bytes());
    let in_any_case = AnyCase::new(stem);
    let vouches = move |at: usize| {
        let names_verb = |e: &Execution<'_>| {
            let args = e.arguments().as_bytes();
            verb.find(args).is_some() || as_claimed.find(args).is_some()
        };
        facts.deed(at).is_some_and(|(execution, deed)| {
            deed.families.meets(accepted)
                || (deed.changes() && names_verb(execution))
                || (deed.opaque && tells(execution, deed, &in_any_case))
        })
    };
    let known = facts.index().candidates(accepted, claimed_verb, count);
    let mut place = count;
    std::iter::from_fn(move || {
        place = known.borrow_mut().latest_before(place, &vouches)?;
        Some(place)
    })
}

/// The newest deed of each outcome, by its index in the record.
#[derive(Debug, Default)]
pub(super) struct Tally {
    success: Option<usize>,
    pub(super) success_now: Option<usize>,
    failure: Option<usize>,
    failure_now: Option<usize>,
    pub(super) elsewhere: Option<usize>,
    /// The newest failed call for exactly this object.
    named_failure: Option<usize>,
    /// Whether a call for exactly this object succeeded.
    named_success: bool,
}

impl Tally {
    fn weigh_names(&mut self, at: usize, status: Status, named: bool) {
        match status {
            _ if !named => {}
            Status::Completed | Status::Open => self.named_success = true,
            _ => self.named_failure = self.named_failure.or(Some(at)),
        }
    }

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

    /// Whether no earlier deed can change the verdict.
    fn is_settled(&self, now: bool) -> bool {
        // Before the failure, the action may have succeeded.
        if self.named_failure.is_some() && !self.named_success {
            return false;
        }
        self.success_now.is_some() || (!now && (self.failure_now.or(self.success)).is_some())
    }

    /// Deeds since the user's last message decide; before that, any success does.
    pub(super) fn verdict(&self) -> Option<ActionVerdict> {
        let failed = self.named_failure.filter(|_| !self.named_success);
        failed
            .map(ActionVerdict::Failed)
            .or(self.success_now.map(ActionVerdict::Possible))
            .or(self.failure_now.map(ActionVerdict::Failed))
            .or(self.success.map(ActionVerdict::Possible))
            .or(self.failure.map(ActionVerdict::Failed))
    }
}
