//! Opening: what is made, and who may read it.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use counterfoil_agent::{Store, StoreError, TaskId};

use super::{add_task, check, note, open, place};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn everything_is_still_there_when_a_store_is_opened_again() {
    let (_folder, path) = place();
    let store = open(&path);
    let id = store.save(&note("the port is 8443"), None).unwrap();
    assert_eq!(add_task(&store), TaskId(1));
    drop(store);
    let store = open(&path);
    assert_eq!(store.list(9).unwrap().first().map(|note| note.id), Some(id));
    assert_eq!(store.tasks().unwrap().len(), 1);
    check(&path);
}

#[test]
fn only_the_owner_may_read_a_store() {
    let (_folder, path) = place();
    let store = open(&path);
    store.save(&note("the port is 8443"), None).unwrap();
    let wal = path.with_file_name("agent.sqlite-wal");
    assert_eq!((mode(&path), mode(&wal)), (0o600, 0o600));
    drop(store);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(open(&path));
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn places_that_hold_no_store_are_refused() {
    let (folder, path) = place();
    drop(open(&path));
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("folder.sqlite")).unwrap();
    symlink(&path, at("link.sqlite")).unwrap();
    symlink(at("nowhere"), at("dangling.sqlite")).unwrap();
    let cases = [
        ("folder.sqlite", StoreError::NotAFile),
        ("link.sqlite", StoreError::NotAFile),
        ("dangling.sqlite", StoreError::NotAFile),
        ("none/agent.sqlite", StoreError::NoFolder),
    ];
    for (name, expected) in cases {
        let refused = Store::open(&at(name)).map(|_| ()).unwrap_err();
        assert_eq!((&refused.path, &refused.why), (&at(name), &expected));
        assert!(!refused.why.help().is_empty());
    }
    assert!(!at("nowhere").exists());
    assert!(at("folder.sqlite").is_dir());
    for path in [path.join("agent.sqlite").as_path(), Path::new("")] {
        let refused = Store::open(path).map(|_| ()).unwrap_err();
        assert!(matches!(refused.why, StoreError::Failed(_)), "{refused:?}");
    }
}

#[test]
fn a_name_that_means_something_to_sqlite_is_a_name() {
    let (folder, _) = place();
    for name in [":memory:", "file:x?mode=memory", "a%20b.sqlite", "ü ?.sqlite"] {
        let path = folder.path().join(name);
        open(&path).save(&note("kept"), None).unwrap();
        assert_eq!(open(&path).list(9).unwrap().len(), 1, "{name}");
    }
}

#[test]
fn many_open_a_new_store_at_once() {
    for _ in 0..10 {
        let (_folder, path) = place();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    open(path).save(&note(&format!("note {number}")), None).unwrap();
                });
            }
        });
        let store = open(&path);
        assert_eq!(store.list(9).unwrap().len(), 8);
        check(&path);
    }
}
