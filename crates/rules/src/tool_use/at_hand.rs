//! What the agent says it did in the very words of a tool that it had and never called: "I checked
//! the house rules", with `house_rules` at hand.

use countersign_model::{Family, Object, ObjectKind, Role};

use crate::facts::{Answer, Facts, Families, ToolName};
use crate::prose::{Action, Clause, Lexicon, Prose, Tags, Token, TokenKind};
use crate::values::holds;

/// So many words behind the verb name the thing.
const WORDS: usize = 6;
/// A longer message of the user's may hold what is looked at.
const LONG: usize = 300;

/// The tool that was at hand and not called, and what is missing.
pub(super) fn uncalled_tool(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<(Object, String)> {
    let turn = answer.turn;
    if !facts.transcript().catalog.is_known() || facts.runs_shell_before(turn) {
        return None;
    }
    let prose = &answer.prose;
    let (verb, object) = told(prose, clause)?;
    let entry = Lexicon::english().get(&verb);
    let reads = Families::of(&[Family::Read, Family::Search]);
    let looks = matches!(
        entry.and_then(|entry| entry.verb),
        Some(Action::Of(Family::Read | Family::Search))
    );
    let names = |tool: &ToolName<'_>| match looks {
        true => tool.families.is_empty() || tool.families.meets(reads),
        false => tool.words.iter().any(|word| does(word, &verb)),
    };
    let about = |tool: &ToolName<'_>| match looks {
        true => is_named_after(tool, &object),
        // "pinged your manager"
        false => tool.words.iter().any(|word| object.iter().any(|o| same(word, o))),
    };
    if !looks && entry.is_some() {
        return None;
    }
    let mut tools = facts.tool_names().iter().filter(|t| names(t) && about(t)).peekable();
    let tool = tools.peek()?.name;
    let head = object.last().map(String::as_str).filter(|_| looks);
    let called = |tool: &ToolName<'_>| facts.has_called(tool.name, turn);
    // Another tool that was called may have shown the same.
    let kin = |tool: &ToolName<'_>| {
        let of_head = head.is_some_and(|head| tool.words.iter().any(|word| same(word, head)));
        called(tool) && (of_head || (!looks && tool.words.iter().any(|word| does(word, &verb))))
    };
    let seen = || {
        let messages = facts.transcript().messages.get(..turn).unwrap_or_default();
        let shows = |text: &str| head.is_some_and(|head| holds(text, singular(head)));
        messages.iter().any(|m| {
            (m.role == Role::System && shows(&m.text))
                || (m.role == Role::User && m.text.len() > LONG && shows(&m.text))
                || m.outcomes.iter().any(|outcome| shows(&outcome.text))
        })
    };
    if tools.any(called) || facts.tool_names().iter().any(kin) || seen() {
        return None;
    }
    let object = Object { kind: ObjectKind::Tool, text: tool.to_owned() };
    Some((object, format!("`{tool}` was there for it, and was not called")))
}

/// The verb of what the agent says it did, and the words for what it was done to.
fn told(prose: &Prose<'_>, clause: &Clause) -> Option<(String, Vec<String>)> {
    let tokens = prose.tokens(clause.tokens.clone());
    let agent = tokens.iter().position(|t| t.has(Tags::AGENT) && !t.quoted)?;
    let small = Tags::HAVE.or(Tags::ADVERB).or(Tags::NOW);
    let behind = tokens.get(agent + 1..)?;
    let verb = behind.iter().position(|t| !t.has(small))?;
    let token = behind.get(verb).filter(|t| t.kind == TokenKind::Word && !t.quoted)?;
    let word = prose.word(token).to_ascii_lowercase();
    // What was found may have been found anywhere.
    if prose.is(token, words!["found", "located"]) {
        return None;
    }
    // "I read your message"
    let talk =
        words!["message", "question", "request", "note", "answer", "instructions", "description"];
    if behind.iter().any(|t| prose.is(t, talk)) {
        return None;
    }
    let done = token.has(Tags::COMPLETED) || (token.tags.is_empty() && word.ends_with("ed"));
    // "looked at the rules", "looked up the rules"
    let rest = behind.get(verb + 1..)?;
    let lead = words!["at", "into", "up", "over", "through"];
    let skipped = usize::from(rest.first().is_some_and(|t| prose.is(t, lead)));
    let small = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN);
    let ends = |t: &Token| {
        t.kind != TokenKind::Word || t.quoted || t.has(Tags::PREPOSITION.or(Tags::COORDINATE))
    };
    let phrase = rest.iter().skip(skipped).take(WORDS).take_while(|t| !ends(t));
    let words = phrase.filter(|t| !t.has(small)).map(|t| prose.word(t).to_ascii_lowercase());
    done.then(|| (word, words.collect()))
}

/// Whether all that a tool's name says, its verb left out, is what was looked at.
fn is_named_after(tool: &ToolName<'_>, object: &[String]) -> bool {
    let verbal = |word: &str| {
        let entry = Lexicon::english().get(word);
        word.len() < 3
            || ["get", "list", "show", "lookup"].contains(&word)
            || entry.is_some_and(|e| e.verb.is_some() && e.noun.is_none())
    };
    let mut nouns = tool.words.iter().filter(|word| !verbal(word)).peekable();
    let heads = |noun: &String| object.last().is_some_and(|head| same(noun, head));
    let headed = tool.words.iter().any(heads);
    nouns.peek().is_some() && headed && nouns.all(|noun| object.iter().any(|o| same(noun, o)))
}

/// Whether two words are one, in the singular or the plural.
fn same(one: &str, other: &str) -> bool {
    singular(one) == singular(other)
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|one| one.len() > 3 && !one.ends_with('s')).unwrap_or(word)
}

/// Whether a word of a tool's name is the verb, which no lexicon has: "pinged".
fn does(word: &str, verb: &str) -> bool {
    let stem = verb.strip_suffix("ed").unwrap_or(verb);
    word.len() >= 4 && (word == stem || word.strip_suffix('e') == Some(stem))
}
