//! Compares several objects that a claim says were acted on with the calls for each of them.

use std::ops::Range;

use counterfoil_model::{Object, ObjectKind};

use super::judge::args;
use super::objects::{Sought, objects_in};
use super::search::Search;
use crate::prose::{Prose, Tags, Token, TokenKind};

/// The maximum number of calls before a claim that are searched.
const MOST_CALLS: usize = 128;

/// The longest enumeration of ids, files and addresses: "a.py, b.py and c.py".
pub(super) fn enumerated(prose: &Prose<'_>, range: Range<usize>) -> Vec<Object> {
    let (mut longest, mut run): (Vec<Object>, Vec<Object>) = (Vec::new(), Vec::new());
    for at in range {
        let Some(token) = prose.tokens.get(at) else { break };
        match thing_at(prose, at) {
            Some(object) => run.push(object),
            None if joins(token) => {}
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

/// The id, file or address that a token is. Versions do not count.
fn thing_at(prose: &Prose<'_>, at: usize) -> Option<Object> {
    let version = |text: &str| {
        let numbers = text.trim_start_matches(['v', 'V']);
        numbers.contains('.') && numbers.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    objects_in(prose, at..at + 1)
        .into_iter()
        .next()
        .filter(|o| matches!(o.kind, ObjectKind::Id | ObjectKind::Path | ObjectKind::Email))
        .filter(|o| !version(&o.text))
}

/// Whether a token may connect two items of an enumeration.
fn joins(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Symbol(_))
        || token.has(Tags::COORDINATE.or(Tags::DETERMINER))
        || (token.kind == TokenKind::Word && token.tags.is_empty() && token.verb.is_none())
}

/// Finds a call that failed for one of the objects, if no call succeeded for that object, or only
/// calls of other tools did.
pub(super) fn failed_of_several(search: &Search<'_, '_>) -> Option<usize> {
    let (facts, said) = (search.facts, search.said);
    if said.listed.len() < 2 || said.past {
        return None;
    }
    let things: Vec<Sought<'_>> = said.listed.iter().map(Sought::of).collect();
    let mut done: Vec<Vec<&str>> = vec![Vec::new(); things.len()];
    let mut failed: Vec<Option<(usize, &str)>> = vec![None; things.len()];
    for at in (0..search.count()).rev().take(MOST_CALLS) {
        let (execution, deed) = facts.deed(at)?;
        let works = deed.status_for(search.accepted).succeeded();
        if works && deed.shell.as_ref().is_some_and(|work| work.opaque || work.writes_unnamed) {
            return None;
        }
        if !deed.families.meets(search.accepted) {
            continue;
        }
        for ((thing, done), failed) in things.iter().zip(&mut done).zip(&mut failed) {
            let of_it = thing.stands_in(args(execution))
                || deed.written.iter().any(|path| thing.stands_in(path));
            // The output of a command line with several parts shows which part failed.
            let told = deed.shell.is_none() || thing.stands_in(execution.text());
            match works {
                true if of_it => done.push(deed.tool.as_ref()),
                false if of_it && told => *failed = failed.or(Some((at, deed.tool.as_ref()))),
                _ => {}
            }
        }
    }
    let by_others = |tool: &str| done.iter().any(|tools| tools.contains(&tool));
    let open = done.iter().zip(&failed).find_map(|(tools, failed)| {
        failed.filter(|(_, tool)| tools.is_empty() || !tools.contains(tool) && by_others(tool))
    });
    open.map(|(at, _)| at)
}
