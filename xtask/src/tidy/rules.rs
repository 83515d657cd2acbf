//! Checks that every rule has one file, one line in its table, and one page with cases that run.

use std::collections::BTreeMap;

use anyhow::Result;
use counterfoil_rules::rules;

use super::complaint::Complaint;
use super::house::House;

/// The folders of rules, each with the file that has its table. Rules that differ only in their
/// metadata are rows of a table in one file: call rules, and rules about citations.
const FOLDERS: [(&str, &str); 1] = [("crates/rules/src/claims", "crates/rules/src/claims/mod.rs")];

const HEADINGS: [&str; 7] = [
    "What it finds",
    "Why it matters",
    "Example",
    "What it leaves alone",
    "Evidence needed",
    "References",
    "Cases",
];

/// Rules that may lack cases of some kind, and why.
const EXCUSED: [(&str, &str, &str); 1] = [(
    "SUSPICIOUS_LENGTH",
    "violating",
    "a text of more than 10,000 characters has no place on a page; it is tested in the crate",
)];

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let metas: Vec<(&str, &str)> =
        rules().map(|rule| (rule.meta().code.0, rule.meta().name)).collect();
    let mut complaints = files(house);
    complaints.extend(pages(house, &metas));
    Ok(complaints)
}

fn files(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for (folder, table_path) in FOLDERS {
        let table = house.text(table_path).unwrap_or_default();
        let rows = table.split_once("const RULES").map_or("", |(_, rest)| rest);
        let rows = rows.split("];").next().unwrap_or_default();
        for (path, stem, text) in house.modules_in(folder) {
            let lines = rows
                .split(|c: char| !c.is_alphanumeric() && !"_:".contains(c))
                .filter(|entry| entry.split("::").any(|part| part == stem))
                .count();
            if lines != 1 {
                complaints.push(Complaint::new(
                    path,
                    0,
                    format!("the rule has {lines} lines in the table"),
                    format!("give it exactly one line in `RULES` in {table_path}"),
                ));
            }
            let kinds = text.lines().filter(|line| line.contains("static RULE: Rule = ")).count();
            if kinds != 1 {
                complaints.push(Complaint::new(
                    path,
                    0,
                    format!("the file holds {kinds} rules"),
                    "one rule a file; what several need is outside the folder",
                ));
            }
            for page in text.lines().filter_map(page_of) {
                if let Some(other) = owners.insert(page, path) {
                    complaints.push(Complaint::new(
                        path,
                        0,
                        format!("the page `{page}` belongs to {other} too"),
                        "give the rule a page of its own in crates/rules/spec/",
                    ));
                }
            }
        }
    }
    complaints
}

/// Returns the code in `include_str!("…/../spec/CODE.md")`.
fn page_of(line: &str) -> Option<&str> {
    line.split_once("../spec/")?.1.split_once(".md\"").map(|(code, _)| code)
}

fn pages(house: &House, rules: &[(&str, &str)]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (code, name) in rules {
        let path = format!("crates/rules/spec/{code}.md");
        let Some(text) = house.text(&path) else {
            complaints.push(Complaint::new(
                path,
                0,
                format!("the rule `{code}` has no page"),
                format!("write it, with the headings {}", HEADINGS.join(", ")),
            ));
            continue;
        };
        complaints.extend(page(&path, text, code, name));
    }
    for path in house.paths() {
        if let Some(code) =
            path.strip_prefix("crates/rules/spec/").and_then(|p| p.strip_suffix(".md"))
            && !rules.iter().any(|(known, _)| *known == code)
        {
            complaints.push(Complaint::new(
                path,
                0,
                format!("no rule has the code `{code}`"),
                "remove the page, or add the rule to its table",
            ));
        }
    }
    complaints
}

fn page(path: &str, text: &str, code: &str, name: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let title = format!("# {code}: {name}");
    if text.lines().next() != Some(title.as_str()) {
        complaints.push(Complaint::new(
            path,
            1,
            "the title does not name the rule",
            format!("begin with `{title}`"),
        ));
    }
    let headings: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| Some((at + 1, line.strip_prefix("## ")?)))
        .collect();
    if !headings.iter().map(|(_, heading)| *heading).eq(HEADINGS) {
        let odd = headings.iter().zip(HEADINGS).find(|((_, heading), fixed)| heading != fixed);
        complaints.push(Complaint::new(
            path,
            odd.map_or(0, |((line, _), _)| *line),
            "the headings are not the fixed ones",
            format!("use exactly these, in this order: {}", HEADINGS.join(", ")),
        ));
    }
    for kind in ["violating", "compliant"] {
        let opening = format!("```dialogue {kind}");
        let excused = EXCUSED.iter().any(|(c, k, _)| *c == code && *k == kind);
        if !excused && !text.lines().any(|line| line.starts_with(&opening)) {
            complaints.push(Complaint::new(
                path,
                0,
                format!("there is no {kind} case"),
                format!("add a block that opens with {opening}"),
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(complaints: &[Complaint]) -> Vec<&str> {
        complaints.iter().map(|c| c.message.as_str()).collect()
    }

    #[test]
    fn a_rule_is_one_file_and_one_line() {
        let rule = "static RULE: Rule = Rule::new(\ninclude_str!(\"../../spec/X1.md\"),";
        let cases: [(&str, &str, &[&str]); 4] = [
            ("const RULES: &[&Rule] = &[&one::RULE];", rule, &[]),
            ("const RULES: &[&Rule] = &[];", rule, &["the rule has 0 lines in the table"]),
            (
                "const RULES: &[&Rule] = &[&one::RULE, &one::RULE];",
                rule,
                &["the rule has 2 lines in the table"],
            ),
            ("const RULES: &[&Rule] = &[&one::RULE];", "", &["the file holds 0 rules"]),
        ];
        for (table, text, expected) in cases {
            let house = House::with_files(&[
                ("crates/rules/src/claims/mod.rs", table),
                ("crates/rules/src/claims/one.rs", text),
            ]);
            assert_eq!(messages(&files(&house)), expected, "{table}");
        }
    }

    #[test]
    fn a_page_has_its_headings_and_cases() {
        let headings: String = HEADINGS.iter().map(|h| format!("## {h}\ntext\n\n")).collect();
        let cases = "```dialogue violating\n```\n```dialogue compliant\n```\n";
        let good = format!("# X1: x-one\n\n{headings}{cases}");
        let rules = [("X1", "x-one")];
        let all: [(&str, String, &[&str]); 5] = [
            ("X1", good.clone(), &[]),
            ("X1", good.replace("x-one", "x-two"), &["the title does not name the rule"]),
            ("X1", good.replace("## Example", "## E"), &["the headings are not the fixed ones"]),
            ("X1", good.replace("compliant", "c"), &["there is no compliant case"]),
            ("X2", good, &["the rule `X1` has no page", "no rule has the code `X2`"]),
        ];
        for (code, text, expected) in all {
            let house = House::with_files(&[(&format!("crates/rules/spec/{code}.md"), &text)]);
            assert_eq!(messages(&pages(&house, &rules)), expected);
        }
    }
}
