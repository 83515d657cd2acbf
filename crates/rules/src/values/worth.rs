//! What an amount of an answer may stand for: the figures beside it, and what the results hold of
//! the things that are named beside it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::derived::Sources;
use super::entity::Entity;
use super::figure::Figure;
use super::given::Given;
use super::stated::{Stated, StatedKind};

/// So many ways to choose among several numbers of one thing are tried.
const CHOICES: usize = 16;
/// So many things of one message are looked up.
const THINGS: usize = 24;

/// The things that one answer names, with their numbers.
#[derive(Debug)]
pub(crate) struct Named {
    /// By token, in order of mention.
    things: Vec<(usize, Rc<Entity>)>,
}

impl Named {
    pub(crate) fn of(given: &Given<'_>, stated: &[Stated<'_>]) -> Self {
        let ids = stated.iter().filter(|s| s.kind == StatedKind::Id);
        let mut seen: Vec<&str> = Vec::new();
        let mut things = Vec::new();
        for id in ids {
            if seen.len() < THINGS && !seen.contains(&id.text) {
                seen.push(id.text);
                things.push((id.token, given.entity(id.text, id.turn)));
            }
        }
        Self { things }
    }

    /// The thing named last before a token, else the first one.
    pub(crate) fn before(&self, token: usize) -> Option<&Entity> {
        let at = self.things.partition_point(|(at, _)| *at < token);
        self.things.get(at.saturating_sub(1)).map(|(_, entity)| &**entity)
    }

    /// Every number of the things.
    pub(crate) fn figures(&self) -> impl Iterator<Item = Figure> {
        self.things.iter().flat_map(|(_, entity)| {
            let lists = entity.lists.iter().map(|(_, list)| list);
            entity.own.values().chain(lists).flatten().copied()
        })
    }

    /// Adds the numbers of the things to what an amount may be worked out from.
    pub(crate) fn add_to(&self, sources: Sources) -> Sources {
        let Sources { mut rows, shares } = sources;
        let mut by_name: BTreeMap<&str, Vec<&[Figure]>> = BTreeMap::new();
        for (_, entity) in &self.things {
            for (name, figures) in &entity.own {
                by_name.entry(name).or_default().push(figures);
            }
            rows.extend(entity.lists.iter().map(|(_, list)| list.clone()));
        }
        for column in by_name.values() {
            let choices: usize = column.iter().map(|c| c.len().max(1)).product();
            for choice in 0..choices.min(CHOICES) {
                let mut rest = choice;
                let pick = |figures: &&[Figure]| {
                    let count = figures.len().max(1);
                    let at = rest % count;
                    rest /= count;
                    figures.get(at).copied()
                };
                rows.push(column.iter().filter_map(pick).collect());
            }
        }
        rows.truncate(64);
        Sources { rows, shares }
    }
}

/// Whether one amount looks like the other miswritten: as long, with one or two digits changed.
pub(crate) fn is_misquoted(stated: Figure, held: Figure) -> bool {
    let (a, b) = (stated.0.to_string(), held.0.to_string());
    let changed = a.bytes().zip(b.bytes()).filter(|(a, b)| a != b).count();
    let digits = a.trim_end_matches('0').len();
    a.len() == b.len() && changed > 0 && changed <= 2 && digits >= 5
}
