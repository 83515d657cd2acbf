//! Another thing than the one for which a call was made: of the same role, or beside it in a list.

use std::collections::BTreeSet;

use super::assertion::{Assertion, clauses};
use super::lexis::is_small;
use super::session::parts;
use super::state::is_state;
use super::swapped::find;
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, Lexicon, Mood, Prose, Tags, Token, TokenKind, sets};
use crate::values::{Leaf, Leaves};

/// So many calls before an answer are looked at.
const MOST_CALLS: usize = 32;
/// And so many objects of a result.
const MOST_OBJECTS: usize = 200;
/// A longer text names nothing, and a shorter one anything.
const LONGEST: usize = 48;
const SHORTEST: usize = 2;
/// A last name that is shorter is a word.
const SHORTEST_NAME: usize = 4;
/// A longer one may be written in any case.
const LONG_NAME: usize = 8;

/// A thing that is told where the call was made for another one.
pub(crate) struct Mistaken<'p> {
    pub(crate) clause: &'p Clause,
    pub(crate) told: String,
    pub(crate) held: String,
    /// The call.
    pub(crate) at: usize,
}

/// A member with its short value.
type Member = (String, String);

/// The list or object that an object of a result stands in, and its own members.
pub(super) type Object = ((usize, usize), Vec<Member>);

/// What a call was made with, and what came back.
#[derive(Debug)]
pub(super) struct Act {
    at: usize,
    args: Vec<Member>,
    result: Vec<Member>,
}

pub(crate) fn mistaken<'p>(facts: &Facts<'_>, answer: &'p Answer<'_>) -> Option<Mistaken<'p>> {
    let turn = answer.turn;
    if facts.runs_shell_before(turn) || facts.delegates_before(turn) {
        return None;
    }
    let before = facts.before(turn);
    let acts = before.acts.get_or_init(|| acts(facts, turn));
    // Whoever denies or compares anything tells of more than one.
    let apart = Tags::NEGATION.or(Tags::FAILURE).or(Tags::ADVERSATIVE).or(Tags::TROUBLE);
    // "Oh no": no denial.
    let no = |token: &Token| answer.prose.is_word(token, "no");
    let apart =
        |token: &Token| token.has(apart) && !no(token) || prose_is_apart(&answer.prose, token);
    if acts.is_empty() || answer.prose.tokens.iter().any(apart) {
        return None;
    }
    let said = clauses(answer);
    let looked = before.looked.get_or_init(|| looked(facts, turn));
    acts.iter().find_map(|act| {
        let others = siblings(act, looked).chain(roles(act, looked));
        let text = answer.prose.text;
        let new = act.new_ids(acts);
        let asked = overruled(act).filter(|(told, held)| !tells_of(text, held, told));
        let mut asked = asked.filter_map(|(told, held)| {
            let clause = told_in(&answer.prose, &said, &told)?;
            Some(Mistaken { clause, told, held, at: act.at })
        });
        let mut others = others.filter_map(|(told, held)| {
            let found = told_in(&answer.prose, &said, &told)?;
            // Whose number stands beside it, that call is meant.
            let sentence = sentence_of(&answer.prose, found);
            let meant = new.iter().any(|id| find(sentence, id).is_some());
            let other = acts.iter().any(|other| other.is_for(&told, &held));
            let wrong =
                !tells_of(text, &held, &told) && !act.is_for(&told, &held) && (meant || !other);
            wrong.then_some(Mistaken { clause: found, told, held, at: act.at })
        });
        asked.next().or_else(|| others.next())
    })
}

/// "instead", "rather": of one beside another.
fn prose_is_apart(prose: &Prose<'_>, token: &Token) -> bool {
    prose.is(token, &sets::INSTEAD) || prose.is(token, &sets::NOT_COME_ABOUT)
}

/// The calls since the user asked that changed something and came out well.
fn acts(facts: &Facts<'_>, turn: usize) -> Vec<Act> {
    let since = facts.request_before(turn);
    let count = facts.record().count_before(turn);
    let of = |at: usize| {
        let (execution, deed) = facts.deed(at)?;
        let changes = deed.changes() || deed.families.is_empty();
        let may = changes && deed.status().succeeded() && execution.called_at >= since;
        let args = Leaves::of(execution.call?.arguments.as_str()).filter(|_| may)?;
        let result = facts.leaves(at).map(|leaves| members(&leaves, 0));
        Some(Act { at, args: members(&args, 0), result: result.unwrap_or_default() })
    };
    (0..count).rev().take(MOST_CALLS).filter_map(of).collect()
}

