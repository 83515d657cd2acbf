use std::ops::Range;

use super::lexicon::{Action, Tags};
use super::token::{Token, TokenKind};

/// The actor of a verb, according to the clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// "I", "we".
    Agent,
    /// "you".
    User,
    /// A third party.
    Third,
    /// A thing: what was acted on (passive), or what acts (active).
    Thing,
    /// No subject: "Updated the file."
    Absent,
}

/// The form of a verb.
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
    /// Its form.
    pub(crate) voice: Voice,
    /// The actor.
    pub(crate) subject: Subject,
    /// Whether it is negated.
    pub(crate) negated: bool,
    /// Whether "successfully", "now" or "just" is next to it.
    pub(crate) emphatic: bool,
    /// Whether "previously" or "originally" is next to it.
    pub(crate) earlier: bool,
    /// The tokens of the subject.
    pub(crate) subject_tokens: Range<usize>,
    /// The tokens after the verb, up to the next verb of the sentence.
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
        self.have |= token.tags.any(tags![HAVE, BEEN]);
        self.be |= token.tags.any(Tags::BE);
        self.past_be |= token.tags.any(Tags::PAST_BE);
        self.modal |= token.tags.any(Tags::MODAL);
        self.any |= token.tags.any(tags![HAVE, BE, MODAL, DO]);
        self.adverb(token);
    }

    fn adverb(&mut self, token: &Token) {
        self.negated |= token.tags.any(Tags::NEGATION);
        self.emphatic |= token.tags.any(tags![SUCCESS, NOW]);
        self.earlier |= token.tags.any(Tags::EARLIER);
    }

    pub(super) fn voice(self, form: Tags, subject: Subject) -> Option<Voice> {
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
            Subject::Absent => Voice::Bare,
            Subject::Agent | Subject::User | Subject::Third => {
                return form.any(Tags::PAST).then_some(Voice::Active);
            }
            Subject::Thing => Voice::BareResult,
        })
    }
}

/// The auxiliaries and adverbs directly before the verb, and the index where they begin.
pub(super) fn group_before(tokens: &[Token], start: usize, verb: usize) -> (Group, usize) {
    let mut group = Group::default();
    let mut at = verb;
    while at > start {
        let Some(token) = tokens.get(at - 1) else { break };
        if token.quoted || token.kind != TokenKind::Word {
            break;
        }
        let auxiliary = tags![HAVE, BE, MODAL, DO];
        if token.tags.any(auxiliary) {
            if token.tags.any(Tags::BE) && token.end - token.start == 5 {
                group.progressive = true;
            }
            group.add(token);
        } else if token.tags.any(tags![ADVERB, SUCCESS, NEGATION]) {
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

/// The subject. A pronoun counts only if nothing except adverbs is between it and the verb.
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
        let between = token.is_mark() || token.has(tags![ADVERB, SUCCESS, COORDINATE]);
        if !between {
            break;
        }
    }
    Subject::Thing
}

/// Whether the tokens contain a finite verb.
pub(super) fn has_verb(tokens: &[Token], range: &Range<usize>) -> bool {
    tokens.get(range.clone()).unwrap_or_default().iter().any(|t| t.has(tags![BE, HAVE, MODAL, DO]))
}

/// Whether nothing before the verb can be its subject.
pub(super) fn is_empty_subject(tokens: &[Token], range: &Range<usize>) -> bool {
    tokens.get(range.clone()).unwrap_or_default().iter().all(|t| {
        t.is_mark() || t.has(tags![COORDINATE, ADVERB, SUBORDINATE, SUCCESS]) || t.has(Tags::DONE)
    })
}

pub(super) fn negates(tokens: &[Token], range: &Range<usize>) -> bool {
    tokens.get(range.clone()).unwrap_or_default().iter().any(|t| t.has(Tags::NEGATION))
}

/// Whether the words before the verb attribute it to someone, doubt it or wish it: "the tool says
/// it was sent", "to ensure the task is assigned", "I would confirm it was made".
pub(super) fn is_embedded(tokens: &[Token], before: Range<usize>) -> bool {
    let words = tokens.get(before).unwrap_or_default();
    let (mut modal, mut intends) = (false, false);
    words.iter().enumerate().any(|(i, token)| {
        modal |= token.has(Tags::MODAL);
        // "your pending order", "all requested changes": the word identifies the thing.
        let owned = i
            .checked_sub(1)
            .and_then(|i| words.get(i))
            .is_some_and(|t| t.has(tags![DETERMINER, USER_OWN, AGENT_OWN]));
        let describes = owned
            && words
                .get(i + 1)
                .is_some_and(|t| t.kind == TokenKind::Word && !t.has(Tags::PREPOSITION));
        intends |= token.has(Tags::INTEND) && !describes;
        let governs = tags![PURPOSE, PERCEIVE, HEDGE];
        // "The order you asked about": the request ends there.
        let goes_on = words.iter().skip(i + 1).any(|t| !t.has(tags![PREPOSITION, ADVERB]));
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

/// The end of the words that belong to a verb: the next verb, skipping verbless clauses.
pub(super) fn object_end(tokens: &[Token], from: usize, clause_end: usize, end: usize) -> usize {
    let finite = tags![HAVE, BE, MODAL, AGENT, USER];
    (clause_end.max(from)..end)
        .find(|&at| {
            tokens.get(at).is_some_and(|t| {
                t.has(finite) || t.is(';') || (t.verb.is_some() && t.has(Tags::COMPLETED))
            })
        })
        .unwrap_or(end)
}
