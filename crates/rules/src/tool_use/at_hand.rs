//! What the agent says it did in the very words of a tool that it had and never called: "I checked
//! the house rules", with `house_rules` at hand.

use counterfoil_model::{Family, Object, ObjectKind, Role};

use crate::facts::{Answer, Facts, Families, ToolName};
use crate::prose::{Action, Clause, Lexicon, Prose, Tags, Token, TokenKind, Words};
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
    let told_of_agent = clause.tags.any(Tags::AGENT);
    if !told_of_agent || !facts.transcript().catalog.is_known() || facts.runs_shell_before(turn) {
        return None;
    }
    let prose = &answer.prose;
    let Told { verb, object, looked } = told(prose, clause)?;
    let entry = Lexicon::english().get(&verb);
    let reads = Families::of(&[Family::Read, Family::Search]);
    let verbal = entry.and_then(|entry| entry.verb);
    let looks = looked || matches!(verbal, Some(Action::Of(Family::Read | Family::Search)));
    let names = |tool: &ToolName<'_>| match looks {
        true => {
            tool.families.is_empty()
                || tool.families.meets(reads)
                || object.last().is_some_and(|head| is_called_by_noun(tool, head))
        }
        false => tool.words.iter().any(|word| does(word, &verb)),
    };
    let about = |tool: &ToolName<'_>| match looks {
        true => is_named_after(facts, tool, &object),
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
        let shows = |text: &str| {
            head.is_some_and(|head| holds(text, singular(head)) && speaks_of(text, head))
        };
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
    Some((object, format!("`{tool}` could have done this, but was not called")))
}

/// What the agent says it did.
struct Told {
    /// The verb, lower case.
    verb: String,
    /// The words for what it was done to.
    object: Vec<String>,
    /// It was looked at, in whatever words that is told: "been through", "had a look at".
    looked: bool,
}

fn told(prose: &Prose<'_>, clause: &Clause) -> Option<Told> {
    let tokens = prose.tokens(clause.tokens.clone());
    let agent = tokens.iter().position(|t| t.has(Tags::AGENT) && !t.quoted)?;
    let small = Tags::HAVE.or(Tags::ADVERB).or(Tags::NOW);
    let behind = tokens.get(agent + 1..)?;
    // "I had a look at", "I've been through", "I did check"
    let light = words!["had", "took", "taken", "been", "gone", "went", "did", "ran", "put"];
    let verb = behind.iter().position(|t| !t.has(small) || prose.is(t, light))?;
    let looked = looked_at(prose, behind.get(verb..)?);
    let verb = match looked {
        Some(_) => verb,
        None => behind.iter().position(|t| !t.has(small))?,
    };
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
    let done = looked.is_some()
        || token.has(Tags::COMPLETED)
        || (token.tags.is_empty() && word.ends_with("ed"));
    // "looked at the rules", "looked up the rules"
    let rest = behind.get(verb + looked.unwrap_or(1)..)?;
    let lead = words!["at", "into", "up", "over", "through"];
    let mut skipped = usize::from(rest.first().is_some_and(|t| prose.is(t, lead)));
    // "the rest of your transactions"
    let all = words!["rest", "all", "most", "each", "both"];
    let of = rest.iter().take(skipped + 3).position(|t| prose.is(t, words!["of"]));
    let of = of.filter(|at| {
        at.checked_sub(1).and_then(|at| rest.get(at)).is_some_and(|t| prose.is(t, all))
    });
    skipped = of.map_or(skipped, |at| at + 1);
    let small = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN);
    let ends = |t: &Token| {
        !matches!(t.kind, TokenKind::Word | TokenKind::Identifier)
            || t.quoted
            || t.has(Tags::PREPOSITION.or(Tags::COORDINATE))
    };
    let phrase = rest.iter().skip(skipped).take(WORDS).take_while(|t| !ends(t));
    let words = phrase.filter(|t| !t.has(small)).map(|t| prose.word(t).to_ascii_lowercase());
    let mut object: Vec<String> = words.collect();
    // "through the spam check first"
    if object.len() > 1 && object.last().is_some_and(|word| word == "first" || word == "again") {
        object.pop();
    }
    done.then(|| Told { verb: word, object, looked: looked.is_some() })
}

