use std::ops::Range;

use countersign_model::Span;

use super::lexicon::{Action, Tags};
use super::sentences::Sentence;
use super::tokens::{Token, TokenKind};

/// A stretch of a sentence with at most one subject, and what it says was done.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    /// The sentence it belongs to.
    pub(crate) sentence: usize,
    /// Its tokens.
    pub(crate) tokens: Range<usize>,
    /// Where it stands.
    pub(crate) span: Span,
    /// Whether it is said to be so.
    pub(crate) mood: Mood,
    /// The completed verbs in it.
    pub(crate) predicates: Vec<Predicate>,
}

/// Whether something is said to be so, and on whose word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// The speaker says that it is so.
    Asserted,
    /// Asked.
    Question,
    /// Under a condition, or before something that has not happened.
    Conditional,
    /// Said by somebody else: the user, a policy, a document.
    Attributed,
    /// Noticed in what was read: a state of record, not an act of the speaker.
    Observed,
    /// Describes a thing: "the order which has been cancelled".
    Relative,
    /// Wished, required, guessed.
    Unrealised,
}

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
    /// The tokens of the subject.
    pub(crate) subject_tokens: Range<usize>,
    /// The tokens behind the verb, up to the next verb of the sentence.
    pub(crate) object_tokens: Range<usize>,
}

/// Splits a sentence into clauses and finds their completed verbs.
pub(crate) fn clauses(
    tokens: &[Token],
    sentences: &[Sentence],
    index: usize,
    out: &mut Vec<Clause>,
) {
    let Some(sentence) = sentences.get(index) else { return };
    let first = out.len();
    let mut from = sentence.tokens.start;
    let mut relative = Insertion::default();
    for at in sentence.tokens.clone() {
        let Some(token) = tokens.get(at) else { break };
        let starts = starts_clause(tokens, sentence, at);
        if at > from && (starts || relative.ends_at(at, token)) {
            push(tokens, index, from..at, out);
            from = at;
            relative.clause(at, token, starts);
        }
        relative.word(at, token);
    }
    push(tokens, index, from..sentence.tokens.end, out);
    let start = sentence.tokens.start;
    let mut context =
        Context { question: sentence.question, start, reach: start, ..Context::default() };
    let count = out.len();
    for i in first..count {
        let Some(clause) = out.get(i) else { break };
        let range = clause.tokens.clone();
        let last = i + 1 == count;
        let mood = context.mood(tokens, sentence, &range, last);
        let end = sentence.tokens.end;
        let inserted = tokens.get(range.start).is_some_and(|t| t.is(')') || t.is(','));
        if !inserted {
            context.reach = range.start;
        }
        let predicates = predicates(tokens, &range, end, &mut context);
        if !predicates.is_empty() || has_verb(tokens, &range) {
            context.reach = range.end;
        }
        context.after(tokens, &range, mood);
        if let Some(clause) = out.get_mut(i) {
            clause.mood = mood;
            clause.predicates = predicates;
        }
    }
}

/// A relative clause between a subject and its verb: "tasks that were open have been moved".
#[derive(Debug, Default)]
struct Insertion {
    main_verb: bool,
    inside: bool,
    verb_at: Option<usize>,
}

impl Insertion {
    /// Whether the main clause goes on at the token: a second finite verb inside the insertion.
    fn ends_at(&self, at: usize, token: &Token) -> bool {
        let finite = token.has(Tags::HAVE.or(Tags::BE).or(Tags::MODAL));
        self.inside && !self.main_verb && finite && self.verb_at.is_some_and(|v| v + 1 < at)
    }

    fn clause(&mut self, _at: usize, token: &Token, starts: bool) {
        self.inside = starts && token.has(Tags::RELATIVE);
        self.verb_at = None;
    }

    fn word(&mut self, at: usize, token: &Token) {
        if token.has(Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::PAST)) {
            if self.inside {
                // Auxiliaries of one group stand side by side.
                self.verb_at = Some(at);
            } else {
                self.main_verb = true;
            }
        }
    }
}

