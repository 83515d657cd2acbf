//! Front matters, good and bad.

use std::time::{Duration, Instant};

use counterfoil_agent::{Skill, SkillOrigin, WarningKind};

use crate::Desk;

/// The skill `pdf` of a whole `SKILL.md`, or the first error and its line.
fn read(text: &str) -> Result<Skill, (String, Option<usize>)> {
    let desk = Desk::new();
    desk.write("pdf/SKILL.md", text);
    Skill::read(&desk.path("pdf"), SkillOrigin::User)
        .map_err(|errors| (errors[0].problem().to_string(), errors[0].line()))
}

fn read_front(front: &str) -> Result<Skill, (String, Option<usize>)> {
    read(&format!("---\n{front}\n---\nbody\n"))
}

#[test]
fn good_ones() {
    let long = format!("name: pdf\ndescription: {}", "ä".repeat(1024));
    let compatible = format!("name: pdf\ndescription: d\ncompatibility: {}", "x".repeat(500));
    // The front matter, its description, and what it warns of.
    let cases: [(&str, &str, &[WarningKind]); 26] = [
        ("name: pdf\ndescription: Fills forms.", "Fills forms.", &[]),
        ("description: d\nname: pdf", "d", &[]),
        ("name: \"pdf\"\ndescription: 'it''s'", "it's", &[]),
        ("name: pdf\ndescription: >\n  one\n  two\n", "one two", &[]),
        ("name: pdf\ndescription: |\n  one\n  two\n", "one\ntwo", &[]),
        ("name: pdf\ndescription: one\n  two", "one two", &[]),
        ("name: pdf\ndescription: 1.10", "1.10", &[]),
        ("name: pdf\ndescription: yes", "yes", &[]),
        ("name: pdf\ndescription: null", "null", &[]),
        ("name: pdf\ndescription: 2026-01-02", "2026-01-02", &[]),
        ("name: pdf\ndescription: 0x1F", "0x1F", &[]),
        ("name: pdf\ndescription: .nan", ".nan", &[]),
        ("# why\nname: pdf # what\ndescription: d", "d", &[]),
        ("name: pdf\ndescription: 日本語", "日本語", &[]),
        ("name: pdf\r\ndescription: d\r", "d", &[]),
        ("name: pdf\ndescription: a --- b", "a --- b", &[]),
        ("name: pdf\ndescription: d\nlicense: MIT\nmetadata:\n  a: b", "d", &[]),
        ("name: pdf\ndescription: d\nmetadata:", "d", &[]),
        ("name: pdf\ndescription: d\nallowed-tools: [Read, Write]", "d", &[]),
        ("{name: pdf, description: d}", "d", &[]),
        ("name: pdf\ndescription: Use when: x", "Use when: x", &[WarningKind::QuotedValue]),
        (
            "name: pdf\ndescription: Use when: it's\n  two: lines\nlicense: a: b",
            "Use when: it's two: lines",
            &[WarningKind::QuotedValue, WarningKind::QuotedValue],
        ),
        ("name: pdf\ndescription: d\nversion: 1.10", "d", &[WarningKind::UnknownField]),
        ("name: pdf\ndescription: d\nx: {y: [z]}", "d", &[WarningKind::UnknownField]),
        ("name: pdf\ndescription: d\nName: x", "d", &[WarningKind::UnknownField]),
        ("name: pdf\ndescription: d\nmetadata:\n  a: [b]", "d", &[WarningKind::NestedMetadata]),
    ];
    for (front, description, warnings) in cases {
        let skill = read_front(front).unwrap_or_else(|error| panic!("{front}: {error:?}"));
        assert_eq!((skill.name.as_str(), skill.description.as_str()), ("pdf", description));
        let kinds: Vec<WarningKind> = skill.warnings.iter().map(|warning| warning.what).collect();
        assert_eq!(kinds, warnings, "{front}: {:?}", skill.warnings);
    }
    assert_eq!(read_front(&long).unwrap().description.chars().count(), 1024);
    assert_eq!(read_front(&compatible).unwrap().compatibility.map(|text| text.len()), Some(500));
}

