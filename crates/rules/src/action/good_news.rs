//! Clauses that tell good news, in whatever words: "the fee has been waived", "your transcript is on
//! its way"; to be held against the names of tools that failed, or that nobody called.

use counterfoil_model::{Claim, ClaimKind, Family};

use super::tie::head;
use crate::facts::Answer;
use crate::prose::{
    BlockKind, Clause, Lexicon, Mood, Prose, Subject, Tags, Token, TokenKind, Voice, Words,
};

/// Shorter words of a tool's name tell nothing.
pub(super) const SHORTEST: usize = 3;
/// Words of tools' names that stand in those of many.
pub(super) const COMMON: [&str; 22] = [
    "create", "update", "make", "send", "request", "process", "submit", "handle", "perform",
    "tool", "data", "item", "items", "info", "user", "call", "name", "list", "file", "text",
    "code", "line",
];
/// What has come to a bad end, or to none.
const BAD: &Words = words![
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
const GOOD: &Words =
    words!["active", "arranged", "ready", "done", "granted", "sorted", "enabled", "confirmed"];

/// Good news in one clause.
#[derive(Debug)]
pub(super) struct GoodNews {
    /// How the participles begin.
    pub(super) verbs: Vec<String>,
    /// The word of which it is told, where it is told to be as it should.
    pub(super) head: Option<String>,
    /// The nouns to which the speaker says that something was done.
    pub(super) objects: Vec<String>,
    /// All words that name something.
    pub(super) words: Vec<String>,
    pub(super) text: String,
}

impl GoodNews {
    pub(super) fn of(prose: &Prose<'_>, clause: &Clause) -> Option<Self> {
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
        // "still has to be arranged"
        let ahead = tokens.windows(2).any(|pair| {
            let [to, be] = pair else { return false };
            prose.is(to, words!["to"]) && prose.is(be, words!["be"])
        });
        if ahead {
            return None;
        }
        // "reserved by others"
        let by = tokens.iter().position(|t| prose.is(t, words!["by"]));
        let own = |t: &Token| t.has(Tags::AGENT) || is_medium(prose, t);
        if by.is_some_and(|by| tokens.get(by + 1).is_none_or(|t| !own(t))) {
            return None;
        }
        if is_supposed(prose, clause) {
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
            past && !prose.is(t, BAD)
        };
        // "cancelled orders": which ones.
        let told = Tags::AGENT.or(Tags::HAVE).or(Tags::BE);
        let describes = |at: usize| {
            let noun = |t: &Token| {
                let named = t.tags.is_empty() || t.noun.is_some() || t.verb.is_some();
                t.kind == TokenKind::Word && named && !t.capital
            };
            let before = tokens.get(..at).unwrap_or_default();
            tokens.get(at + 1).is_some_and(noun) && !before.iter().any(|t| t.has(told))
        };
        let verbs =
            tokens.iter().enumerate().filter(|(at, t)| plain(t) && done(t) && !describes(*at));
        let verbs: Vec<String> = verbs.map(|(_, t)| base(prose.word(t))).collect();
        let way = tokens.windows(3).any(|on| {
            let [on, its, way] = on else { return false };
            let under =
                prose.is(its, words!["its", "their", "the"]) && prose.is(way, words!["way"]);
            prose.is(on, words!["on"]) && under
        });
        let head = linked.and_then(|at| {
            let behind = tokens.get(at + 1..)?;
            let good = way || behind.iter().any(|t| prose.is(t, GOOD));
            let subject = tokens.get(..at)?.iter().rev().find(|t| !t.has(Tags::ADVERB))?;
            (good && plain(&subject)).then(|| prose.word(subject).to_ascii_lowercase())
        });
        // "put through her repeat prescription": what was acted on, up to where it went.
        let acted = clause.predicates.iter().filter(|p| {
            matches!(p.subject, Subject::Agent | Subject::Nobody)
                && matches!(p.voice, Voice::Active | Voice::Bare)
                && !p.negated
        });
        let verb = acted.map(|p| p.verb).next();
        let put =
            || prose.told_verb(clause, words!["put", "set"]).map(|at| clause.tokens.start + at);
        let behind = verb.or_else(put).map(|at| at + 1..clause.tokens.end);
        let object = prose.tokens(behind.unwrap_or_default()).iter();
        let object = object.skip_while(|t| t.has(Tags::PARTICLE)).take(8);
        let object = object.take_while(|t| !t.has(Tags::PREPOSITION.or(Tags::COORDINATE)));
        let objects = object.filter(plain).map(|t| prose.word(t).to_ascii_lowercase()).collect();
        (head.is_some() || !verbs.is_empty()).then(|| {
            let text = clause.span.of(prose.text).to_owned();
            Self { verbs, head, objects, words, text }
        })
    }
}

/// "by e-mail", "by post": how something reached somebody.
fn is_medium(prose: &Prose<'_>, token: &Token) -> bool {
    const MEDIA: &Words =
        words!["post", "letter", "text", "sms", "phone", "fax", "courier", "card"];
    token.noun == Some(Family::Send) || prose.is(token, MEDIA)
}

/// "If you agree, the fee is waived": in a sentence with a condition, or a contrast.
fn is_supposed(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose.clauses_of(clause.sentence).iter().any(|c| {
        matches!(c.mood, Mood::Conditional | Mood::Question)
            || (c.tags.any(Tags::FAILURE) && c.tokens.start >= clause.tokens.start)
    })
}

/// Whether another clause of the answer says that it failed, or is still to be done.
pub(super) fn is_disclosed(prose: &Prose<'_>, word: &str) -> bool {
    let bad = Tags::NEGATION.or(Tags::FAILURE).or(Tags::TROUBLE);
    prose.clauses.iter().any(|clause| {
        let tokens = prose.tokens(clause.tokens.clone());
        let named = |t: &Token| head(&prose.word(t).to_ascii_lowercase()) == head(word);
        tokens.iter().any(|t| t.has(bad) || prose.is(t, BAD)) && tokens.iter().any(named)
    })
}

pub(super) fn claim(answer: &Answer<'_>, clause: &Clause) -> Claim {
    answer.prose.claim(clause, ClaimKind::Action(Family::Update), Vec::new(), answer.turn)
}
