//! Several things said to have been acted on, each held against the calls made for it.

use std::ops::Range;

use counterfoil_model::{Family, Object, ObjectKind};

use super::behind_ids::behind_ids;
use super::extract::ActionClaim;
use super::judge::ActionVerdict;
use super::made_good::is_done_by_name;
use super::objects::{Sought, objects_in};
use super::otherwise::spares;
use crate::facts::{Deed, Execution, Facts, Families};
use crate::prose::{Prose, Tags, Token, TokenKind};

/// So many calls before a claim are looked through.
const MOST_CALLS: usize = 128;
/// What leads to a list has no more words than these: "to these:".
const FEW: usize = 3;
/// Arguments longer than this are content.
const LONGEST: usize = 8 * 1024;

/// The things of a plain enumeration: "a.py, b.py and c.py", "Jonas and Petra". One alone only
/// where it is a person's name, an address, or the id of what was acted on.
pub(super) fn enumerated(prose: &Prose<'_>, range: Range<usize>, acted_on: bool) -> Vec<Object> {
    let mut longest = longest_run(prose, range);
    let lone = |o: &Object| match o.kind {
        ObjectKind::Name | ObjectKind::Email => true,
        ObjectKind::Id => acted_on,
        _ => false,
    };
    if longest.len() < 2 && !longest.first().is_some_and(lone) {
        longest.clear();
    }
    longest
}

/// The most things that stand one behind the other, with nothing between them but what joins.
fn longest_run(prose: &Prose<'_>, range: Range<usize>) -> Vec<Object> {
    let (mut longest, mut run): (Vec<Object>, Vec<Object>) = (Vec::new(), Vec::new());
    let start = range.start;
    for at in range {
        let Some(token) = prose.tokens.get(at) else { break };
        // "I switched from my first choice: Northwind was late": of which something else is told.
        if token.is(':') && at > start + FEW && run.is_empty() {
            break;
        }
        if matches!(token.kind, TokenKind::Symbol('❌' | '✗' | '✘')) {
            run.pop();
            break;
        }
        match thing_at(prose, at).or_else(|| name_at(prose, at)) {
            Some(object) => {
                // "in `a.rs`: E0308": the place is not one of them.
                let apart = |one: &Object| {
                    (one.kind == ObjectKind::Path) != (object.kind == ObjectKind::Path)
                };
                if run.last().is_some_and(apart) {
                    run.clear();
                }
                run.push(object);
            }
            None if joins(token, run.last()) && !token.is('(') => {}
            None => {
                if run.len() > longest.len() {
                    longest = std::mem::take(&mut run);
                }
                run.clear();
            }
        }
    }
    if run.len() > longest.len() { run } else { longest }
}

/// The id, the file or the address that a token is.
fn thing_at(prose: &Prose<'_>, at: usize) -> Option<Object> {
    objects_in(prose, at..at + 1)
        .into_iter()
        .next()
        .filter(|o| matches!(o.kind, ObjectKind::Id | ObjectKind::Path | ObjectKind::Email))
        .filter(|o| !is_version(&o.text))
}

/// The person that a token names. "Tom has been sent it": a capital says nothing at the beginning,
/// what follows does.
fn name_at(prose: &Prose<'_>, at: usize) -> Option<Object> {
    let token = prose.tokens.get(at)?;
    let first = || prose.before_in_sentence(at).iter().all(is_mark);
    let acted = || prose.tokens.get(at + 1).is_some_and(|t| t.has(Tags::HAVE.or(Tags::BE)));
    let named = prose.is_name(token) && (!first() || acted());
    named.then(|| Object { kind: ObjectKind::Name, text: prose.word(token).to_owned() })
}

/// Whether an enumeration goes on over a token.
fn joins(token: &Token, last: Option<&Object>) -> bool {
    is_mark(token)
        || token.has(Tags::COORDINATE.or(Tags::DETERMINER))
        || (token.kind == TokenKind::Word && token.tags.is_empty() && token.verb.is_none())
        // "50 to Mira and 70 to Tom"
        || last.is_some_and(|o| o.kind == ObjectKind::Name)
            && (token.has(Tags::GOAL)
                || matches!(token.kind, TokenKind::Number | TokenKind::Money))
}

/// "v5.6.0": of something that is named elsewhere.
fn is_version(text: &str) -> bool {
    let numbers = text.trim_start_matches(['v', 'V']);
    numbers.contains('.') && numbers.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

fn is_mark(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Symbol(_))
}

