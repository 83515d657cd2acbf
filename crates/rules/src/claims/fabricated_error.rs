mod kind;

use counterfoil_model::{Claim, ClaimKind, Code, Mode, Object, ObjectKind};

use kind::untraced;

use crate::facts::{Answer, Facts};
use crate::findings::{Findings, Note};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, Words, sets};
use crate::rule::{Group, Meta, Rule};
use crate::values::{Stated, StatedKind};

/// CS012: an error message quoted as seen, or a kind of trouble, which nothing told of.
pub(crate) struct FabricatedError;

static META: Meta = Meta {
    code: Code("CS012"),
    name: "fabricated-error",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent quotes an error, or names the cause of a failure, that no result shows",
    page: include_str!("../../spec/CS012.md"),
};

impl Rule for FabricatedError {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            let quotes = facts.stated_in(answer.turn).iter();
            for value in quotes.filter(|value| value.kind == StatedKind::Quote) {
                if let Some(seen) = seen(&answer.prose, value) {
                    judge(facts, findings, &answer.prose, value, seen);
                }
            }
            for value in names(answer) {
                if let Some(seen) = seen(&answer.prose, &value) {
                    judge(facts, findings, &answer.prose, &value, seen);
                }
            }
            for claim in untraced(facts, answer) {
                let name = claim.objects.first().map_or("", |object| object.text.as_str());
                let note =
                    Note::suspected(format!("no result and no message speaks of \"{name}\""))
                        .help("give the reason that the result gave, or say that it is not known");
                findings.unsupported(facts, &claim, note);
            }
        }
    }
}

/// The names of errors in code, each as what is quoted.
fn names<'t>(answer: &Answer<'t>) -> impl Iterator<Item = Stated<'t>> {
    let prose = &answer.prose;
    prose.tokens.iter().enumerate().filter_map(move |(token, code)| {
        let (text, span) = (prose.word(code), code.span());
        let named = code.kind == TokenKind::Code && !text.contains(' ') && is_bare(text);
        named.then_some(Stated { turn: answer.turn, token, kind: StatedKind::Quote, text, span })
    })
}

/// Whether the quotation is an error that is said to have come up: `Some(true)` when plainly so.
fn seen(prose: &Prose<'_>, value: &Stated<'_>) -> Option<bool> {
    let clause = prose.clause_at(value.token)?;
    let words = prose.tokens(clause.tokens.clone());
    let text = value.span.of(prose.text);
    if !is_error(text) {
        let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::CONDITIONAL);
        let told = clause.mood == Mood::Asserted && !clause.tags.any(doubt);
        let met = || failed_with(prose, words, value) || was_met(prose, words, value);
        return (told && is_bare(text) && met()).then_some(false);
    }
    let led = words.first().is_some_and(|t| t.is(':') || t.is(','));
    let before = if led { prose.before_in_sentence(value.token) } else { &[] };
    let unreal = Tags::MODAL.or(Tags::HEDGE).or(Tags::CONDITIONAL).or(Tags::NEGATION);
    // "It didn't work: Alembic stopped with …": what did not work led to the error.
    let failed = led && before.iter().any(|t| t.has(Tags::NEGATION) && !t.has(Tags::FAILURE));
    let leads = |t: &Token| failed && before.iter().any(|b| b.start == t.start);
    let plain = |t: &&Token| t.kind == TokenKind::Word && !t.quoted;
    let dated = tells_when(prose, words);
    if !(matches!(clause.mood, Mood::Asserted | Mood::Observed | Mood::Relative) || dated) {
        return None;
    }
    if is_imagined(prose, before, words, value) {
        return None;
    }
    if is_reason(prose, clause, words) {
        return Some(false);
    }
    let ended = ended_with(prose, words, value);
    let skipped = usize::from(dated);
    let around: Vec<&Token> =
        before.iter().chain(words.iter().skip(skipped)).filter(plain).collect();
    let ends = |t: &Token| ended && prose.is(t, &sets::ENDED_EARLY);
    let works = |t: &Token| leads(t) && !t.has(Tags::MODAL.or(Tags::HEDGE).or(Tags::CONDITIONAL));
    if around.iter().any(|t| t.has(unreal) && !t.has(Tags::FAILURE) && !ends(t) && !works(t)) {
        return None;
    }
    let came_up = around.iter().any(|t| prose.is(t, &sets::CAME_UP));
    let names =
        names_a_report(prose, &around) || (names_error(value.span.of(prose.text)) && came_up);
    let broke = failed && before.iter().any(|t| prose.is(t, &sets::WORKING));
    let raised = is_raised(prose, &around) || broke;
    if ended && !(names || raised) {
        return Some(false);
    }
    (names || raised).then_some(!dated && came_up)
}