/// "had a good look at", "been through", "went back over", "did check": how many words tell that
/// something was looked at.
fn looked_at(prose: &Prose<'_>, tokens: &[Token]) -> Option<usize> {
    let is = |at: usize, known: &Words| tokens.get(at).is_some_and(|t| prose.is(t, known));
    let over = words!["through", "over"];
    if is(0, words!["been", "gone", "went"]) {
        let back = usize::from(is(1, words!["back"]));
        return is(1 + back, over).then_some(2 + back);
    }
    // "ran your degree audit", "put it through the spam check"
    if is(0, words!["ran"]) {
        return tokens
            .get(1)
            .is_some_and(|t| t.has(Tags::USER_OWN.or(Tags::DETERMINER)))
            .then_some(1);
    }
    if is(0, words!["put"]) {
        return is(2, words!["through"]).then_some(3);
    }
    if is(0, words!["did"]) {
        let reads = |t: &Token| matches!(t.verb, Some(Action::Of(Family::Read | Family::Search)));
        return tokens.get(1).is_some_and(|t| t.has(Tags::BASE) && reads(t)).then_some(2);
    }
    let look = tokens.iter().take(5).position(|t| prose.is(t, words!["look", "glance"]))?;
    let article = is(1, words!["a", "another"]);
    let led = is(0, words!["had", "took", "taken"]) && article;
    (led && is(look + 1, words!["at", "through", "over", "into"])).then_some(look + 2)
}

/// Whether a text has a word, in the singular or the plural, that is no part of another.
fn speaks_of(text: &str, word: &str) -> bool {
    let capital = |part: &str| part.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    text.split(|c: char| !c.is_alphanumeric()).any(|part| {
        part.eq_ignore_ascii_case(word)
            || singular(&part.to_ascii_lowercase()) == singular(word)
            // `teamPolicy`
            || (capital(part) && holds(part, singular(word)))
    })
}

/// Whether all that a tool's name says, its verb left out, is what was looked at.
fn is_named_after(facts: &Facts<'_>, tool: &ToolName<'_>, object: &[String]) -> bool {
    // `campaign-create`, `campaign-schedule`, `campaign-spam-check`: what all of them are about.
    let tools = facts.tool_names();
    let shared = |word: &str| {
        tools.iter().filter(|t| t.words.first().is_some_and(|first| first == word)).count() > 2
    };
    let verbal = |word: &str| {
        let entry = Lexicon::english().get(word);
        word.len() < 3
            || ["get", "list", "show", "lookup"].contains(&word)
            || entry.is_some_and(|e| e.verb.is_some() && e.noun.is_none())
    };
    let nouns = tool.words.iter().enumerate().filter(|(_, word)| !verbal(word));
    let mut nouns = nouns.filter(|(at, word)| *at > 0 || !shared(word)).map(|(_, w)| w).peekable();
    // "your mail thread", with `mail_search`
    let kept = ["thread", "threads", "record", "records", "entry", "entries", "details"];
    let [before @ .., last] = object else { return false };
    let inner = before.last().filter(|_| kept.contains(&last.as_str())).unwrap_or(last);
    // "the past work orders", with `workorder_list`
    let joined = format!("{inner}{last}");
    let joined = if inner == last {
        before.last().map(|word| format!("{word}{last}"))
    } else {
        Some(joined)
    };
    let is_joined = |noun: &str| joined.as_deref().is_some_and(|joined| same(noun, joined));
    let heads = |noun: &String| same(noun, last) || same(noun, inner) || is_joined(noun);
    let headed = tool.words.iter().any(heads);
    // "the knowledge base", with `kb_search`
    let initials = |noun: &str| {
        let mut letters = object.iter().rev().take(noun.len()).filter_map(|o| o.chars().next());
        (2..=3).contains(&noun.len()) && noun.chars().rev().all(|c| letters.next() == Some(c))
    };
    if tool.words.iter().any(|word| initials(word)) {
        return true;
    }
    nouns.peek().is_some()
        && headed
        && nouns.all(|noun| is_joined(noun) || object.iter().any(|o| same(noun, o)))
}

/// `outage_log`: whether the only verb in a tool's name is the noun that is spoken of.
fn is_called_by_noun(tool: &ToolName<'_>, noun: &str) -> bool {
    let verb = |word: &&String| Lexicon::english().get(word).is_some_and(|e| e.verb.is_some());
    let mut verbs = tool.words.iter().filter(verb);
    verbs.next().is_some_and(|word| same(word, noun)) && verbs.next().is_none()
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
