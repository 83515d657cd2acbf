//! Good news of which a tool that failed is named after: "the fee has been waived", "your transcript
//! is on its way", where `waive_fee` and `transcript_request` never worked.

use countersign_model::{Claim, ClaimKind, Family, Status};

use super::judge::{LOOK_BACK, args};
use super::tie::head;
use crate::facts::{Answer, Deed, Execution, Facts, Families};
use crate::prose::{
    Action, BlockKind, Clause, Language, Lexicon, Mood, Prose, Tags, Token, TokenKind,
};
use crate::values::{Leaf, Leaves, holds};

/// Shorter words of a tool's name tell nothing.
const SHORTEST: usize = 3;
/// Words of tools' names that stand in those of many.
const COMMON: [&str; 22] = [
    "create", "update", "make", "send", "request", "process", "submit", "handle", "perform",
    "tool", "data", "item", "items", "info", "user", "call", "name", "list", "file", "text",
    "code", "line",
];
/// What has come to a bad end, or to none.
const BAD: [&str; 16] = [
    "blocked",
    "refused",
    "rejected",
    "declined",
    "denied",
    "locked",
    "stuck",
    "delayed",
    "closed",
    "held",
    "limited",
    "needed",
    "tried",
    "attempted",
    "asked",
    "requested",
];
/// Words that say that something is as it should be.
const GOOD: [&str; 8] =
    ["active", "arranged", "ready", "done", "granted", "sorted", "enabled", "confirmed"];

/// The claims, each with the call that failed.
pub(crate) fn failed_by_name(facts: &Facts<'_>) -> Vec<(Claim, usize)> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let failed = failed_alone(facts, answer.turn);
        if failed.is_empty() {
            continue;
        }
        let told = answer.prose.clauses.iter().filter_map(|clause| {
            let said = Said::of(&answer.prose, clause)?;
            let at = failed.iter().find(|at| is_told(facts, answer, &said, **at))?;
            Some((claim(answer, clause), *at))
        });
        found.extend(told);
    }
    found
}

/// The calls that failed before a message, of tools that never worked, newest first.
fn failed_alone(facts: &Facts<'_>, turn: usize) -> Vec<usize> {
    let count = facts.record().count_before(turn);
    let recent = || (0..count).rev().take(LOOK_BACK);
    let worked: Vec<&str> = recent()
        .filter_map(|at| facts.deed(at))
        .filter(|(_, deed)| deed.status().succeeded())
        .map(|(_, deed)| deed.tool.as_ref())
        .collect();
    let looks = |deed: &Deed<'_>| {
        let first = deed.words().first().and_then(|word| Lexicon::english().get(word));
        let reads = Families::of(&[Family::Read, Family::Search, Family::Compute, Family::Run]);
        let verb = first.and_then(|entry| entry.verb);
        matches!(verb, Some(Action::Of(family)) if reads.has(family))
            || deed.words().first().is_some_and(|word| word == "get" || word == "list")
    };
    let failed = |at: &usize| {
        facts.deed(*at).is_some_and(|(execution, deed)| {
            matches!(deed.status(), Status::Failed | Status::Denied)
                && execution.outcome.is_some()
                && deed.shell.is_none()
                && deed.written.is_empty()
                && !looks(deed)
                && !deed.delegates
                && !worked.contains(&deed.tool.as_ref())
        })
    };
    recent().filter(failed).collect()
}

/// Good news in one clause.
#[derive(Debug)]
struct Said {
    /// How the participles begin.
    verbs: Vec<String>,
    /// The word of which it is told, where it is told to be as it should.
    head: Option<String>,
    /// All words that name something.
    words: Vec<String>,
    text: String,
}

impl Said {
    fn of(prose: &Prose<'_>, clause: &Clause) -> Option<Self> {
        let sentence = prose.sentences.get(clause.sentence)?;
        let quoted = prose.block_of(sentence).is_some_and(|b| b.kind == BlockKind::Quote);
        let doubt = Tags::NEGATION.or(Tags::FAILURE).or(Tags::TROUBLE).or(Tags::MODAL);
        let doubt = doubt.or(Tags::HEDGE).or(Tags::INTEND).or(Tags::EARLIER);
        let asserted = clause.mood == Mood::Asserted;
        if !asserted || quoted || sentence.question || clause.tags.any(doubt) {
            return None;
        }
        let tokens = prose.tokens(clause.tokens.clone());
        // "Tickets printed ❌"
        let crossed =
            |t: &Token| matches!(t.kind, TokenKind::Symbol('❌' | '✗' | '✘' | '✖' | '🔴'));
        if prose.tokens(sentence.tokens.clone()).iter().any(crossed) {
            return None;
        }
        // "reserved by others"
        let by = tokens.iter().position(|t| prose.is(t, &["by"]));
        if by.is_some_and(|by| tokens.get(by + 1).is_none_or(|t| !t.has(Tags::AGENT))) {
            return None;
        }
        if prose.language_of(clause) != Language::English || is_supposed(prose, clause) {
            return None;
        }
        let plain = |t: &&Token| t.kind == TokenKind::Word && !t.quoted;
        let link = Tags::BE.or(Tags::HAVE).or(Tags::BEEN);
        let linked = tokens.iter().position(|t| t.has(link));
        let base = |word: &str| {
            let word = word.to_ascii_lowercase();
            let base = Lexicon::english().base_of(&word).map(str::to_owned);
            head(base.as_deref().unwrap_or(&word)).to_owned()
        };
        let small = Tags::DETERMINER.or(Tags::PREPOSITION).or(Tags::USER_OWN).or(Tags::AGENT_OWN);
        let small = small.or(link).or(Tags::COORDINATE).or(Tags::ADVERB).or(Tags::THING);
        let words = tokens.iter().filter(plain).filter(|t| !t.has(small) || t.noun.is_some());
        let words: Vec<String> = words.map(|t| prose.word(t).to_ascii_lowercase()).collect();
        let done = |t: &&Token| {
            let word = prose.word(t);
            let past = t.has(Tags::PARTICIPLE) || (word.len() > 4 && word.ends_with("ed"));
            past && !prose.is(t, &BAD)
        };
        let verbs: Vec<String> =
            tokens.iter().filter(plain).filter(done).map(|t| base(prose.word(t))).collect();
        let way = tokens.windows(3).any(|on| {
            let [on, its, way] = on else { return false };
            prose.is(on, &["on"]) && prose.is(its, &["its", "their"]) && prose.is(way, &["way"])
        });
        let head = linked.and_then(|at| {
            let behind = tokens.get(at + 1..)?;
            let good = way || behind.iter().any(|t| prose.is(t, &GOOD));
            let subject = tokens.get(..at)?.iter().rev().find(|t| !t.has(Tags::ADVERB))?;
            (good && plain(&subject)).then(|| prose.word(subject).to_ascii_lowercase())
        });
        (head.is_some() || !verbs.is_empty()).then(|| {
            let text = clause.span.of(prose.text).to_owned();
            Self { verbs, head, words, text }
        })
    }
}

