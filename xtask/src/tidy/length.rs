//! Limits the length of Rust files.

use anyhow::Result;

use super::complaint::Complaint;
use super::house::House;

/// The maximum number of lines in a Rust file, excluding tests.
const LONGEST: usize = 600;

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let too_long = |(path, text): (&str, &str)| {
        let counted = path.ends_with(".rs") && !path.contains("/tests/");
        let lines = if counted { lines(text) } else { 0 };
        (lines > LONGEST).then(|| {
            Complaint::new(
                path,
                0,
                format!("the file has {lines} lines, {LONGEST} are the most"),
                "split it by idea; `#[cfg(test)]` modules do not count",
            )
        })
    };
    Ok(house.texts().filter_map(too_long).collect())
}

/// Returns the number of lines outside `#[cfg(test)] mod … { … }`.
fn lines(text: &str) -> usize {
    let mut count = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let tests = line == "#[cfg(test)]"
            && lines.peek().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'));
        if tests {
            // rustfmt puts the closing brace of a top-level module at the start of a line.
            lines.by_ref().find(|line| *line == "}");
        } else {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_do_not_count() {
        let cases = [
            ("one\ntwo\n", 2),
            ("one\n\n#[cfg(test)]\nmod tests {\n    fn f() {\n    }\n}\nlast\n", 3),
            ("#[cfg(test)]\nmod tests;\nlast\n", 3),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text), expected, "{text}");
        }
    }

    #[test]
    fn the_limit_is_kept() {
        let (long, longer) = ("x\n".repeat(LONGEST), "x\n".repeat(LONGEST + 1));
        let house = House::with_files(&[
            ("a.rs", &long),
            ("b.rs", &longer),
            ("b.md", &longer),
            ("crates/a/tests/it/c.rs", &longer),
        ]);
        let found: Vec<String> = check(&house).unwrap().into_iter().map(|c| c.path).collect();
        assert_eq!(found, ["b.rs"]);
    }
}
