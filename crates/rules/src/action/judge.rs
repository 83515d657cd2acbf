use countersign_model::{Family, Message, MessageKind, Object, ObjectKind, Role, Status};

use super::extract::ActionClaim;
use super::objects::{mentions, shape};
use crate::facts::{Deed, Execution, Facts, Families, of_name, vouching};

/// What the record says about a claimed action.
#[derive(Debug)]
pub(crate) enum ActionVerdict<'f, 't> {
    /// It shows a deed that vouches for it.
    Supported(Vec<&'f Execution<'t>>),
    /// It shows that it was tried and failed, or was refused.
    Failed(Vec<&'f Execution<'t>>),
    /// It shows a deed of this kind, but on something else.
    Elsewhere(Vec<&'f Execution<'t>>),
    /// It shows nothing of the kind; `true` when it would, had it happened.
    Absent(bool),
    /// It cannot show it.
    NotCheckable,
}

/// How many of the latest results are searched for a state of record.
const LOOK_BACK: usize = 200;

/// Judges a claimed action against what was done before it was claimed.
pub(crate) fn judge<'f, 't>(facts: &'f Facts<'t>, said: &ActionClaim) -> ActionVerdict<'f, 't> {
    let turn = said.claim.turn;
    let accepted = vouching(said.family);
    let ids = identifying(&said.patients);
    let all_ids = identifying(&said.claim.objects);
    let window = window_start(&facts.transcript().messages, turn);
    // Deeds of exactly this kind decide before those that merely may be told this way.
    let (mut tally, mut loose) = (Tally::default(), Tally::default());
    let (mut opaque, mut delegated) = (false, false);
    for (execution, deed) in facts.deeds_before(turn) {
        opaque |= deed.opaque;
        delegated |= deed.delegates;
        let names_verb = || args(execution).contains(stem(&said.verb));
        let told = deed.opaque && tells(execution, deed, &said.verb);
        if !(deed.families.meets(accepted) || (deed.changes() && names_verb()) || told) {
            continue;
        }
        let umbrella = matches!(said.family, Family::Update | Family::Create | Family::Pay);
        let exact = deed.families.has(said.family) && !umbrella;
        let fit = fit(execution, deed, &ids, &all_ids);
        let now = execution.called_at >= window;
        let tally = if exact { &mut tally } else { &mut loose };
        tally.add(execution, deed.status_for(accepted), fit, now);
    }
    if let Some(verdict) = tally.verdict().or_else(|| loose.verdict()) {
        return verdict;
    }
    if receipt_vouches(facts, accepted, &ids) {
        return ActionVerdict::Supported(Vec::new());
    }
    if let Some(execution) = state_of_record(facts, said, &ids) {
        return ActionVerdict::Supported(vec![execution]);
    }
    if said.weak {
        return ActionVerdict::NotCheckable;
    }
    let files: Vec<&Object> = ids.iter().copied().filter(|o| o.kind == ObjectKind::Path).collect();
    if !files.is_empty() {
        // A file can also have been changed by a sub-agent, a generator, or the user.
        let elsewhere = delegated || shows_change(facts, turn, &files);
        return match elsewhere {
            true => ActionVerdict::NotCheckable,
            false => {
                ActionVerdict::Absent(said.direct && !opaque && facts.is_complete_before(turn))
            }
        };
    }
    if let Some(elsewhere) = tally.elsewhere.or(loose.elsewhere) {
        return ActionVerdict::Elsewhere(vec![elsewhere]);
    }
    if said.textual && ids.is_empty() {
        return ActionVerdict::NotCheckable;
    }
    ActionVerdict::Absent(said.direct && !opaque && facts.is_complete_before(turn))
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

/// Whether a command of unknown doings names the act, in its words or in its output.
fn tells(execution: &Execution<'_>, deed: &Deed<'_>, verb: &str) -> bool {
    let stem = stem(verb).as_bytes();
    let holds = |text: &str| memchr::memmem::find(text.as_bytes(), stem).is_some();
    deed.shell.as_ref().is_some_and(|work| holds(&work.command)) || holds(execution.text())
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

/// How a deed's object compares with the claim's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// The same thing, or the claim names none.
    Same,
    /// Neither confirmed nor excluded.
    Open,
    /// A different thing of the same kind.
    Other,
}

#[derive(Debug, Default)]
struct Tally<'f, 't> {
    success: Option<&'f Execution<'t>>,
    success_now: Option<&'f Execution<'t>>,
    failure: Option<&'f Execution<'t>>,
    failure_now: Option<&'f Execution<'t>>,
    elsewhere: Option<&'f Execution<'t>>,
}

impl<'f, 't> Tally<'f, 't> {
    fn add(&mut self, execution: &'f Execution<'t>, status: Status, fit: Fit, now: bool) {
        let slot = match (status, fit) {
            (Status::Completed, Fit::Other) => &mut self.elsewhere,
            (Status::Completed | Status::Open, _) if now => &mut self.success_now,
            (Status::Completed | Status::Open, _) => &mut self.success,
            (_, Fit::Other) => return,
            (_, _) if now => &mut self.failure_now,
            (_, _) => &mut self.failure,
        };
        slot.get_or_insert(execution);
    }

    /// What was done since the user last spoke decides; before that, any success does.
    fn verdict(&self) -> Option<ActionVerdict<'f, 't>> {
        let supported = |e: &'f Execution<'t>| ActionVerdict::Supported(vec![e]);
        let failed = |e: &'f Execution<'t>| ActionVerdict::Failed(vec![e]);
        self.success_now
            .map(supported)
            .or(self.failure_now.map(failed))
            .or(self.success.map(supported))
            .or(self.failure.map(failed))
    }
}

fn fit(execution: &Execution<'_>, deed: &Deed<'_>, ids: &[&Object], all: &[&Object]) -> Fit {
    if ids.is_empty() && all.is_empty() {
        return Fit::Same;
    }
    let holds = |object: &Object| {
        if deed.written.iter().any(|path| mentions(path, object)) {
            return true;
        }
        match (&deed.shell, object.kind) {
            // Naming a file on a command line does not write it, unless nobody knows what ran.
            (Some(work), ObjectKind::Path) => work.opaque && mentions(&work.command, object),
            _ => mentions(args(execution), object) || mentions(execution.text(), object),
        }
    };
    if ids.iter().any(|id| holds(id)) {
        return Fit::Same;
    }
    if ids.is_empty() {
        return if all.iter().any(|id| holds(id)) { Fit::Same } else { Fit::Open };
    }
    let rival = ids.iter().any(|id| match id.kind {
        ObjectKind::Path => !deed.written.is_empty(),
        ObjectKind::Id => has_shape(args(execution), &shape(&id.text)),
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

/// The things by which one object is told from another.
fn identifying(objects: &[Object]) -> Vec<&Object> {
    objects.iter().filter(|o| matches!(o.kind, ObjectKind::Id | ObjectKind::Path)).collect()
}

/// A result that shows the claimed state, whoever brought it about.
fn state_of_record<'f, 't>(
    facts: &'f Facts<'t>,
    said: &ActionClaim,
    ids: &[&Object],
) -> Option<&'f Execution<'t>> {
    let stem = state_stem(said.family)?;
    facts
        .deeds_before(said.claim.turn)
        .take(LOOK_BACK)
        .find(|(execution, deed)| {
            let text = execution.text();
            deed.status.succeeded()
                && memchr::memmem::find(text.as_bytes(), stem.as_bytes()).is_some()
                && (ids.is_empty() || ids.iter().any(|id| mentions(text, id)))
        })
        .map(|(execution, _)| execution)
}

/// What a result says of a thing after an action of this family.
fn state_stem(family: Family) -> Option<&'static str> {
    Some(match family {
        Family::Cancel => "cancel",
        Family::Refund => "refund",
        Family::Return => "return",
        Family::Exchange => "exchange",
        Family::Send => "sent",
        Family::Delete => "deleted",
        Family::Book => "booked",
        Family::Pay => "paid",
        Family::Deploy => "deployed",
        _ => return None,
    })
}

/// The first message since the user last spoke.
fn window_start(messages: &[Message], turn: usize) -> usize {
    messages
        .get(..turn)
        .unwrap_or_default()
        .iter()
        .rposition(|m| m.role == Role::User && m.kind == MessageKind::Ordinary)
        .unwrap_or(0)
}

fn args<'t>(execution: &Execution<'t>) -> &'t str {
    execution.call.map_or("", |call| call.arguments.as_str())
}

/// A verb without its ending: enough to find it in arguments.
fn stem(verb: &str) -> &str {
    let cut = verb.strip_suffix("ed").or_else(|| verb.strip_suffix('d')).unwrap_or(verb);
    if cut.len() >= 4 { cut } else { verb }
}