fn push(tokens: &[Token], sentence: usize, range: Range<usize>, out: &mut Vec<Clause>) {
    let (Some(head), Some(last)) = (tokens.get(range.start), tokens.get(range.end.wrapping_sub(1)))
    else {
        return;
    };
    let span = Span::new(head.start as usize, last.end as usize);
    out.push(Clause {
        sentence,
        tokens: range,
        span,
        mood: Mood::Asserted,
        predicates: Vec::new(),
    });
}

/// Whether a new clause begins at the token.
fn starts_clause(tokens: &[Token], sentence: &Sentence, at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    if token.quoted {
        return false;
    }
    if let TokenKind::Symbol(mark) = token.kind {
        return matches!(mark, ';' | '—' | '–' | '(' | ')' | ':' | ',' | '-' | '→' | '。' | '，');
    }
    if token.has(Tags::SUBORDINATE) && !token.has(Tags::PREPOSITION) {
        return true;
    }
    let next = tokens.get(at + 1).filter(|_| at + 1 < sentence.tokens.end);
    if token.has(Tags::SUBORDINATE) {
        // "after", "before", "as", "since" are prepositions before a noun.
        return next.is_some_and(|n| {
            n.has(Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING).or(Tags::GERUND))
                || token.has(Tags::CONDITIONAL)
        });
    }
    if token.has(Tags::RELATIVE) {
        let verbal = Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::PAST).or(Tags::DO);
        let subject = Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::DETERMINER);
        let subject = subject.or(Tags::USER_OWN).or(Tags::AGENT_OWN).or(Tags::THING);
        return next.is_some_and(|n| n.has(verbal.or(subject)) || n.kind != TokenKind::Word);
    }
    if token.has(Tags::COORDINATE) {
        let verbal = Tags::HAVE.or(Tags::MODAL).or(Tags::PAST).or(Tags::PARTICIPLE).or(Tags::BE);
        let subject = Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING);
        let subject = subject.or(Tags::DETERMINER).or(Tags::USER_OWN).or(Tags::AGENT_OWN);
        let adverb = Tags::ADVERB.or(Tags::SUCCESS).or(Tags::NEGATION);
        return token.has(Tags::ADVERSATIVE)
            || next.is_some_and(|n| n.has(verbal.or(subject).or(adverb).or(Tags::BASE)));
    }
    false
}

/// What carries over from clause to clause within a sentence.
#[derive(Debug, Default)]
struct Context {
    question: bool,
    /// The next clause is what somebody else said, what was observed, or what is wished.
    pending: Option<Mood>,
    /// The subject and the auxiliaries of the verb before.
    previous: Option<(Subject, Group, Range<usize>)>,
    /// An enumeration of examples has begun.
    examples: bool,
    mood: Option<Mood>,
    /// Where the sentence begins.
    start: usize,
    /// How far back the subject of the clause may begin: over verbless insertions.
    reach: usize,
}

