//! Predicates that look like actions but report none, or someone else's.

use counterfoil_model::ObjectKind;

use super::objects::objects_in;
use crate::prose::{
    BlockKind, Clause, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice, Words, sets,
};
use crate::values::whole;

/// Whether a verb is a heading or an option rather than a report: "### Fixed", an option in a
/// table.
pub(super) fn is_label(prose: &Prose<'_>, predicate: &Predicate, block: Option<BlockKind>) -> bool {
    let alone = prose.tokens(predicate.object_tokens.clone()).iter().all(|t| t.is_mark());
    // "Tests added for the parser" in an unmarked list may be a title.
    let files = objects_in(prose, predicate.subject_tokens.clone());
    let led = predicate.voice == Voice::BareResult
        && files.iter().all(|o| o.kind != ObjectKind::Path)
        && !is_labelled(prose, predicate)
        && prose.tokens.get(predicate.verb + 1).is_some_and(|t| t.has(Tags::GOAL));
    // "Placed: 2024-03-04" gives a date.
    let after = |by: usize| prose.tokens.get(predicate.verb + by);
    let dates = predicate.voice == Voice::Bare
        && after(1).is_some_and(|t| t.is(':'))
        && after(2).is_some_and(|t| {
            let month = |t: &Token| t.has(Tags::MONTH);
            t.kind == TokenKind::Date
                || month(t)
                || (t.kind == TokenKind::Number && after(3).is_some_and(month))
                || prose.word(t).split('/').count() == 3
        });
    // "Sent to customer: not yet", "Paid: no"
    let at = prose.sentences.partition_point(|s| s.tokens.end <= predicate.verb);
    let end = prose.sentences.get(at).map_or(predicate.verb, |s| s.tokens.end);
    let mut rest = prose.tokens(predicate.verb..end.max(predicate.verb)).iter();
    let denied = rest.any(|t| t.is(':'))
        && rest.find(|t| !t.is_mark()).is_some_and(|t| t.has(Tags::NEGATION))
        && rest.filter(|t| !t.is_mark()).all(|t| prose.is(t, words!["yet", "so", "far"]));
    if dates || denied {
        return true;
    }
    match block {
        Some(BlockKind::Heading | BlockKind::Cell { .. } | BlockKind::Item { ticked: None })
            if led =>
        {
            true
        }
        Some(BlockKind::Heading) => predicate.voice == Voice::Bare && alone,
        Some(BlockKind::Cell { .. }) => predicate.voice == Voice::State,
        _ => false,
    }
}

/// "Quote: mailed to Ingrid": whether the subject is a label before a colon.
pub(super) fn is_labelled(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    predicate.voice == Voice::BareResult
        && prose.tokens.get(predicate.subject_tokens.end).is_some_and(|t| t.is(':'))
        && predicate.subject_tokens.end < predicate.verb
}

/// "I told you", "let me know": whether the verb is only about this conversation.
pub(super) fn is_talk(prose: &Prose<'_>, predicate: &Predicate, verb: &str) -> bool {
    let after = prose.tokens(predicate.object_tokens.clone());
    let hearer = |t: &Token| t.has(tags![USER, AGENT]);
    let mut named = after.iter().skip_while(|t| t.has(Tags::DETERMINER));
    let person = named
        .next()
        .is_some_and(|t| matches!(prose.word(t), "human" | "user" | "customer" | "caller"));
    match verb {
        // "I stopped there", "stopped before pushing": stopped working.
        "stopped" => {
            let thing = tags![DETERMINER, USER_OWN, THING];
            let object = after.first().is_some_and(|t| t.has(thing) || t.kind == TokenKind::Code);
            matches!(predicate.voice, Voice::Active | Voice::Bare) && !object
        }
        // "They've been addressed about it", "addressed to Mia"
        "addressed" => after.first().is_some_and(|t| t.has(Tags::PREPOSITION)),
        // "the case I flagged in my last message"
        "flagged" => prose
            .before_in_sentence(predicate.verb)
            .iter()
            .rev()
            .take(3)
            .any(|t| prose.is(t, &sets::RAISED)),
        // "I replied to your question"
        "replied" | "responded" => {
            after.iter().take(4).any(|t| prose.is(t, words!["question", "questions"]))
        }
        "answered" => !after.first().is_some_and(|t| t.capital || t.kind == TokenKind::Email),
        "let" => {
            let knows = after.iter().take(6).any(|t| prose.word(t) == "know");
            !knows || predicate.subject != Subject::Agent || after.first().is_some_and(hearer)
        }
        "told" | "informed" | "notified" | "alerted" => match predicate.voice {
            Voice::Active | Voice::Bare => person || after.first().is_none_or(hearer),
            _ => predicate.subject == Subject::User,
        },
        _ => false,
    }
}

