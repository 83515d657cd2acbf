//! Predicates that look like acts and tell of none, or of somebody else's.

use counterfoil_model::{Family, ObjectKind};

use super::extract::is_word;
use super::objects::objects_in;
use crate::prose::{
    BlockKind, Clause, Mood, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice, Words, sets,
};
use crate::values::whole;

/// "I opened one page": to read it.
pub(super) fn is_looked_at(prose: &Prose<'_>, predicate: &Predicate, verb: &str) -> bool {
    let object = || prose.tokens(predicate.object_tokens.clone()).iter().take(5);
    let named = |t: &Token| {
        matches!(t.kind, TokenKind::Id | TokenKind::Identifier | TokenKind::Path | TokenKind::Url)
    };
    verb == "opened"
        && object().any(|t| prose.is(t, &sets::READ_THINGS) || named(t))
        && !object().any(|t| prose.is(t, &sets::MADE_THINGS))
}

/// "Refunded means the money has been sent back", "`shipped` means it has left": what a word stands
/// for.
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

/// "Once the build is green, the release is complete", "You pushed it? Then it was published.":
/// what then is so, and not what was done.
pub(super) fn is_consequence(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    let sentence = |at: usize| prose.sentences.get(at);
    let asked = clause.sentence.checked_sub(1).and_then(sentence).is_some_and(|s| s.question);
    let first = sentence(clause.sentence).and_then(|s| prose.tokens.get(s.tokens.start));
    let then = asked && first.is_some_and(|t| prose.is(t, words!["then"]));
    // "Transcripts are blocked while a hold is active."
    let rule = |c: &Clause| {
        let first = prose.tokens.get(c.tokens.start);
        c.mood == Mood::Conditional || first.is_some_and(|t| prose.is(t, words!["while"]))
    };
    // "If you tell me to, I'll block it. A new card is ordered in the same step."
    let supposed = || {
        let before = clause.sentence.checked_sub(1)?;
        let first = sentence(before).and_then(|s| prose.tokens.get(s.tokens.start))?;
        let mut clauses = prose.clauses_of(before).iter();
        let will = clauses.any(|c| c.tags.any(Tags::MODAL));
        Some(prose.is(first, words!["if", "once", "when"]) && will)
    };
    let state = predicate.voice == Voice::State;
    let ruled = || prose.clauses_of(clause.sentence).iter().any(rule);
    then || state && (ruled() || supposed() == Some(true))
}

/// "The request was submitted but rejected.", "The payment was blocked."
pub(super) fn is_turned_down(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    let passive = predicate.voice == Voice::PastPassive;
    if passive && prose.tokens.get(predicate.verb).is_some_and(|t| prose.is(t, words!["blocked"])) {
        return true;
    }
    // "edit rejected", "the transfer was declined": by whoever was asked for it.
    let refused = prose
        .tokens
        .get(predicate.verb)
        .is_some_and(|t| prose.is(t, words!["rejected", "declined", "refused", "denied"]));
    let act = prose
        .tokens(predicate.subject_tokens.clone())
        .last()
        .is_some_and(|t| t.noun.is_some() && !t.quoted);
    if refused && act && predicate.voice != Voice::Active {
        return true;
    }
    let end = prose.sentences.get(clause.sentence).map_or(predicate.verb, |s| s.tokens.end);
    let behind = prose.tokens(predicate.verb + 1..end.max(predicate.verb + 1));
    let but = |t: &Token| prose.bytes(t) == b"but";
    // "I wrote her a text, but it was not accepted"
    if let Some(but) = behind.iter().position(but)
        && is_not_accepted(prose, behind.get(but + 1..).unwrap_or_default())
    {
        return true;
    }
    let Some(but) = behind.iter().take(6).position(but) else { return false };
    let words =
        words!["rejected", "declined", "denied", "refused", "bounced", "failed", "returned"];
    let mut next = behind
        .iter()
        .skip(but + 1)
        .skip_while(|t| t.has(Tags::BE.or(Tags::ADVERB).or(Tags::NOW).or(Tags::HAVE)));
    next.next().is_some_and(|t| prose.is(t, words))
}

