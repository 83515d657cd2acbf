//! The completed verbs of languages other than English, and who is said to have done them.

use std::ops::Range;

use counterfoil_model::Family;

use super::forms::Forms;
use super::grammar::{Reading, is_finite, is_transparent};
use super::language::Language;
use super::lexicon::{Action, Tags};
use super::other_clauses::Carried;
use super::predicate::{Predicate, Subject, Voice};
use super::tokens::{Token, TokenKind};
use super::vocabulary::Vocabulary;

/// The completed verbs of a clause.
pub(super) fn predicates(
    tokens: &[Token],
    range: &Range<usize>,
    vocabulary: &Vocabulary,
    carried: &mut Carried,
) -> Vec<Predicate> {
    let words = tokens.get(range.clone()).unwrap_or_default();
    let has = |tags: Tags| words.iter().any(|t| t.has(tags));
    let mut found: Vec<Predicate> = Vec::new();
    let mut taken = range.start;
    for at in range.clone() {
        let Some(token) = tokens.get(at).filter(|t| !t.quoted) else { continue };
        let Some(action) = token.verb else { continue };
        if at < taken {
            continue;
        }
        let joined = carried.frame.filter(|_| joins(tokens, range, at));
        let mut patterns = vocabulary.patterns.iter().filter(|_| joined.is_none());
        let fitting =
            patterns.find_map(|pattern| Some((pattern.voice, pattern.stands(tokens, range, at)?)));
        let described = |end: usize| {
            end < range.end && tokens.get(end).is_some_and(|t| t.is_form(Forms::ATTRIBUTIVE))
        };
        let undone = Forms::ENDED_NOT.or(Forms::NOT_DONE);
        let negated = has(Tags::NEGATION) || words.iter().any(|t| t.is_form(undone));
        let (subject, voice) = match fitting {
            Some((_, group)) if described(group.end) => continue,
            Some((reading, group)) => {
                taken = group.end;
                let read = match reading {
                    Reading::Own => Some((Subject::Agent, Voice::Active)),
                    Reading::Done(voice) => {
                        let another = is_by_another(tokens, range, at, vocabulary);
                        (!another).then_some((Subject::Thing, voice))
                    }
                    Reading::Open { passive } => {
                        let whole = Whole { tokens, clause: range, group: &group, verb: at };
                        let found = whole.subject(passive, vocabulary);
                        found.filter(|found| !carried.another || found.0 == Subject::Agent)
                    }
                };
                let Some((subject, voice)) = read else {
                    carried.frame = None;
                    continue;
                };
                carried.frame = Some((subject, voice, negated));
                (subject, voice)
            }
            None => match joined {
                Some((subject, voice, false)) => (subject, voice),
                _ => continue,
            },
        };
        let dated = words.iter().any(|t| t.kind == TokenKind::Date || t.has(Tags::MONTH));
        found.push(Predicate {
            verb: at,
            action,
            voice: if dated && voice == Voice::PerfectPassive { Voice::PastPassive } else { voice },
            subject,
            negated,
            emphatic: has(Tags::SUCCESS.or(Tags::NOW)),
            earlier: has(Tags::EARLIER),
            came_about: false,
            subject_tokens: range.clone(),
            object_tokens: range.clone(),
        });
    }
    let agent = has(Tags::AGENT);
    let subject = words.iter().any(|t| t.is_form(Forms::SUBJECT_MARK));
    if agent {
        carried.another = false;
    } else if vocabulary.language.is_segmented() && found.is_empty() {
        let marked = has_particles(vocabulary);
        carried.another |= names_another(words, marked) || (marked && subject);
    }
    found
}

/// Whether the verb only joins the one before: nothing finite, directly behind an "and".
fn joins(tokens: &[Token], range: &Range<usize>, verb: usize) -> bool {
    let words = tokens.get(range.clone()).unwrap_or_default();
    let completed = tokens.get(verb).is_some_and(|t| t.has(Tags::PARTICIPLE.or(Tags::BASE)));
    let other = words.iter().any(|t| {
        is_finite(t)
            || t.has(Tags::USER.or(Tags::THIRD).or(Tags::INTEND))
            || t.is_form(Forms::ATTRIBUTIVE)
    });
    let inflects = tokens.get(verb).is_some_and(|t| t.has(Tags::PARTICIPLE));
    let near = tokens.get(range.start + 1..verb).unwrap_or_default();
    let direct = near.iter().all(is_transparent) || inflects;
    words.first().is_some_and(|t| t.has(Tags::COORDINATE)) && completed && direct && !other
}

/// "von der Fluggesellschaft storniert", "被航空公司取消": done by somebody else.
fn is_by_another(
    tokens: &[Token],
    range: &Range<usize>,
    verb: usize,
    vocabulary: &Vocabulary,
) -> bool {
    range.clone().any(|at| {
        let by = tokens.get(at).is_some_and(|t| t.is_form(Forms::BY));
        let next = (at + 1..range.end).find(|&i| {
            tokens.get(i).is_some_and(|t| !t.has(Tags::DETERMINER) && !is_transparent(t))
        });
        let means = next
            .and_then(|i| tokens.get(i))
            .is_some_and(|t| t.has(Tags::AGENT) || t.noun == Some(Family::Send));
        let named = next.and_then(|i| tokens.get(i)).is_some_and(|t| {
            matches!(t.kind, TokenKind::Word | TokenKind::Identifier | TokenKind::Code)
        });
        // Behind the noun, or before it; directly before the verb it is only a passive.
        by && (has_particles(vocabulary) || (named && next != Some(verb) && !means))
    })
}

