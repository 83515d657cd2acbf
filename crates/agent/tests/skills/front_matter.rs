//! Front matters, good and bad.

use std::time::{Duration, Instant};

use counterfoil_agent::{Skill, SkillOrigin};

use crate::Desk;

/// The skill `pdf` of a whole `SKILL.md`, or the error and its line.
fn read(text: &str) -> Result<Skill, (String, Option<usize>)> {
    let desk = Desk::new();
    desk.write("pdf/SKILL.md", text);
    Skill::read(&desk.path("pdf"), SkillOrigin::User).map_err(|error| (error.problem, error.line))
}

fn read_front(front: &str) -> Result<Skill, (String, Option<usize>)> {
    read(&format!("---\n{front}\n---\nbody\n"))
}

/// The cases in a block of `spec/agent/skills.md`: front matters, and what follows the arrow.
fn block(name: &str) -> impl Iterator<Item = (String, String)> {
    let page = include_str!("../../../../spec/agent/skills.md");
    let (_, rest) = page.split_once(&format!("```{name}\n")).unwrap();
    let lines = |text: &str| text.replace('⏎', "\n").replace('␍', "\r");
    rest.split_once("```").unwrap().0.lines().map(move |line| {
        let (front, expected) = line.split_once(" → ").unwrap();
        (lines(front), lines(expected))
    })
}

#[test]
fn good_ones() {
    let long = format!("name: pdf\ndescription: {}", "ä".repeat(1024));
    let cases = block("good").map(|(front, expected)| match expected.strip_suffix(')') {
        None => (front, expected.clone(), String::new()),
        Some(expected) => {
            let (description, warnings) = expected.split_once(" (").unwrap();
            (front, description.to_owned(), warnings.to_owned())
        }
    });
    for (front, description, warnings) in cases {
        let skill = read_front(&front).unwrap_or_else(|error| panic!("{front}: {error:?}"));
        assert_eq!((skill.name.as_str(), skill.description.as_str()), ("pdf", &*description));
        let kinds = skill.warnings.iter().map(|warning| format!("{:?}", warning.what));
        assert_eq!(kinds.collect::<Vec<_>>().join(", "), warnings, "{front}");
    }
    assert_eq!(read_front(&long).unwrap().description.chars().count(), 1024);
}

#[test]
fn bad_ones() {
    let long = format!("name: pdf\ndescription: {}", "ä".repeat(1025));
    let long_name = format!("name: {}\ndescription: d", "a".repeat(65));
    let characters = "the name `p\u{fffd}df` may contain only `a` to `z`, `0` to `9` and single hyphens between them";
    let pages = block("bad").map(|(front, expected)| match expected.strip_suffix(')') {
        Some(expected) if expected.contains(" (line ") => {
            let (problem, line) = expected.split_once(" (line ").unwrap();
            (front, problem.to_owned(), line.parse().ok())
        }
        _ => (front, expected, None),
    });
    // What a page cannot show.
    let others = [
        (&*long, "the field `description` has 1025 characters; the maximum is 1024", 3),
        (&long_name, "the field `name` has 65 characters; the maximum is 64", 2),
        ("name: p\u{200b}df\ndescription: d", characters, 2),
    ];
    let others =
        others.map(|(front, problem, line)| (front.to_owned(), problem.to_owned(), Some(line)));
    for (front, problem, line) in pages.chain(others) {
        let (message, at) = read_front(&front).unwrap_err();
        assert!(message.starts_with(&problem), "{front}: {message}");
        if line.is_some() {
            assert_eq!(at, line, "{front}: {message}");
        }
    }
}

#[test]
fn whole_files() {
    let many = "x".repeat(16 * 1024);
    let none = "the file does not begin with front matter between two `---` lines";
    for (text, problem) in [
        ("", none),
        ("name: pdf\n", none),
        (" ---\nname: pdf\n---\n", none),
        ("\n---\nname: pdf\n---\n", none),
        ("---\nname: pdf\n", none),
        ("---\nname: pdf\n ---\n", none),
        (&format!("---\n#{many}\n---\n"), "the front matter is larger than 16 KiB"),
    ] {
        assert_eq!(read(text).unwrap_err().0, problem);
    }
    let fits = format!("---\nname: pdf\ndescription: d\n#{}\n---\n", "x".repeat(16_000));
    for (text, body) in [
        (fits.as_str(), ""),
        ("---\nname: pdf\ndescription: d\n---", ""),
        ("--- \r\nname: pdf\r\ndescription: d\r\n---\r\na\r\n", "a\r\n"),
        ("\u{feff}---\nname: pdf\ndescription: d\n---\na\n---\nb", "a\n---\nb"),
    ] {
        assert_eq!(read(text).unwrap().body, body, "{text:.40}");
    }
    let desk = Desk::new();
    desk.write("pdf/SKILL.md", b"---\nname: \xff\n---\n");
    let error = Skill::read(&desk.path("pdf"), SkillOrigin::User).unwrap_err();
    assert_eq!(error.problem, "the file is not UTF-8 text");
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
