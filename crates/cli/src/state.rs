//! The state folder: where the ledger, the audit log and the keys live.

use std::env;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use counterfoil_guard::StateFolder;

use crate::exit::Complaint;

/// Bytes that must fit before anything is recorded.
const PROBE: usize = 4096;

/// Where everything that outlives the process is kept. Only a path, until it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    folder: PathBuf,
}

impl State {
    /// The folder that is meant: `named` (flag or `COUNTERFOIL_STATE`), else the platform's.
    pub(crate) fn resolve(named: Option<&Path>) -> Result<Self, Complaint> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = match named.filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => path.to_owned(),
            None => platform(set).ok_or_else(|| {
                Complaint::new("there is no place for the state: HOME is not set")
                    .help("name a folder with `--state DIR` or `COUNTERFOIL_STATE`")
            })?,
        };
        // Absolute, so that a tool that changes the folder cannot move the state.
        std::path::absolute(&folder)
            .map(|folder| Self { folder })
            .map_err(|error| Complaint::new(format!("the working directory is gone: {error}")))
    }

    /// The folder, made where it is missing (readable by its owner alone), and found to be
    /// writable: whoever calls this is about to record something.
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

    /// Whether something could be recorded in the folder: where it is missing, whether it could be
    /// made.
    pub(crate) fn writable(&self) -> Result<(), Complaint> {
        if !self.folder.exists() {
            return self.can_be_made().map_err(|error| self.unusable(&error));
        }
        self.is_a_folder()?;
        self.probe().map_err(|error| self.unusable(&error))
    }

    /// Whether the nearest folder above that is there can be written to.
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

    /// The folder, which must be there: whoever calls this wants to read what was recorded.
    pub(crate) fn existing(self) -> Result<Self, Complaint> {
        match fs::metadata(&self.folder) {
            Ok(_) => self.is_a_folder().map(|()| self),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Complaint::new(format!(
                "nothing is recorded yet: {} is missing",
                self.shown()
            ))
            .help("`counterfoil run` records what it does; `--state DIR` names another folder")),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// The names of what is in it.
    pub(crate) fn folder(&self) -> StateFolder {
        StateFolder::at(&self.folder)
    }

    fn shown(&self) -> String {
        format!("`{}`", self.folder.display())
    }

    fn is_a_folder(&self) -> Result<(), Complaint> {
        if self.folder.is_dir() { Ok(()) } else { Err(self.no_folder()) }
    }

    /// Whoever may write here could put another ledger in the place of ours. A mode that was changed
    /// (a command that runs as the same user can do that) is put right where everything in the
    /// folder is still the user's own.
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
        let others =
            || Complaint::new(format!("others may write to the state folder {}", self.shown()));
        let advice =
            || format!("`chmod 700 {}`, or name another with `--state DIR`", self.folder.display());
        if metadata.uid() != own {
            return if mode & 0o022 == 0 { Ok(()) } else { Err(others().help(advice())) };
        }
        fs::set_permissions(&self.folder, private).map_err(|error| self.unusable(&error))?;
        let entries = fs::read_dir(&self.folder).map_err(|error| self.unusable(&error))?;
        for entry in entries {
            let entry = entry.map_err(|error| self.unusable(&error))?;
            if entry.metadata().is_ok_and(|metadata| metadata.uid() != own) {
                let what = format!("{} is somebody else's: remove it", entry.path().display());
                return Err(others().help(what));
            }
        }
        let shown = self.shown();
        let _unheard =
            writeln!(io::stderr(), "note: {shown} had the mode {mode:o}: it is 700 again");
        Ok(())
    }

    #[cfg(not(unix))]
    fn is_private(&self) -> Result<(), Complaint> {
        Ok(())
    }

    /// A full or read-only file system is better met here than in the middle of a call.
    fn probe(&self) -> io::Result<()> {
        let path = self.folder.join(format!(".probe-{}", std::process::id()));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .and_then(|mut file| file.write_all(&[0; PROBE]));
        let removed = fs::remove_file(&path);
        match written {
            // A process with our id died here before.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => removed,
            written => written.and(removed),
        }
    }

    fn no_folder(&self) -> Complaint {
        Complaint::new(format!("the state {} is not a folder", self.shown()))
            .help("name a folder with `--state DIR` or `COUNTERFOIL_STATE`")
    }

    fn unusable(&self, error: &io::Error) -> Complaint {
        let folder = self.shown();
        let elsewhere = "name another folder with `--state DIR` or `COUNTERFOIL_STATE`";
        match error.kind() {
            io::ErrorKind::PermissionDenied => {
                Complaint::new(format!("the state folder {folder} may not be written to"))
                    .help(format!("make it yours and writable, or {elsewhere}"))
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                Complaint::new(format!("the state folder {folder} is on a read-only file system"))
                    .help(elsewhere)
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Complaint::new(format!(
                "the state folder {folder} is full: nothing can be recorded"
            ))
            .help(format!("free some space, or {elsewhere}")),
            io::ErrorKind::AlreadyExists => self.no_folder(),
            io::ErrorKind::NotADirectory => {
                Complaint::new(format!("the state folder {folder} lies below a file"))
                    .help(elsewhere)
            }
            _ => Complaint::new(format!("the state folder {folder} cannot be used: {error}"))
                .help(elsewhere),
        }
    }
}

/// The platform's folder for state that a program keeps: `$XDG_STATE_HOME`, where it is absolute
/// as it must be, else `~/.local/state`, else `%LOCALAPPDATA%`.
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
            // The user's own folder is closed again; another user's is refused.
            for mode in [0o770, 0o777, 0o000] {
                fs::set_permissions(&named, fs::Permissions::from_mode(mode)).unwrap();
                State::resolve(Some(&named)).unwrap().create().unwrap();
                assert_eq!(fs::metadata(&named).unwrap().permissions().mode() & 0o777, 0o700);
            }
        }
        let file = desk.path().join("file");
        fs::write(&file, "").unwrap();
        for (path, expected) in
            [(file.clone(), "is not a folder"), (file.join("x"), "below a file")]
        {
            let wrong = State::resolve(Some(&path)).unwrap().create().unwrap_err();
            assert!(wrong.to_string().contains(expected), "{wrong}");
        }
        let absent = State::resolve(Some(&desk.path().join("absent"))).unwrap();
        assert!(absent.existing().unwrap_err().to_string().starts_with("nothing is recorded yet"));
    }
}