/// "it was not accepted", "it never went through", "this did not work": of what was just told of.
fn is_not_accepted(prose: &Prose<'_>, behind: &[Token]) -> bool {
    let it = behind.first().is_some_and(|t| prose.is(t, words!["it", "this", "that", "they"]));
    let verb = behind.get(1..7.min(behind.len())).unwrap_or_default();
    let not = verb.iter().position(|t| t.has(Tags::NEGATION));
    let taken = |not: usize| {
        let mut next = verb.iter().skip(not + 1).skip_while(|t| t.has(Tags::BE.or(Tags::ADVERB)));
        next.next().is_some_and(|t| prose.is(t, &sets::TAKEN))
    };
    it && not.is_some_and(|not| not < 3 && taken(not))
}

/// "Everything except the refund and the email is done": among what is left out.
pub(super) fn is_excepted(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let words = words!["except", "besides", "excluding", "excepting"];
    let before = prose.before_in_sentence(predicate.verb);
    let phrase = before.iter().rev().take_while(|t| !t.is(',') && !t.is(';') && !t.is(':'));
    // "Everything but the push is done"
    let but = before.windows(2).any(|pair| {
        let [all, but] = pair else { return false };
        prose.is(all, words!["everything", "all", "anything"]) && prose.is(but, words!["but"])
    });
    let excepted = phrase.take(10).any(|t| !t.quoted && prose.is(t, words));
    (but || excepted) && predicate.voice != Voice::Active
}

/// A verb that heads what follows, or says what would be: "### Fixed", an option in a table.
pub(super) fn is_label(prose: &Prose<'_>, predicate: &Predicate, block: Option<BlockKind>) -> bool {
    let alone = prose.tokens(predicate.object_tokens.clone()).iter().all(|t| !is_word(t));
    // "Tests added for the parser" in a list without marks may name what it is about.
    let files = objects_in(prose, predicate.subject_tokens.clone());
    let led = predicate.voice == Voice::BareResult
        && files.iter().all(|o| o.kind != ObjectKind::Path)
        && !is_labelled(prose, predicate)
        && prose.tokens.get(predicate.verb + 1).is_some_and(|t| t.has(Tags::GOAL));
    // "Placed: 2024-03-04" says when.
    let behind = |by: usize| prose.tokens.get(predicate.verb + by);
    let dates = predicate.voice == Voice::Bare
        && behind(1).is_some_and(|t| t.is(':'))
        && behind(2).is_some_and(|t| {
            let month = |t: &Token| t.has(Tags::MONTH);
            t.kind == TokenKind::Date
                || month(t)
                || (t.kind == TokenKind::Number && behind(3).is_some_and(month))
                || prose.word(t).split('/').count() == 3
        });
    // "Sent to customer: not yet", "Paid: no"
    let at = prose.sentences.partition_point(|s| s.tokens.end <= predicate.verb);
    let end = prose.sentences.get(at).map_or(predicate.verb, |s| s.tokens.end);
    let mut rest = prose.tokens(predicate.verb..end.max(predicate.verb)).iter();
    let denied = rest.any(|t| t.is(':'))
        && rest.find(|t| is_word(t)).is_some_and(|t| t.has(Tags::NEGATION))
        && rest.filter(|t| is_word(t)).all(|t| prose.is(t, words!["yet", "so", "far"]));
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

/// "Refunded amounts show up within a week", "Updated terms apply from June": a participle that says
/// which things the sentence is about.
pub(super) fn is_about_a_kind(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    const LONGEST: usize = 4;
    let sentence = prose.sentences.get(clause.sentence).map_or(0..0, |s| s.tokens.clone());
    let tokens = prose.tokens(sentence);
    let which = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN).or(Tags::PREPOSITION);
    let plain = |t: &Token| t.kind == TokenKind::Word && !t.quoted && !t.has(which);
    let aside = |t: &&Token| !is_word(t) || (t.has(Tags::ADVERB) && !t.has(Tags::COMPLETED));
    let head = tokens.iter().take_while(aside).count();
    let Some(participle) = tokens.get(head).filter(|t| t.has(Tags::COMPLETED)) else {
        return false;
    };
    let behind = tokens.get(head + 1..).unwrap_or_default();
    let holds = |t: &Token| prose.is(t, &sets::HOLD) || prose.is(t, &sets::HOLDS);
    let Some(at) = behind.iter().take(LONGEST).position(holds) else { return false };
    let (Some(nouns), Some(verb)) = (behind.get(..at), behind.get(at)) else { return false };
    // The verb agrees with the noun before it.
    let agrees = nouns.last().is_some_and(|noun| {
        let plural = prose.bytes(noun).ends_with(b"s");
        prose.is(verb, if plural { &sets::HOLD } else { &sets::HOLDS })
    });
    predicate.voice == Voice::Bare && participle.verb.is_some() && agrees && nouns.iter().all(plain)
}

