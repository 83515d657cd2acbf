use std::ops::Range;

use counterfoil_model::Span;

use super::boundary::starts_clause;
use super::completed::predicates;
use super::lexicon::Tags;
use super::mood::Mood;
use super::predicate::{Group, Predicate, Subject, has_verb};
use super::sentences::Sentence;
use super::tokens::{Kinds, Token, TokenKind};
use super::words::{Marks, Words};

/// A part of a sentence with at most one subject, and the actions that it reports.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    /// The index of its sentence.
    pub(crate) sentence: usize,
    /// Its tokens.
    pub(crate) tokens: Range<usize>,
    /// Its position.
    pub(crate) span: Span,
    /// The tags of all its words outside quotation marks.
    pub(crate) tags: Tags,
    /// The marks of all its tokens.
    pub(super) marks: Marks,
    /// The kinds of all its tokens.
    pub(crate) kinds: Kinds,
    /// Its mood.
    pub(crate) mood: Mood,
    /// The completed verbs in it.
    pub(crate) predicates: Vec<Predicate>,
}

/// Splits a sentence into clauses and finds their completed verbs.
pub(crate) fn clauses(
    tokens: &[Token],
    sentences: &[Sentence],
    index: usize,
    out: &mut Vec<Clause>,
) {
    let Some(sentence) = sentences.get(index) else { return };
    if sentence.foreign {
        let whole = Clause::of(tokens, index, sentence.tokens.clone());
        out.extend(whole.map(|clause| Clause { mood: Mood::Foreign, ..clause }));
        return;
    }
    let first = out.len();
    split(tokens, sentence, index, out);
    let start = sentence.tokens.start;
    let mut context =
        Context { question: sentence.question, start, reach: start, ..Context::default() };
    let Some(own) = out.get_mut(first..) else { return };
    let count = own.len();
    for (at, clause) in own.iter_mut().enumerate() {
        context.read(tokens, sentence, clause, (at, count));
    }
}

/// Adds the clauses of a sentence, not yet analysed.
fn split(tokens: &[Token], sentence: &Sentence, index: usize, out: &mut Vec<Clause>) {
    let mut from = sentence.tokens.start;
    let mut relative = Insertion::default();
    for at in sentence.tokens.clone() {
        let Some(token) = tokens.get(at) else { break };
        let starts = starts_clause(tokens, sentence, at);
        if at > from && (starts || relative.ends_at(at, token)) {
            out.extend(Clause::of(tokens, index, from..at));
            from = at;
            relative.clause(at, token, starts);
        }
        if token.tags.any(Insertion::WORDS) {
            let next = tokens.get(at + 1);
            relative.word(at, token, next.is_some_and(|t| t.has(Tags::PREPOSITION)));
        }
    }
    out.extend(Clause::of(tokens, index, from..sentence.tokens.end));
}

/// A relative clause between a subject and its verb: "tasks that were open have been moved".
#[derive(Debug, Default)]
struct Insertion {
    main_verb: bool,
    inside: bool,
    verb_at: Option<usize>,
}

impl Insertion {
    /// The words that are tracked.
    const WORDS: Tags = Tags::NEGATION
        .or(Tags::ADVERB)
        .or(Tags::DO)
        .or(Tags::HAVE)
        .or(Tags::BE)
        .or(Tags::MODAL)
        .or(Tags::PAST);

    /// Whether the main clause continues at the token, with a second finite verb inside the
    /// insertion.
    fn ends_at(&self, at: usize, token: &Token) -> bool {
        self.inside
            && !self.main_verb
            && self.verb_at.is_some_and(|v| v + 1 < at)
            && token.has(Tags::HAVE.or(Tags::BE).or(Tags::MODAL))
    }

    fn clause(&mut self, _at: usize, token: &Token, starts: bool) {
        self.inside = starts && token.has(Tags::RELATIVE);
        self.verb_at = None;
    }

