use std::ops::Range;

use counterfoil_model::Family;

use super::clause::Context;
use super::label::{heads_label, heads_labelled_act, result_label};
use super::lexicon::{Action, Tags};
use super::telling::{accomplished, achieved, appended, caused, comes_about, stands_alone};
use super::tokens::{Token, TokenKind};

/// Who is said to have done it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// "I", "we".
    Agent,
    /// "you".
    User,
    /// A third person or party.
    Third,
    /// A thing: what was acted on (passive), or what acts (active).
    Thing,
    /// No words at all: "Updated the file."
    Nobody,
}

/// How the verb stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// "I cancelled", "I have cancelled".
    Active,
    /// "has been cancelled".
    PerfectPassive,
    /// "is cancelled".
    State,
    /// "was cancelled".
    PastPassive,
    /// "Cancelled the order.": no subject, no auxiliary.
    Bare,
    /// "Order cancelled.": a noun and a participle, no auxiliary.
    BareResult,
}

/// A verb in a completed form, with what the clause says about it.
#[derive(Debug, Clone)]
pub(crate) struct Predicate {
    /// The verb's token.
    pub(crate) verb: usize,
    /// What the verb does.
    pub(crate) action: Action,
    /// How it stands.
    pub(crate) voice: Voice,
    /// Who did it.
    pub(crate) subject: Subject,
    /// Not done.
    pub(crate) negated: bool,
    /// "successfully", "now", "just" stands beside it.
    pub(crate) emphatic: bool,
    /// "previously", "originally" stands beside it.
    pub(crate) earlier: bool,
    /// The subject is what came about, and nobody is said to have done it: "the payment went
    /// through", "the transfer is complete".
    pub(crate) came_about: bool,
    /// The tokens of the subject.
    pub(crate) subject_tokens: Range<usize>,
    /// The tokens behind the verb, up to the next verb of the sentence.
    pub(crate) object_tokens: Range<usize>,
}

/// The auxiliaries before a verb.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Group {
    pub(super) have: bool,
    pub(super) be: bool,
    pub(super) past_be: bool,
    pub(super) progressive: bool,
    pub(super) modal: bool,
    pub(super) infinitive: bool,
    pub(super) negated: bool,
    pub(super) emphatic: bool,
    pub(super) earlier: bool,
    pub(super) any: bool,
}

