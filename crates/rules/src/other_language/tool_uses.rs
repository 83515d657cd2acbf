use counterfoil_model::{ClaimKind, Family, Object, ObjectKind};

use crate::prose::{
    Action, Clause, Mood, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice,
};
use crate::tool_use::Mention;

/// The tools that a clause says were used, and a look-up of the speaker's without one.
pub(crate) fn tool_uses(
    prose: &Prose<'_>,
    clause: &Clause,
    turn: usize,
    catalogued: &dyn Fn(&str) -> bool,
) -> Vec<Mention> {
    if !matches!(clause.mood, Mood::Asserted | Mood::Observed) {
        return Vec::new();
    }
    let Some(used) = clause.predicates.iter().find(|p| is_use(p)) else { return Vec::new() };
    let objects = |name: &Option<String>| -> Vec<Object> {
        name.iter().map(|name| Object { kind: ObjectKind::Tool, text: name.clone() }).collect()
    };
    let kind = |named: bool| if named { ClaimKind::Tool } else { ClaimKind::Provenance };
    let mention = |name: Option<String>| Mention {
        claim: prose.claim(clause, kind(name.is_some()), objects(&name), turn),
        noun: if name.is_some() { "tool" } else { "search" }.to_owned(),
        name,
        topic: Vec::new(),
        called: true,
    };
    let names = names(prose, clause, used, catalogued);
    if !names.is_empty() {
        return names.into_iter().map(|name| mention(Some(name))).collect();
    }
    let searched = used.action == Action::Of(Family::Search) && used.subject == Subject::Agent;
    searched.then(|| mention(None)).into_iter().collect()
}

/// "I used", "I searched", "I checked": own, done, now.
fn is_use(predicate: &Predicate) -> bool {
    !predicate.negated
        && !predicate.earlier
        && matches!(predicate.voice, Voice::Active | Voice::Bare)
        && matches!(predicate.subject, Subject::Agent | Subject::Nobody)
        && matches!(predicate.action, Action::Of(Family::Run | Family::Search | Family::Read))
}

/// The names of tools in a clause: beside a noun such as "tool", or catalogued.
fn names(
    prose: &Prose<'_>,
    clause: &Clause,
    used: &Predicate,
    catalogued: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let tokens = prose.tokens(clause.tokens.clone());
    let noun =
        |at: Option<usize>| at.and_then(|i| tokens.get(i)).is_some_and(|t| t.has(Tags::TOOL_NOUN));
    let near = |at: usize| {
        let back = |n: usize| at.checked_sub(n);
        let mark = |i: Option<usize>| {
            i.and_then(|i| tokens.get(i))
                .is_some_and(|t| matches!(t.kind, TokenKind::Symbol(_)) || t.has(Tags::DETERMINER))
        };
        noun(back(1))
            || noun(Some(at + 1))
            || (mark(back(1)) && noun(back(2)))
            || (mark(Some(at + 1)) && noun(Some(at + 2)))
    };
    let runs = used.action == Action::Of(Family::Run);
    tokens
        .iter()
        .enumerate()
        .filter(|&(at, token)| {
            let word = prose.word(token);
            is_name(token, word)
                && ((near(at) && runs) || (catalogued(word) && token.noun.is_none()))
        })
        .map(|(_, token)| {
            let word = prose.word(token);
            word.split('(').next().unwrap_or(word).trim_matches(['"', '\'', '`']).to_owned()
        })
        .collect()
}

/// Something spelled like a name: `get_weather`, WebSearch, or one in back-ticks.
fn is_name(token: &Token, word: &str) -> bool {
    match token.kind {
        TokenKind::Identifier => !word.contains(['.', '(', '=']),
        TokenKind::Code => !word.is_empty() && !word.contains([' ', '.', '/', '=', '<']),
        TokenKind::Word => {
            token.capital && word.is_ascii() && token.tags.is_empty() && word.len() > 3
        }
        _ => false,
    }
}
