//! Links and directories that are swapped while a tool works: it never touches anything outside the
//! workspace.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::*;

/// What a tool would return if it read outside.
const SECRET: &str = "the secret that lies outside";

const TRIES: usize = 1_500;

struct Swapping {
    room: Room,
    swaps: AtomicU64,
    done: AtomicBool,
}

impl Swapping {
    /// A workspace with `dir/f`, and next to it a directory with its own `f`.
    fn new() -> Self {
        let room = Room::new(&[("dir/f", "inside"), ("denied/.env", SECRET)]);
        fs::create_dir(room.outside("far")).unwrap();
        fs::write(room.outside("far/f"), SECRET).unwrap();
        Self { room, swaps: AtomicU64::new(0), done: AtomicBool::new(false) }
    }

    /// Keeps swapping while `work` runs, with an atomic system call, so that the path always
    /// exists.
    fn during(&self, swap: impl Fn(u64) + Sync, work: impl FnOnce()) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !self.done.load(Ordering::Relaxed) {
                    swap(self.swaps.fetch_add(1, Ordering::Relaxed));
                }
            });
            work();
            self.done.store(true, Ordering::Relaxed);
        });
    }

    fn untouched(&self) {
        let far: Vec<_> = fs::read_dir(self.room.outside("far"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(far, ["f"], "something was made outside");
        assert_eq!(fs::read_to_string(self.room.outside("far/f")).unwrap(), SECRET);
    }

    #[expect(clippy::print_stdout, reason = "how much was tried is said")]
    fn print(&self, what: &str, through: usize) {
        let swaps = self.swaps.load(Ordering::Relaxed);
        println!("{what}: {TRIES} tries, {through} went through, {swaps} swaps");
        assert!(swaps > 10, "{what}: hardly anything was swapped");
    }
}

/// Atomically replaces `path` with a link or a file.
fn put(path: &Path, make: impl Fn(&Path)) {
    let beside = path.with_extension("swap");
    let _ = fs::remove_file(&beside);
    make(&beside);
    let _ = fs::rename(&beside, path);
}

fn exchange(a: &Path, b: &Path) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
}

/// The last part of the path is a file, then a link to the outside, then a file again.
#[test]
fn a_file_that_becomes_a_link_is_not_read() {
    let swapping = Swapping::new();
    let (room, path) = (&swapping.room, swapping.room.path("dir/f"));
    let far = room.outside("far/f");
    let mut through = 0;
    swapping.during(
        |n| {
            if n % 2 == 0 {
                put(&path, |at| symlink(&far, at).unwrap());
            } else {
                put(&path, |at| fs::write(at, "inside").unwrap());
            }
        },
        || {
            for _ in 0..TRIES {
                match room.try_call("read_file", json!({"path": "dir/f"})) {
                    Ok(output) => {
                        assert_eq!(output.text, "inside");
                        through += 1;
                    }
                    Err(error) => assert_eq!(error.category(), PolicyBlocked, "{error}"),
                }
            }
        },
    );
    swapping.print("reading a file", through);
}

/// A directory in the path is swapped for a link to one outside.
#[test]
fn a_directory_that_becomes_a_link_is_not_entered() {
    let swapping = Swapping::new();
    let (room, dir) = (&swapping.room, swapping.room.path("dir"));
    let link = room.path("link");
    symlink(room.outside("far"), &link).unwrap();
    let mut through = 0;
    let calls = [
        ("read_file", json!({"path": "dir/f"})),
        ("list_directory", json!({"path": "dir"})),
        ("grep", json!({"path": "dir", "pattern": "."})),
        ("find_files", json!({"path": "dir", "pattern": "*"})),
    ];
    swapping.during(
        |_| exchange(&dir, &link),
        || {
            for n in 0..TRIES {
                let (tool, arguments) = &calls[n % calls.len()];
                match room.try_call(tool, arguments.clone()) {
                    Ok(output) => {
                        assert!(!output.text.contains(SECRET), "{tool}: {}", output.text);
                        // The size would reveal that it was read.
                        assert!(!output.text.contains("(28 bytes)"), "{tool}: {}", output.text);
                        through += 1;
                    }
                    Err(error) => assert_ne!(error.category(), InvalidParameters, "{error}"),
                }
            }
        },
    );
    swapping.untouched();
    swapping.print("entering a directory", through);
}

/// The directory is swapped while a file is written: nothing is written outside.
#[test]
fn a_directory_that_becomes_a_link_is_not_written_to() {
    let swapping = Swapping::new();
    let (room, dir) = (&swapping.room, swapping.room.path("dir"));
    let link = room.path("link");
    symlink(room.outside("far"), &link).unwrap();
    let mut through = 0;
    swapping.during(
        |_| exchange(&dir, &link),
        || {
            for n in 0..TRIES {
                let name = if n % 2 == 0 { "dir/f" } else { "dir/new/er" };
                let (tool, arguments) = match n % 3 {
                    0 => {
                        ("edit_file", json!({"path": "dir/f", "old": "e", "new": "é", "all": true}))
                    }
                    _ => ("write_file", json!({"path": name, "content": "inside e"})),
                };
                if let Ok(output) = room.try_call(tool, arguments) {
                    assert_eq!(output.failure, None);
                    through += 1;
                }
            }
        },
    );
    swapping.untouched();
    swapping.print("writing into a directory", through);
}

/// A link points to an allowed file, then to a denied one, both in the workspace.
#[test]
fn a_link_that_is_turned_to_a_denied_file_is_not_read() {
    let swapping = Swapping::new();
    let (room, link) = (&swapping.room, swapping.room.path("way"));
    symlink("dir/f", &link).unwrap();
    let mut through = 0;
    swapping.during(
        |n| {
            let target = if n % 2 == 0 { "denied/.env" } else { "dir/f" };
            put(&link, |at| symlink(target, at).unwrap());
        },
        || {
            for _ in 0..TRIES {
                match room.try_call("read_file", json!({"path": "way"})) {
                    Ok(output) => {
                        assert_eq!(output.text, "inside");
                        through += 1;
                    }
                    Err(error) => assert_eq!(error.category(), PolicyBlocked, "{error}"),
                }
            }
        },
    );
    swapping.print("following a link", through);
}
