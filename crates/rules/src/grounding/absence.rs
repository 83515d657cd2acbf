//! What is told not to be there, where a result has it under that name.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::assertion::{Assertion, clauses};
use super::lexis::is_small;
use super::session::stems;
use super::stem::stem;
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, Prose, Tags, Token, TokenKind, sets};
use crate::values::{Leaf, Node};

/// So many calls before an answer are looked at.
const MOST_CALLS: usize = 24;

/// A clause that denies what a result has.
pub(crate) struct Denied<'p> {
    pub(crate) clause: &'p Clause,
    /// What is denied.
    pub(crate) thing: String,
    /// What the result has.
    pub(crate) held: String,
    /// The execution.
    pub(crate) at: usize,
}

pub(crate) fn denied<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>) -> Vec<Denied<'p>> {
    let prose = &answer.prose;
    let said = clauses(answer);
    let found = said.iter().filter(|said| said.asserted && said.denies && !said.by_agent);
    found
        .filter_map(|said| {
            let things = things(prose, said)?;
            let (at, held) = shown(facts, answer.turn, &things)?;
            let thing = said.word_of(things.last()?, prose).to_owned();
            Some(Denied { clause: said.clause, thing, held, at })
        })
        .collect()
}

/// The stems of what a clause says that there is none of: "no critical advisories", "nothing
/// critical".
fn things(prose: &Prose<'_>, said: &Assertion<'_>) -> Option<Vec<String>> {
    let tokens = prose.tokens(said.clause.tokens.clone());
    // "Allergies: none"
    if let Some(at) = tokens.iter().position(|token| prose.is_word(token, "none"))
        && let Some(label) = label(prose, said.clause.tokens.start + at)
    {
        return Some(label);
    }
    let none = |token: &Token| prose.is(token, &sets::NO_SUCH);
    let at = tokens.iter().position(none)?;
    let rest = tokens.get(at + 1..)?;
    let limits = |token: &Token| prose.is(token, &sets::OF_SOME) || prose.is(token, &sets::NOT_ALL);
    // "No seat was assigned": an act that was not done.
    let acts = |token: &Token| {
        token.verb.is_some()
            && token.tags.any(Tags::PARTICIPLE)
            && !prose.is(token, &sets::SEARCH_VERBS)
            && !prose.is(token, &sets::ON_RECORD)
    };
    if tokens.iter().any(|token| limits(token) || acts(token)) {
        return None;
    }
    let ends = |token: &Token| {
        let verbal = Tags::BE.or(Tags::HAVE).or(Tags::DO).or(Tags::PREPOSITION).or(Tags::RELATIVE);
        let word = prose.word(token);
        let past = token.has(Tags::PAST) || word.ends_with("ed") || is_small(word);
        token.kind != TokenKind::Word || token.tags.any(verbal) || past
    };
    let phrase = rest.iter().take_while(|token| !ends(token)).take(4);
    let count = phrase.clone().count();
    // "no boats with a sail": of some of them.
    if rest.get(count).is_some_and(|next| prose.is(next, &sets::OF_WHICH)) {
        return None;
    }
    let stems: Vec<String> = phrase.map(|token| stem(prose.word(token))).collect();
    (!stems.is_empty() && stems.iter().any(|stem| !is_small(stem))).then_some(stems)
}

/// The stems of the label before a "none".
fn label(prose: &Prose<'_>, none: usize) -> Option<Vec<String>> {
    let sentence = prose.before_in_sentence(none);
    let mark = |token: &Token| token.is('*') || token.is('_');
    let mut before: Vec<&Token> = sentence.iter().filter(|token| !mark(token)).collect();
    if !before.pop()?.is(':') || before.len() > 3 || before.is_empty() {
        return None;
    }
    let stems = before.iter().filter(|token| token.kind == TokenKind::Word);
    Some(stems.map(|token| stem(prose.word(token))).collect())
        .filter(|s: &Vec<String>| !s.is_empty())
}

/// What a result has, as far as somebody may deny it.
#[derive(Debug)]
pub(super) struct Held<'t> {
    /// The execution.
    at: usize,
    /// The stems of the tool's name.
    asked: BTreeSet<String>,
    members: Vec<Member<'t>>,
    /// The longest list.
    longest: Option<usize>,
}

/// A member of a result.
#[derive(Debug)]
struct Member<'t> {
    /// The stems of its name.
    name: Rc<[String]>,
    /// The stem of its value, where that is one word.
    word: Option<String>,
    leaf: Leaf<'t>,
}

/// The result that has it, and what it has.
fn shown(facts: &Facts<'_>, turn: usize, things: &[String]) -> Option<(usize, String)> {
    let before = facts.before(turn);
    let all = before.held.get_or_init(|| {
        let count = facts.record().count_before(turn);
        (0..count).rev().take(MOST_CALLS).filter_map(|at| Held::of(facts, at)).collect()
    });
    let mut found = None;
    let clear = all.iter().any(|held| match held.holds(things) {
        Some(Ok(value)) => {
            found.get_or_insert((held.at, value));
            false
        }
        // Another result says that there is none.
        Some(Err(())) => true,
        None => false,
    });
    found.filter(|_| !clear)
}

