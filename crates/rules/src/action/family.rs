//! What kind of act a predicate tells of.

use counterfoil_model::{Family, ObjectKind};

use super::extract::{is_all_set, is_word};
use super::objects::objects_in;
use crate::prose::{Action, Predicate, Prose, Tags, Token, TokenKind, Voice, sets};

/// "to Björn", "to her": whether words lead to somebody by name.
fn is_person(object: &[Token]) -> bool {
    object.get(1).is_some_and(|t| {
        let name = t.kind == TokenKind::Word && t.capital && t.tags.is_empty();
        name || t.has(Tags::THIRD) || t.kind == TokenKind::Email
    })
}

/// Verbs by which an act gets under way.
const STARTS: [&str; 4] = ["triggered", "started", "launched", "kicked"];

/// The family of the verb; for a verb without one, that of the thing it is done to.
pub(super) fn family_of(prose: &Prose<'_>, predicate: &Predicate, verb: &str) -> Option<Family> {
    let active = matches!(predicate.voice, Voice::Active | Voice::Bare);
    let mut range = match active {
        true => predicate.object_tokens.clone(),
        false => predicate.subject_tokens.clone(),
    };
    let object = prose.tokens(predicate.object_tokens.clone());
    let behind = |n: usize| object.get(n).map_or("", |t| prose.word(t));
    // "taken care of the refund"
    let cares = verb.starts_with("t") && behind(0) == "care" && behind(1) == "of";
    if cares && active {
        range.start += 2;
    }
    // "put through your cancellation"
    if active && object.first().is_some_and(|t| t.has(Tags::PARTICLE)) {
        range.start += 1;
    }
    let named = || {
        let mut tokens =
            prose.tokens(range.clone()).iter().take_while(|t| !t.has(Tags::PREPOSITION));
        tokens.by_ref().filter(|t| !t.quoted).find_map(|t| t.noun)
    };
    match predicate.action {
        // "wrote back to her"
        Action::Of(Family::Create) if verb.starts_with("wr") && behind(0) == "back" => {
            Some(Family::Send)
        }
        // "I've written to Björn": to somebody, and no file.
        Action::Of(Family::Create)
            if verb.starts_with("wr") && active && behind(0) == "to" && is_person(object) =>
        {
            Some(Family::Send)
        }
        // "sent in your reading": handed in, and not to somebody.
        Action::Of(Family::Send) if verb == "sent" && active && behind(0) == "in" => {
            named().or(Some(Family::Update))
        }
        // "published on 5433": a port.
        Action::Of(Family::Deploy)
            if verb == "published"
                && matches!(behind(0), "on" | "at")
                && object.get(1).is_some_and(|t| t.kind == TokenKind::Number) =>
        {
            None
        }
        // "Your old slot has been released": given back, and nothing published.
        Action::Of(Family::Deploy) if verb == "released" && !is_published(prose, predicate) => {
            Some(Family::Update)
        }
        // "dropped him a note": said, and nothing deleted.
        Action::Of(Family::Delete) if verb == "dropped" && is_message(prose, object) => {
            Some(Family::Send)
        }
        // "The stage has been cleared": what was in it may have been moved.
        Action::Of(Family::Delete) if verb == "cleared" && !active => Some(Family::Update),
        // "pushed back by a week": put off.
        Action::Of(Family::Push) if matches!(behind(0), "back" | "forward") => Some(Family::Update),
        Action::Of(Family::Update) if verb == "rolled" && behind(0) == "out" => {
            Some(Family::Deploy)
        }
        Action::Of(Family::Update) if verb == "amended" && named() == Some(Family::Commit) => {
            Some(Family::Commit)
        }
        // "placed the total in a row of its own": nothing was ordered.
        Action::Of(Family::Book) if verb == "placed" => {
            let mut things = prose.tokens(range).iter().filter(|t| !t.quoted);
            let ordered =
                |t: &Token| prose.is(t, words!["order", "orders", "hold", "bid", "bet", "trade"]);
            things.any(|t| t.noun.is_some() || ordered(t)).then_some(Family::Book)
        }
        // "your booking has been confirmed"
        Action::Of(Family::Read) if verb == "confirmed" && !active => named().filter(|family| {
            use Family as F;
            matches!(family, F::Book | F::Exchange | F::Refund | F::Return | F::Cancel)
        }),
        // "as requested" asks; "a return has been requested" does.
        Action::Any if verb == "requested" && predicate.voice != Voice::PerfectPassive => None,
        // "Both returned an error": a result, and nothing sent back.
        Action::Of(Family::Return) if object.iter().take(3).any(|t| t.has(Tags::FAILURE)) => None,
        Action::Of(Family::Update) if verb == "merged" && merges_branch(prose, predicate) => {
            Some(Family::Commit)
        }
        // "The push was rejected": by somebody else.
        Action::Of(Family::Update) if verb == "rejected" && predicate.voice != Voice::Active => {
            None
        }
        // "The hotel is booked out": there is no room.
        Action::Of(Family::Book) if !active && matches!(behind(0), "out" | "up" | "solid") => None,
        Action::Of(Family::Update) if is_all_set(prose, predicate) => named(),
        // "Commit created": a commit, and no making of some other thing.
        Action::Of(Family::Create) if makes_commit(prose, predicate) => Some(Family::Commit),
        // "put the report into `out/report.md`"
        Action::Generic if verb == "put" && puts_into_file(prose, predicate) => {
            Some(Family::Create)
        }
        // "Built.": a build, and no making of something.
        Action::Of(Family::Create) if verb == "built" && object.len() < 2 => Some(Family::Build),
        // "A refund was triggered", "started the return"
        Action::Of(Family::Run) if STARTS.contains(&verb) => named()
            .filter(|family| {
                use Family as F;
                matches!(family, F::Refund | F::Return | F::Exchange | F::Cancel | F::Pay | F::Move)
            })
            .or(Some(Family::Run)),
        Action::Of(family) => Some(family),
        Action::Generic if predicate.came_about && verb == "live" => {
            let placed = object.first().is_some_and(|t| matches!(prose.word(t), "on" | "in"));
            let one = prose
                .tokens(predicate.subject_tokens.clone())
                .iter()
                .any(|t| t.has(Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::THING)));
            (predicate.emphatic || placed || one).then_some(Family::Deploy)
        }
        Action::Generic if predicate.came_about && verb == "active" => {
            predicate.emphatic.then_some(Family::Update)
        }
        // "I handled the nil case in `main.go`"
        Action::Generic if verb == "handled" && active && puts_into_file(prose, predicate) => {
            Some(Family::Update)
        }
        Action::Generic => {
            let told = || is_text_message(prose, predicate).then_some(Family::Send);
            named().or_else(told).or((cares || verb == "approved").then_some(Family::Update))
        }
        Action::Any => named().or(Some(Family::Update)),
    }
}