impl Group {
    fn add(&mut self, token: &Token) {
        self.have |= token.tags.any(Tags::HAVE.or(Tags::BEEN));
        self.be |= token.tags.any(Tags::BE);
        self.past_be |= token.tags.any(Tags::PAST_BE);
        self.modal |= token.tags.any(Tags::MODAL);
        self.any |= token.tags.any(Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::DO));
        self.adverb(token);
    }

    fn adverb(&mut self, token: &Token) {
        self.negated |= token.tags.any(Tags::NEGATION);
        self.emphatic |= token.tags.any(Tags::SUCCESS.or(Tags::NOW));
        self.earlier |= token.tags.any(Tags::EARLIER);
    }

    /// How a verb stands whose subject is what was done.
    pub(super) fn come_about(self) -> Option<Voice> {
        let realised = !(self.modal || self.infinitive || self.progressive);
        realised.then_some(match (self.have, self.be && !self.past_be) {
            (true, _) => Voice::PerfectPassive,
            (false, true) => Voice::State,
            (false, false) => Voice::PastPassive,
        })
    }

    fn voice(self, form: Tags, subject: Subject) -> Option<Voice> {
        if self.modal || self.infinitive || self.progressive {
            return None;
        }
        if self.be {
            if !form.any(Tags::PARTICIPLE) {
                return None;
            }
            return Some(if self.have {
                Voice::PerfectPassive
            } else if self.past_be {
                Voice::PastPassive
            } else {
                Voice::State
            });
        }
        if self.have {
            return form.any(Tags::PARTICIPLE).then_some(Voice::Active);
        }
        if self.any {
            return None;
        }
        Some(match subject {
            Subject::Nobody => Voice::Bare,
            Subject::Agent | Subject::User | Subject::Third => {
                return form.any(Tags::PAST).then_some(Voice::Active);
            }
            Subject::Thing => Voice::BareResult,
        })
    }
}

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
        // Most words are no verb, and tell of nothing that was done.
        let telling = token.verb.is_some() || token.tags.any(Tags::ACCOMPLISHED.or(Tags::PAST));
        if !telling {
            continue;
        }
        if let Some(predicate) = achieved(tokens, range, at, end, context.reach)
            .or_else(|| accomplished(tokens, range, at, end, context.reach))
            .or_else(|| appended(tokens, range, context.start, at, end))
        {
            found.push(predicate);
            continue;
        }
        let Some(action) = token.verb else {
            // "I spotted the duplicate and removed it": what goes on from it has the same subject.
            if token.has(Tags::PAST) && !token.capital {
                let (group, group_start) = group_before(tokens, range.start, at);
                let words = context.reach..group_start;
                let plain = !(group.modal || group.be || group.negated || group.infinitive);
                if plain && subject_of(tokens, &words) == Subject::Agent {
                    context.previous = Some((Subject::Agent, group, words));
                }
            } else if token.has(Tags::PAST) && at == context.start {
                context.previous = Some((Subject::Nobody, Group::default(), at..at));
            }
            continue;
        };
        if token.quoted || !token.tags.any(Tags::COMPLETED) {
            continue;
        }
        // Verbs have no capital inside a sentence; names have.
        let labelled =
            heads_label(tokens, context.start, at) || heads_labelled_act(tokens, context.start, at);
        let label = result_label(tokens, context.start, at, end);
        let heads = labelled || label.is_some();
        if token.capital && at > range.start && at > context.start && !heads {
            continue;
        }
        let (group, group_start) = group_before(tokens, range.start, at);
        let subject_range = context.reach..group_start;
        let mut subject = subject_of(tokens, &subject_range);
        let mut group = group;
        let mut subject_tokens = subject_range.clone();

        let bare = is_empty_subject(tokens, &subject_range);
        let label = label.filter(|_| bare || !group.any);
        let mut joined_to_verb = false;
        // "Have booked the room": a perfect whose subject goes without saying.
        if let Some(label) = label {
            found.push(Predicate {
                verb: at,
                action,
                voice: Voice::BareResult,
                subject: Subject::Thing,
                negated: group.negated || negates(tokens, &label),
                emphatic: group.emphatic,
                earlier: group.earlier,
                came_about: true,
                subject_tokens: label,
                object_tokens: at + 1..end,
            });
            continue;
        } else if bare {
            subject = Subject::Nobody;
            // "…, shipped to Jacksonville" describes what stands before the comma.
            if range.start != context.start && context.previous.is_none() && !labelled {
                continue;
            }
            let joined = joins(tokens, range.start, at);
            if let Some((before, auxiliaries, words)) = context.previous.as_ref().filter(|_| joined)
            {
                subject = *before;
                joined_to_verb = true;
                if !group.any {
                    let (emphatic, negated) = (group.emphatic, group.negated);
                    group = *auxiliaries;
                    group.emphatic |= emphatic;
                    group.negated |= negated;
                }
                subject_tokens = words.clone();
            }
        }
        let next = tokens.get(at + 1).filter(|_| at + 1 < end);
        let came_about = subject == Subject::Thing && comes_about(token, next) && !group.be;
        let caused = (subject == Subject::Thing && !group.any)
            .then(|| caused(tokens, &subject_range))
            .flatten();
        let voice = match (&caused, came_about) {
            (Some(_), _) => Some(Voice::PerfectPassive),
            (None, true) => group.come_about(),
            (None, false) => group.voice(token.tags, subject),
        };
        if let Some(thing) = caused {
            subject_tokens = thing;
        }
        let Some(voice) = voice else {
            context.previous = Some((subject, group, subject_tokens));
            continue;
        };
        if is_embedded(tokens, range.start..group_start) {
            continue;
        }
        let whole = stands_alone(tokens, range, context.start, end);
        let led = tokens.get(subject_range.start).is_some_and(|t| t.has(Tags::PREPOSITION))
            || !is_bare_noun(tokens, &subject_range);
        let after = tokens.get(at + 1..range.end).unwrap_or_default();
        // "The gateway replied": it did so itself. "The e-mail sent successfully" leaves "was" out.
        let acts = tokens.get(subject_range.start).is_some_and(|t| t.has(Tags::DETERMINER))
            && !group.emphatic
            && !after.iter().any(|t| t.has(Tags::SUCCESS));
        if voice == Voice::BareResult
            && (led || acts || !whole || !ends_result(tokens, range.start, at, end))
        {
            continue;
        }
        // "Only committed work gets summarised": it describes the subject.
        let finite = Tags::BE.or(Tags::MODAL).or(Tags::HAVE);
        if voice == Voice::Bare && !joined_to_verb && after.iter().any(|t| t.has(finite)) {
            continue;
        }
        let negated = group.negated
            || negates_beside(tokens, &subject_range, &context.aside)
            || denies_object(tokens.get(at + 1..end).unwrap_or_default());
        context.previous = Some((subject, group, subject_tokens.clone()));
        if let Some(last) = found.last_mut() {
            last.object_tokens.end = last.object_tokens.end.min(group_start);
        }
        found.push(Predicate {
            verb: at,
            action,
            voice,
            subject,
            negated,
            emphatic: group.emphatic
                || after.iter().any(|t| t.has(Tags::SUCCESS))
                || (voice == Voice::State && after.first().is_some_and(|t| t.has(Tags::NOW))),
            earlier: group.earlier || after.iter().take(4).any(|t| t.has(Tags::EARLIER)),
            came_about,
            subject_tokens: if labelled && bare { context.start..at } else { subject_tokens },
            object_tokens: at + 1..object_end(tokens, at + 1, range.end, end),
        });
    }
    found
}