/// "I have deleted all mails of May:", "Removed the `show` command:": whether the verb has a
/// specific object. "The following changes" only announces what comes after the colon, and "Updated
/// code:" is a label.
pub(super) fn speaks_of_thing(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let range = match predicate.voice {
        Voice::Active | Voice::Bare => predicate.object_tokens.clone(),
        Voice::PerfectPassive => predicate.subject_tokens.clone(),
        Voice::State | Voice::PastPassive | Voice::BareResult => return false,
    };
    let mut phrase = prose.tokens(range).iter();
    let particular = |t: &Token| {
        t.has(tags![DETERMINER, USER_OWN])
            || matches!(t.kind, TokenKind::Code | TokenKind::Identifier | TokenKind::Id)
            || matches!(t.kind, TokenKind::Path | TokenKind::Number)
    };
    let named = predicate.voice != Voice::Bare || phrase.clone().any(particular);
    // "I've updated the summary:", "I have changed the request:": the text after the colon.
    let numbered = phrase.clone().any(|t| t.kind == TokenKind::Number);
    let text = |t: &Token| t.has(tags![TEXT_NOUN, REQUEST]) && !numbered;
    let shown = |t: &Token| text(t) || prose.is(t, &sets::ANNOUNCED);
    named && !phrase.any(shown)
}

/// "cancelled by the airline", "your flight has been delayed"
pub(super) fn is_by_another(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let is_verb =
        |known: &Words| prose.tokens.get(predicate.verb).is_some_and(|t| prose.is(t, known));
    if is_verb(words!["delayed"]) && predicate.voice != Voice::Active {
        return true;
    }
    // "replaced by the larger one": names the replacement.
    if is_verb(words!["replaced"]) {
        return false;
    }
    let mut after = prose.tokens(predicate.object_tokens.clone()).iter();
    let by = after.by_ref().take(3).any(|t| prose.word(t).eq_ignore_ascii_case("by"));
    // "by e-mail", "by two days": the means, and the amount.
    let actor = |t: &Token| {
        t.kind != TokenKind::Number
            && whole(prose.word(t)).is_none()
            && !t.has(tags![AGENT, GERUND, MONTH])
            && !prose.is(t, &sets::MEANS)
    };
    let measures = |t: &Token| prose.is(t, &sets::SPANS);
    let who = after.next();
    let measured = || [who, after.clone().next()].into_iter().flatten().any(measures);
    by && who.is_some_and(actor) && !measured()
}

/// "Refunded means the money has been sent back", "`shipped` means it has left": a definition.
pub(super) fn is_definition(prose: &Prose<'_>, clause: &Clause) -> bool {
    let means = |from: usize| {
        let [word, means] = prose.tokens(from..from + 2) else { return false };
        let named = word.has(Tags::COMPLETED) || word.quoted || word.kind == TokenKind::Code;
        named && prose.is(means, words!["means"])
    };
    let start = clause.tokens.start;
    let before = start.checked_sub(2).is_some_and(means);
    before || means(start)
}

/// "By then the file has been written", "by the time it returns, the item has been added": a point
/// in time in an explanation. What the agent says it did itself is not an explanation.
pub(super) fn is_of_a_moment(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    if predicate.subject == Subject::Agent {
        return false;
    }
    let [first, second, third, ..] = prose.sentence_of(clause) else { return false };
    let moment = words!["point", "time", "stage", "moment"];
    let led = prose.is(first, words!["by", "at", "from"]);
    let then = prose.is(second, words!["then"]) && prose.is(first, words!["by"]);
    let that = prose.is(second, words!["that"]) && prose.is(third, moment);
    let the = prose.is(first, words!["by"])
        && prose.is(second, words!["the"])
        && prose.is(third, words!["time"]);
    led && (then || that || the)
}

