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
    let (mut longest, mut run): (Vec<Object>, Vec<Object>) = (Vec::new(), Vec::new());
    let first = |at: usize| prose.before_in_sentence(at).iter().all(is_mark);
    let start = range.start;
    for at in range {
        let Some(token) = prose.tokens.get(at) else { break };
        // "I switched from my first choice: Northwind was late": of which something else is told.
        if token.is(':') && at > start + FEW && run.is_empty() {
            break;
        }
        let known = objects_in(prose, at..at + 1)
            .into_iter()
            .next()
            .filter(|o| matches!(o.kind, ObjectKind::Id | ObjectKind::Path | ObjectKind::Email))
            .filter(|o| !is_version(&o.text));
        // "Tom has been sent it": a capital says nothing at the beginning, what follows does.
        let acted =
            |at: usize| prose.tokens.get(at + 1).is_some_and(|t| t.has(Tags::HAVE.or(Tags::BE)));
        let name = || {
            let named = prose.is_name(token) && (!first(at) || acted(at));
            named.then(|| Object { kind: ObjectKind::Name, text: prose.word(token).to_owned() })
        };
        let joins = is_mark(token)
            || token.has(Tags::COORDINATE.or(Tags::DETERMINER))
            || (token.kind == TokenKind::Word && token.tags.is_empty() && token.verb.is_none())
            // "50 to Mira and 70 to Tom"
            || run.last().is_some_and(|o: &Object| o.kind == ObjectKind::Name)
                && (token.has(Tags::GOAL)
                    || matches!(token.kind, TokenKind::Number | TokenKind::Money));
        if matches!(token.kind, TokenKind::Symbol('❌' | '✗' | '✘')) {
            run.pop();
            break;
        }
        match known.or_else(name) {
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
            None if joins && !token.is('(') => {}
            None => {
                if run.len() > longest.len() {
                    longest = std::mem::take(&mut run);
                }
                run.clear();
            }
        }
    }
    if run.len() > longest.len() {
        longest = run;
    }
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
    let things = &said.listed;
    let mut done: Vec<Vec<&str>> = vec![Vec::new(); things.len()];
    let mut failed: Vec<Option<usize>> = vec![None; things.len()];
    let (mut single, mut unknown) = (false, false);
    if things.is_empty() {
        return None;
    }
    let things: Vec<(&Object, Sought<'_>)> =
        things.iter().map(|thing| (thing, Sought::of(thing))).collect();
    let count = facts.record().count_before(said.claim.turn);
    for nth in (0..count).rev().take(MOST_CALLS) {
        let Some((execution, deed)) = facts.deed(nth) else { continue };
        unknown |= deed.opaque || deed.delegates;
        if !deed.families.meets(accepted) {
            continue;
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
        single |= worked && of.len() == 1;
        // A command that wrote to files by a pattern may have done it to any; a commit did not.
        let keeps = deed.families.meets(Families::of(&[Family::Commit, Family::Push]))
            && deed.written.is_empty();
        unknown |= worked && of.is_empty() && deed.shell.is_some() && !keeps;
        for at in of {
            let thing = things.get(at).map(|(thing, _)| *thing);
            let file = thing.filter(|thing| thing.kind == ObjectKind::Path && !worked);
            let worked = worked || file.is_some_and(|file| spares(execution, deed, &[file]));
            match (worked, done.get_mut(at), failed.get_mut(at)) {
                (true, Some(tools), _) => tools.push(&deed.tool),
                (false, _, Some(slot)) => {
                    slot.get_or_insert(nth);
                }
                _ => {}
            }
        }
    }
    // What one tool did to others, another one did not do to this: a comment moves no ticket.
    let tool = |at: usize| facts.deed(at).map(|(_, deed)| deed.tool.as_ref());
    let other = |at: usize, tools: &[&str]| {
        let own = tool(at).unwrap_or_default();
        !tools.contains(&own) && done.iter().any(|tools| tools.contains(&own))
    };
    let open = || {
        let all = things.iter().zip(&done).zip(&failed);
        let left = all.filter(|(((thing, _), tools), failed)| {
            let undone = |at| thing.kind == ObjectKind::Id && other(at, tools);
            tools.is_empty() || failed.is_some_and(undone)
        });
        left.map(|((_, tools), failed)| (tools, failed))
    };
    let undone = |at: &usize| !is_done_by_name(facts, said, *at);
    if let Some(nth) = open().find_map(|(_, failed)| failed.filter(undone)) {
        return Some(ActionVerdict::Failed(nth));
    }
    let names = things.iter().any(|(thing, _)| thing.kind == ObjectKind::Name);
    if things.len() < 2 || !single || unknown || names || open().next().is_none() {
        return None;
    }
    let files = things.iter().all(|(thing, _)| thing.kind == ObjectKind::Path);
    let proven = files && said.direct && facts.is_complete_before(said.claim.turn);
    Some(if proven { ActionVerdict::Absent } else { ActionVerdict::NotCheckable })
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
