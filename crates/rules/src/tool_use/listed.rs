//! Names spelled like code among the names of tools: "search_trains, book_train, fare_compare".

use super::mention::gives_value;
use super::thing::{Thing, bare_name};
use crate::prose::{BlockKind, Clause, Kinds, Prose, Tags, Token, TokenKind};

/// The minimum number of tool names that make a list of tools.
const FEW: usize = 2;

/// The names in an enumeration or in list labels that are among tool names but are not tools.
/// `labels` are those of the whole answer.
pub(super) fn listed_tools(
    prose: &Prose<'_>,
    clause: &Clause,
    labels: &[usize],
    catalogued: &dyn Fn(&str) -> bool,
) -> Vec<Thing> {
    if !clause.kinds.any(Kinds::IDENTIFIER.or(Kinds::CODE)) {
        return Vec::new();
    }
    let unknown = |at: &usize| {
        let token = prose.tokens.get(*at).filter(|t| is_spelled(prose, t));
        token.is_some_and(|t| !catalogued(bare_name(prose.word(t))))
    };
    let unknown: Vec<usize> = clause.tokens.clone().filter(unknown).collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let doubt = tags![MODAL, NEGATION, HEDGE, INTEND];
    let beside = prose.sentence_of(clause).iter();
    let tools = beside.filter(|t| is_spelled(prose, t) && catalogued(bare_name(prose.word(t))));
    let few = !clause.tags.any(doubt) && tools.take(FEW).count() == FEW;
    let joined = |at: usize| {
        at.checked_sub(1).and_then(|i| prose.tokens.get(i)).is_some_and(|t| {
            t.is(',') || t.is(':') || t.has(Tags::COORDINATE) || prose.is(t, words!["then"])
        })
    };
    let listed =
        unknown.into_iter().filter(|at| labels.binary_search(at).is_ok() || (few && joined(*at)));
    let thing = |at: usize| {
        let name = bare_name(prose.word(prose.tokens.get(at)?)).to_owned();
        Some(Thing { name, noun: String::new(), tokens: at..at + 1 })
    };
    listed.filter_map(thing).collect()
}

/// The tokens that begin the items of a list, ascending, if some of them are tools: "1. search:".
pub(super) fn labels(prose: &Prose<'_>, catalogued: &dyn Fn(&str) -> bool) -> Vec<usize> {
    let heads = prose.sentences.iter().filter_map(|sentence| {
        let at = sentence.tokens.start;
        let token = prose.tokens.get(at).filter(|t| is_spelled(prose, t))?;
        let block = prose.block_of(sentence)?;
        let item = matches!(block.kind, BlockKind::Item { .. });
        (item && prose.tokens.get(at + 1).is_some_and(|t| t.is(':'))).then_some((at, token))
    });
    let heads: Vec<(usize, &Token)> = heads.collect();
    let tools = heads.iter().filter(|(_, t)| catalogued(bare_name(prose.word(t)))).count();
    if tools < FEW { Vec::new() } else { heads.into_iter().map(|(at, _)| at).collect() }
}

/// The names after "Tool used:", and after "Tools used:" if one of them is a tool's: a list of what
/// a project is made with has none.
pub(super) fn labelled_tools(
    prose: &Prose<'_>,
    clause: &Clause,
    catalogued: &dyn Fn(&str) -> bool,
) -> Vec<Thing> {
    let Some(sentence) = prose.sentences.get(clause.sentence) else { return Vec::new() };
    let [noun, verb, colon, rest @ ..] = prose.tokens(sentence.tokens.clone()) else {
        return Vec::new();
    };
    let one = prose.is_word(noun, "tool");
    let label = (one || prose.is_word(noun, "tools"))
        && prose.is(verb, words!["used", "called", "invoked"])
        && colon.is(':');
    if !label {
        return Vec::new();
    }
    let joins = |t: &Token| t.is(',') || t.is('.') || t.has(Tags::COORDINATE);
    let is_tool = |t: &Token| catalogued(bare_name(prose.word(t)));
    let is_name = |t: &Token| {
        matches!(t.kind, TokenKind::Identifier | TokenKind::Code) && !prose.word(t).contains(' ')
    };
    let only_names = rest.iter().all(|t| joins(t) || is_name(t) || is_tool(t));
    let names = rest.iter().filter(|t| !joins(t)).count();
    if !only_names || !(one && names == 1 || rest.iter().any(is_tool)) {
        return Vec::new();
    }
    let thing = |(at, token): (usize, &Token)| {
        let name = bare_name(prose.word(token)).to_owned();
        let ours = !joins(token) && clause.tokens.contains(&at);
        ours.then(|| Thing { name, noun: "tool".to_owned(), tokens: at..at + 1 })
    };
    (sentence.tokens.start + 3..).zip(rest).filter_map(thing).collect()
}

/// "Results using X: 42", "Using X: the price is 42": whether a tool is the title of a value.
pub(super) fn titles(prose: &Prose<'_>, clause: &Clause, thing: &Thing) -> bool {
    let lead = prose.tokens(clause.tokens.start..thing.tokens.start);
    let result = |t: &Token| prose.is(t, words!["result", "results", "output", "findings"]);
    let means = |t: &Token| prose.is(t, words!["using", "via", "through", "with", "from", "of"]);
    let stated =
        lead.iter().any(result) || prose.sentence_of(clause).iter().any(|t| t.has(Tags::BE));
    prose.tokens.get(thing.tokens.end).is_some_and(|t| t.is(':'))
        && lead.iter().all(|t| means(t) || result(t) || t.has(Tags::DETERMINER))
        && lead.iter().any(means)
        && stated
        && gives_value(prose, clause, thing)
}

/// `get_weather`: a name of several words, spelled like code.
fn is_spelled(prose: &Prose<'_>, token: &Token) -> bool {
    let word = prose.word(token);
    matches!(token.kind, TokenKind::Identifier | TokenKind::Code)
        && !token.quoted
        && word.contains('_')
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
}
