//! Determines which kind of action a predicate reports.

use std::ops::Range;

use counterfoil_model::{Family, ObjectKind};

use super::objects::objects_in;
use super::report_form::is_all_set;
use crate::prose::{Action, Predicate, Prose, Tags, Token, TokenKind, Voice, sets};

/// Verbs that start an action.
const STARTS: [&str; 4] = ["triggered", "started", "launched", "kicked"];

/// Whether the verb says only that an action was started.
pub(crate) fn is_start(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let verb = prose.tokens.get(predicate.verb).map(|token| prose.word(token));
    verb.is_some_and(|verb| STARTS.iter().any(|start| verb.eq_ignore_ascii_case(start)))
}

/// A verb with its context.
struct VerbContext<'p, 't> {
    prose: &'p Prose<'t>,
    predicate: &'p Predicate,
    verb: &'p str,
    active: bool,
    /// The words after the verb.
    object: &'p [Token],
    /// The words whose first noun of a known kind determines the action.
    things: Range<usize>,
    /// "taken care of"
    cares: bool,
}

impl<'p, 't> VerbContext<'p, 't> {
    fn new(prose: &'p Prose<'t>, predicate: &'p Predicate, verb: &'p str) -> Self {
        let active = matches!(predicate.voice, Voice::Active | Voice::Bare);
        let mut things = match active {
            true => predicate.object_tokens.clone(),
            false => predicate.subject_tokens.clone(),
        };
        let object = prose.tokens(predicate.object_tokens.clone());
        let context = Self { prose, predicate, verb, active, object, things: 0..0, cares: false };
        // "taken care of the refund"
        let cares = verb.starts_with('t')
            && context.object_word(0) == "care"
            && context.object_word(1) == "of";
        if cares && active {
            things.start += 2;
        }
        // "put through your cancellation"
        if active && object.first().is_some_and(|t| t.has(Tags::PARTICLE)) {
            things.start += 1;
        }
        Self { things, cares, ..context }
    }

    fn object_word(&self, n: usize) -> &'t str {
        self.object.get(n).map_or("", |t| self.prose.word(t))
    }

    /// The family of action that the object names: "the refund".
    fn named(&self) -> Option<Family> {
        let tokens = self.prose.tokens(self.things.clone()).iter();
        let phrase = tokens.take_while(|t| !t.has(Tags::PREPOSITION));
        phrase.filter(|t| !t.quoted).find_map(|t| t.noun)
    }

    fn named_among(&self, families: &[Family]) -> Option<Family> {
        self.named().filter(|family| families.contains(family))
    }
}

/// The family of the verb. For a verb without one, the family that its object names.
pub(super) fn family_of(prose: &Prose<'_>, predicate: &Predicate, verb: &str) -> Option<Family> {
    let context = VerbContext::new(prose, predicate, verb);
    match predicate.action {
        Action::Of(family) => in_context(&context, family),
        // "as requested" refers to a request; "a return has been requested" reports one.
        Action::Any if verb == "requested" && predicate.voice != Voice::PerfectPassive => None,
        Action::Any => context.named().or(Some(Family::Update)),
        Action::Generic => generic(&context),
    }
}

/// The family of a verb that has one of its own, unless its context gives it another.
fn in_context(context: &VerbContext<'_, '_>, family: Family) -> Option<Family> {
    use Family as F;
    let VerbContext { prose, predicate, verb, active, object, .. } = *context;
    let next = context.object_word(0);
    let port = || object.get(1).is_some_and(|t| t.kind == TokenKind::Number);
    match family {
        // "wrote back to her"
        F::Create if verb.starts_with("wr") && next == "back" => Some(F::Send),
        // "Built.": a build, not the making of something.
        F::Create if verb == "built" && object.len() < 2 => Some(F::Build),
        // "sent in your reading": submitted, not sent to a person.
        F::Send if verb == "sent" && active && next == "in" => context.named().or(Some(F::Update)),
        // "dropped him a note": a message, not a deletion.
        F::Delete if verb == "dropped" && is_message(prose, object) => Some(F::Send),
        // "The stage has been cleared": its content may have been moved.
        F::Delete if verb == "cleared" && !active => Some(F::Update),
        // "published on 5433": a port.
        F::Deploy if verb == "published" && matches!(next, "on" | "at") && port() => None,
        // "Your old slot has been released": given back, not published.
        F::Deploy if verb == "released" => Some(F::Update),
        // "pushed back by a week": postponed.
        F::Push if matches!(next, "back" | "forward") => Some(F::Update),
        F::Update if verb == "amended" && context.named() == Some(F::Commit) => Some(F::Commit),
        // "The push was rejected": by someone else.
        F::Update if verb == "rejected" && predicate.voice != Voice::Active => None,
        F::Update if is_all_set(prose, predicate) => context.named(),
        // "A refund was triggered", "started the return"
        F::Run if STARTS.contains(&verb) => {
            let begun = [F::Refund, F::Return, F::Exchange, F::Cancel, F::Pay, F::Move];
            context.named_among(&begun).or(Some(F::Run))
        }
        // "placed the total in a row of its own": not an order.
        F::Book if verb == "placed" => {
            let mut things = prose.tokens(context.things.clone()).iter().filter(|t| !t.quoted);
            let ordered = |t: &Token| t.noun.is_some() || prose.is(t, &sets::PLACED_ORDERS);
            things.any(ordered).then_some(F::Book)
        }
        // "The hotel is booked out": it is full.
        F::Book if !active && matches!(next, "out" | "up" | "solid") => None,
        // "your booking has been confirmed"
        F::Read if verb == "confirmed" && !active => {
            context.named_among(&[F::Book, F::Exchange, F::Refund, F::Return, F::Cancel])
        }
        // "Both returned an error": a result, not a return of goods.
        F::Return if object.iter().take(3).any(|t| t.has(Tags::FAILURE)) => None,
        family => Some(family),
    }
}

/// For verbs with little meaning of their own: "put", "handled", "is live".
fn generic(context: &VerbContext<'_, '_>) -> Option<Family> {
    let VerbContext { prose, predicate, verb, cares, .. } = *context;
    match verb {
        // "put the report into `out/report.md`"
        "put" if puts_into_file(prose, predicate) => Some(Family::Create),
        _ => {
            let other = (cares || verb == "approved").then_some(Family::Update);
            context.named().or(other)
        }
    }
}

/// "him a short note": whether the object is a message. The recipient comes before it, unlike in "a
/// line of the file".
fn is_message(prose: &Prose<'_>, object: &[Token]) -> bool {
    let new = |t: &Token| prose.is(t, words!["a", "an"]);
    let phrase = object.iter().position(new).filter(|at| (1..5).contains(at));
    let mut phrase = phrase.into_iter().flat_map(|at| object.iter().skip(at + 1).take(3));
    phrase.any(|t| prose.is(t, &sets::SMALL_MESSAGES))
}

/// Whether something was put into a file.
pub(super) fn puts_into_file(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let object = prose.tokens(predicate.object_tokens.clone());
    object.array_windows().enumerate().any(|(at, [into, _])| {
        let start = predicate.object_tokens.start + at + 1;
        matches!(prose.word(into), "into" | "in" | "to" | "at" | "under")
            && objects_in(prose, start..start + 1).iter().any(|o| o.kind == ObjectKind::Path)
    })
}
