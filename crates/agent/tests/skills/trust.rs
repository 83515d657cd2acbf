//! Trust by digest.

use std::fs;

use counterfoil_agent::{ScanPorts, Skill, SkillOrigin, TrustError, Trusted, scan};

use crate::Desk;

#[test]
fn one_change_ends_trust() {
    let desk = Desk::new();
    let file = desk.path("state/trusted.json");
    let folder = desk.skill("pdf", "");
    let read = |origin| Skill::read(&folder, origin).unwrap();
    let (user, project) = (read(SkillOrigin::User), read(SkillOrigin::Project));
    let named = read(SkillOrigin::Named);

    let mut trusted = Trusted::open(&file).unwrap();
    assert!(trusted.is_trusted(&user));
    assert!(!trusted.is_trusted(&project) && !trusted.is_trusted(&named));
    assert!(!file.exists());

    trusted.trust(&project).unwrap();
    assert!(trusted.is_trusted(&project) && trusted.is_trusted(&named));
    let text = format!("{{\n  \"pdf\": \"{}\"\n}}\n", project.digest);
    assert_eq!(crate::bytes(&file), text.as_bytes());
    assert!(Trusted::open(&file).unwrap().is_trusted(&project));

    desk.write("pdf/more.txt", "x");
    let changed = read(SkillOrigin::Project);
    assert!(!trusted.is_trusted(&changed));
    trusted.trust(&changed).unwrap();
    assert!(trusted.is_trusted(&changed) && !trusted.is_trusted(&project));

    assert!(trusted.forget("pdf").unwrap());
    assert!(!trusted.forget("pdf").unwrap());
    assert!(!trusted.is_trusted(&changed));
    assert_eq!(crate::bytes(&file), b"{}\n");
}

#[test]
fn a_named_skill_is_used_until_something_is_odd_or_changes_what_was_trusted() {
    let desk = Desk::new();
    let folder = desk.skill("pdf", "");
    let read = |origin| Skill::read(&folder, origin).unwrap();
    let mut trusted = Trusted::open(&desk.path("trusted.json")).unwrap();
    let named = read(SkillOrigin::Named);
    let danger = |_: &str| Some("it is dangerous".to_owned());
    desk.write("pdf/SKILL.md", "---\nname: pdf\ndescription: x\n---\nRun `rm -rf /`.\n");
    let odd_one = read(SkillOrigin::Named);
    let odd = scan(&odd_one, ScanPorts { has_secret: &|_| false, danger: &danger });
    assert!(!odd.is_empty());
    for (skill, found, used) in [
        (&read(SkillOrigin::User), odd.as_slice(), true),
        (&read(SkillOrigin::Project), &[], false),
        (&named, &[], true),
        (&odd_one, &odd, false),
    ] {
        assert_eq!(trusted.may_be_used(skill, found), used, "{:?}", skill.origin);
    }
    trusted.trust(&odd_one).unwrap();
    assert!(trusted.may_be_used(&odd_one, &odd));
    // It is not what was agreed to, whatever is found in it.
    assert!(!trusted.may_be_used(&named, &[]));
}

#[test]
fn two_processes_do_not_undo_each_other() {
    let desk = Desk::new();
    let file = desk.path("trusted.json");
    let read = |name: &str| Skill::read(&desk.skill(name, ""), SkillOrigin::Named).unwrap();
    let (a, b) = (read("a"), read("b"));
    let (mut one, mut other) = (Trusted::open(&file).unwrap(), Trusted::open(&file).unwrap());
    one.trust(&a).unwrap();
    other.trust(&b).unwrap();
    let now = Trusted::open(&file).unwrap();
    assert!(now.is_trusted(&a) && now.is_trusted(&b));
}

#[test]
fn a_damaged_file_is_no_trust() {
    let desk = Desk::new();
    let folder = desk.skill("pdf", "");
    let skill = Skill::read(&folder, SkillOrigin::Project).unwrap();
    let twice = format!("{{\"pdf\": \"{0}\", \"pdf\": \"{0}\"}}", skill.digest);
    for text in ["", "[]", "{\"pdf\": 1}", "{", &twice] {
        let file = desk.write("trusted.json", text);
        assert!(matches!(Trusted::open(&file), Err(TrustError::Damaged { .. })), "{text}");
    }
    let file = desk.write("later.json", "{}");
    let mut trusted = Trusted::open(&file).unwrap();
    desk.write("later.json", "{");
    assert!(trusted.trust(&skill).is_err());
    assert!(!trusted.is_trusted(&skill));
    assert_eq!(crate::bytes(&file), b"{");
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_it() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let desk = Desk::new();
    let skill = Skill::read(&desk.skill("pdf", ""), SkillOrigin::Named).unwrap();
    let file = desk.path("trusted.json");
    Trusted::open(&file).unwrap().trust(&skill).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let link = desk.path("link.json");
    symlink(&file, &link).unwrap();
    assert!(matches!(Trusted::open(&link), Err(TrustError::Read(_))));
}