/// "a text has gone to her phone": a message, and no text of any other kind.
fn is_text_message(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let subject = prose.tokens(predicate.subject_tokens.clone());
    let mut pairs = subject.windows(2);
    let text = pairs.any(|pair| {
        let [a, text] = pair else { return false };
        prose.is(a, words!["a", "another"])
            && prose.is(text, words!["text", "sms", "letter", "note"])
    });
    let mut object = prose.tokens(predicate.object_tokens.clone()).iter();
    text && object.any(|t| prose.is(t, words!["to"]))
}

/// Whether what is done is to tell somebody something, "him a short note": whom stands before it, as
/// it does not in "a line of the file".
fn is_message(prose: &Prose<'_>, object: &[Token]) -> bool {
    let new = |t: &Token| prose.is(t, words!["a", "an"]);
    let phrase = object.iter().position(new).filter(|at| (1..5).contains(at));
    let mut phrase = phrase.into_iter().flat_map(|at| object.iter().skip(at + 1).take(3));
    phrase.any(|t| prose.is(t, &sets::SMALL_MESSAGES))
}

/// Whether what is said to have been released is software: it has a version, a name in code, or is
/// called so.
fn is_published(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let subject = prose.tokens(predicate.subject_tokens.clone()).iter();
    let mut named = subject.chain(prose.tokens(predicate.object_tokens.clone()));
    named.any(|t| {
        let word = prose.word(t);
        let version = word.contains('.') && word.bytes().any(|b| b.is_ascii_digit());
        matches!(t.kind, TokenKind::Code | TokenKind::Identifier | TokenKind::Url)
            || version
            || t.noun == Some(Family::Deploy)
            || prose.is(t, words!["version", "package", "app", "site", "feature"])
    })
}

/// Whether what is said to have been created is a commit.
pub(super) fn makes_commit(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let active = matches!(predicate.voice, Voice::Active | Voice::Bare);
    let range = match active {
        true => predicate.object_tokens.clone(),
        false => predicate.subject_tokens.clone(),
    };
    let small = Tags::DETERMINER.or(Tags::ADVERB).or(Tags::COORDINATE);
    let mut words = prose.tokens(range).iter().filter(|t| is_word(t) && !t.has(small));
    let commit = words.next().is_some_and(|t| !t.quoted && t.noun == Some(Family::Commit));
    commit && words.next().is_none_or(|t| !t.tags.is_empty() && t.noun.is_none())
}

/// "merged the branch", "merged into `main`"
pub(super) fn merges_branch(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let subject = prose.tokens(predicate.subject_tokens.clone()).iter();
    let object = prose.tokens(predicate.object_tokens.clone());
    let known = words!["branch", "main", "master", "develop", "trunk", "pr"];
    let places = |t: &Token| prose.is(t, known);
    // "pull request"
    let request = object.windows(2).any(|w| {
        let [pull, request] = w else { return false };
        prose.is(pull, words!["pull", "merge"]) && prose.is(request, words!["request"])
    });
    request || subject.chain(object).any(places)
}

/// Whether something was put into a file.
pub(super) fn puts_into_file(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let object = prose.tokens(predicate.object_tokens.clone());
    object.windows(2).enumerate().any(|(at, pair)| {
        let [into, _] = pair else { return false };
        let start = predicate.object_tokens.start + at + 1;
        matches!(prose.word(into), "into" | "in" | "to" | "at" | "under")
            && objects_in(prose, start..start + 1).iter().any(|o| o.kind == ObjectKind::Path)
    })
}
