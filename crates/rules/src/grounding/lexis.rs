//! Words that name one thing in the worlds of tools.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::stem::stem;
use crate::prose::{Lexicon, Tags, sets};

static CLASSES: LazyLock<FxHashMap<String, usize>> = LazyLock::new(|| {
    let mut classes = FxHashMap::default();
    for (nth, class) in sets::SAME_THINGS.list.iter().enumerate() {
        for word in class.split(' ') {
            classes.entry(stem(word)).or_insert(nth);
        }
    }
    classes
});

/// Whether two stems name one thing: "nudge" and "reminder".
pub(super) fn is_same_thing(one: &str, other: &str) -> bool {
    one == other || class(one).is_some_and(|own| class(other) == Some(own))
}

fn class(stem: &str) -> Option<usize> {
    CLASSES.get(stem).copied()
}

/// Words that tell nothing of what a tool is for.
pub(super) fn is_small(word: &str) -> bool {
    let small = Tags::PREPOSITION.or(Tags::ADVERB).or(Tags::PARTICLE).or(Tags::NOW);
    let entry = || Lexicon::english().get(word);
    word.len() < 3
        || sets::SMALL_WORDS.list.contains(&word)
        || entry().is_some_and(|entry| entry.tags.any(small))
}
