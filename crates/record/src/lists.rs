//! Lists of names. The names themselves are data: `lexicon/lists.txt`.

use std::sync::LazyLock;

static TEXT: &str = include_str!("../lexicon/lists.txt");

macro_rules! lists {
    ($($name:ident)*) => {
        $(pub(crate) static $name: LazyLock<Vec<&str>> =
            LazyLock::new(|| read(stringify!($name)));)*

        #[cfg(test)]
        static ALL: &[(&str, &LazyLock<Vec<&str>>)] = &[$((stringify!($name), &$name)),*];
    };
}

lists! {
    PATHS EDITORS PARTS DOCUMENTS SHELLS TYPE_CHECKERS OUTCOMES REASONS HTTP_ERRORS
    BAD_STATES MONTHS
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
