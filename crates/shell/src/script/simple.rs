use super::command::{Destination, Word, WordKind};
use super::doubt::{constant, ends_the_script};
use super::state::Surroundings;
use super::tree::{AndOr, Compound, List, Node, Pipeline};

/// Where the standard output of each pipeline stage goes.
pub(super) fn stage_outputs(stages: &[Node], last: Destination) -> Vec<Destination> {
    let mut outputs = Vec::with_capacity(stages.len());
    let mut to = last;
    for stage in stages.iter().rev() {
        outputs.push(to);
        let Node::Simple(parts) = stage else {
            to = filtered(to);
            continue;
        };
        let around = Surroundings { stdout: to, ..Surroundings::of_script() };
        to = parts.outputs(&around).0;
        let whole = matches!(parts.name.as_ref().and_then(Word::literal), Some("tee" | "cat"));
        if !whole {
            to = filtered(to);
        }
    }
    outputs.reverse();
    outputs
}

fn filtered(to: Destination) -> Destination {
    if to == Destination::Shown { Destination::Filtered } else { to }
}

/// Whether this list only ends the script with the status of the previous command.
pub(super) fn ends_with_last_status(list: &AndOr) -> bool {
    list.rest.is_empty()
        && only_words(&list.first)
            .is_some_and(|words| matches!(words.as_slice(), ["exit"] | ["exit" | "return", "$?"]))
}

/// Whether this pipeline always fails, so that `… || it` does not hide a failure.
pub(super) fn surely_fails(pipeline: &Pipeline) -> bool {
    if pipeline.negated {
        return false;
    }
    if let [Node::Compound(Compound::Group(list), _)] = pipeline.stages.as_slice() {
        return list.0.last().is_some_and(|item| {
            item.pipelines.rest.is_empty() && surely_fails(&item.pipelines.first)
        });
    }
    only_words(pipeline).is_some_and(|words| match words.as_slice() {
        ["false"] => true,
        ["exit" | "return", code] => code.parse::<u8>().is_ok_and(|code| code != 0),
        _ => false,
    })
}

/// Whether nothing after this list can start.
pub(super) fn ends_here(list: &AndOr) -> bool {
    list.rest.is_empty() && only_words(&list.first).is_some_and(|words| ends_the_script(&words))
}

/// The fixed result of this pipeline; `None` if it is not known.
pub(super) fn always(pipeline: &Pipeline) -> Option<bool> {
    only_words(pipeline).and_then(|words| constant(&words))
}

/// The fixed result of a condition; `None` if it is not known.
pub(super) fn always_of(condition: &List) -> Option<bool> {
    match condition.0.as_slice() {
        [only] if only.pipelines.rest.is_empty() => always(&only.pipelines.first),
        _ => None,
    }
}

/// The words of a pipeline that is a single simple command without assignments.
fn only_words(pipeline: &Pipeline) -> Option<Vec<&str>> {
    let [Node::Simple(parts)] = pipeline.stages.as_slice() else { return None };
    if pipeline.negated || !parts.assignments.is_empty() || !parts.found.processes.is_empty() {
        return None;
    }
    // A literal `$` would look like an expansion.
    let plain = |word: &Word| word.kind != WordKind::Literal || !word.text.contains('$');
    let words = || parts.name.iter().chain(&parts.args);
    (parts.name.is_some() && words().all(plain)).then(|| words().map(|w| w.text.as_str()).collect())
}