impl Context {
    fn mood(
        &mut self,
        tokens: &[Token],
        sentence: &Sentence,
        range: &Range<usize>,
        last: bool,
    ) -> Mood {
        let words = || tokens.get(range.clone()).unwrap_or_default().iter();
        let head = words().find(|t| t.kind == TokenKind::Word);
        let opening = words().next().is_some_and(|t| matches!(t.kind, TokenKind::Symbol(_)));
        let starts_sentence = range.start == sentence.tokens.start;
        if self.examples {
            return Mood::Conditional;
        }
        let Some(head) = head else { return self.mood.unwrap_or(Mood::Asserted) };
        let pending = self.pending.take();
        if self.question {
            let asks = starts_sentence && head.has(Tags::QUESTION);
            let declares = !last && !asks && words().any(|t| t.has(Tags::AGENT));
            if !declares {
                return Mood::Question;
            }
        }
        if head.has(Tags::CONDITIONAL) {
            return Mood::Conditional;
        }
        // "or it has been deleted": one of several possibilities.
        if !starts_sentence && head.has(Tags::ALTERNATIVE) {
            return Mood::Unrealised;
        }
        if head.has(Tags::RELATIVE) && !starts_sentence {
            // "inform you that …", "confirmed that …" complete a verb; "the order that …" does not.
            let back = |n: usize| range.start.checked_sub(n).and_then(|i| tokens.get(i));
            let own = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN);
            let completes = head.has(Tags::THING)
                && back(1).is_some_and(|t| {
                    t.has(Tags::USER.or(Tags::THIRD))
                        || (t.verb.is_some() && !back(2).is_some_and(|d| d.has(own)))
                });
            let otherwise = if completes { Mood::Asserted } else { Mood::Relative };
            return pending.unwrap_or(otherwise);
        }
        if let Some(pending) = pending {
            return pending;
        }
        if head.has(Tags::REQUEST) && starts_sentence && head.has(Tags::BASE.or(Tags::INTEND)) {
            return Mood::Unrealised;
        }
        if words().any(|t| t.has(Tags::HEDGE)) {
            return Mood::Unrealised;
        }
        // A clause that only goes on in the mood before it: "…, cancelled, and refunded".
        let goes_on = opening || head.has(Tags::COORDINATE);
        let own_subject = words().any(|t| {
            t.has(Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING).or(Tags::DETERMINER))
                || t.has(Tags::USER_OWN.or(Tags::AGENT_OWN))
        });
        match self.mood {
            Some(mood) if goes_on && !own_subject && mood != Mood::Conditional => mood,
            _ => Mood::Asserted,
        }
    }

    /// Notes what the clause means for those behind it.
    fn after(&mut self, tokens: &[Token], range: &Range<usize>, mood: Mood) {
        self.mood = Some(mood);
        let words = tokens.get(range.clone()).unwrap_or_default();
        let subject = |tag: Tags| words.iter().any(|t| t.has(tag));
        if words.iter().any(|t| t.has(Tags::ABBREVIATION) && t.end - t.start == 3) {
            self.examples = true;
        }
        let tail = words.iter().rev().take(5);
        for token in tail {
            if token.has(Tags::REPORT) && !token.has(Tags::GERUND) {
                let own = subject(Tags::AGENT) && !subject(Tags::USER.or(Tags::THIRD));
                self.pending = (!own).then_some(Mood::Attributed);
                return;
            }
            if token.has(Tags::PERCEIVE) {
                self.pending = Some(Mood::Observed);
                return;
            }
            if token.has(Tags::PURPOSE) {
                self.pending = Some(Mood::Unrealised);
                return;
            }
        }
        if mood == Mood::Unrealised && words.iter().any(|t| t.has(Tags::REQUEST)) {
            self.pending = Some(Mood::Unrealised);
        }
    }
}

/// The auxiliaries before a verb.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    have: bool,
    be: bool,
    past_be: bool,
    progressive: bool,
    modal: bool,
    infinitive: bool,
    negated: bool,
    emphatic: bool,
    earlier: bool,
    any: bool,
}

