//! What a session has spoken of before an answer.

use rustc_hash::FxHashSet;

use super::lexis::{class, is_same_thing};
use super::stem::stem;
use crate::facts::Facts;
use crate::values::Source;

/// So many bytes before an answer are looked at.
const REACH: usize = 64 * 1024;
/// And so many calls.
const MOST_CALLS: usize = 64;

/// The stems of the words of a session.
#[derive(Debug)]
pub(super) struct Session {
    /// Those of calls and results, and of what the tools that were called are for.
    recorded: FxHashSet<String>,
    /// Those of the user, the operator, the documents that were given.
    told: FxHashSet<String>,
}

impl Session {
    pub(super) fn before(facts: &Facts<'_>, turn: usize) -> Self {
        let [mut recorded, mut told] =
            [const { FxHashSet::with_hasher(rustc_hash::FxBuildHasher) }; 2];
        for given in facts.given().near(turn, REACH) {
            let words = match given.source {
                Source::Told => &mut told,
                Source::Result(_) | Source::Argument(_) => &mut recorded,
            };
            words.extend(stems(given.text));
        }
        for (execution, _) in facts.deeds_before(turn).take(MOST_CALLS) {
            recorded.extend(execution.call.into_iter().flat_map(|c| stems(c.arguments.as_str())));
        }
        let count = facts.record().count_before(turn);
        let used = facts.first_uses().iter().take_while(|at| **at < count);
        for (execution, _) in used.filter_map(|at| facts.deed(*at)) {
            recorded.extend(stems(execution.tool()));
            if let Some(tool) = facts.transcript().catalog.get(execution.tool()) {
                recorded.extend(stems(&tool.description));
            }
        }
        Self { recorded, told }
    }

    /// Whether calls, results or the tools called speak of it.
    pub(super) fn has_recorded(&self, stem: &str) -> bool {
        self.recorded.contains(stem)
    }

    /// The same of the thing by any of its names.
    pub(super) fn has_recorded_thing(&self, stem: &str) -> bool {
        self.has_recorded(stem)
            || class(stem).is_some() && self.recorded.iter().any(|word| is_same_thing(word, stem))
    }

    /// All of them.
    pub(super) fn words(&self) -> impl Iterator<Item = &String> {
        self.recorded.iter().chain(&self.told)
    }

    /// Whether the user or the operator speaks of it.
    pub(super) fn was_told(&self, stem: &str) -> bool {
        self.told.contains(stem)
    }
}

/// The stems of the words of a text; those of names in code, too.
pub(super) fn stems(text: &str) -> impl Iterator<Item = String> {
    parts(text).map(stem)
}

/// The words of a text, those of names in code one by one.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.flat_map(|run| {
        let mut rest = run;
        std::iter::from_fn(move || {
            let mut small = false;
            let begins =
                |c: char| std::mem::replace(&mut small, c.is_lowercase()) && c.is_uppercase();
            let cut = rest.find(begins).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(cut);
            rest = behind;
            (!part.is_empty()).then_some(part)
        })
    })
}