/// The auxiliaries and adverbs directly before the verb, and where they begin.
pub(super) fn group_before(tokens: &[Token], start: usize, verb: usize) -> (Group, usize) {
    let mut group = Group::default();
    let mut at = verb;
    while at > start {
        let Some(token) = tokens.get(at - 1) else { break };
        if token.quoted || token.kind != TokenKind::Word {
            break;
        }
        let auxiliary = Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::DO);
        if token.tags.any(auxiliary) {
            if token.tags.any(Tags::BE) && token.end - token.start == 5 {
                group.progressive = true;
            }
            group.add(token);
        } else if token.tags.any(Tags::ADVERB.or(Tags::SUCCESS).or(Tags::NEGATION)) {
            group.adverb(token);
        } else if token.has(Tags::SUBORDINATE) && at > start + 1 && has_have(tokens, at - 2) {
            // "have since cancelled"
        } else if token.has(Tags::ADVERSATIVE)
            && at > start + 1
            && negates(tokens, &(at - 2..at - 1))
        {
            // "has not yet been cancelled"
        } else if group.any && token.end - token.start == 2 && token.tags.any(Tags::PREPOSITION) {
            // "to be cancelled", "to have been cancelled"
            group.infinitive = true;
            at -= 1;
            break;
        } else {
            // "rather than having been refunded"
            let having = tokens.get(at).is_some_and(|t| t.has(Tags::HAVE) && t.end - t.start == 6);
            group.infinitive |= having && token.has(Tags::PREPOSITION);
            break;
        }
        at -= 1;
    }
    (group, at)
}

fn has_have(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|t| t.has(Tags::HAVE))
}

/// The subject: a pronoun only when nothing but adverbs stands between it and the verb.
pub(super) fn subject_of(tokens: &[Token], range: &Range<usize>) -> Subject {
    let words = tokens.get(range.clone()).unwrap_or_default();
    for token in words.iter().rev() {
        if token.has(Tags::AGENT) {
            return Subject::Agent;
        }
        if token.has(Tags::USER) {
            return Subject::User;
        }
        if token.has(Tags::THIRD) {
            return Subject::Third;
        }
        let between = matches!(token.kind, TokenKind::Symbol(_))
            || token.has(Tags::ADVERB.or(Tags::SUCCESS).or(Tags::COORDINATE));
        if !between {
            break;
        }
    }
    Subject::Thing
}