impl<'t> Held<'t> {
    fn of(facts: &Facts<'t>, at: usize) -> Option<Self> {
        let (execution, deed) = facts.deed(at)?;
        if deed.shell.is_some() || !deed.status().succeeded() {
            return None;
        }
        let leaves = facts.leaves(at)?;
        let lists = leaves.nodes().iter().filter_map(|node| match node.leaf {
            Leaf::List(count) => Some(count),
            _ => None,
        });
        let asked = stems(execution.tool()).filter(|word| !is_small(word)).collect();
        let mut known = FxHashMap::default();
        let members = leaves.nodes().iter().map(|node| Member::of(node, &mut known)).collect();
        Some(Self { at, asked, members, longest: lists.max() })
    }

    /// Whether it has the things, or has their place and nothing in it.
    fn holds(&self, things: &[String]) -> Option<Result<String, ()>> {
        let noun = things.last()?;
        // The member of that name.
        let mut named = self.members.iter().filter(|member| member.is_named(things)).peekable();
        if named.peek().is_some() {
            let named: Vec<&Member<'_>> = named.collect();
            let empty = named.iter().any(|member| full_or_empty(member.leaf) == Some(false));
            let full = || named.iter().find_map(|member| full(member.leaf));
            return if empty { Some(Err(())) } else { full().map(Ok) };
        }
        // The list that a tool of that name gave.
        if self.asked.contains(noun) || self.is_for(things) {
            let own = |thing: &&String| !self.asked.contains(*thing) && !is_small(thing);
            let which: Vec<&String> = things.iter().filter(own).collect();
            let longest = self.longest?;
            if longest == 0 {
                return Some(Err(()));
            }
            // What is beside the name of the tool says which ones, or is another word for them.
            let listed = |thing: &&String| self.of_word(thing).is_some();
            return (which.len() < things.len() && which.iter().all(listed) || self.is_for(things))
                .then(|| Ok(format!("{longest} of them")));
        }
        // "nothing critical": the one word that a member has.
        let [thing] = things else {
            let first = things.first().filter(|thing| !is_small(thing))?;
            let listed = self.of_word(first)?;
            return self.is_about(noun).then(|| full(listed.leaf)).flatten().map(Ok);
        };
        full(self.of_word(thing)?.leaf).map(Ok)
    }

    /// The first member whose value is this one word.
    fn of_word(&self, word: &str) -> Option<&Member<'t>> {
        self.members.iter().find(|member| member.word.as_deref() == Some(word))
    }

    /// `find_duplicates`, for "no duplicate accounts".
    fn is_for(&self, things: &[String]) -> bool {
        things.first().is_some_and(|first| self.asked.contains(first))
    }

    /// Whether a list of the result has that name.
    fn is_about(&self, noun: &str) -> bool {
        self.members.iter().any(|member| member.name.iter().any(|stem| stem == noun))
    }
}

impl<'t> Member<'t> {
    /// `known` has the stems of the names that were read before: those of a list have few.
    fn of(node: &Node<'t>, known: &mut FxHashMap<&'t str, Rc<[String]>>) -> Self {
        let word = match node.leaf {
            Leaf::Text(text) if !text.contains(' ') => Some(stem(text)),
            _ => None,
        };
        let name = known.entry(node.name).or_insert_with(|| stems(node.name).collect());
        let name = Rc::clone(name);
        Self { name, word, leaf: node.leaf }
    }

    fn is_named(&self, things: &[String]) -> bool {
        !self.name.is_empty()
            && self.name.last() == things.last()
            && self.name.iter().all(|stem| things.contains(stem))
    }
}

/// What a value has, unless it says that there is nothing.
fn full(leaf: Leaf<'_>) -> Option<String> {
    match (full_or_empty(leaf)?, leaf) {
        (true, Leaf::Text(text) | Leaf::Number(text)) => Some(text.to_owned()),
        (true, Leaf::List(count)) => Some(format!("{count} of them")),
        (true, Leaf::Flag(_)) => Some("true".to_owned()),
        _ => None,
    }
}

fn full_or_empty(leaf: Leaf<'_>) -> Option<bool> {
    if let Leaf::Text(text) | Leaf::Number(text) = leaf
        && text.parse::<f64>().is_ok_and(|value| value == 0.0)
    {
        return Some(false);
    }
    match leaf {
        Leaf::Text(text) | Leaf::Number(text) => {
            let text = text.trim().to_lowercase();
            Some(!text.is_empty() && !sets::SAYS_NONE.list.contains(&text.as_str()))
        }
        Leaf::Flag(on) => Some(on),
        Leaf::Void => Some(false),
        Leaf::List(count) => Some(count > 0),
        Leaf::Object => None,
    }
}