/// The objects of what was looked up, each with its short values, and the one that it stands in.
fn looked(facts: &Facts<'_>, turn: usize) -> Vec<Object> {
    let count = facts.record().count_before(turn);
    let mut objects = Vec::new();
    for at in (0..count).rev().take(MOST_CALLS) {
        let Some((_, deed)) = facts.deed(at) else { continue };
        if !deed.status().succeeded() {
            continue;
        }
        let Some(leaves) = facts.leaves(at) else { continue };
        let (nodes, children) = (leaves.nodes(), leaves.by_parent());
        let all = nodes.iter().zip(&children).filter(|(node, _)| node.leaf == Leaf::Object);
        for (node, own) in all.take(MOST_OBJECTS) {
            let own = own.iter().filter_map(|at| nodes.get(*at));
            let own = own.filter_map(|node| member(node.name, node.leaf)).collect();
            objects.push(((at, node.parent), own));
        }
    }
    objects
}

fn members(leaves: &Leaves<'_>, at: usize) -> Vec<Member> {
    leaves.within(at).filter_map(|(_, node)| member(node.name, node.leaf)).collect()
}

fn member(name: &str, leaf: Leaf<'_>) -> Option<Member> {
    let (Leaf::Text(value) | Leaf::Number(value)) = leaf else { return None };
    let short = (SHORTEST..=LONGEST).contains(&value.len()) && !name.is_empty();
    short.then(|| (name.to_lowercase(), value.to_owned()))
}

/// What a call was made with where the result has something else: "until 15:00", granted until 13:00.
fn overruled(act: &Act) -> impl Iterator<Item = (String, String)> {
    act.args.iter().filter_map(|(name, asked)| {
        let mut held = act.result.iter().filter(|(other, _)| other == name);
        let (_, held) = held.next().filter(|_| held.next().is_none())?;
        let alike =
            held.len().abs_diff(asked.len()) <= 1 && held.bytes().any(|b| b.is_ascii_digit());
        (alike && held != asked && is_value(asked)).then(|| (asked.clone(), held.clone()))
    })
}

/// What stands beside the things of a list that are like the one for which a call was made.
fn siblings<'a>(act: &'a Act, looked: &'a [Object]) -> impl Iterator<Item = (String, String)> {
    let ids = act.args.iter().map(|(_, value)| value);
    ids.flat_map(move |id| {
        let owners = looked.iter().filter(move |(_, object)| object.iter().any(|(_, v)| v == id));
        owners.flat_map(move |(list, owner)| {
            let near = looked.iter().filter(move |(other, object)| {
                other == list && object != owner && !object.iter().any(|(_, v)| v == id)
            });
            near.flat_map(move |(_, other)| different(owner, other))
        })
    })
}

/// Names and ids that two things of one kind have differently.
fn different<'a>(
    owner: &'a [Member],
    other: &'a [Member],
) -> impl Iterator<Item = (String, String)> {
    owner.iter().filter_map(|(name, held)| {
        let (_, told) = other.iter().find(|(own, _)| own == name && !is_state(name))?;
        let mine = owner.iter().any(|(_, value)| value == told);
        let short = is_short_for(told, held) || is_short_for(held, told);
        (held != told && is_name(told) && !mine && !short).then(|| (told.clone(), held.clone()))
    })
}

/// What was looked up under the name of an argument.
fn roles<'a>(act: &'a Act, looked: &'a [Object]) -> impl Iterator<Item = (String, String)> {
    act.args.iter().flat_map(move |(name, held)| {
        let all = looked.iter().flat_map(|(_, object)| object);
        let same = all.filter(move |(other, told)| other == name && told != held);
        let named = same.filter(move |(_, told)| is_name(told) && is_name(held));
        named.map(move |(_, told)| (told.clone(), held.clone()))
    })
}

/// "Bea Oyelaran", for "Beatrix Oyelaran".
fn is_short_for(one: &str, other: &str) -> bool {
    let mut words = one.split_whitespace().zip(other.split_whitespace());
    one.split_whitespace().count() == other.split_whitespace().count()
        && words.all(|(one, other)| other.starts_with(one.trim_end_matches('.')))
}

/// A name: letters, and a capital or a digit.
fn is_name(value: &str) -> bool {
    let letters = value.chars().any(char::is_alphabetic);
    let inner = value.len() > LONG_NAME && value.contains(['-', '.']);
    let marks = inner || value.chars().any(|c| c.is_uppercase() || c.is_ascii_digit());
    // `IN_TRANSIT`, `AWAITING`: a state.
    let state = value.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let date = value.len() > 9 && value.as_bytes().get(4) == Some(&b'-');
    letters && marks && !date && !state && value.split_whitespace().count() <= 4
}

