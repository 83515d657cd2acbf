use std::ops::Range;

use counterfoil_model::Span;

use super::boundary::starts_clause;
use super::lexicon::Tags;
use super::predicate::{Group, Predicate, Subject, has_verb, predicates};
use super::sentences::Sentence;
use super::tokens::{Kinds, Token, TokenKind};
use super::words::{Marks, Words};

/// A stretch of a sentence with at most one subject, and what it says was done.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    /// The sentence it belongs to.
    pub(crate) sentence: usize,
    /// Its tokens.
    pub(crate) tokens: Range<usize>,
    /// Where it stands.
    pub(crate) span: Span,
    /// What its words can do, all together; those in quotation marks left out.
    pub(crate) tags: Tags,
    /// The marks of all its tokens.
    pub(super) marks: Marks,
    /// The kinds of all its tokens.
    pub(crate) kinds: Kinds,
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
    /// Said in another language than English: nobody reads it.
    Foreign,
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
    let start = sentence.tokens.start;
    let mut context =
        Context { question: sentence.question, start, reach: start, ..Context::default() };
    let count = out.len();
    let mut resumes = false;
    for i in first..count {
        let Some(clause) = out.get(i) else { break };
        let range = clause.tokens.clone();
        let last = i + 1 == count;
        let outer = context.mood;
        let mood = context.mood(tokens, sentence, &range, last);
        let end = sentence.tokens.end;
        let inserted = tokens.get(range.start).is_some_and(|t| t.is(')') || t.is(','));
        let before = context.reach;
        // "Your trip – flight and hotel – has been booked"
        let dashes = |t: &Token| t.is('-') || t.is('–') || t.is('—');
        let verbal = |t: &Token| t.has(Tags::HAVE.or(Tags::BE));
        if i > first + 1
            && tokens.get(range.start).is_some_and(dashes)
            && tokens.get(range.start + 1).is_some_and(verbal)
        {
            context.reach = start;
        } else if !inserted && !resumes {
            context.reach = range.start;
        }
        let predicates = predicates(tokens, &range, end, &mut context);
        if !predicates.is_empty() || has_verb(tokens, &range) {
            context.reach = range.end;
        }
        // A relative clause stands between a subject and its verb: "tasks that were open have …".
        let comma = usize::from(tokens.get(range.end).is_some_and(|t| t.is(',')));
        let finite = tokens.get(range.end + comma).is_some_and(|t| t.has(Tags::HAVE.or(Tags::BE)));
        resumes = mood == Mood::Relative && !last && finite;
        if resumes {
            context.reach = before;
        }
        if i == first && is_interjection(tokens, &range) {
            context.reach = range.end;
            context.mood = Some(Mood::Asserted);
        } else if !resumes {
            context.after(tokens, &range, mood);
        }
        if resumes {
            context.mood = outer;
            context.aside = range;
        }
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
    /// The words that it takes note of.
    const WORDS: Tags = Tags::NEGATION
        .or(Tags::ADVERB)
        .or(Tags::DO)
        .or(Tags::HAVE)
        .or(Tags::BE)
        .or(Tags::MODAL)
        .or(Tags::PAST);

    /// Whether the main clause goes on at the token: a second finite verb inside the insertion.
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
        // "tasks assigned to her that …": a participle that describes, not the main verb.
        // "that has not been paid": one group of auxiliaries.
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
                // Auxiliaries of one group stand side by side; behind a verb a new one begins.
                let auxiliary = token.has(Tags::HAVE.or(Tags::BE).or(Tags::MODAL).or(Tags::DO));
                self.verb_at = Some(if auxiliary { at } else { at.saturating_sub(1) });
            } else {
                self.main_verb = true;
            }
        }
    }
}

impl Clause {
    /// A stretch of a sentence of which no more is known than its words.
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

    /// Whether one of these words may stand in it: a quick look before a thorough one.
    #[inline]
    pub(crate) fn may_hold(&self, words: &Words) -> bool {
        words.may_meet(self.marks)
    }
}

/// "Sure, I cancelled it", "No problem, the order has been cancelled": a word or two before a
/// sentence that stands for itself.
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

/// "I was told that …": by somebody else.
fn is_heard(tokens: &[Token], start: usize, range: &Range<usize>) -> bool {
    let led = tokens.get(start..range.start).unwrap_or_default();
    let [.., who, be, verb] = led else { return false };
    who.has(Tags::AGENT)
        && be.tags.any(Tags::BE.or(Tags::PAST_BE))
        && verb.tags.any(Tags::REPORT.or(Tags::ASSURE).or(Tags::ANNOUNCE))
        && verb.tags.any(Tags::COMPLETED.or(Tags::ASSURE))
}

