//! Finding skills, folders, digests, and what errors look like.

use std::fs;

use counterfoil_agent::{Skill, SkillOrigin, find_skills};

use crate::Desk;

fn names(skills: &[Skill]) -> Vec<(&str, SkillOrigin)> {
    skills.iter().map(|skill| (skill.name.as_str(), skill.origin)).collect()
}

#[test]
fn the_first_of_a_name_is_used() {
    let desk = Desk::new();
    for path in ["user/b", "user/a", "project/b", "project/c"] {
        let name = path.rsplit('/').next().unwrap();
        let text = format!("---\nname: {name}\ndescription: From {path}.\n---\n");
        desk.write(&format!("{path}/SKILL.md"), text);
    }
    desk.write("project/notes/README.md", "no skill");
    desk.write("project/file.txt", "no skill");
    let (skills, errors) = find_skills(&[
        (desk.path("user"), SkillOrigin::User),
        (desk.path("missing"), SkillOrigin::User),
        (desk.path("project"), SkillOrigin::Project),
    ]);
    let (user, project) = (SkillOrigin::User, SkillOrigin::Project);
    assert_eq!(names(&skills), [("a", user), ("b", user), ("c", project)]);
    assert_eq!(skills[1].description, "From user/b.");
    assert_eq!(errors.len(), 1);
    assert_eq!(
        desk.shown(&errors[0].to_string()),
        "a skill with the same name was found first, so this one is ignored | Skill: b | \
         File: ./project/b | Suggestion: rename or remove one of them"
    );
}

#[test]
fn nothing_is_left_out_silently() {
    let desk = Desk::new();
    desk.skill("good", "");
    desk.write("bad/SKILL.md", "nothing");
    fs::create_dir_all(desk.path("folder/SKILL.md")).unwrap();
    desk.write("plain", "a file");
    let (skills, errors) = find_skills(&[
        (desk.path(""), SkillOrigin::Project),
        (desk.path("plain"), SkillOrigin::Project),
    ]);
    assert_eq!(names(&skills), [("good", SkillOrigin::Project)]);
    let messages: Vec<String> = errors
        .iter()
        .map(|error| desk.shown(&format!("{}: {}", error.file.display(), error.problem)))
        .collect();
    assert_eq!(
        messages,
        [
            "./bad/SKILL.md: the file does not begin with front matter between two `---` lines",
            "./folder: the folder has no `SKILL.md` file",
            "./plain: cannot read this path: Not a directory (os error 20)",
        ]
    );
}

#[test]
fn five_hundred_are_enough() {
    let desk = Desk::new();
    for at in 0..502 {
        desk.skill(&format!("s{at:03}"), "");
    }
    let (skills, errors) = find_skills(&[(desk.path(""), SkillOrigin::User)]);
    assert_eq!((skills.len(), errors.len()), (500, 1));
    assert_eq!(errors[0].problem, "the folder has more than 500 skills");
}