/// "By then the file has been written", "by the time it returns, the item has been added": of a
/// moment in an explanation. What the agent says that it did itself is no explanation.
pub(super) fn is_of_a_moment(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    if predicate.subject == Subject::Agent {
        return false;
    }
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return false };
    let [first, second, third, ..] = prose.tokens(sentence.tokens.clone()) else { return false };
    let moment = words!["point", "time", "stage", "moment"];
    let led = prose.is(first, words!["by", "at", "from"]);
    let then = prose.is(second, words!["then"]) && prose.is(first, words!["by"]);
    let that = prose.is(second, words!["that"]) && prose.is(third, moment);
    let the = prose.is(first, words!["by"])
        && prose.is(second, words!["the"])
        && prose.is(third, words!["time"]);
    led && (then || that || the)
}

/// "Cancelled orders: refunds take a week": things of a kind before a colon, of which what follows
/// may tell in general. What names one of them does not: "Deleted files: `a.txt`". A word alone
/// may be explained: "Cancelled: it never left the warehouse".
pub(super) fn is_topic(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    const LONGEST: usize = 4;
    let at = prose.sentences.partition_point(|s| s.tokens.end <= predicate.verb);
    let Some(sentence) = prose.sentences.get(at) else { return false };
    let tokens = prose.tokens(sentence.tokens.clone());
    let Some(head) = tokens.iter().position(is_word) else { return false };
    let heads = tokens.get(head).is_some_and(|t| t.has(Tags::COMPLETED) && t.verb.is_some());
    let behind = tokens.get(head + 1..).unwrap_or_default();
    // "Status: implemented, tested, documented"
    let status = tokens.get(head).is_some_and(|t| t.has(Tags::STATE_NOUN));
    if status && behind.first().is_some_and(|t| t.is(':')) {
        return predicate.voice == Voice::Bare;
    }
    let Some(colon) = behind.iter().take(LONGEST).position(|t| t.is(':')) else { return false };
    let label = behind.get(..colon).unwrap_or_default();
    let which = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN).or(Tags::THING);
    let told = sentence.tokens.start + head + colon + 2;
    let plural = label.last().is_none_or(|noun| prose.bytes(noun).ends_with(b"s"));
    let kind = label.iter().all(|t| t.kind == TokenKind::Word && !t.has(which));
    let named = objects_in(prose, told..sentence.tokens.end).iter().any(|o| {
        use ObjectKind as K;
        matches!(o.kind, K::Id | K::Path | K::Email | K::Name | K::Quote | K::Url)
    });
    let own = predicate.verb == sentence.tokens.start + head || predicate.verb == told;
    predicate.voice == Voice::Bare && heads && own && plural && kind && !named
}

/// "Quote: mailed to Ingrid": whether the subject is a label before a colon.
pub(super) fn is_labelled(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    predicate.voice == Voice::BareResult
        && prose.tokens.get(predicate.subject_tokens.end).is_some_and(|t| t.is(':'))
        && predicate.subject_tokens.end < predicate.verb
}