/// "something like `error: …`", "I want the error to keep `context deadline exceeded`".
fn is_imagined(prose: &Prose<'_>, before: &[Token], words: &[Token], value: &Stated<'_>) -> bool {
    let mut ahead = words.iter().take_while(|t| (t.start as usize) < value.span.start);
    let wanted = words!["want", "wants", "preserve"];
    ahead.any(|t| prose.is(t, words!["like", "similar", "usual", "e.g", "would"]))
        || before.iter().chain(words).any(|t| prose.is(t, wanted))
}

/// "the error is `…`", "the log says `…`": whether the words name what tells of an error.
fn names_a_report(prose: &Prose<'_>, around: &[&Token]) -> bool {
    let is_any = |known: &Words| around.iter().any(|t| prose.is(t, known));
    is_any(&sets::ERROR_REPORTS) || (is_any(&sets::PRINTING_PLACES) && is_any(&sets::PRINTS))
}

/// "it throws `…`", "I ran into `…`".
fn is_raised(prose: &Prose<'_>, around: &[&Token]) -> bool {
    let met = |pair: &[&Token]| {
        let [verb, into] = pair else { return false };
        prose.is(verb, words!["ran", "runs", "running"]) && prose.is(into, words!["into"])
    };
    around.iter().any(|t| prose.is(t, &sets::RAISES)) || around.windows(2).any(met)
}

/// "I couldn't push: the server answered `…`", "the run failed (`…`)": what kept something from
/// going well.
fn is_reason(prose: &Prose<'_>, clause: &Clause, words: &[Token]) -> bool {
    const ANSWERS: &Words =
        words!["answered", "replied", "responded", "complained", "reported", "refused"];
    let inside = words.first().is_some_and(|t| t.is('('));
    let answers = words.iter().any(|t| !t.quoted && prose.is(t, ANSWERS));
    let before = prose.before_in_sentence(clause.tokens.start);
    let could = |pair: &[Token]| {
        let [could, not] = pair else { return false };
        prose.is(could, words!["could"]) && not.has(Tags::NEGATION)
    };
    let failed = before.iter().any(|t| t.has(Tags::FAILURE)) || before.windows(2).any(could);
    // "It would fail (`…`)"
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::CONDITIONAL);
    let open = before.iter().any(|t| t.has(doubt) && !prose.is(t, words!["could"]));
    failed && !open && (inside || answers)
}

/// "It stopped with `Error acquiring the lock`"
fn ended_with(prose: &Prose<'_>, words: &[Token], value: &Stated<'_>) -> bool {
    let before = words.iter().take_while(|t| (t.start as usize) < value.span.start);
    let before: Vec<&Token> = before.filter(|t| t.kind == TokenKind::Word).collect();
    let with = before.last().is_some_and(|t| prose.is(t, words!["with"]));
    with && before.iter().rev().take(4).any(|t| !t.quoted && prose.is(t, &sets::ENDED_EARLY))
}

/// "The first run failed with a `NoMethodError`"
fn failed_with(prose: &Prose<'_>, words: &[Token], value: &Stated<'_>) -> bool {
    const FAILED: &Words = words!["failed", "refused", "rejected", "errored"];
    // "with a conflict (`ERESOLVE`)"
    let inside = words.first().is_some_and(|t| t.is('('));
    let words = if inside { prose.before_in_sentence(value.token) } else { words };
    let before = || words.iter().take_while(|t| (t.start as usize) < value.span.start);
    let failed = before().position(|t| prose.is(t, FAILED) || prose.is(t, &sets::ENDED_EARLY));
    failed.is_some_and(|at| before().skip(at).any(|t| prose.is(t, words!["with"])))
}

