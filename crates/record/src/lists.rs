//! Lists of names. The names themselves are data: `lexicon/lists.txt`.

use std::sync::LazyLock;

static TEXT: &str = include_str!("../lexicon/lists.txt");

macro_rules! lists {
    ($($name:ident = $list:literal;)*) => {
        $(pub(crate) static $name: LazyLock<Vec<&str>> = LazyLock::new(|| read($list));)*

        #[cfg(test)]
        static ALL: &[(&str, &LazyLock<Vec<&str>>)] = &[$(($list, &$name)),*];
    };
}

lists! {
    PATHS = "paths";
    EDITORS = "editors";
    PARTS = "parts";
    DOCUMENTS = "documents";
    SHELLS = "shells";
    TYPE_CHECKERS = "type-checkers";
    OUTCOMES = "outcomes";
    REASONS = "reasons";
    HTTP_ERRORS = "http-errors";
    BAD_STATES = "bad-states";
    MONTHS = "months";
}

/// Whether this word in the name of a tool says that it runs command lines.
#[must_use]
pub fn names_shell(word: &str) -> bool {
    SHELLS.contains(&word)
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": "))
}

fn read(list: &str) -> Vec<&'static str> {
    let items = lines().find(|(name, _)| *name == list).map_or("", |(_, items)| items);
    items.split(',').map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_read_and_every_line_is_a_list() {
        let names: Vec<&str> = lines().map(|(name, _)| name).collect();
        assert_eq!(names, ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (name, items) in ALL {
            assert!(items.len() > 6 && items.iter().all(|item| !item.is_empty()), "{name}");
        }
    }
}