#[test]
fn bad_ones() {
    let long = format!("name: pdf\ndescription: {}", "ä".repeat(1025));
    let incompatible = format!("name: pdf\ndescription: d\ncompatibility: {}", "x".repeat(501));
    let long_name = format!("name: {}\ndescription: d", "a".repeat(65));
    let characters = "the name has characters other than `a` to `z`, `0` to `9` and `-`";
    let hyphens = "the name begins or ends with a hyphen, or has two in a row";
    let yaml = "the front matter cannot be read: ";
    // The front matter, how the error begins, and its line.
    let cases: [(&str, &str, Option<usize>); 38] = [
        ("", "the front matter has no fields", Some(1)),
        ("# only this", "the front matter has no fields", Some(1)),
        ("just a text", "the front matter has no fields", Some(1)),
        ("- a\n- b", "the front matter has no fields", Some(1)),
        ("name: pdf", "the field `description` is missing", None),
        ("description: d", "the field `name` is missing", None),
        ("name:\ndescription: d", "the field `name` is blank", Some(2)),
        ("name: ''\ndescription: d", "the field `name` is blank", Some(2)),
        ("name: pdf\ndescription:", "the field `description` is blank", Some(3)),
        ("name: pdf\ndescription: \"  \"", "the field `description` is blank", Some(3)),
        ("name: pdf\ndescription: |\n\n", "the field `description` is blank", Some(3)),
        ("name: [pdf]\ndescription: d", "the field `name` is not a text", Some(2)),
        ("name: pdf\ndescription: {a: b}", "the field `description` is not a text", Some(3)),
        ("name: pdf\ndescription: d\nlicense: [a]", "the field `license` is not a text", Some(4)),
        (
            "name: pdf\ndescription: d\nmetadata: a",
            "the field `metadata` is not a mapping",
            Some(4),
        ),
        (
            "name: pdf\ndescription: d\nmetadata: [a]",
            "the field `metadata` is not a mapping",
            Some(4),
        ),
        (
            "name: pdf\ndescription: d\nallowed-tools: {a: b}",
            "the field `allowed-tools` is not a list of texts",
            Some(4),
        ),
        (
            "name: pdf\ndescription: d\nallowed-tools: [[a]]",
            "the field `allowed-tools` is not a list of texts",
            Some(4),
        ),
        (&long, "the field `description` has 1025 characters, 1024 are the most", Some(3)),
        (&incompatible, "the field `compatibility` has 501 characters, 500 are the most", Some(4)),
        (&long_name, "the field `name` has 65 characters, 64 are the most", Some(2)),
        ("name: Pdf\ndescription: d", characters, Some(2)),
        ("name: pdf_forms\ndescription: d", characters, Some(2)),
        ("name: pdf forms\ndescription: d", characters, Some(2)),
        ("name: größe\ndescription: d", characters, Some(2)),
        ("name: ../pdf\ndescription: d", characters, Some(2)),
        ("name: p\u{200b}df\ndescription: d", characters, Some(2)),
        ("name: -pdf\ndescription: d", hyphens, Some(2)),
        ("name: pdf-\ndescription: d", hyphens, Some(2)),
        ("name: p--df\ndescription: d", hyphens, Some(2)),
        ("name: docx\ndescription: d", "the name is not that of the folder, `pdf`", Some(2)),
        ("name: pdf\ndescription: d\nname: pdf", yaml, Some(4)),
        ("name: pdf\ndescription: [d", yaml, None),
        ("name: pdf\ndescription: \"d", yaml, None),
        ("name: &a pdf\ndescription: d", yaml, Some(2)),
        ("name: pdf\ndescription: !!int 1", yaml, Some(3)),
        ("name: pdf\ndescription: !secret d", yaml, Some(3)),
        ("name: pdf\ndescription: d\n<<: {license: a}", yaml, Some(4)),
    ];
    for (front, problem, line) in cases {
        let (told, at) = read_front(front).unwrap_err();
        assert!(told.starts_with(problem), "{front}: {told}");
        if line.is_some() {
            assert_eq!(at, line, "{front}: {told}");
        }
    }
}

