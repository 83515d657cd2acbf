//! Finds the completed verbs of a clause.

use std::ops::Range;

use counterfoil_model::Family;

use super::lexicon::{Action, Tags};
use super::mood::Context;
use super::predicate::{
    Group, Predicate, Subject, Voice, group_before, is_embedded, is_empty_subject, negates,
    object_end, subject_of,
};
use super::telling::{achieved, caused, is_self_contained};
use super::token::{Token, TokenKind};

/// The completed verbs of a clause.
pub(super) fn predicates(
    tokens: &[Token],
    range: &Range<usize>,
    end: usize,
    context: &mut Context,
) -> Vec<Predicate> {
    let mut found: Vec<Predicate> = Vec::new();
    for at in range.clone() {
        let Some(token) = tokens.get(at) else { break };
        // Most words are not verbs and report no action.
        let telling = token.verb.is_some() || token.has(Tags::PAST);
        if !telling {
            continue;
        }
        if let Some(predicate) = achieved(tokens, range, at, end, context.reach) {
            found.push(predicate);
            continue;
        }
        if token.verb.is_none() {
            note_subject(tokens, range, at, context);
            continue;
        }
        let Some(verb) = Completed::new(tokens, range, at, end, context) else { continue };
        if let Some(predicate) = verb.predicate(context) {
            if let Some(last) = found.last_mut() {
                last.object_tokens.end = last.object_tokens.end.min(verb.group_start);
            }
            found.push(predicate);
        }
    }
    found
}

/// "I spotted the duplicate and removed it": a verb that continues from a past tense has the same
/// subject, even if the first verb is not an action.
fn note_subject(tokens: &[Token], range: &Range<usize>, at: usize, context: &mut Context) {
    let Some(token) = tokens.get(at).filter(|t| t.has(Tags::PAST)) else { return };
    if !token.capital {
        let (group, group_start) = group_before(tokens, range.start, at);
        let words = context.reach..group_start;
        let plain = !(group.modal || group.be || group.negated || group.infinitive);
        if plain && subject_of(tokens, &words) == Subject::Agent {
            context.previous = Some((Subject::Agent, group, words));
        }
    } else if at == context.start {
        context.previous = Some((Subject::Absent, Group::default(), at..at));
    }
}

/// A verb in a completed form, with its context.
struct Completed<'t> {
    tokens: &'t [Token],
    /// The clause.
    range: &'t Range<usize>,
    /// The end of the sentence.
    end: usize,
    at: usize,
    token: &'t Token,
    action: Action,
    /// Its auxiliaries.
    group: Group,
    group_start: usize,
    /// The tokens before the auxiliaries.
    before: Range<usize>,
    /// Whether nothing before it can be its subject.
    bare: bool,
    /// Whether it comes after a label that names files.
    labelled: bool,
}

/// The actor, and the form of the verb.
struct Doer {
    subject: Subject,
    group: Group,
    tokens: Range<usize>,
    /// Whether they are those of the previous verb.
    joined: bool,
}

impl<'t> Completed<'t> {
    fn new(
        tokens: &'t [Token],
        range: &'t Range<usize>,
        at: usize,
        end: usize,
        context: &Context,
    ) -> Option<Self> {
        let token = tokens.get(at)?;
        let action = token.verb?;
        if token.quoted || !token.tags.any(Tags::COMPLETED) {
            return None;
        }
        // Within a sentence, a capitalised word is a name, not a verb.
        let labelled = heads_label(tokens, context.start, at);
        if token.capital && at > range.start && at > context.start && !labelled {
            return None;
        }
        let (group, group_start) = group_before(tokens, range.start, at);
        let before = context.reach..group_start;
        let bare = is_empty_subject(tokens, &before);
        Some(Self {
            tokens,
            range,
            end,
            at,
            token,
            action,
            group,
            group_start,
            before,
            bare,
            labelled,
        })
    }