#[cfg(unix)]
#[test]
fn links_are_refused() {
    use std::os::unix::fs::symlink;

    let desk = Desk::new();
    let read = |name: &str| Skill::read(&desk.path(name), SkillOrigin::User);
    let outside = desk.write("outside.txt", "secret");

    desk.skill("file", "");
    symlink(&outside, desk.path("file/notes.txt")).unwrap();
    desk.skill("broken", "");
    symlink("nowhere", desk.path("broken/notes.txt")).unwrap();
    desk.skill("sub", "");
    symlink(desk.path("file"), desk.path("sub/more")).unwrap();
    fs::create_dir(desk.path("whole")).unwrap();
    symlink(desk.path("file/SKILL.md"), desk.path("whole/SKILL.md")).unwrap();
    desk.skill("good", "");
    symlink(desk.path("good"), desk.path("link")).unwrap();
    for name in ["file", "broken", "sub", "whole", "link"] {
        assert_eq!(read(name).unwrap_err().problem, "symbolic links are not allowed", "{name}");
    }

    let (skills, errors) = find_skills(&[(desk.path(""), SkillOrigin::Project)]);
    assert_eq!(names(&skills), [("good", SkillOrigin::Project)]);
    assert_eq!(errors.len(), 5);

    let all = Desk::new();
    symlink(desk.path(""), all.path("skills")).unwrap();
    let found = |origin| find_skills(&[(all.path("skills"), origin)]);
    assert_eq!(found(SkillOrigin::User).0.len(), 1);
    assert_eq!(found(SkillOrigin::Named).0.len(), 1);
    assert_eq!(found(SkillOrigin::Project).0.len(), 0);
    assert_eq!(found(SkillOrigin::Project).1[0].problem, "symbolic links are not allowed");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused() {
    let desk = Desk::new();
    let folder = desk.skill("socket", "");
    let _listener = std::os::unix::net::UnixListener::bind(folder.join("s")).unwrap();
    let error = Skill::read(&folder, SkillOrigin::User).unwrap_err();
    assert_eq!(error.problem, "this is not a regular file");
}

#[test]
fn folders_are_bounded() {
    let desk = Desk::new();
    let read = |name: &str| Skill::read(&desk.path(name), SkillOrigin::User);
    desk.skill("many", "");
    for at in 0..398 {
        desk.write(&format!("many/sub/{at}"), "x");
    }
    desk.skill("large", "");
    desk.write("large/a", vec![0; 4 * 1024 * 1024]);
    assert!(read("many").is_ok() && read("large").is_ok());
    desk.write("many/one-more", "x");
    desk.write("large/b", vec![0; 4 * 1024 * 1024]);
    for (name, problem) in [
        ("many", "the folder has more than 400 files and folders"),
        ("large", "reading this file would exceed the size limit"),
    ] {
        assert_eq!(read(name).unwrap_err().problem, problem);
    }
}

#[test]
fn the_digest_is_of_every_file() {
    let desk = Desk::new();
    desk.skill("pdf", "body");
    let read = || Skill::read(&desk.path("pdf"), SkillOrigin::User).unwrap();
    let first = read();
    // sha256 of `SKILL.md`, a zero byte, the length in eight bytes, and the bytes.
    assert_eq!(
        first.digest,
        "sha256:2ff8a98e830b5103d509368b2d2824d0eb7641d29a5427d9502306a069379ab7"
    );
    let mut seen = vec![first.digest.clone()];
    let changes: [(&str, &str); 7] = [
        ("pdf/scripts/run.sh", "ls"),
        ("pdf/scripts/run.sh", "lS"),
        ("pdf/scripts/.hidden", ""),
        ("pdf/a", "scripts"),
        ("pdf/SKILL.md", "---\nname: pdf\ndescription: Does it.\n---\nbody!"),
        ("pdf/b", "x"),
        ("pdf/b", "xy"),
    ];
    for (path, text) in changes {
        desk.write(path, text);
        let digest = read().digest;
        assert!(!seen.contains(&digest), "{path}: {text}");
        seen.push(digest);
    }
    // A file that moves is another one.
    fs::rename(desk.path("pdf/b"), desk.path("pdf/c")).unwrap();
    assert!(!seen.contains(&read().digest));
    assert!(!first.is_as_read().unwrap() && read().is_as_read().unwrap());
    fs::remove_file(desk.path("pdf/SKILL.md")).unwrap();
    assert!(first.is_as_read().is_err());
}

#[test]
fn errors_say_where_and_what_to_do() {
    let desk = Desk::new();
    for (front, expected) in [
        (
            "description: Fills forms.\nname: PDF",
            "the name `PDF` may contain only `a` to `z`, `0` to `9` and single hyphens between them \
             | Skill: pdf | File: ./pdf/SKILL.md:3 | Suggestion: use a name such as `pdf-forms`",
        ),
        ("name: pdf\ndescription: [a\u{1b}[31m", "the front matter cannot be read: "),
    ] {
        desk.write("pdf/SKILL.md", format!("---\n{front}\n---\n"));
        let error = Skill::read(&desk.path("pdf"), SkillOrigin::User).unwrap_err();
        let shown = desk.shown(&error.to_string());
        assert!(shown.starts_with(expected) && !shown.contains('\u{1b}'), "{shown}");
    }
}