/// What speaks against one of the things, where calls were made for the others one by one.
pub(super) fn each(
    facts: &Facts<'_>,
    said: &ActionClaim,
    accepted: Families,
) -> Option<ActionVerdict> {
    if said.listed.is_empty() {
        return None;
    }
    let things: Vec<Thing<'_>> =
        said.listed.iter().map(|thing| (thing, Sought::of(thing))).collect();
    let mut tally = Tally::of(things.len());
    let count = facts.record().count_before(said.claim.turn);
    for nth in (0..count).rev().take(MOST_CALLS) {
        tally.add(facts, &things, accepted, nth);
    }
    let undone = |at: &usize| !is_done_by_name(facts, said, *at);
    let failed = tally.open(facts, &things).find_map(|failed| failed.filter(undone));
    if let Some(nth) = failed {
        return Some(ActionVerdict::Failed(nth));
    }
    let names = things.iter().any(|(thing, _)| thing.kind == ObjectKind::Name);
    let unsure = !tally.single || tally.unknown || names;
    if things.len() < 2 || unsure || tally.open(facts, &things).next().is_none() {
        return None;
    }
    let files = things.iter().all(|(thing, _)| thing.kind == ObjectKind::Path);
    let proven = files && said.direct && facts.is_complete_before(said.claim.turn);
    Some(if proven { ActionVerdict::Absent } else { ActionVerdict::NotCheckable })
}

/// A thing, and how it is looked for in calls.
type Thing<'t> = (&'t Object, Sought<'t>);

/// What calls did to each of several things.
struct Tally<'f> {
    /// The tools that did it to each.
    done: Vec<Vec<&'f str>>,
    /// The last call that failed to, for each.
    failed: Vec<Option<usize>>,
    /// A call did it to one of them alone.
    single: bool,
    /// A call may have done it to any of them.
    unknown: bool,
}

impl<'f> Tally<'f> {
    fn of(things: usize) -> Self {
        Self {
            done: vec![Vec::new(); things],
            failed: vec![None; things],
            single: false,
            unknown: false,
        }
    }

    /// Adds a call, of which all later ones were added before.
    fn add(&mut self, facts: &'f Facts<'_>, things: &[Thing<'_>], accepted: Families, nth: usize) {
        let Some((execution, deed)) = facts.deed(nth) else { return };
        self.unknown |= deed.opaque || deed.delegates;
        if !deed.families.meets(accepted) {
            return;
        }
        let of: Vec<usize> = things
            .iter()
            .enumerate()
            .filter_map(|(at, (thing, sought))| {
                let named = || behind_ids(facts, nth, execution).contains(&thing.text);
                let spoken = speaks_of(execution, deed, thing, sought)
                    || (thing.kind == ObjectKind::Name && named());
                spoken.then_some(at)
            })
            .collect();
        let worked = deed.status_for(accepted).succeeded();
        self.single |= worked && of.len() == 1;
        // A command that wrote to files by a pattern may have done it to any; a commit did not.
        let keeps = deed.families.meets(Families::of(&[Family::Commit, Family::Push]))
            && deed.written.is_empty();
        self.unknown |= worked && of.is_empty() && deed.shell.is_some() && !keeps;
        for at in of {
            let thing = things.get(at).map(|(thing, _)| *thing);
            let file = thing.filter(|thing| thing.kind == ObjectKind::Path && !worked);
            let worked = worked || file.is_some_and(|file| spares(execution, deed, &[file]));
            match (worked, self.done.get_mut(at), self.failed.get_mut(at)) {
                (true, Some(tools), _) => tools.push(&deed.tool),
                (false, _, Some(slot)) => {
                    slot.get_or_insert(nth);
                }
                _ => {}
            }
        }
    }

    /// The things that it was not done to, each with the call that failed to. What one tool did to
    /// others, another one did not do to this: a comment moves no ticket.
    fn open(&self, facts: &Facts<'_>, things: &[Thing<'_>]) -> impl Iterator<Item = Option<usize>> {
        let tool = |at: usize| facts.deed(at).map(|(_, deed)| deed.tool.as_ref());
        let other = move |at: usize, tools: &[&str]| {
            let own = tool(at).unwrap_or_default();
            !tools.contains(&own) && self.done.iter().any(|tools| tools.contains(&own))
        };
        let all = things.iter().zip(&self.done).zip(&self.failed);
        let left = all.filter(move |(((thing, _), tools), failed)| {
            let undone = |at| thing.kind == ObjectKind::Id && other(at, tools);
            tools.is_empty() || failed.is_some_and(undone)
        });
        left.map(|(_, failed)| *failed)
    }
}

/// Whether a call was made for the thing.
fn speaks_of(
    execution: &Execution<'_>,
    deed: &Deed<'_>,
    thing: &Object,
    sought: &Sought<'_>,
) -> bool {
    let arguments = execution.arguments();
    if thing.kind == ObjectKind::Name {
        // A long text that mentions somebody is not sent to them.
        if arguments.len() > LONGEST {
            return false;
        }
        let name = thing.text.to_ascii_lowercase();
        let text = arguments.to_ascii_lowercase();
        return text.match_indices(&name).any(|(at, _)| {
            !text.get(..at).unwrap_or_default().ends_with(|c: char| c.is_ascii_alphanumeric())
        });
    }
    sought.stands_in(arguments) || deed.written.iter().any(|path| sought.stands_in(path))
}