/// Whether the words name the user or a third party as the one who acts: not "给李明", "山田さんに".
fn names_another(words: &[Token], marked: bool) -> bool {
    words.iter().enumerate().any(|(i, t)| {
        let led = i
            .checked_sub(1)
            .and_then(|i| words.get(i))
            .is_some_and(|t| t.has(Tags::PREPOSITION) || t.is_form(Forms::OBJECT_MARK));
        let beside = Forms::OBJECT_MARK.or(Forms::ATTRIBUTIVE);
        let followed = words
            .get(i + 1)
            .is_some_and(|t| t.is_form(beside) || (marked && t.has(Tags::PREPOSITION)));
        t.has(Tags::USER.or(Tags::THIRD)) && !followed && (marked || !led)
    })
}

/// Whether particles behind nouns tell who did it, and not the order of words.
fn has_particles(vocabulary: &Vocabulary) -> bool {
    matches!(vocabulary.language, Language::Japanese | Language::Korean)
}

/// A verb in its clause, where the words around it say who did it.
struct Whole<'p> {
    tokens: &'p [Token],
    clause: &'p Range<usize>,
    group: &'p Range<usize>,
    verb: usize,
}

impl Whole<'_> {
    /// Who did it, and how that is said; `None` when it may have been somebody else.
    fn subject(&self, passive: bool, vocabulary: &Vocabulary) -> Option<(Subject, Voice)> {
        if is_by_another(self.tokens, self.clause, self.verb, vocabulary) {
            return None;
        }
        let before = self.tokens.get(self.clause.start..self.verb)?;
        if before.iter().any(|t| t.has(Tags::AGENT)) && !passive {
            return Some((Subject::Agent, Voice::Active));
        }
        let marks = Forms::SUBJECT_MARK.or(Forms::TOPIC_MARK);
        let marked = has_particles(vocabulary);
        if names_another(before, marked) {
            return None;
        }
        if marked {
            return self.marked_subject(before, passive, marks);
        }
        if !self.has_noun_before() {
            return Some((Subject::Nobody, Voice::Bare));
        }
        (!self.has_object_behind()).then_some((Subject::Thing, Voice::PerfectPassive))
    }

    /// By the particles behind nouns.
    fn marked_subject(
        &self,
        before: &[Token],
        passive: bool,
        marks: Forms,
    ) -> Option<(Subject, Voice)> {
        if passive {
            return Some((Subject::Thing, Voice::PerfectPassive));
        }
        let subject = before.iter().position(|t| t.is_form(Forms::SUBJECT_MARK));
        let marked = subject.and_then(|i| before.get(i.checked_sub(1)?));
        let generic = self.tokens.get(self.verb).is_some_and(|t| t.verb == Some(Action::Generic));
        if generic && marked.is_some_and(|t| t.noun.is_some() || t.verb.is_some()) {
            // "キャンセルが完了しました"
            return Some((Subject::Thing, Voice::PerfectPassive));
        }
        let object = before.iter().any(|t| t.is_form(Forms::OBJECT_MARK));
        let topic = before.iter().position(|t| t.is_form(marks));
        let thing = topic.and_then(|i| before.get(i.checked_sub(1)?)).is_none_or(|t| {
            t.noun.is_some()
                || t.is_form(Forms::RECORD.or(Forms::GOODS).or(Forms::EVERYTHING))
                || t.has(Tags::THING.or(Tags::ADVERB))
                || !matches!(t.kind, TokenKind::Word)
        });
        (subject.is_none() && thing && !(topic.is_some() && object))
            .then_some((Subject::Nobody, Voice::Bare))
    }

    /// Whether something that may be a subject stands before the verb and its signs.
    fn has_noun_before(&self) -> bool {
        let mut led = false;
        let words = self.tokens.get(self.clause.start..self.group.start).unwrap_or_default();
        words.iter().any(|t| {
            let leads = t.has(Tags::PREPOSITION) || t.is_form(Forms::OBJECT_MARK);
            let skipped = led || leads || is_aside(t);
            led = leads || (led && t.has(Tags::USER_OWN.or(Tags::DETERMINER)));
            !skipped
        })
    }

    /// Whether something that may be an object stands behind it.
    fn has_object_behind(&self) -> bool {
        let mut led = false;
        let words = self.tokens.get(self.group.end..self.clause.end).unwrap_or_default();
        words.iter().any(|t| {
            led |= t.has(Tags::PREPOSITION);
            !led && !is_aside(t)
        })
    }
}

/// Words and marks that are no part of a noun.
fn is_aside(token: &Token) -> bool {
    let small = Tags::COORDINATE.or(Tags::DONE).or(Tags::SUBORDINATE);
    is_transparent(token)
        || matches!(token.kind, TokenKind::Symbol(_))
        || token.has(small)
        || token.is_form(Forms::ASPECT.or(Forms::ALREADY).or(Forms::CLOSING))
}