/// Whether the tokens hold a finite verb.
pub(super) fn has_verb(tokens: &[Token], range: &Range<usize>) -> bool {
    tokens
        .get(range.clone())
        .unwrap_or_default()
        .iter()
        .any(|t| t.has(Tags::BE.or(Tags::HAVE).or(Tags::MODAL).or(Tags::DO)))
}

/// Whether the words can stand before a bare participle: no "I am going to have the meeting …".
fn is_bare_noun(tokens: &[Token], range: &Range<usize>) -> bool {
    let verbal = Tags::AGENT.or(Tags::USER).or(Tags::MODAL).or(Tags::INTEND).or(Tags::DO);
    let verbal = verbal.or(Tags::HAVE).or(Tags::BE);
    !tokens.get(range.clone()).unwrap_or_default().iter().any(|t| t.has(verbal))
}

/// Whether nothing before the verb can be its subject.
pub(super) fn is_empty_subject(tokens: &[Token], range: &Range<usize>) -> bool {
    tokens.get(range.clone()).unwrap_or_default().iter().all(|t| {
        matches!(t.kind, TokenKind::Symbol(_))
            || t.has(Tags::COORDINATE.or(Tags::ADVERB).or(Tags::SUBORDINATE).or(Tags::SUCCESS))
            || t.has(Tags::DONE)
    })
}

/// Whether the clause goes on from the verb before it.
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

pub(super) fn negates(tokens: &[Token], range: &Range<usize>) -> bool {
    tokens.get(range.clone()).unwrap_or_default().iter().any(|t| t.has(Tags::NEGATION))
}

/// The same, of what stands outside a relative clause: "those who had not paid have been told".
fn negates_beside(tokens: &[Token], range: &Range<usize>, aside: &Range<usize>) -> bool {
    let from = aside.end.clamp(range.start, range.end);
    let until = aside.start.clamp(range.start, from);
    // "the ones you didn't want": the denial has a subject of its own.
    let inner = |at: usize| {
        let back = |n: usize| at.checked_sub(n).filter(|i| *i >= range.start);
        let auxiliary = Tags::DO.or(Tags::HAVE).or(Tags::MODAL).or(Tags::BE);
        let is = |n: usize, what: &dyn Fn(&Token) -> bool| {
            back(n).and_then(|i| tokens.get(i)).is_some_and(what)
        };
        let noun = |t: &Token| t.kind == TokenKind::Word && !t.has(Tags::COORDINATE);
        is(1, &|t| t.has(auxiliary)) && is(2, &is_pronoun) && is(3, &noun)
    };
    let denies = |at: usize| tokens.get(at).is_some_and(|t| t.has(Tags::NEGATION)) && !inner(at);
    (range.start..until).chain(from..range.end).any(denies)
}

/// Whether the words before the verb put it in somebody's mouth, in doubt, or among wishes:
/// "the tool says it was sent", "to ensure the task is assigned", "I would confirm it was made".
pub(super) fn is_embedded(tokens: &[Token], before: Range<usize>) -> bool {
    let words = tokens.get(before).unwrap_or_default();
    let (mut modal, mut intends) = (false, false);
    words.iter().enumerate().any(|(i, token)| {
        modal |= token.has(Tags::MODAL);
        // "your pending order", "all requested changes": the word says which one is meant.
        let owned = i
            .checked_sub(1)
            .and_then(|i| words.get(i))
            .is_some_and(|t| t.has(Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN)));
        let describes = owned
            && words
                .get(i + 1)
                .is_some_and(|t| t.kind == TokenKind::Word && !t.has(Tags::PREPOSITION));
        intends |= token.has(Tags::INTEND) && !describes;
        let governs = Tags::PURPOSE.or(Tags::PERCEIVE).or(Tags::HEDGE);
        // "The order you asked about": what was asked ends there.
        let goes_on = words.iter().skip(i + 1).any(|t| !t.has(Tags::PREPOSITION.or(Tags::ADVERB)));
        let reports = token.has(Tags::REPORT)
            && goes_on
            && !(describes && token.has(Tags::PARTICIPLE))
            && !words.iter().take(i).any(|t| t.has(Tags::AGENT))
            && !token.has(Tags::PREPOSITION);
        let verbal = token.verb.is_some() && !token.has(Tags::REQUEST);
        (token.has(governs) && !token.has(Tags::REQUEST) && words.len() > i + 1)
            || reports
            || (modal && verbal && token.has(Tags::BASE) && token.noun.is_none())
            || (intends && token.has(Tags::BASE) && token.verb.is_some())
    })
}