/// A value that is not told by chance.
fn is_value(value: &str) -> bool {
    value.bytes().filter(u8::is_ascii_digit).count() > 2 && value.len() < 12
}

fn sentence_of<'t>(prose: &Prose<'t>, clause: &Clause) -> &'t str {
    let clauses = prose.clauses_of(clause.sentence);
    let span = |clause: &Clause| clause.span;
    match (clauses.first().map(span), clauses.last().map(span)) {
        (Some(first), Some(last)) => prose.text.get(first.start..last.end).unwrap_or_default(),
        _ => "",
    }
}

impl Act {
    /// The ids that only it came back with.
    fn new_ids(&self, acts: &[Self]) -> Vec<String> {
        let of = |(_, value): &&Member| {
            let digits = value.bytes().any(|b| b.is_ascii_digit());
            let others = acts.iter().filter(|other| other.at != self.at);
            let known = |(_, other): &Member| other == value;
            digits
                && value.len() > 3
                && !others.flat_map(|other| other.args.iter().chain(&other.result)).any(known)
        };
        let own = |value: &&Member| !self.args.iter().any(|(_, asked)| *asked == value.1);
        self.result.iter().filter(own).filter(of).map(|(_, value)| value.clone()).collect()
    }

    /// Whether it was made for a thing, or came back with it.
    fn is_for(&self, thing: &str, other: &str) -> bool {
        self.args.iter().chain(&self.result).any(|(_, value)| shares(value, thing, other))
    }
}

/// Whether a value has a word of a name that another one does not have.
fn shares(value: &str, name: &str, other: &str) -> bool {
    let words = parts(name).filter(|part| find(other, part).is_none());
    let words: BTreeSet<String> = words.map(str::to_lowercase).collect();
    parts(value).any(|part| part.len() >= SHORTEST_NAME && words.contains(&part.to_lowercase()))
        || value == name
}

/// Whether a text speaks of a thing by any of its words that another one does not have.
fn tells_of(text: &str, value: &str, other: &str) -> bool {
    find(text, value).is_some()
        || parts(value)
            .filter(|part| part.len() >= SHORTEST_NAME && !part.bytes().any(|b| b.is_ascii_digit()))
            .filter(|part| find(other, part).is_none())
            .any(|part| find(text, part).is_some())
}

/// The clause that tells of a thing by its whole name, or by its last word.
fn told_in<'p>(prose: &Prose<'_>, said: &[Assertion<'p>], told: &str) -> Option<&'p Clause> {
    let last = told.split_whitespace().last().filter(|last| {
        told.contains(' ')
            && last.len() >= SHORTEST_NAME
            && last.starts_with(char::is_uppercase)
            && Lexicon::english().get(&last.to_lowercase()).is_none()
            && !is_small(&last.to_lowercase())
    });
    // "Mia" is no airport.
    let stands = |text: &str, name: &str| {
        find(text, name).and_then(|at| text.get(at..at + name.len())).is_some_and(|found| {
            found == name || name.chars().all(|c| !c.is_uppercase()) || name.len() > LONG_NAME
        })
    };
    let tells = |said: &&Assertion<'p>| {
        let text = said.clause.span.of(prose.text);
        stands(text, told) || last.is_some_and(|last| stands(text, last))
    };
    // Whoever denies anything of it tells it apart.
    if said.iter().any(|said| said.denies && tells(&said)) {
        return None;
    }
    let open = Tags::HEDGE.or(Tags::CONDITIONAL).or(Tags::EARLIER);
    let is_done = |said: &&Assertion<'p>| {
        let clause = said.clause;
        let ended = |t: &Token| {
            let plain = t.kind == TokenKind::Word && !t.capital;
            plain && (prose.word(t).ends_with("ed") || t.tags.any(Tags::PAST.or(Tags::PARTICIPLE)))
        };
        let now = clause.tags.any(Tags::NOW);
        let done = now || prose.tokens(clause.tokens.clone()).iter().any(ended);
        // "You'll be seeing her": what was booked.
        let ahead = clause.tags.any(Tags::MODAL.or(Tags::USER));
        clause.mood == Mood::Asserted && !clause.tags.any(open) && (done || ahead)
    };
    said.iter().filter(is_done).find(tells).map(|said| said.clause)
}