    /// The predicate of the verb, if it reports an action.
    fn predicate(&self, context: &mut Context) -> Option<Predicate> {
        let Self { tokens, range, at, end, .. } = *self;
        let Doer { subject, group, tokens: mut subject_tokens, joined } = self.doer(context)?;
        let caused = (subject == Subject::Thing && !group.any)
            .then(|| caused(tokens, &self.before))
            .flatten();
        let voice = match &caused {
            Some(_) => Some(Voice::PerfectPassive),
            None => group.voice(self.token.tags, subject),
        };
        if let Some(thing) = caused {
            subject_tokens = thing;
        }
        let Some(voice) = voice else {
            context.previous = Some((subject, group, subject_tokens));
            return None;
        };
        let describes = match voice {
            Voice::BareResult => !self.is_result(group, context.start),
            Voice::Bare => !joined && self.is_of_subject(),
            _ => false,
        };
        if describes || is_embedded(tokens, range.start..self.group_start) {
            return None;
        }
        let negated = group.negated
            || negates(tokens, &self.before)
            || denies_object(tokens.get(at + 1..end).unwrap_or_default());
        context.previous = Some((subject, group, subject_tokens.clone()));
        let after = self.after();
        let named = self.labelled && self.bare;
        Some(Predicate {
            verb: at,
            action: self.action,
            voice,
            subject,
            negated,
            emphatic: group.emphatic
                || after.iter().any(|t| t.has(Tags::SUCCESS))
                || (voice == Voice::State && after.first().is_some_and(|t| t.has(Tags::NOW))),
            earlier: group.earlier || after.iter().take(4).any(|t| t.has(Tags::EARLIER)),
            subject_tokens: if named { context.start..at } else { subject_tokens },
            object_tokens: at + 1..object_end(tokens, at + 1, range.end, end),
        })
    }

    /// The actor. Without a subject of its own, it is the actor of the previous verb. "Have booked
    /// the room" is a perfect with an implied subject.
    fn doer(&self, context: &Context) -> Option<Doer> {
        let subject = subject_of(self.tokens, &self.before);
        let own = Doer { subject, group: self.group, tokens: self.before.clone(), joined: false };
        if !self.bare {
            return Some(own);
        }
        // "…, shipped to Jacksonville" describes the words before the comma.
        let first = self.range.start == context.start;
        if !first && context.previous.is_none() && !self.labelled {
            return None;
        }
        let joined = joins(self.tokens, self.range.start, self.at);
        let before = context.previous.as_ref().filter(|_| joined);
        let Some((subject, auxiliaries, words)) = before else {
            return Some(Doer { subject: Subject::Absent, ..own });
        };
        let mut group = self.group;
        if !group.any {
            group = *auxiliaries;
            group.emphatic |= self.group.emphatic;
            group.negated |= self.group.negated;
        }
        Some(Doer { subject: *subject, group, tokens: words.clone(), joined: true })
    }

    /// The tokens of the clause after the verb.
    fn after(&self) -> &'t [Token] {
        self.tokens.get(self.at + 1..self.range.end).unwrap_or_default()
    }

    /// "Order cancelled.": whether it is a report in note form, rather than a description of the
    /// noun.
    fn is_result(&self, group: Group, start: usize) -> bool {
        let Self { tokens, range, at, end, .. } = *self;
        let first = tokens.get(self.before.start);
        let led =
            first.is_some_and(|t| t.has(Tags::PREPOSITION)) || !is_bare_noun(tokens, &self.before);
        // "The gateway replied": the subject is the actor. "The e-mail sent successfully" omits
        // "was".
        let acts = first.is_some_and(|t| t.has(Tags::DETERMINER))
            && !group.emphatic
            && !self.after().iter().any(|t| t.has(Tags::SUCCESS));
        let whole = is_self_contained(tokens, range, start, end);
        !led && !acts && whole && ends_result(tokens, range.start, at, end)
    }

    /// "Only committed work gets summarised": whether it describes the subject of a later verb.
    fn is_of_subject(&self) -> bool {
        let finite = tags![BE, MODAL, HAVE];
        self.after().iter().any(|t| t.has(finite))
    }
}

/// Whether the words can come before a bare participle; not "I am going to have the meeting …".
fn is_bare_noun(tokens: &[Token], range: &Range<usize>) -> bool {
    let verbal = tags![AGENT, USER, MODAL, INTEND, DO, HAVE, BE];
    !tokens.get(range.clone()).unwrap_or_default().iter().any(|t| t.has(verbal))
}

/// Whether the clause continues from the previous verb.
fn joins(tokens: &[Token], start: usize, verb: usize) -> bool {
    tokens.get(start..verb).unwrap_or_default().iter().any(|t| t.has(Tags::COORDINATE) || t.is(','))
        || start == verb
}