/// "Everything except the refund and the email is done": one of the exceptions.
pub(super) fn is_excepted(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let words = words!["except", "besides", "excluding", "excepting"];
    let before = prose.before_in_sentence(predicate.verb);
    let phrase = before.iter().rev().take_while(|t| !t.is(',') && !t.is(';') && !t.is(':'));
    // "Everything but the push is done"
    let but = before.array_windows().any(|[all, but]| {
        prose.is(all, words!["everything", "all", "anything"]) && prose.is(but, words!["but"])
    });
    let excepted = phrase.take(10).any(|t| !t.quoted && prose.is(t, words));
    (but || excepted) && predicate.voice != Voice::Active
}

/// "The request was submitted but rejected.", "I wrote her, but it did not go through.": the
/// sentence itself says that the action did not succeed.
pub(super) fn is_turned_down(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    let end = prose.sentences.get(clause.sentence).map_or(predicate.verb, |s| s.tokens.end);
    let after = prose.tokens(predicate.verb + 1..end.max(predicate.verb + 1));
    let mut after = after.iter().skip_while(|t| !t.has(Tags::ADVERSATIVE)).skip(1).peekable();
    after.peek().is_some_and(|t| t.has(Tags::COMPLETED))
        || after.any(|t| t.has(tags![NEGATION, FAILURE]))
}

/// "| Contract uploaded | ❌ rejected |": another cell of the row says that it did not happen.
pub(super) fn is_denied_in_row(prose: &Prose<'_>, clause: &Clause) -> bool {
    let row_of = |sentence: usize| match prose.block_of(prose.sentences.get(sentence)?)?.kind {
        BlockKind::Cell { row, .. } => Some(row),
        _ => None,
    };
    let row = row_of(clause.sentence);
    let denies = |t: &Token| {
        matches!(t.kind, TokenKind::Symbol('❌' | '✗' | '✘' | '✖'))
            || t.has(tags![NEGATION, FAILURE])
    };
    let after = (clause.sentence + 1..prose.sentences.len()).take_while(|at| row_of(*at) == row);
    row.is_some()
        && after
            .filter_map(|at| prose.sentences.get(at))
            .any(|sentence| prose.tokens(sentence.tokens.clone()).iter().any(denies))
}

/// "I opened one page", "opened `cache.go`": opened for reading.
pub(super) fn is_looked_at(prose: &Prose<'_>, predicate: &Predicate, verb: &str) -> bool {
    use TokenKind as K;
    let read = |t: &Token| {
        matches!(t.kind, K::Path | K::Code | K::Url | K::Identifier)
            || t.has(Tags::TEXT_NOUN)
            || prose.is(t, words!["page", "pages", "file", "files", "tab", "tabs"])
    };
    verb == "opened" && prose.tokens(predicate.object_tokens.clone()).iter().take(5).any(read)
}

/// "I've marked them in bold", "removed it from this list", "I sent you the summary above": of the
/// text that says so.
pub(super) fn is_of_own_text(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let mut sentences = prose.sentences.iter();
    let Some(sentence) = sentences.find(|s| s.tokens.contains(&predicate.verb)) else {
        return false;
    };
    let after = prose.tokens(predicate.verb..sentence.tokens.end);
    after.array_windows().any(|[lead, word]| {
        let placed = prose.is(lead, words!["above", "below"]) && word.is_mark();
        let printed = lead.has(Tags::PREPOSITION) && prose.is(word, &sets::WAYS_OF_PRINT);
        let here = prose.is(lead, words!["this"]) && prose.is(word, &sets::PARTS_OF_AN_ANSWER);
        placed || printed || here
    })
}

/// "The connection has been established since 10:00": how long a state has lasted.
pub(super) fn has_lasted(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let after = prose.tokens(predicate.object_tokens.clone());
    predicate.voice == Voice::PerfectPassive
        && after.array_windows().any(|[since, time]| {
            let moment = matches!(time.kind, TokenKind::Number | TokenKind::Date);
            prose.is(since, words!["since"]) && (moment || time.has(Tags::MONTH))
        })
}