/// "I wanted to let you know that …", "Please be aware that …": what stands behind it is said in
/// the speaker's own name.
fn is_assured(tokens: &[Token], start: usize, range: &Range<usize>) -> bool {
    let led = tokens.get(start..range.start).unwrap_or_default();
    let open = Tags::NEGATION.or(Tags::THIRD).or(Tags::CONDITIONAL);
    let lead = Tags::AGENT.or(Tags::REQUEST).or(Tags::BASE).or(Tags::INTEND).or(Tags::THING);
    let told = led.first().is_some_and(|t| t.has(Tags::USER));
    // "let me tell you that"
    let to_user = led.last().is_some_and(|t| t.has(Tags::USER));
    let at = led.len().checked_sub(1 + usize::from(to_user));
    let before = at.and_then(|at| led.get(at.checked_sub(1)?));
    // "I would like to know that", "I was told that": the speaker is the one who hears it.
    let assures = |t: &Token| {
        t.has(Tags::ASSURE)
            && (!t.has(Tags::REPORT) || to_user)
            && (!t.has(Tags::PERCEIVE) || before.is_some_and(|b| b.has(Tags::USER)))
    };
    at.and_then(|at| led.get(at)).is_some_and(assures)
        && led.len() <= 9
        && !told
        && !led.iter().any(|t| t.has(open))
        && (led.len() <= 2 || led.iter().any(|t| t.has(lead)))
}