#[test]
fn whole_files() {
    let many = "x".repeat(16 * 1024);
    let fits = format!("---\nname: pdf\ndescription: d\n#{}\n---\n", "x".repeat(16_000));
    let large = format!("---\nname: pdf\ndescription: d\n---\n{}", "x".repeat(1024 * 1024));
    for (text, problem) in [
        ("", "the file does not begin with a line `---`"),
        ("name: pdf\n", "the file does not begin with a line `---`"),
        (" ---\nname: pdf\n---\n", "the file does not begin with a line `---`"),
        ("\n---\nname: pdf\n---\n", "the file does not begin with a line `---`"),
        ("---\nname: pdf\n", "the front matter is not closed by a line `---`"),
        ("---\nname: pdf\n ---\n", "the front matter is not closed by a line `---`"),
        (&format!("---\n#{many}\n---\n"), "the front matter is larger than 16 KiB"),
        (&format!("---\n#{many}"), "the front matter is larger than 16 KiB"),
        (&large, "the file is larger than 1 MiB"),
    ] {
        assert_eq!(read(text).unwrap_err().0, problem);
    }
    assert!(read(&fits).is_ok());
    assert_eq!(read("---\nname: pdf\ndescription: d\n---").unwrap().body, "");

    let marked = read("\u{feff}---\nname: pdf\ndescription: d\n---\na\nb").unwrap();
    assert_eq!((marked.body.as_str(), marked.body_line), ("a\nb", 5));
    assert_eq!(marked.warnings[0].what, WarningKind::ByteOrderMark);
    let desk = Desk::new();
    desk.write("pdf/SKILL.md", b"---\nname: \xff\n---\n");
    let errors = Skill::read(&desk.path("pdf"), SkillOrigin::User).unwrap_err();
    assert_eq!(errors[0].problem().to_string(), "the file is not UTF-8 text");
}

#[test]
fn fields_are_as_written() {
    let skill = read_front(
        "name: pdf\ndescription: d\nlicense: Apache-2.0\ncompatibility: Needs git\n\
         metadata:\n  version: 1.10\n  beta: yes\n  deep: {a: [1.0, no]}\n\
         allowed-tools: Bash(git add:*) Read",
    )
    .unwrap();
    let metadata: Vec<_> = skill.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let expected = [("beta", "yes"), ("deep", r#"{"a":["1.0","no"]}"#), ("version", "1.10")];
    assert_eq!(metadata, expected);
    assert_eq!(skill.allowed_tools, ["Bash(git add:*)", "Read"]);
    assert_eq!(skill.license.as_deref(), Some("Apache-2.0"));
    assert_eq!(skill.compatibility.as_deref(), Some("Needs git"));
    assert_eq!((skill.body.as_str(), skill.body_line), ("body\n", 12));
}

#[test]
fn every_error_is_told_at_once() {
    let desk = Desk::new();
    desk.write("pdf/SKILL.md", "---\nname: PDF\nlicense: [a]\n---\n```tool\n{}\n```\n");
    let errors = Skill::read(&desk.path("pdf"), SkillOrigin::User).unwrap_err();
    assert_eq!(errors.len(), 4, "{errors:?}");
}

#[test]
fn bombs_are_harmless() {
    let mut aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..200 {
        let before = format!("*a{}", level - 1);
        aliases += &format!("a{level}: &a{level} [{}]\n", [before.as_str(); 9].join(", "));
    }
    aliases.truncate(16_000);
    let deep = format!("a: {}", "[".repeat(16_000));
    let indented: String = (0..170).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let keys = format!("a: {}", "? ".repeat(8_000));
    let merges = "<<: {a: b}\n".repeat(1_400);
    let members: String = (0..2_000).map(|at| format!("k{at}: 1\n")).collect();
    let quotes = "a: b: 'c\n".repeat(1_700);
    let bombs = [aliases, deep, indented, keys, merges, members, quotes];
    for bomb in bombs {
        let begun = Instant::now();
        let read = read_front(&bomb);
        assert!(read.is_err());
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(1), "{took:?}: {:.40}", bomb);
    }
}
