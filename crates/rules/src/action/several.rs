//! Compares several objects that a claim says were acted on with the calls for each of them.

use super::objects::Sought;
use super::search::Search;

/// The maximum number of calls before a claim that are searched.
const MOST_CALLS: usize = 128;

/// Finds a call that failed for one of the objects, if no call succeeded for that object, or only
/// calls of other tools did.
pub(super) fn failed_of_several(search: &Search<'_, '_>) -> Option<usize> {
    let (facts, claimed) = (search.facts, search.claimed);
    if claimed.listed.len() < 2 || claimed.past {
        return None;
    }
    let things: Vec<Sought<'_>> = claimed.listed.iter().map(Sought::new).collect();
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
            let of_it = thing.occurs_in(execution.arguments())
                || deed.written.iter().any(|path| thing.occurs_in(path));
            // The output of a command line with several parts shows which part failed.
            let is_shown = deed.shell.is_none() || thing.occurs_in(execution.text());
            match works {
                true if of_it => done.push(deed.tool.as_ref()),
                false if of_it && is_shown => *failed = failed.or(Some((at, deed.tool.as_ref()))),
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