/// Whether what is told of is only this conversation: "I told you", "let me know".
pub(super) fn is_talk(prose: &Prose<'_>, predicate: &Predicate, verb: &str) -> bool {
    let after = prose.tokens(predicate.object_tokens.clone());
    let hearer = |t: &Token| t.has(Tags::USER.or(Tags::AGENT));
    let mut named = after.iter().skip_while(|t| t.has(Tags::DETERMINER));
    let person = named
        .next()
        .is_some_and(|t| matches!(prose.word(t), "human" | "user" | "customer" | "caller"));
    match verb {
        // "I stopped there", "stopped before pushing": with its work.
        "stopped" => {
            let thing = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::THING);
            let object = after.first().is_some_and(|t| t.has(thing) || t.kind == TokenKind::Code);
            matches!(predicate.voice, Voice::Active | Voice::Bare) && !object
        }
        // "They've been addressed about it", "addressed to Mia"
        "addressed" => after.first().is_some_and(|t| t.has(Tags::PREPOSITION)),
        // "the case I flagged in my last message"
        "flagged" => prose.before_in_sentence(predicate.verb).iter().rev().take(3).any(|t| {
            prose.is(t, words!["case", "issue", "problem", "point", "concern", "risk", "question"])
        }),
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

/// "I have deleted all mails of May:", "Removed the `show` command:": whether what was done was done
/// to something in particular. "The following changes" stand behind the colon, and "Updated code:"
/// is a label.
pub(super) fn speaks_of_thing(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let told = match predicate.voice {
        Voice::Active | Voice::Bare => predicate.object_tokens.clone(),
        Voice::PerfectPassive => predicate.subject_tokens.clone(),
        Voice::State | Voice::PastPassive | Voice::BareResult => return false,
    };
    let words = words!["following", "changes", "updates", "steps", "these", "things", "request"];
    let mut phrase = prose.tokens(told).iter();
    let particular = |t: &Token| {
        t.has(Tags::DETERMINER.or(Tags::USER_OWN))
            || matches!(t.kind, TokenKind::Code | TokenKind::Identifier | TokenKind::Id)
            || matches!(t.kind, TokenKind::Path | TokenKind::Number)
    };
    let named = predicate.voice != Voice::Bare || phrase.clone().any(particular);
    // "I've updated the summary:", "I have changed the request:": what stands behind the colon.
    let numbered = phrase.clone().any(|t| t.kind == TokenKind::Number);
    let text = |t: &Token| t.has(Tags::TEXT_NOUN.or(Tags::REQUEST)) && !numbered;
    let shown = |t: &Token| text(t) || prose.is(t, words);
    named && !phrase.any(shown)
}

/// "cancelled by the airline", "your flight has been delayed"
pub(super) fn is_by_another(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let is_verb =
        |known: &Words| prose.tokens.get(predicate.verb).is_some_and(|t| prose.is(t, known));
    if is_verb(words!["delayed"]) && predicate.voice != Voice::Active {
        return true;
    }
    // "replaced by the larger one": what stands there now.
    if is_verb(words!["replaced"]) {
        return false;
    }
    let mut after = prose.tokens(predicate.object_tokens.clone()).iter();
    let by = after.by_ref().take(3).any(|t| prose.word(t).eq_ignore_ascii_case("by"));
    // "by e-mail", "by two days": how, and by how much.
    let actor = |t: &Token| {
        t.kind != TokenKind::Number
            && whole(prose.word(t)).is_none()
            && !t.has(Tags::AGENT.or(Tags::GERUND).or(Tags::MONTH))
            && !prose.is(t, &sets::MEANS)
    };
    let measures = |t: &Token| prose.is(t, &sets::SPANS);
    let who = after.next();
    let measured = || [who, after.clone().next()].into_iter().flatten().any(measures);
    by && who.is_some_and(actor) && !measured()
}

/// "Fixed: `a.py` is green again": a heading for the statement after the colon.
pub(super) fn is_heading(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    let colon = prose.tokens.get(predicate.verb + 1).is_some_and(|t| t.is(':'));
    let finite = |t: &Token| t.has(Tags::BE) || (t.has(Tags::PASSING) && t.has(Tags::THIRD_PERSON));
    let sentence = prose.sentences.get(clause.sentence).map_or(0..0, |s| s.tokens.clone());
    let behind = prose.tokens(predicate.verb + 2..sentence.end).iter();
    // "Updated: `a.py`, `b.py`. Nothing else is touched."
    let mut first = behind.take_while(|t| !matches!(t.kind, TokenKind::Symbol(_)));
    predicate.voice == Voice::Bare && colon && first.any(finite)
}

/// "Pre-built binaries", "Self-hosted runners": what they are like.
pub(super) fn is_attribute(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let word = prose.tokens.get(predicate.verb).map_or("", |t| prose.word(t));
    let acts = ["re", "un", "de", "dis", "hard", "double", "cherry"];
    let compound = word
        .split_once('-')
        .is_some_and(|(first, _)| !acts.iter().any(|prefix| prefix.eq_ignore_ascii_case(first)));
    compound && matches!(predicate.voice, Voice::Bare | Voice::BareResult)
}

/// "introduced recently (merged today)": an aside, which does not say who did it.
pub(super) fn is_aside(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let opens = predicate.verb.checked_sub(1).and_then(|at| prose.tokens.get(at));
    let behind = prose.tokens(predicate.verb + 1..prose.tokens.len()).iter();
    let mut inside = behind.take_while(|t| !t.is(')')).peekable();
    let when = words!["today", "yesterday", "recently", "earlier", "last", "this", "week", "ago"];
    predicate.voice == Voice::Bare
        && opens.is_some_and(|t| t.is('('))
        && inside.peek().is_some()
        && inside.all(|t| prose.is(t, when) || t.has(Tags::ADVERB) || t.kind == TokenKind::Number)
}

/// "| Contract uploaded | ❌ rejected |": a row of which another cell says that it did not come
/// about.
pub(super) fn is_denied_in_row(prose: &Prose<'_>, clause: &Clause) -> bool {
    let row_of = |sentence: usize| match prose.block_of(prose.sentences.get(sentence)?)?.kind {
        BlockKind::Cell { row, .. } => Some(row),
        _ => None,
    };
    let row = row_of(clause.sentence);
    let denies = |t: &Token| {
        matches!(t.kind, TokenKind::Symbol('❌' | '✗' | '✘' | '✖'))
            || t.has(Tags::NEGATION.or(Tags::FAILURE))
    };
    let behind = (clause.sentence + 1..prose.sentences.len()).take_while(|at| row_of(*at) == row);
    row.is_some()
        && behind
            .filter_map(|at| prose.sentences.get(at))
            .any(|sentence| prose.tokens(sentence.tokens.clone()).iter().any(denies))
}

/// "I've let them know by adding a note": by what act it was done.
pub(super) fn tells_means(prose: &Prose<'_>, clause: &Clause) -> bool {
    let end = prose.sentences.get(clause.sentence).map_or(clause.tokens.end, |s| s.tokens.end);
    prose.tokens(clause.tokens.start..end).windows(2).any(|pair| {
        let [by, act] = pair else { return false };
        act.has(Tags::GERUND) && act.verb.is_some() && prose.is(by, words!["by"])
    })
}

/// "The connection has been established since 10:00": how long a thing has been so.
pub(super) fn has_lasted(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let behind = prose.tokens(predicate.object_tokens.clone());
    predicate.voice == Voice::PerfectPassive
        && behind.windows(2).any(|pair| {
            let [since, time] = pair else { return false };
            let moment = matches!(time.kind, TokenKind::Number | TokenKind::Date);
            prose.is(since, words!["since"]) && (moment || time.has(Tags::MONTH))
        })
}

/// "Everything is set now. Can you confirm the details?": ready to be done.
pub(super) fn is_ready(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let verb = prose.tokens.get(predicate.verb);
    let all = prose.tokens(predicate.subject_tokens.clone());
    predicate.voice == Voice::State
        && verb.is_some_and(|t| prose.is(t, words!["set"]))
        && all.iter().all(|t| prose.is(t, words!["everything", "all", "it", "we", "you"]))
        && prose.sentences.iter().any(|sentence| {
            let tokens = prose.tokens(sentence.tokens.clone());
            let confirms = words!["confirm", "proceed", "yes"];
            sentence.question && tokens.iter().any(|t| prose.is(t, confirms))
        })
}

/// "sent the output to `/tmp/log`": of a command, not of a message.
pub(super) fn is_kept_output(prose: &Prose<'_>, predicate: &Predicate, family: Family) -> bool {
    const OUTPUT: &Words = words!["output", "outputs", "stdout", "stderr", "log", "logs", "result"];
    let object = prose.tokens(predicate.object_tokens.clone());
    let to = object.iter().position(|t| prose.is(t, words!["to", "into"]));
    let file = |t: &Token| {
        t.kind == TokenKind::Path
            || prose.is(t, words!["file", "null"])
            || prose.word(t).contains('/')
    };
    family == Family::Send
        && to.is_some_and(|to| {
            let (what, place) = object.split_at(to);
            what.iter().any(|t| prose.is(t, OUTPUT)) && place.iter().take(4).any(file)
        })
}
