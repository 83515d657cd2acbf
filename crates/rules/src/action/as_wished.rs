//! Things that are told to be as the user wished, where no call was given what the user wished for:
//! "your address is now Lindenweg 4".

use counterfoil_model::{Claim, ClaimKind, Family, Message, MessageKind, Object, ObjectKind, Role};

use super::judge::{LOOK_BACK, args};
use crate::facts::{Answer, Deed, Execution, Facts};
use crate::prose::{Clause, Mood, Prose, Subject, Tags, Token, TokenKind, is_agenda};
use crate::values::AnyCase;

/// Shorter names stand in other words.
const SHORTEST: usize = 4;

/// The claims, each with the name that no call has.
pub(crate) fn as_wished(facts: &Facts<'_>) -> Vec<Claim> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let (prose, turn) = (&answer.prose, answer.turn);
        for clause in &prose.clauses {
            let Some(name) = told_name(prose, clause) else { continue };
            if !is_wish_only(facts, answer, name) {
                continue;
            }
            let object = Object { kind: ObjectKind::Name, text: name.to_owned() };
            found.push(prose.claim(clause, ClaimKind::Action(Family::Update), vec![object], turn));
        }
    }
    found
}

/// "Your address is now Lindenweg 4", "Lindenweg 4 is on file": the name in what is so by now.
fn told_name<'t>(prose: &Prose<'t>, clause: &Clause) -> Option<&'t str> {
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::INTEND).or(Tags::EARLIER);
    let doubt = doubt.or(Tags::CONDITIONAL).or(Tags::REQUEST).or(Tags::THIRD);
    let tokens = prose.tokens(clause.tokens.clone());
    if clause.mood != Mood::Asserted || clause.tags.any(doubt) || !clause.tags.any(Tags::BE) {
        return None;
    }
    let now = tokens.windows(2).any(|pair| {
        let [first, second] = pair else { return false };
        let is_now = first.has(Tags::BE) && prose.is(second, words!["now"]);
        let on_file = prose.is(first, words!["on"]) && prose.is(second, words!["file", "record"]);
        is_now || on_file || (prose.is(first, words!["now"]) && second.has(Tags::BE))
    });
    let user = clause.predicates.iter().any(|p| p.subject == Subject::User);
    let sentence = prose.sentences.get(clause.sentence)?;
    let told = now && !user && !sentence.question && !is_agenda(prose, clause);
    if !told {
        return None;
    }
    let named = |t: &&Token| {
        let long = t.end - t.start >= 4;
        let word = matches!(t.kind, TokenKind::Word | TokenKind::Identifier);
        let name = word && t.capital && !t.quoted && t.tags.is_empty() && t.noun.is_none();
        long && (name || t.kind == TokenKind::Email)
    };
    tokens.iter().find(named).map(|t| prose.word(t)).filter(|word| word.len() >= SHORTEST)
}

/// Whether the user named it, and no call was given it or gave it back.
fn is_wish_only(facts: &Facts<'_>, answer: &Answer<'_>, name: &str) -> bool {
    let turn = answer.turn;
    let word = AnyCase::new(name);
    let messages = facts.transcript().messages.get(..turn).unwrap_or_default();
    let asked = |m: &&Message| m.role == Role::User && m.kind == MessageKind::Ordinary;
    let wished = messages.iter().filter(asked).any(|m| word.stands_in(&m.text));
    let count = facts.record().count_before(turn);
    // A call that failed has changed nothing.
    let told = |(execution, deed): (&Execution<'_>, &Deed<'_>)| {
        let asked = word.stands_in(args(execution)) && deed.status().succeeded();
        asked || word.stands_in(execution.text())
    };
    let policy = messages.iter().any(|m| m.role == Role::System && word.stands_in(&m.text));
    (1..=LOOK_BACK).contains(&count)
        && wished
        && !policy
        && facts.is_complete_before(turn)
        && facts.deeds_before(turn).all(|(_, deed)| deed.is_plain_call())
        && !facts.deeds_before(turn).any(told)
}
