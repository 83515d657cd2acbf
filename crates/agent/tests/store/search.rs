//! Search: what finds what, and in which order.

use counterfoil_agent::{Found, Store};

use super::note;

const PAGE: &str = include_str!("../../../../spec/agent/memory.md");

/// The lines of the block with this name.
fn block(name: &str) -> impl Iterator<Item = &'static str> {
    let (_, rest) = PAGE.split_once(&format!("```{name}\n")).unwrap();
    rest.split_once("```").unwrap().0.lines()
}

fn corpus() -> Store {
    let store = Store::in_memory().unwrap();
    for text in block("notes") {
        store.save(&note(text), None).unwrap();
    }
    store
}

fn numbers(found: &[Found]) -> Vec<i64> {
    found.iter().map(|found| found.kept.id.0).collect()
}

#[test]
fn queries_find_notes() {
    let store = corpus();
    let cases = block("cases").map(|line| {
        let (query, found) = line.split_once(" → ").unwrap();
        let found: Vec<i64> = found.split(' ').filter_map(|place| place.parse().ok()).collect();
        (query, found)
    });
    for (query, expected) in cases {
        assert_eq!(numbers(&store.search(query, None, 5).unwrap()), expected, "{query}");
    }
}

#[test]
fn no_query_is_a_syntax_error() {
    let store = corpus();
    let long = "word \"quoted ".repeat(5_000);
    let one_word = "x".repeat(100_000);
    let many: String = (0..5_000).map(|number| format!("w{number} OR ")).collect();
    let hostile = [
        "",
        " ",
        "\t\r\n",
        "it's",
        "a AND",
        "AND",
        "OR",
        "NOT",
        "a NOT",
        "NOT a",
        "a OR",
        "AND AND",
        "-x",
        "--",
        "-",
        "+",
        "\"",
        "\"\"",
        "\"\"\"",
        "\"a",
        "a\"",
        "a\"b",
        "\"a\" \"",
        "'",
        "''",
        "NEAR(",
        "NEAR(a b",
        "NEAR(a b, 2)",
        "NEAR(a, -1)",
        "NEAR",
        "*",
        "**",
        "a*",
        "*a",
        "a *",
        "^",
        "^a",
        "a^",
        ":",
        "text:",
        "text: a",
        "text : a",
        "-text : a",
        "{text} : a",
        "{",
        "}",
        "(",
        ")",
        "()",
        "(a",
        "a)",
        "((((((((((",
        "a + b",
        "a , b",
        ",",
        ";",
        "; DROP TABLE notes",
        "\\",
        "\\\"",
        "%",
        "_",
        "?1",
        "@a",
        "$a",
        "#",
        "[a]",
        "a\0b",
        "\0",
        "\"\0",
        "\u{feff}",
        "\u{202e}abc",
        "e\u{301}\u{301}\u{301}",
        "\u{301}\u{301}\u{301}",
        "\u{200d}\u{200d}\u{200d}",
        "北",
        "北京",
        "北京烤鸭",
        "我喜欢北京烤鸭\u{3002}",
        "🎉",
        "🎉🎉🎉",
        "👨\u{200d}👩\u{200d}👧",
        "العربية",
        "हिन्दी",
        "ไทย",
        "한국어",
        "ﬁ",
        "ß",
        "İ",
        "ΟΔΟΣ",
        "\u{10ffff}\u{10ffff}\u{10ffff}",
        "rank",
        "note_words",
        "rowid",
        "<script>",
        "{{a}}",
        "${a}",
        "`a`",
        "a\u{7f}b",
        &long,
        &one_word,
        &many,
    ];
    for query in hostile {
        let found = store.search(query, Some(&[1.0, 0.0]), 5);
        let shown: String = query.chars().take(40).collect();
        assert!(found.is_ok(), "{shown:?}: {found:?}");
    }
    // Every one of them can be remembered and, where it has a word, found.
    for query in hostile.into_iter().filter(|query| query.len() < 1000 && !query.trim().is_empty())
    {
        store.save(&note(query), None).unwrap();
        store.search(query, None, 5).unwrap();
    }
}

#[test]
fn notes_that_say_something_else_are_not_found() {
    let store = Store::in_memory().unwrap();
    store.save(&note("tea"), Some(&[1.0, 0.0])).unwrap();
    store.save(&note("teapot"), Some(&[0.9, 0.1])).unwrap();
    store.save(&note("coffee"), Some(&[-1.0, 0.0])).unwrap();
    store.save(&note("something else"), Some(&[1.0, 0.0, 0.0])).unwrap();
    store.save(&note("nothing"), Some(&[0.0, 0.0])).unwrap();
    assert_eq!(numbers(&store.search("tea", Some(&[2.0, 0.0]), 5).unwrap()), [1, 2]);
}

#[test]
fn rankings_are_fused() {
    let store = Store::in_memory().unwrap();
    let notes: [(&str, [f32; 2]); 5] = [
        ("the server restarts at night", [1.0, 0.0]),
        ("a server is a machine", [0.0, 1.0]),
        ("the host is rebooted at night", [1.0, 0.1]),
        ("dogs bark at night", [-1.0, 0.2]),
        ("servers restart when they are updated", [1.0, 0.3]),
    ];
    for (text, vector) in notes {
        store.save(&note(text), Some(&vector)).unwrap();
    }
    let cases: [(&str, Option<&[f32]>, &[i64]); 5] = [
        // By words the first note has both; by trigrams the fifth has parts of them.
        ("server restarts", None, &[1, 2, 5]),
        ("server restarts", Some(&[1.0, 0.02]), &[1, 2, 5, 3]),
        ("", Some(&[1.0, 0.02]), &[1, 3, 5, 2]),
        ("", Some(&[1.0, 0.02, 0.0]), &[]),
        ("night", Some(&[0.0, 1.0]), &[4, 3, 1, 2, 5]),
    ];
    for (query, vector, expected) in cases {
        let found = store.search(query, vector, 9).unwrap();
        assert_eq!(numbers(&found), expected, "{query} {vector:?} {found:#?}");
        let best = numbers(&store.search(query, vector, 1).unwrap());
        assert_eq!(best, expected.iter().copied().take(1).collect::<Vec<_>>(), "{query}");
    }
    assert_eq!(store.search("server", None, 0).unwrap(), []);
}