/// "cancelled nothing", "cancelled exactly zero orders"
fn denies_object(after: &[Token]) -> bool {
    let skipped =
        after.iter().take_while(|t| t.has(Tags::ADVERB) && !t.has(Tags::NEGATION)).count();
    let plain = |t: &&Token| t.kind == TokenKind::Word && t.tags.is_empty() && t.verb.is_none();
    let first = after.get(skipped);
    let first = if first.is_some_and(|t| plain(&t)) { after.get(skipped + 1) } else { first };
    after.first().is_some_and(|t| t.has(Tags::NEGATION))
        || first.is_some_and(|t| t.has(Tags::NEGATION))
}

/// Whether "Order cancelled" is a report, by what comes after it: nothing, an adverb, a mark,
/// another such verb, or a destination.
fn ends_result(tokens: &[Token], start: usize, verb: usize, end: usize) -> bool {
    let at = |n: usize| tokens.get(verb + n).filter(|_| verb + n < end);
    let completed = |t: &Token| t.verb.is_some() && t.has(Tags::COMPLETED);
    let closes = |t: &Token| t.is_mark() || t.has(Tags::GOAL);
    // "Changes committed on this branch"
    let kept = tokens.get(verb).is_some_and(|t| t.verb == Some(Action::Of(Family::Commit)));
    let leads = |t: &Token| t.has(if kept { Tags::PREPOSITION } else { Tags::GOAL });
    // "Leads assigned to her returned nothing": a description; the verb comes later.
    let later = || {
        let after = tokens.get(verb + 1..end).unwrap_or_default();
        let mut second = false;
        after.array_windows().any(|[before, t]| {
            second |= before.has(Tags::COORDINATE);
            let finite = t.has(tags![HAVE, BE, MODAL, DO]);
            let joined = second || before.is_mark();
            // "Payments refunded to a card take five days"
            let verb = t.verb.is_some()
                && t.noun.is_none()
                && t.has(tags![BASE, THIRD_PERSON])
                && !before.has(Tags::PREPOSITION);
            finite || (completed(t) && !joined) || verb
        })
    };
    // "Meeting with Mia scheduled for Friday" describes a meeting. With "successfully", or in a
    // sentence that is not about a date, it is a report.
    let ended = tokens.get(end - 1).is_some_and(|t| t.is('.') || t.is('!'));
    let dated = tokens.get(verb).is_some_and(|t| t.verb == Some(Action::Of(Family::Book)));
    let well = tokens.get(start..verb).unwrap_or_default().iter().any(|t| t.has(Tags::SUCCESS));
    let described = |t: &Token| t.has(Tags::PREPOSITION) && !well && (dated || !ended);
    let noun = || {
        let mut before = tokens.get(start..verb).unwrap_or_default().iter();
        before.all(|t| !(described(t) || completed(t) && !t.has(Tags::HAVE)))
    };
    let short = || {
        let after = tokens.get(verb + 1..end).unwrap_or_default().iter();
        let phrase = after.take_while(|t| !(t.has(tags![COORDINATE, GERUND]) || t.is_mark()));
        phrase.count() <= 12
    };
    // "and confirmation mail sent": another noun with its own participle.
    let second = || {
        let after = tokens.get(verb + 2..end).unwrap_or_default().iter();
        let mut after = after.skip_while(|t| t.has(Tags::DETERMINER)).skip_while(|t| {
            t.kind == TokenKind::Word && !completed(t) && (t.tags.is_empty() || t.noun.is_some())
        });
        after.next().is_some_and(completed) && after.next().is_none_or(closes)
    };
    at(1).is_none_or(|t| match t.kind {
        TokenKind::Symbol(mark) => mark != '\'',
        _ if t.has(Tags::COORDINATE) => {
            (at(2).is_some_and(completed) && !later() && noun()) || (second() && noun())
        }
        // "sent asking for a day"
        _ if t.has(Tags::GERUND) => !later() && noun(),
        _ => t.has(Tags::SUCCESS) || (leads(t) && !later() && noun() && short()),
    })
}

/// "`src/a.rs` - Added a check": whether the verb comes after a label that names only files.
fn heads_label(tokens: &[Token], start: usize, verb: usize) -> bool {
    let label = tokens.get(start..verb).unwrap_or_default();
    let named = |t: &Token| matches!(t.kind, TokenKind::Path | TokenKind::Code);
    let numbered = |t: &Token| matches!(t.kind, TokenKind::Symbol(_) | TokenKind::Number);
    if !label.is_empty() && label.iter().all(numbered) {
        return true;
    }
    label
        .last()
        .is_some_and(|t| t.is('-') || t.is('—') || t.is('–') || t.is(':') || t.is('→') || t.is('('))
        && label.iter().any(named)
        && label.iter().all(|t| named(t) || t.is_mark())
}
