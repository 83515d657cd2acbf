//! Sets of words for one purpose each. The words themselves are data: `lexicon/sets.txt`.

use std::sync::LazyLock;

use super::words::Words;

static TEXT: &str = include_str!("../../lexicon/sets.txt");

macro_rules! sets {
    ($($name:ident)*) => {
        $(pub(crate) static $name: LazyLock<Words> = LazyLock::new(|| read(stringify!($name)));)*

        #[cfg(test)]
        static ALL: &[(&str, &LazyLock<Words>)] = &[$((stringify!($name), &$name)),*];
    };
}

sets! {
    OF_SOME CHANGEABLE CHANGES_OR_RUNS WHOLE NOT_DONE GAVE GIVES LIMITS_A_CALL OF_CODE
    EXISTS SMALL_MESSAGES RUNS_COMMANDS SCREEN_ACTS INSTRUCTED_BY KINDS_OF_CHECKS SHORTENED
    FINISHED LETTING WILLING IN_GENERAL READING_TOOLS NAMES_THINGS SINGLE_CHECKS ANY_CHECK
    OWN_NOTES RESULT_HEADS SUMMARY_HEADS TRAFFIC_SIGNS HANDLES_ERRORS ASKS_FOR_DATA
    TESTS_REPORT CHECKS_REPORT CHANGES_A_TEXT KEPT_IN_FILES AS_A_RULE PLACED_ORDERS
    NOT_EXACT NOTHING_DONE COUNTS_CHANGES REFUSING_STATES COUNTS_TESTS COUNTS_OTHERS
    NOT_OF_ALL LAYERS MAY_CHECK MEANS SPANS FILE_EXTENSIONS FINDS SAYS_TO INERT_PROGRAMS
    LEADS_TO_MEANS SPELLED_NUMBERS AROUND_EVERYTHING KINDS_OF_TESTS AFTER_A_CHECK
    BETWEEN_TOOL_AND_ID AFTER_A_VERDICT NORMS DRAFTS TEXTS WAYS_OF_PRINT PARTS_OF_AN_ANSWER
    MEMBERS_OF_CALLS MEMBERS_OF_RESULTS WORDS_OF_SEVERAL_LANGUAGES CUT_BEFORE_AN_APOSTROPHE
    HARNESS INNER_ARGUMENTS WRITTEN_PATHS WRITTEN_CONTENTS LEFT_OUT USUAL_PRACTICE PRONOUNS
    SAYS PASSED USER_PASSED USER_CHECKS FORMATTERS TYPE_CHECKERS COMMON_NAMES RAISED
    ANNOUNCED REPEATS_A_RESULT BESIDE_A_RESULT DEFINES_A_TOOL RESULT_TAGS CALL_TAGS
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": "))
}

/// Reads a set once; it is kept for the life of the process.
fn read(set: &str) -> Words {
    let words = lines().find(|(name, _)| *name == set).map_or("", |(_, words)| words);
    let list: Vec<&'static str> = words.split(',').map(str::trim).collect();
    Words::new(Box::leak(list.into_boxed_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_is_read_and_every_line_is_a_set() {
        let names: Vec<&str> = lines().map(|(name, _)| name).collect();
        assert_eq!(names, ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (name, words) in ALL {
            assert!(words.list.len() > 1, "{name}");
            assert!(words.list.iter().all(|word| !word.is_empty()), "{name}");
        }
    }
}
