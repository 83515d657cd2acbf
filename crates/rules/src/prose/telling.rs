//! Ways to report an action other than a simple past tense and a passive.

use std::ops::Range;

use super::lexicon::Tags;
use super::predicate::{Predicate, Subject, Voice, group_before, object_end, subject_of};
use super::token::Token;

/// "I had the meeting moved", "I've got it cancelled": the tokens of what the speaker had done.
pub(super) fn caused(tokens: &[Token], before: &Range<usize>) -> Option<Range<usize>> {
    let words = tokens.get(before.clone())?;
    let agent = words.iter().position(|t| t.has(Tags::AGENT))?;
    // "had", "got"
    let saw_to = agent + words.get(agent..)?.iter().position(|t| t.has(Tags::CAUSED))?;
    let between = words.get(agent + 1..saw_to)?;
    let small = tags![HAVE, ADVERB, NOW];
    let doubt = tags![MODAL, INTEND, NEGATION, REPORT];
    let plain = between.iter().all(|t| t.has(small)) && !words.iter().any(|t| t.has(doubt));
    (saw_to + 1 < words.len() && plain).then_some(before.start + saw_to + 1..before.end)
}

/// "I managed to cancel it", "I was able to …", "I took the liberty of cancelling it": a successful
/// action in the infinitive or gerund.
pub(super) fn achieved(
    tokens: &[Token],
    range: &Range<usize>,
    at: usize,
    end: usize,
    reach: usize,
) -> Option<Predicate> {
    let token = tokens.get(at).filter(|t| !t.quoted)?;
    let action = token.verb?;
    let back = |n: usize| at.checked_sub(n).filter(|&i| i >= range.start);
    let leads =
        |n: usize, tag: Tags| back(n).filter(|&i| tokens.get(i).is_some_and(|t| t.has(tag)));
    let led = if token.has(Tags::GERUND) {
        leads(1, Tags::ACHIEVE).or_else(|| leads(1, Tags::PREPOSITION).and(leads(2, Tags::ACHIEVE)))
    } else if token.has(Tags::BASE) {
        leads(1, Tags::PREPOSITION).and(leads(2, Tags::ACHIEVE))
    } else {
        None
    }?;
    let word = tokens.get(led)?;
    let ready = word.has(Tags::INTEND);
    let head = if word.verb.is_some() || word.has(Tags::PASSING) || ready {
        led
    } else {
        // "took the liberty of": the verb comes before the noun.
        let before = tokens.get(range.start..led)?;
        let verb = before.iter().rposition(|t| t.has(Tags::COMPLETED));
        verb.map_or(led, |n| range.start + n)
    };
    let (group, group_start) = group_before(tokens, range.start, head);
    let done = if ready { group.past_be || (group.have && group.be) } else { true };
    let subject = subject_of(tokens, &(reach.min(group_start)..group_start));
    let plain = !(group.modal || group.infinitive || group.progressive);
    (done && plain && subject == Subject::Agent).then(|| Predicate {
        verb: at,
        action,
        voice: Voice::Active,
        subject,
        negated: group.negated,
        emphatic: group.emphatic,
        earlier: group.earlier,
        subject_tokens: range.start..group_start,
        object_tokens: at + 1..object_end(tokens, at + 1, range.end, end),
    })
}

/// Whether the text after a colon is a comma-separated list.
fn is_list(sentence: &[Token]) -> bool {
    let after = sentence.iter().skip_while(|t| !t.is(':'));
    after.filter(|t| t.is(',')).count() >= 2
}

/// Whether a clause without a finite verb is a report of its own: a whole sentence, or part of a
/// sentence that consists of such parts: "Flight booked, hotel reserved".
pub(super) fn is_self_contained(
    tokens: &[Token],
    range: &Range<usize>,
    start: usize,
    end: usize,
) -> bool {
    if range.start == start && range.end == end {
        return true;
    }
    // "All is set up: schema migrated, server restarted": only the list.
    let colon = tokens.get(start..range.start).unwrap_or_default().iter().rposition(|t| t.is(':'));
    let listed = colon.map(|at| start + at);
    // "Annika: invitation sent"
    let label = |at: usize| {
        let verbal = tags![COMPLETED, BE, HAVE, MODAL, AGENDA];
        let label = tokens.get(start..at).unwrap_or_default();
        (1..=4).contains(&label.len())
            && !label.iter().any(|t| t.tags.any(verbal.or(Tags::STATE_NOUN)))
    };
    let parted = |at: &usize| tokens.get(start..end).is_some_and(is_list) || label(*at);
    let start = listed.filter(parted).unwrap_or(start);
    let sentence = tokens.get(start..end).unwrap_or_default();
    let opens = range.start == start
        || tokens.get(range.start).is_some_and(|t| {
            t.is(',') || t.is(';') || t.is('→') || t.is(':') || t.has(Tags::COORDINATE)
        });
    let closes = range.end == end
        || tokens
            .get(range.end)
            .is_some_and(|t| t.is(',') || t.is(';') || t.is('→') || t.has(Tags::COORDINATE));
    let finite = tags![HAVE, BE, MODAL, DO, AGENT, USER, SUBORDINATE, RELATIVE];
    // "Changes committed and pushed": a noun here, although the word can be a verb.
    let finite = |t: &Token| t.has(finite) || (t.has(Tags::THIRD_PERSON) && t.noun.is_none());
    // "Both the name and the tag changed": one part.
    let verbal = |part: Range<usize>| {
        tokens.get(part).unwrap_or_default().iter().any(|t| t.has(Tags::COMPLETED))
    };
    let others = (range.start == start || verbal(start..range.start))
        && (range.end == end || verbal(range.end..end));
    opens && closes && others && sentence.len() <= 24 && !sentence.iter().any(finite)
}
