//! The state folder, which contains the ledger, the audit log and the keys.

use std::env;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use counterfoil_guard::StateFolder;

use crate::exit::Complaint;

/// The number of bytes that must fit on the disk before anything is recorded.
const PROBE: usize = 4096;

/// The folder for persistent state. Only a path until it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    folder: PathBuf,
}

impl State {
    /// Resolves the folder: `named` (flag or `COUNTERFOIL_STATE`), or else the platform's.
    pub(crate) fn resolve(named: Option<&Path>) -> Result<Self, Complaint> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = match named.filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => path.to_owned(),
            None => platform(set).ok_or_else(|| {
                Complaint::new("no state folder: HOME is not set")
                    .help("specify a folder with `--state DIR` or `COUNTERFOIL_STATE`")
            })?,
        };
        // Absolute, so that a change of the working directory cannot move the state.
        std::path::absolute(&folder).map(|folder| Self { folder }).map_err(|error| {
            Complaint::new(format!("the working directory no longer exists: {error}"))
        })
    }

    /// Creates the folder if missing, readable only by its owner, and checks that it is writable,
    /// because the caller is about to record something.
    pub(crate) fn create(self) -> Result<Self, Complaint> {
        if !self.folder.exists() {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(&self.folder).map_err(|error| self.unusable(&error))?;
        }
        self.is_a_folder()?;
        self.is_private()?;
        self.probe().map_err(|error| self.unusable(&error))?;
        Ok(self)
    }

    /// Checks that the folder is writable, or could be created if it is missing.
    pub(crate) fn writable(&self) -> Result<(), Complaint> {
        if !self.folder.exists() {
            return self.can_be_made().map_err(|error| self.unusable(&error));
        }
        self.is_a_folder()?;
        self.probe().map_err(|error| self.unusable(&error))
    }

    /// Checks that the nearest existing parent folder is writable.
    fn can_be_made(&self) -> io::Result<()> {
        let there = self.folder.ancestors().skip(1).find(|above| above.exists());
        let Some(above) = there else { return Ok(()) };
        if !above.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        #[cfg(unix)]
        rustix::fs::access(above, rustix::fs::Access::WRITE_OK)?;
        Ok(())
    }

    /// Checks that the folder exists, because the caller wants to read what was recorded.
    pub(crate) fn existing(self) -> Result<Self, Complaint> {
        match fs::metadata(&self.folder) {
            Ok(_) => self.is_a_folder().map(|()| self),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Complaint::new(format!(
                "nothing has been recorded yet: {} does not exist",
                self.shown()
            ))
            .help(
                "`counterfoil run` records the calls it makes; use `--state DIR` for another \
                 folder",
            )),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// Returns the paths of its contents.
    pub(crate) fn folder(&self) -> StateFolder {
        StateFolder::at(&self.folder)
    }

    fn shown(&self) -> String {
        format!("`{}`", self.folder.display())
    }

    fn is_a_folder(&self) -> Result<(), Complaint> {
        if self.folder.is_dir() { Ok(()) } else { Err(self.no_folder()) }
    }

    /// Checks that others cannot write to the folder, because they could replace the ledger. If a
    /// command of the same user changed the mode, it is restored, provided that everything in the
    /// folder still belongs to the user.
    #[cfg(unix)]
    fn is_private(&self) -> Result<(), Complaint> {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let metadata = fs::metadata(&self.folder).map_err(|error| self.unusable(&error))?;
        let mode = metadata.permissions().mode() & 0o7777;
        if mode & 0o022 == 0 && mode & 0o700 == 0o700 {
            return Ok(());
        }
        let own = rustix::process::geteuid().as_raw();
        let private = fs::Permissions::from_mode(mode & !0o077 | 0o700);
        let others = || {
            Complaint::new(format!("other users can write to the state folder {}", self.shown()))
        };
        let advice = || {
            format!(
                "run `chmod 700 {}`, or specify another folder with `--state DIR`",
                self.folder.display()
            )
        };
        if metadata.uid() != own {
            return if mode & 0o022 == 0 { Ok(()) } else { Err(others().help(advice())) };
        }
        fs::set_permissions(&self.folder, private).map_err(|error| self.unusable(&error))?;
        let entries = fs::read_dir(&self.folder).map_err(|error| self.unusable(&error))?;
        for entry in entries {
            let entry = entry.map_err(|error| self.unusable(&error))?;
            if entry.metadata().is_ok_and(|metadata| metadata.uid() != own) {
                let what = format!("{} belongs to another user; delete it", entry.path().display());
                return Err(others().help(what));
            }
        }
        let shown = self.shown();
        let _unheard =
            writeln!(io::stderr(), "note: {shown} had mode {mode:o}; it was reset to 700");
        Ok(())
    }

    #[cfg(not(unix))]
    fn is_private(&self) -> Result<(), Complaint> {
        Ok(())
    }

    /// Writes a test file, because a full or read-only file system should be found before a call
    /// begins.
    fn probe(&self) -> io::Result<()> {
        let path = self.folder.join(format!(".probe-{}", std::process::id()));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .and_then(|mut file| file.write_all(&[0; PROBE]));
        let removed = fs::remove_file(&path);
        match written {
            // Left behind by a process with the same id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => removed,
            written => written.and(removed),
        }
    }

    fn no_folder(&self) -> Complaint {
        Complaint::new(format!("the state folder {} is not a folder", self.shown()))
            .help("specify a folder with `--state DIR` or `COUNTERFOIL_STATE`")
    }

    fn unusable(&self, error: &io::Error) -> Complaint {
        let folder = self.shown();
        let elsewhere = "specify another folder with `--state DIR` or `COUNTERFOIL_STATE`";
        match error.kind() {
            io::ErrorKind::PermissionDenied => Complaint::new(format!(
                "permission denied: cannot write to the state folder {folder}"
            ))
            .help(format!(
                "change its owner or permissions so that you can write to it, or {elsewhere}"
            )),
            io::ErrorKind::ReadOnlyFilesystem => {
                Complaint::new(format!("the state folder {folder} is on a read-only file system"))
                    .help(elsewhere)
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Complaint::new(format!(
                "no space left for the state folder {folder}: nothing can be recorded"
            ))
            .help(format!("free some space, or {elsewhere}")),
            io::ErrorKind::AlreadyExists => self.no_folder(),
            io::ErrorKind::NotADirectory => {
                Complaint::new(format!("a parent of the state folder {folder} is a file"))
                    .help(elsewhere)
            }
            _ => Complaint::new(format!("cannot use the state folder {folder}: {error}"))
                .help(elsewhere),
        }
    }
}

/// Returns the platform's folder for state: `$XDG_STATE_HOME` if it is absolute as required, else
/// `~/.local/state`, else `%LOCALAPPDATA%`.
fn platform(set: impl Fn(&'static str) -> Option<PathBuf>) -> Option<PathBuf> {
    let base = set("XDG_STATE_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| set("HOME").map(|home| home.join(".local").join("state")))
        .or_else(|| set("LOCALAPPDATA"))?;
    Some(base.join("counterfoil"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_platforms_folder() {
        for (variables, expected) in [
            (&[("XDG_STATE_HOME", "/x"), ("HOME", "/h")][..], Some("/x/counterfoil")),
            (&[("XDG_STATE_HOME", "x"), ("HOME", "/h")], Some("/h/.local/state/counterfoil")),
            (&[("HOME", "/h")], Some("/h/.local/state/counterfoil")),
            (&[("LOCALAPPDATA", "/l")], Some("/l/counterfoil")),
            (&[], None),
        ] {
            let set = |name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| PathBuf::from(value))
            };
            assert_eq!(platform(set), expected.map(PathBuf::from), "{variables:?}");
        }
    }

    #[test]
    fn a_new_folder_is_private_and_a_file_is_none() {
        let desk = tempfile::tempdir().unwrap();
        let named = desk.path().join("a/b");
        let state = State::resolve(Some(&named)).unwrap().create().unwrap();
        assert_eq!(state.folder(), StateFolder::at(&named));
        assert_eq!(fs::read_dir(&named).unwrap().count(), 0, "the probe is gone");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&named).unwrap().permissions().mode() & 0o777, 0o700);
            // The mode of the user's own folder is restored.
            for mode in [0o770, 0o777, 0o000] {
                fs::set_permissions(&named, fs::Permissions::from_mode(mode)).unwrap();
                State::resolve(Some(&named)).unwrap().create().unwrap();
                assert_eq!(fs::metadata(&named).unwrap().permissions().mode() & 0o777, 0o700);
            }
        }
        let file = desk.path().join("file");
        fs::write(&file, "").unwrap();
        for (path, expected) in [(file.clone(), "is not a folder"), (file.join("x"), "is a file")] {
            let wrong = State::resolve(Some(&path)).unwrap().create().unwrap_err();
            assert!(wrong.to_string().contains(expected), "{wrong}");
        }
        let absent = State::resolve(Some(&desk.path().join("absent"))).unwrap();
        assert!(
            absent.existing().unwrap_err().to_string().starts_with("nothing has been recorded yet")
        );
    }
}
