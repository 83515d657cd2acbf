use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces a file's text atomically. Keeps its mode, and follows a link. A missing file is
/// created, with its folder.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let (path, mode) = match path.canonicalize() {
        Ok(path) => (path.clone(), Some(fs::metadata(&path)?.permissions())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            (path.to_owned(), None)
        }
        Err(error) => return Err(error),
    };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // A private file must never be readable by others, not even briefly.
    #[cfg(unix)]
    if mode.is_some() {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(&beside)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| mode.map_or(Ok(()), |mode| file.set_permissions(mode)))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