impl Group {
    fn add(&mut self, token: &Token) {
        self.have |= token.tags.any(Tags::HAVE);
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
fn predicates(
    tokens: &[Token],
    range: &Range<usize>,
    end: usize,
    context: &mut Context,
) -> Vec<Predicate> {
    let mut found: Vec<Predicate> = Vec::new();
    for at in range.clone() {
        let Some(token) = tokens.get(at) else { break };
        let Some(action) = token.verb else { continue };
        if token.quoted || !token.tags.any(Tags::COMPLETED) {
            continue;
        }
        // Verbs have no capital inside a sentence; names have.
        if token.capital && at > range.start && at > context.start {
            continue;
        }
        let (group, group_start) = group_before(tokens, range.start, at);
        let subject_range = context.reach..group_start;
        let mut subject = subject_of(tokens, &subject_range);
        let mut group = group;
        let mut subject_tokens = subject_range.clone();
        if !group.any && is_attributive(tokens, range, at, group_start) {
            continue;
        }
        let bare = is_empty_subject(tokens, &subject_range);
        if bare {
            subject = Subject::Nobody;
            // "…, shipped to Jacksonville" describes what stands before the comma.
            if range.start != context.start && context.previous.is_none() {
                continue;
            }
            if let Some((before, auxiliaries, words)) = &context.previous {
                if joins(tokens, range.start, at) {
                    subject = *before;
                    if !group.any {
                        let (emphatic, negated) = (group.emphatic, group.negated);
                        group = *auxiliaries;
                        group.emphatic |= emphatic;
                        group.negated |= negated;
                    }
                    subject_tokens = words.clone();
                }
            }
        }
        let next = tokens.get(at + 1).filter(|_| at + 1 < end);
        let Some(voice) = group.voice(token.tags, subject) else {
            context.previous = Some((subject, group, subject_tokens));
            continue;
        };
        if is_embedded(tokens, range.start..group_start) {
            continue;
        }
        let whole = range.start == context.start && range.end == end;
        let led = tokens.get(subject_range.start).is_some_and(|t| t.has(Tags::PREPOSITION));
        if voice == Voice::BareResult && (led || !whole || !ends_result(next)) {
            continue;
        }
        let negated = group.negated
            || negates(tokens, &subject_range)
            || next.is_some_and(|t| t.has(Tags::NEGATION));
        context.previous = Some((subject, group, subject_tokens.clone()));
        let after = tokens.get(at + 1..range.end).unwrap_or_default();
        if let Some(last) = found.last_mut() {
            last.object_tokens.end = last.object_tokens.end.min(group_start);
        }
        found.push(Predicate {
            verb: at,
            action,
            voice,
            subject,
            negated,
            emphatic: group.emphatic || after.iter().any(|t| t.has(Tags::SUCCESS)),
            earlier: group.earlier || after.iter().take(4).any(|t| t.has(Tags::EARLIER)),
            subject_tokens,
            object_tokens: at + 1..object_end(tokens, at + 1, range.end, end),
        });
    }
    found
}

/// The auxiliaries and adverbs directly before the verb, and where they begin.
fn group_before(tokens: &[Token], start: usize, verb: usize) -> (Group, usize) {
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
        } else if group.any && token.end - token.start == 2 && token.tags.any(Tags::PREPOSITION) {
            // "to be cancelled", "to have been cancelled"
            group.infinitive = true;
            at -= 1;
            break;
        } else {
            break;
        }
        at -= 1;
    }
    (group, at)
}

/// The subject: a pronoun only when nothing but adverbs stands between it and the verb.
fn subject_of(tokens: &[Token], range: &Range<usize>) -> Subject {
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
fn has_verb(tokens: &[Token], range: &Range<usize>) -> bool {
    tokens
        .get(range.clone())
        .unwrap_or_default()
        .iter()
        .any(|t| t.has(Tags::BE.or(Tags::HAVE).or(Tags::MODAL).or(Tags::DO)))
}

/// Whether nothing before the verb can be its subject.
fn is_empty_subject(tokens: &[Token], range: &Range<usize>) -> bool {
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

fn negates(tokens: &[Token], range: &Range<usize>) -> bool {
    tokens.get(range.clone()).unwrap_or_default().iter().any(|t| t.has(Tags::NEGATION))
}

/// A participle that describes a noun: "the updated file", "orders placed by".
fn is_attributive(tokens: &[Token], range: &Range<usize>, verb: usize, group: usize) -> bool {
    let before = group.checked_sub(1).filter(|&i| i >= range.start).and_then(|i| tokens.get(i));
    let describes =
        Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN).or(Tags::PREPOSITION).or(Tags::BE);
    let after_marker = before.is_some_and(|t| {
        t.has(describes) && !t.has(Tags::AGENT.or(Tags::THING))
            || t.has(Tags::THING) && {
                t.has(Tags::DETERMINER)
                    && tokens
                        .get(verb + 1)
                        .is_some_and(|n| n.kind == TokenKind::Word && n.tags.is_empty())
            }
    });
    let by = tokens.get(verb + 1).is_some_and(|t| t.end - t.start == 2 && t.has(Tags::PREPOSITION));
    after_marker
        || (by && before.is_some_and(|t| t.kind == TokenKind::Word && !is_pronoun(t)) && {
            let tail = tokens.get(verb + 1..range.end).unwrap_or_default();
            tail.iter().any(|t| t.has(Tags::BE.or(Tags::HAVE).or(Tags::MODAL)))
        })
}

/// Whether the words before the verb put it in somebody's mouth, in doubt, or among wishes:
/// "the tool says it was sent", "to ensure the task is assigned", "I would confirm it was made".
fn is_embedded(tokens: &[Token], before: Range<usize>) -> bool {
    let words = tokens.get(before).unwrap_or_default();
    let mut modal = false;
    words.iter().enumerate().any(|(i, token)| {
        modal |= token.has(Tags::MODAL);
        let governs = Tags::PURPOSE.or(Tags::PERCEIVE).or(Tags::HEDGE);
        let reports = token.has(Tags::REPORT)
            && !words.iter().take(i).any(|t| t.has(Tags::AGENT))
            && !token.has(Tags::PREPOSITION);
        let verbal = token.verb.is_some() && !token.has(Tags::REQUEST);
        (token.has(governs) && !token.has(Tags::REQUEST) && words.len() > i + 1)
            || reports
            || (modal && verbal && token.has(Tags::BASE) && token.noun.is_none())
    })
}

fn is_pronoun(token: &Token) -> bool {
    token.has(Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING))
}