/// "Next, I updated it": whether behind a comma the speaker tells what they did.
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
    question: bool,
    /// The next clause is what somebody else said, what was observed, or what is wished.
    pending: Option<Mood>,
    /// The subject and the auxiliaries of the verb before.
    pub(super) previous: Option<(Subject, Group, Range<usize>)>,
    /// An enumeration of examples has begun.
    examples: bool,
    mood: Option<Mood>,
    /// A condition only says when something was done: "I ran it after changing the test".
    dated: bool,
    /// Where the sentence begins.
    pub(super) start: usize,
    /// How far back the subject of the clause may begin: over verbless insertions.
    pub(super) reach: usize,
    /// The relative clause that stands between the subject and its verb.
    pub(super) aside: Range<usize>,
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
        if head.has(Tags::RELATIVE) && head.has(Tags::THING) {
            // "Now that it has been sent, …"
            let now = tokens.get(sentence.tokens.start).is_some_and(|t| t.has(Tags::NOW));
            if now && range.start == sentence.tokens.start + 1 {
                return Mood::Asserted;
            }
            if is_heard(tokens, self.start, range) {
                return Mood::Attributed;
            }
            if is_assured(tokens, self.start, range) {
                return Mood::Asserted;
            }
        }
        if self.question {
            let asks = starts_sentence && head.has(Tags::QUESTION);
            let declares = !last && !asks && words().any(|t| t.has(Tags::AGENT));
            if !declares {
                return Mood::Question;
            }
        }
        if head.has(Tags::CONDITIONAL) || (starts_sentence && is_inverted(words())) {
            return Mood::Conditional;
        }
        // "or it has been deleted", "Either I put it back or …": one of several possibilities.
        let agent = |t: &Token| t.has(Tags::AGENT);
        let chosen = || words().skip_while(|t| !t.has(Tags::ALTERNATIVE)).nth(1).is_some_and(agent);
        if head.has(Tags::ALTERNATIVE) && (!starts_sentence || chosen()) {
            return Mood::Unrealised;
        }
        // "…, which I have committed": said of what was named, and not which one is meant.
        let goes_on = tokens.get(range.start).is_some_and(|t| t.is(','))
            || range.start.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|t| t.is(','));
        let spoken = words().skip_while(|t| !t.has(Tags::RELATIVE)).nth(1);
        if head.has(Tags::RELATIVE)
            && !head.has(Tags::THING)
            && goes_on
            && spoken.is_some_and(|t| t.has(Tags::AGENT))
        {
            return pending.unwrap_or(Mood::Asserted);
        }
        if head.has(Tags::RELATIVE) && !starts_sentence {
            // "inform you that …", "confirmed that …" complete a verb; "the order that …" does not.
            let back = |n: usize| range.start.checked_sub(n).and_then(|i| tokens.get(i));
            let own = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN);
            let completes = head.has(Tags::THING)
                && back(1).is_some_and(|t| {
                    t.has(Tags::USER.or(Tags::THIRD))
                        || (t.has(Tags::ANNOUNCE)
                            && back(2).is_some_and(|d| d.has(Tags::PREPOSITION)))
                        || (t.verb.is_some()
                            && !back(2).is_some_and(|d| d.has(own.or(Tags::PREPOSITION))))
                });
            let otherwise = if completes { Mood::Asserted } else { Mood::Relative };
            return pending.unwrap_or(otherwise);
        }
        // "I noticed the mistake and corrected it": the speaker did both.
        let joined = tokens.get(range.start).is_some_and(|t| t.has(Tags::COORDINATE));
        let behind = words().skip(1).find(|t| !t.has(Tags::ADVERB.or(Tags::SUCCESS)));
        let own = matches!(&self.previous, Some((Subject::Agent | Subject::Nobody, _, _)))
            && behind.is_some_and(|t| t.verb.is_some() && t.has(Tags::COMPLETED));
        if let Some(pending) = pending.filter(|&p| !(p == Mood::Observed && joined && own)) {
            return pending;
        }
        // "as soon as it has been sent"
        if self.mood == Some(Mood::Conditional)
            && head.has(Tags::SUBORDINATE)
            && head.has(Tags::PREPOSITION)
        {
            return Mood::Conditional;
        }
        // "Once A and B, …": the condition covers both.
        let first = tokens.get(range.start);
        let own_subject = words().any(|t| {
            t.has(Tags::AGENT.or(Tags::USER).or(Tags::THIRD).or(Tags::THING).or(Tags::DETERMINER))
                || t.has(Tags::USER_OWN.or(Tags::AGENT_OWN))
        });
        if self.mood == Some(Mood::Conditional)
            && first.is_some_and(|t| t.has(Tags::COORDINATE) && !t.has(Tags::ADVERSATIVE))
            && !(self.dated && own_subject)
        {
            return Mood::Conditional;
        }
        // "It is merged once A, B, and C": so does one behind what depends on it.
        let led = tokens.get(sentence.tokens.start).is_some_and(|t| t.has(Tags::CONDITIONAL));
        let rest = tokens.get(range.end..sentence.tokens.end).unwrap_or_default();
        if self.mood == Some(Mood::Conditional)
            && !led
            && first.is_some_and(|t| t.is(','))
            && !words().any(|t| t.has(Tags::AGENT))
            && rest.iter().any(|t| t.has(Tags::COORDINATE))
        {
            return Mood::Conditional;
        }
        let begins = starts_sentence || first.is_some_and(|t| t.is(';'));
        if head.has(Tags::REQUEST) && begins && head.has(Tags::BASE.or(Tags::INTEND)) {
            return Mood::Unrealised;
        }
        if words().any(|t| t.has(Tags::HEDGE)) {
            return Mood::Unrealised;
        }
        // A clause that only goes on in the mood before it: "…, cancelled, and refunded".
        let goes_on = opening || head.has(Tags::COORDINATE);
        match self.mood {
            Some(mood) if goes_on && !own_subject && mood != Mood::Conditional => mood,
            _ => Mood::Asserted,
        }
    }

    /// Notes what the clause means for those behind it.
    fn after(&mut self, tokens: &[Token], range: &Range<usize>, mood: Mood) {
        self.mood = Some(mood);
        let done =
            |(_, group, _): &(Subject, Group, Range<usize>)| !group.modal && !group.infinitive;
        let gerund = tokens.get(range.start + 1).is_some_and(|t| t.has(Tags::GERUND));
        self.dated =
            mood == Mood::Conditional && gerund && self.previous.as_ref().is_some_and(done);
        let words = tokens.get(range.clone()).unwrap_or_default();
        // "Goal: …", "the goal is that …"; not "three files have TODOs".
        // "works as expected" is no agenda.
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
                // "It has been requested, and …": nothing of what was requested.
                let comma = usize::from(tokens.get(range.end).is_some_and(|t| t.is(',')));
                let joined = tokens.get(range.end + comma);
                if words.iter().any(|t| t.has(Tags::BE))
                    && (comma > 0 || joined.is_some_and(|t| t.has(Tags::COORDINATE)))
                {
                    continue;
                }
                // "As requested, …": the speaker goes on in their own name.
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

/// "Had I deleted it, …": the verb before its subject, and no question.
fn is_inverted<'t>(mut words: impl Iterator<Item = &'t Token>) -> bool {
    let pronoun = Tags::AGENT.or(Tags::USER).or(Tags::THIRD);
    words.next().is_some_and(|t| t.has(Tags::HAVE) && t.has(Tags::CAUSED))
        && words.next().is_some_and(|t| t.has(pronoun.or(Tags::THING).or(Tags::DETERMINER)))
}

#[cfg(test)]
mod tests {
    use super::super::{Prose, Voice};
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