    fn word(&mut self, at: usize, token: &Token, leads_on: bool) {
        // "tasks assigned to her that …": the participle describes and is not the main verb. "that
        // has not been paid": one group of auxiliaries.
        let small = token.has(Tags::NEGATION.or(Tags::ADVERB));
        if small && self.verb_at.is_some_and(|verb| verb + 1 == at) {
            self.verb_at = Some(at);
        }
        let describes =
            leads_on && !self.inside && token.has(Tags::PARTICIPLE) && token.verb.is_some();
        let done = self.inside && token.has(Tags::DO);
        let finite = token.has(Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::PAST));
        if (finite || done) && !describes {
            if self.inside {
                // Auxiliaries of one group are adjacent; after a verb, a new group begins.
                let auxiliary = token.has(Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::DO));
                self.verb_at = Some(if auxiliary { at } else { at.saturating_sub(1) });
            } else {
                self.main_verb = true;
            }
        }
    }
}

impl Clause {
    /// Creates a clause from a range of a sentence, before it is analysed.
    pub(super) fn of(tokens: &[Token], sentence: usize, range: Range<usize>) -> Option<Self> {
        let words = tokens.get(range.clone())?;
        let (head, last) = (words.first()?, words.last()?);
        let (mut tags, mut marks, mut kinds) =
            (Tags::default(), Marks::default(), Kinds::default());
        for token in words {
            marks = marks.and(token.mark);
            kinds = kinds.or(Kinds::of(token));
            if !token.quoted {
                tags = tags.or(token.tags);
            }
        }
        Some(Self {
            sentence,
            tokens: range,
            span: Span::new(head.start as usize, last.end as usize),
            tags,
            marks,
            kinds,
            mood: Mood::Asserted,
            predicates: Vec::new(),
        })
    }

    /// Whether one of these words may occur in it: a fast check before a thorough one.
    #[inline]
    pub(crate) fn may_hold(&self, words: &Words) -> bool {
        words.may_meet(self.marks)
    }
}

/// "Sure, I cancelled it", "No problem, the order has been cancelled": a word or two before an
/// independent sentence.
fn is_interjection(tokens: &[Token], range: &Range<usize>) -> bool {
    let words = tokens.get(range.clone()).unwrap_or_default();
    let open = Tags::CONDITIONAL.or(Tags::SUBORDINATE).or(Tags::MODAL).or(Tags::HEDGE);
    let open = open.or(Tags::AGENDA).or(Tags::QUESTION).or(Tags::COMPLETED).or(Tags::AGENT);
    let plain = words.iter().all(|t| t.kind == TokenKind::Word && !t.quoted && !t.has(open));
    let comma = tokens.get(range.end).is_some_and(|t| t.is(','));
    let subject = Tags::AGENT.or(Tags::DETERMINER).or(Tags::USER_OWN);
    let next = tokens.get(range.end + 1).is_some_and(|t| t.has(subject));
    (1..=2).contains(&words.len()) && plain && comma && next
}

/// "Next, I updated it": whether the speaker reports an action after a comma.
fn reports(tokens: &[Token], at: usize) -> bool {
    let comma = tokens.get(at).is_some_and(|t| t.is(','));
    let agent = tokens.get(at + 1).is_some_and(|t| t.has(Tags::AGENT));
    let mut behind = tokens.get(at + 2..).unwrap_or_default().iter();
    let verb = behind.find(|t| !t.tags.any(Tags::ADVERB.or(Tags::HAVE).or(Tags::NOW)));
    comma && agent && verb.is_some_and(|t| t.tags.any(Tags::COMPLETED) && !t.has(Tags::MODAL))
}

/// What carries over from clause to clause within a sentence.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) question: bool,
    /// The mood that the clause before gives to the next one: reported, observed or wished.
    pub(super) pending: Option<Mood>,
    /// The subject and the auxiliaries of the previous verb.
    pub(super) previous: Option<(Subject, Group, Range<usize>)>,
    /// Whether a list of examples has begun.
    pub(super) examples: bool,
    /// The mood of the previous clause.
    pub(super) mood: Option<Mood>,
    /// Whether a condition only gives a time: "I ran it after changing the test".
    pub(super) dated: bool,
    /// The start of the sentence.
    pub(super) start: usize,
    /// How far back the subject of the clause may begin, skipping verbless insertions.
    pub(super) reach: usize,
    /// The relative clause between the subject and its verb.
    pub(super) aside: Range<usize>,
    /// Whether the next clause continues with the subject from before a relative clause.
    resumes: bool,
}