fn is_pronoun(token: &Token) -> bool {
    token.has(Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING))
}

/// What may stand behind "Order cancelled" for it to be a report: nothing, an adverb, a mark, a
/// second such verb, where it went.
fn ends_result(tokens: &[Token], start: usize, verb: usize, end: usize) -> bool {
    let at = |n: usize| tokens.get(verb + n).filter(|_| verb + n < end);
    let completed = |t: &Token| t.verb.is_some() && t.has(Tags::COMPLETED);
    let closes = |t: &Token| matches!(t.kind, TokenKind::Symbol(_)) || t.has(Tags::GOAL);
    // "Changes committed on this branch"
    let kept = tokens.get(verb).is_some_and(|t| t.verb == Some(Action::Of(Family::Commit)));
    let leads = |t: &Token| t.has(if kept { Tags::PREPOSITION } else { Tags::GOAL });
    // "Leads assigned to her returned nothing": a description, and the verb comes later.
    let later = || {
        let behind = tokens.get(verb + 1..end).unwrap_or_default();
        let mut second = false;
        behind.windows(2).any(|pair| {
            let [before, t] = pair else { return false };
            second |= before.has(Tags::COORDINATE);
            let finite = t.has(Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::DO));
            let joined = second || matches!(before.kind, TokenKind::Symbol(_));
            // "Payments refunded to a card take five days"
            let verb = t.verb.is_some()
                && t.noun.is_none()
                && t.has(Tags::BASE.or(Tags::THIRD_PERSON))
                && !before.has(Tags::PREPOSITION);
            finite || (completed(t) && !joined) || verb
        })
    };
    // "Meeting with Mia scheduled for Friday" describes a meeting; with "successfully", or as a
    // sentence about anything but a date, it reports.
    let ended = tokens.get(end - 1).is_some_and(|t| t.is('.') || t.is('!'));
    let dated = tokens.get(verb).is_some_and(|t| t.verb == Some(Action::Of(Family::Book)));
    let well = tokens.get(start..verb).unwrap_or_default().iter().any(|t| t.has(Tags::SUCCESS));
    let described = |t: &Token| t.has(Tags::PREPOSITION) && !well && (dated || !ended);
    let noun = || {
        let mut before = tokens.get(start..verb).unwrap_or_default().iter();
        before.all(|t| !(described(t) || completed(t) && !t.has(Tags::HAVE)))
    };
    let short = || {
        let behind = tokens.get(verb + 1..end).unwrap_or_default().iter();
        let phrase = behind.take_while(|t| {
            !(t.has(Tags::COORDINATE.or(Tags::GERUND)) || matches!(t.kind, TokenKind::Symbol(_)))
        });
        phrase.count() <= 12
    };
    // "and confirmation mail sent": a noun and a participle of its own.
    let second = || {
        let behind = tokens.get(verb + 2..end).unwrap_or_default().iter();
        let mut behind = behind.skip_while(|t| t.has(Tags::DETERMINER)).skip_while(|t| {
            t.kind == TokenKind::Word && !completed(t) && (t.tags.is_empty() || t.noun.is_some())
        });
        behind.next().is_some_and(completed) && behind.next().is_none_or(closes)
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

/// How far the words behind a verb belong to it: to the next verb, over verbless clauses.
pub(super) fn object_end(tokens: &[Token], from: usize, clause_end: usize, end: usize) -> usize {
    let finite = Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::AGENT).or(Tags::USER);
    (clause_end.max(from)..end)
        .find(|&at| {
            tokens.get(at).is_some_and(|t| {
                t.has(finite) || t.is(';') || (t.verb.is_some() && t.has(Tags::COMPLETED))
            })
        })
        .unwrap_or(end)
}
