//! A sandbox is reused for the next command only if a new one would be the same.

use std::fs;

use super::room::Room;

/// Whether the next command can read this file in the home folder.
fn reads(room: &Room, path: &str) -> bool {
    let path = room.path("home").join(path);
    room.run(&format!("cat {}", path.display())).stdout.starts_with("content")
}

#[test]
fn what_changes_between_commands_is_seen() {
    let room = Room::new();
    if !room.holds("places that change between commands") {
        return;
    }
    let home = room.path("home");
    let write = |path: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "content\n").unwrap();
    };
    assert!(reads(&room, ".cargo/bin/tool") && !reads(&room, ".rustup/toolchain"));
    write(".rustup/toolchain");
    assert!(reads(&room, ".rustup/toolchain"), "it was not there before");
    fs::remove_dir_all(home.join(".cargo/bin")).unwrap();
    write(".cargo/bin/tool");
    assert!(reads(&room, ".cargo/bin/tool"), "it is another folder of the same name");
    fs::rename(home.join(".rustup"), home.join("old")).unwrap();
    assert!(!reads(&room, "old/toolchain"), "nobody grants the new name");
    write(".rustup/toolchain");
    assert!(reads(&room, ".rustup/toolchain") && !reads(&room, "old/toolchain"));
    assert!(reads(&room, ".rustup/toolchain"));
    // The folder is granted as a whole, until it contains a secret.
    write(".m2/repository/x");
    assert!(reads(&room, ".m2/repository/x"));
    write(".m2/settings.xml");
    assert!(reads(&room, ".m2/repository/x") && !reads(&room, ".m2/settings.xml"));
}

#[test]
fn commands_at_the_same_time_are_all_held() {
    let room = Room::new();
    if !room.holds("commands at the same time") {
        return;
    }
    let outside = room.path("outside/secret").display().to_string();
    let run = |thread: usize| {
        for number in 0..10 {
            // A unique comment, because the same call would be refused after some repetitions.
            let ran = room.run(&format!("cat own {outside} # {thread}.{number}"));
            let text = &ran.answer.text;
            assert_eq!(text.matches("content").count(), 1, "{text}");
            assert!(text.contains("Permission denied"), "{text}");
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let run = &run;
            scope.spawn(move || run(thread));
        }
    });
}