impl Context {
    /// Determines the mood of a clause and its completed verbs. `at` is its index among the clauses
    /// of the sentence, and their number.
    fn read(
        &mut self,
        tokens: &[Token],
        sentence: &Sentence,
        clause: &mut Clause,
        (at, count): (usize, usize),
    ) {
        let range = clause.tokens.clone();
        let last = at + 1 == count;
        let outer = self.mood;
        clause.mood = self.mood_of(tokens, sentence, &range, last);
        let before = self.reach;
        self.reach_back(tokens, &range, at);
        clause.predicates = predicates(tokens, &range, sentence.tokens.end, self);
        if !clause.predicates.is_empty() || has_verb(tokens, &range) {
            self.reach = range.end;
        }
        // A relative clause comes between a subject and its verb: "tasks that were open have …".
        let comma = usize::from(tokens.get(range.end).is_some_and(|t| t.is(',')));
        let finite = tokens.get(range.end + comma).is_some_and(|t| t.has(Tags::HAVE.or(Tags::BE)));
        self.resumes = clause.mood == Mood::Relative && !last && finite;
        if self.resumes {
            self.reach = before;
        }
        if at == 0 && is_interjection(tokens, &range) {
            self.reach = range.end;
            self.mood = Some(Mood::Asserted);
        } else if !self.resumes {
            self.after(tokens, &range, clause.mood);
        }
        if self.resumes {
            self.mood = outer;
            self.aside = range;
        }
    }

    /// Sets how far back the subject of a clause may begin.
    fn reach_back(&mut self, tokens: &[Token], range: &Range<usize>, at: usize) {
        let inserted = tokens.get(range.start).is_some_and(|t| t.is(')') || t.is(','));
        // "Your trip – flight and hotel – has been booked"
        let dashes = |t: &Token| t.is('-') || t.is('–') || t.is('—');
        let verbal = |t: &Token| t.has(Tags::HAVE.or(Tags::BE));
        if at > 1
            && tokens.get(range.start).is_some_and(dashes)
            && tokens.get(range.start + 1).is_some_and(verbal)
        {
            self.reach = self.start;
        } else if !inserted && !self.resumes {
            self.reach = range.start;
        }
    }

    /// Updates the context for the following clauses.
    fn after(&mut self, tokens: &[Token], range: &Range<usize>, mood: Mood) {
        self.mood = Some(mood);
        let done =
            |(_, group, _): &(Subject, Group, Range<usize>)| !group.modal && !group.infinitive;
        let gerund = tokens.get(range.start + 1).is_some_and(|t| t.has(Tags::GERUND));
        self.dated =
            mood == Mood::Conditional && gerund && self.previous.as_ref().is_some_and(done);
        let words = tokens.get(range.clone()).unwrap_or_default();
        // "Goal: …", "the goal is that …", but not "three files have TODOs". "works as expected" is
        // not an agenda.
        let mut until_verb = words.iter().take_while(|t| !t.has(Tags::HAVE.or(Tags::BE)));
        let as_is = |t: &Token| t.has(Tags::SUBORDINATE) && t.has(Tags::PREPOSITION);
        if !words.iter().any(as_is) && until_verb.any(|t| t.has(Tags::AGENDA)) && words.len() < 5 {
            self.pending = (!reports(tokens, range.end)).then_some(Mood::Unrealised);
            return;
        }
        let subject = |tag: Tags| words.iter().any(|t| t.has(tag));
        if words.iter().any(|t| t.has(Tags::ABBREVIATION) && t.end - t.start == 3) {
            self.examples = true;
        }
        let tail = words.iter().rev().take(5);
        for token in tail {
            if token.has(Tags::REPORT) && !token.has(Tags::GERUND) {
                // "It has been requested, and …": the second clause was not requested.
                let comma = usize::from(tokens.get(range.end).is_some_and(|t| t.is(',')));
                let joined = tokens.get(range.end + comma);
                if words.iter().any(|t| t.has(Tags::BE))
                    && (comma > 0 || joined.is_some_and(|t| t.has(Tags::COORDINATE)))
                {
                    continue;
                }
                // "As requested, …": the speaker continues in their own name.
                let short = words.first().is_some_and(|t| {
                    t.has(Tags::SUBORDINATE) && t.has(Tags::PREPOSITION) && t.end - t.start == 2
                });
                if short && words.len() <= 4 && token.has(Tags::REQUEST) {
                    return;
                }
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

#[cfg(test)]
mod tests {
    use super::super::{Prose, Voice};
    use super::*;

    /// Checks the asserted, affirmative predicates of a text: verb, voice, subject.
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