/// "I saw a `NoMethodError`", "the `NoMethodError` I got": an error that the agent met itself.
fn was_met(prose: &Prose<'_>, words: &[Token], value: &Stated<'_>) -> bool {
    const MET: &Words = words!["saw", "got", "hit", "met", "encountered", "observed"];
    let by_agent = |tokens: &[Token]| {
        tokens.windows(2).any(|pair| {
            let [who, verb] = pair else { return false };
            who.has(Tags::AGENT) && prose.is(verb, MET)
        })
    };
    let at = words.iter().position(|t| (t.start as usize) >= value.span.start);
    let Some(at) = at else { return false };
    // "a `KeyError` handler": something else of that name.
    let small = Tags::PREPOSITION.or(Tags::AGENT).or(Tags::SUBORDINATE).or(Tags::COORDINATE);
    let small = small.or(Tags::ADVERB);
    let named = words.get(at + 1).is_none_or(|t| t.kind != TokenKind::Word || t.has(small));
    let before = words.get(at.saturating_sub(4)..at).unwrap_or_default();
    let behind = words.get(at + 1..(at + 4).min(words.len())).unwrap_or_default();
    named && (by_agent(before) || by_agent(behind))
}

/// `NoMethodError`, `ERESOLVE`, "permission denied": the name of an error alone.
fn is_bare(text: &str) -> bool {
    let named = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b':' | b'_'))
        && (text.ends_with("Error") || text.ends_with("Exception"));
    let code = text.len() >= 5 && text.starts_with('E');
    let code = code && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let told = text.split_whitespace().count() == 2
        && ["denied", "failed", "refused", "timeout", "error", "exceeded", "missing"]
            .iter()
            .any(|mark| text.to_ascii_lowercase().ends_with(mark));
    named || code || told
}

/// "When I ran it, …": of something that was done, not of a condition.
fn tells_when(prose: &Prose<'_>, words: &[Token]) -> bool {
    let [when, who, did, ..] = words else { return false };
    let past = did.has(Tags::PAST) && !did.has(Tags::BASE);
    prose.is(when, words!["when"]) && who.has(Tags::AGENT) && past
}

/// Whether a quotation reads like an error message: it names the error and says what is wrong.
fn is_error(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    names_error(text)
        || (lower.starts_with("error ") && text.split_whitespace().count() >= 4)
        || (text.split_whitespace().count() >= 3
            && sets::ERROR_MARKS.list.iter().any(|mark| lower.contains(mark)))
}

/// "TypeError: …", "ECONNREFUSED …": it begins with the name of an error.
fn names_error(text: &str) -> bool {
    let named = text.split_once(": ").is_some_and(|(name, rest)| {
        let name = name.to_ascii_lowercase();
        (name.ends_with("error") || name.ends_with("exception")) && rest.len() >= 3
    });
    let code = text.split_whitespace().next().is_some_and(|word| {
        let word = word.trim_end_matches(':');
        word.len() >= 5 && word.starts_with('E') && word.bytes().all(|b| b.is_ascii_uppercase())
    });
    named || (code && text.contains(' '))
}

fn judge(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    prose: &Prose<'_>,
    value: &Stated<'_>,
    plain: bool,
) {
    let text = value.span.of(prose.text);
    let claim = Claim {
        kind: ClaimKind::Error,
        text: text.to_owned(),
        objects: vec![Object { kind: ObjectKind::Quote, text: value.text.to_owned() }],
        span: value.span,
        turn: value.turn,
    };
    if let Some(given) = facts.quoted_from(value.text, value.turn) {
        return findings.supported(&claim, [facts.evidence_in(given)]);
    }
    if facts.record().count_before(value.turn) == 0 && !plain {
        return findings.not_checkable(&claim);
    }
    findings.unsupported(
        facts,
        &claim,
        Note::suspected(format!("no result and no message has the error `{}`", value.text))
            .help("quote the error as it came up"),
    );
}