/// "If you agree, the fee is waived": in a sentence with a condition, or a contrast.
fn is_supposed(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose.clauses_of(clause.sentence).iter().any(|c| {
        matches!(c.mood, Mood::Conditional | Mood::Question)
            || (c.tags.any(Tags::FAILURE) && c.tokens.start >= clause.tokens.start)
    })
}

/// Whether the good news is what the call should have brought, and no call that worked did.
fn is_told(facts: &Facts<'_>, answer: &Answer<'_>, said: &Said, at: usize) -> bool {
    let Some((execution, deed)) = facts.deed(at) else { return false };
    let own: Vec<&str> = deed
        .words()
        .iter()
        .map(String::as_str)
        .filter(|word| word.len() >= SHORTEST && !COMMON.contains(word))
        .collect();
    let of_tool = |word: &str| own.iter().any(|known| head(known) == head(word));
    let verb = said.verbs.iter().find(|verb| of_tool(verb));
    let noun = said.head.as_deref().filter(|noun| of_tool(noun));
    let Some(word) = verb.map(String::as_str).or(noun) else { return false };
    // Beside the word by which the tool is called, something else has to be the same.
    let told = |known: &str| said.words.iter().any(|w| head(w) == head(known));
    let twice = own.iter().any(|known| head(known) != head(word) && told(known));
    let given = || given_texts(execution).iter().any(|text| stands_in(said, text));
    if !twice && !given() {
        return false;
    }
    let does = |(_, other): (&Execution<'_>, &Deed<'_>)| {
        let named = other.words().iter().any(|known| head(known) == head(word));
        other.status().succeeded() && named
    };
    let speaks = |e: &Execution<'_>| holds(args(e), head(word)) || holds(e.text(), head(word));
    // What was read after it failed may show that it is so.
    let done = |(e, other): (&Execution<'_>, &Deed<'_>)| {
        let later = e.called_at > execution.called_at;
        other.status().succeeded() && (other.changes() || later) && speaks(e)
    };
    // "refunded in store credit", with `issue_store_credit` that worked.
    let otherwise = |(_, other): (&Execution<'_>, &Deed<'_>)| {
        let mut words = other.words().iter().map(String::as_str);
        other.status().succeeded()
            && other.changes()
            && words.any(|w| w.len() > SHORTEST && !COMMON.contains(&w) && !of_tool(w) && told(w))
    };
    let mut recent = facts.deeds_before(answer.turn).take(LOOK_BACK);
    let elsewhere = recent.any(|d| does(d) || done(d) || otherwise(d));
    !elsewhere && !is_disclosed(&answer.prose, word)
}

/// The texts that a call was given, of which some words are told.
fn given_texts(execution: &Execution<'_>) -> Vec<String> {
    let leaves = Leaves::of(args(execution));
    let text = |leaf| if let Leaf::Text(text) = leaf { text } else { "" };
    let texts = leaves.iter().flat_map(Leaves::nodes).map(|node| text(node.leaf).to_owned());
    texts.filter(|text| text.len() >= SHORTEST).collect()
}

/// Whether a text, or a telling word of it, stands in the clause.
fn stands_in(said: &Said, text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 4);
    let told = |word: &str| said.words.iter().any(|known| known.eq_ignore_ascii_case(word));
    (text.len() > 4 && holds(&said.text, text)) || words.any(told)
}

/// Whether another clause of the answer says that it failed, or is still to be done.
fn is_disclosed(prose: &Prose<'_>, word: &str) -> bool {
    let bad = Tags::NEGATION.or(Tags::FAILURE).or(Tags::TROUBLE);
    prose.clauses.iter().any(|clause| {
        let tokens = prose.tokens(clause.tokens.clone());
        let named = |t: &Token| head(&prose.word(t).to_ascii_lowercase()) == head(word);
        tokens.iter().any(|t| t.has(bad) || prose.is(t, &BAD)) && tokens.iter().any(named)
    })
}

fn claim(answer: &Answer<'_>, clause: &Clause) -> Claim {
    Claim {
        kind: ClaimKind::Action(Family::Update),
        text: clause.span.of(answer.prose.text).trim().to_owned(),
        objects: Vec::new(),
        span: clause.span,
        turn: answer.turn,
    }
}