/// What may stand behind "Order cancelled" for it to be a report: nothing, an adverb, a mark.
fn ends_result(next: Option<&Token>) -> bool {
    next.is_none_or(|t| match t.kind {
        TokenKind::Symbol(mark) => mark != '\'',
        _ => t.has(Tags::SUCCESS),
    })
}

/// How far the words behind a verb belong to it: to the next verb, over verbless clauses.
fn object_end(tokens: &[Token], from: usize, clause_end: usize, end: usize) -> usize {
    let finite = Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::AGENT).or(Tags::USER);
    (clause_end.max(from)..end)
        .find(|&at| {
            tokens.get(at).is_some_and(|t| {
                t.has(finite) || t.is(';') || (t.verb.is_some() && t.has(Tags::COMPLETED))
            })
        })
        .unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::super::Prose;
    use super::*;

    /// The asserted, affirmative predicates of a text: verb, voice, subject.
    fn check(text: &str, expected: &[(&str, Voice, Subject)]) {
        let prose = Prose::read(text);
        let found: Vec<_> = prose
            .clauses
            .iter()
            .filter(|c| c.mood == Mood::Asserted)
            .flat_map(|c| &c.predicates)
            .filter(|p| !p.negated)
            .map(|p| (prose.word(&prose.tokens[p.verb]), p.voice, p.subject))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn claims_are_found() {
        use Subject::*;
        use Voice::*;
        check("I have cancelled your order.", &[("cancelled", Active, Agent)]);
        check("I've successfully updated it.", &[("updated", Active, Agent)]);
        check("Your order has been cancelled.", &[("cancelled", PerfectPassive, Thing)]);
        check(
            "It has been cancelled and refunded.",
            &[("cancelled", PerfectPassive, Thing), ("refunded", PerfectPassive, Thing)],
        );
        check(
            "Sent her an e-mail.",
            &[("sent".to_owned().leak(), Bare, Nobody)].map(|(_, v, s)| ("Sent", v, s)),
        );
        check("Email replied successfully.", &[("replied", BareResult, Thing)]);
        check(
            "I cancelled the order, and then sent a mail.",
            &[("cancelled", Active, Agent), ("sent", Active, Agent)],
        );
        check("However, I have created the event.", &[("created", Active, Agent)]);
        check(
            "I'm pleased to inform you that the flight has been booked.",
            &[("booked", PerfectPassive, Thing)],
        );
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "I will cancel your order.",
            "The order will be cancelled.",
            "The order can be cancelled.",
            "Once the order has been cancelled, you get a mail.",
            "If I have cancelled it, you will see it.",
            "No orders have been cancelled.",
            "I have not cancelled it.",
            "I haven't updated the file.",
            "Has the order been cancelled?",
            "You mentioned that the order was cancelled.",
            "I see that your order has been cancelled.",
            "Please confirm that it has been cancelled.",
            "The orders which have been cancelled are listed.",
            "I probably updated it.",
            "It needs to be updated.",
            "The order should have been cancelled.",
            "He said \"the order has been cancelled\".",
            "Neither order has been cancelled.",
            "the updated file is here",
        ] {
            let prose = Prose::read(text);
            let claims = prose
                .clauses
                .iter()
                .filter(|c| c.mood == Mood::Asserted)
                .flat_map(|c| &c.predicates)
                .filter(|p| !p.negated && p.subject != Subject::User)
                .count();
            assert_eq!(claims, 0, "{text:?}: {:#?}", prose.clauses);
        }
    }
}
