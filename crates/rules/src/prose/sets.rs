//! Sets of words for one purpose each. The words themselves are data: `lexicon/sets.txt`.

use std::sync::LazyLock;

use super::words::Words;

static TEXT: &str = include_str!("../../lexicon/sets.txt");

macro_rules! sets {
    ($($name:ident = $set:literal;)*) => {
        $(pub(crate) static $name: LazyLock<Words> = LazyLock::new(|| read($set));)*

        #[cfg(test)]
        static ALL: &[(&str, &LazyLock<Words>)] = &[$(($set, &$name)),*];
    };
}

sets! {
    OF_SOME = "of-some";
    CHANGEABLE = "changeable";
    CHANGES_OR_RUNS = "changes-or-runs";
    WHOLE = "whole";
    NOT_DONE = "not-done";
    GAVE = "gave";
    GIVES = "gives";
    LIMITS_A_CALL = "limits-a-call";
    OF_CODE = "of-code";
    EXISTS = "exists";
    SMALL_MESSAGES = "small-messages";
    RUNS_COMMANDS = "runs-commands";
    SCREEN_ACTS = "screen-acts";
    ASKED_BY = "asked-by";
    KINDS_OF_CHECKS = "kinds-of-checks";
    SHORTENED = "shortened";
    FINISHED = "finished";
    LETTING = "letting";
    WILLING = "willing";
    IN_GENERAL = "in-general";
    READING_TOOLS = "reading-tools";
    NAMES_THINGS = "names-things";
    SINGLE_CHECKS = "single-checks";
    ANY_CHECK = "any-check";
    OWN_NOTES = "own-notes";
    RESULT_HEADS = "result-heads";
    SUMMARY_HEADS = "summary-heads";
    TRAFFIC_SIGNS = "traffic-signs";
    HANDLES_ERRORS = "handles-errors";
    ASKS_FOR_DATA = "asks-for-data";
    TESTS_REPORT = "tests-report";
    CHECKS_REPORT = "checks-report";
    CHANGES_A_TEXT = "changes-a-text";
    KEPT_IN_FILES = "kept-in-files";
    AS_A_RULE = "as-a-rule";
    PLACED_ORDERS = "placed-orders";
    NOT_EXACT = "not-exact";
    NOTHING_DONE = "nothing-done";
    COUNTS_CHANGES = "counts-changes";
    REFUSING_STATES = "refusing-states";
    COUNTS_TESTS = "counts-tests";
    COUNTS_OTHERS = "counts-others";
    NOT_OF_ALL = "not-of-all";
    LAYERS = "layers";
    MAY_CHECK = "may-check";
    MEANS = "means";
    SPANS = "spans";
    FILE_EXTENSIONS = "file-extensions";
    FINDS = "finds";
    SAYS_TO = "says-to";
    INERT_PROGRAMS = "inert-programs";
    LEADS_TO_MEANS = "leads-to-means";
    SPELLED_NUMBERS = "spelled-numbers";
    AROUND_EVERYTHING = "around-everything";
    KINDS_OF_TESTS = "kinds-of-tests";
    BEHIND_A_CHECK = "behind-a-check";
    BETWEEN_TOOL_AND_ID = "between-tool-and-id";
    BEHIND_A_VERDICT = "behind-a-verdict";
    NORMS = "norms";
    DRAFTS = "drafts";
    TEXTS = "texts";
    WAYS_OF_PRINT = "ways-of-print";
    PARTS_OF_AN_ANSWER = "parts-of-an-answer";
    MEMBERS_OF_CALLS = "members-of-calls";
    MEMBERS_OF_RESULTS = "members-of-results";
    WORDS_OF_SEVERAL_LANGUAGES = "words-of-several-languages";
    CUT_BEFORE_AN_APOSTROPHE = "cut-before-an-apostrophe";
    HARNESS = "harness";
    INNER_ARGUMENTS = "inner-arguments";
    WRITTEN_PATHS = "written-paths";
    WRITTEN_CONTENTS = "written-contents";
    LEFT_OUT = "left-out";
    USUAL_PRACTICE = "usual-practice";
    PRONOUNS = "pronouns";
    SAYS = "says";
    PASSED = "passed";
    USER_PASSED = "user-passed";
    USER_CHECKS = "user-checks";
    FORMATTERS = "formatters";
    TYPE_CHECKERS = "type-checkers";
    COMMON_NAMES = "common-names";
    RAISED = "raised";
    ANNOUNCED = "announced";
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
