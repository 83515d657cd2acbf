use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use counterfoil_formats::{decompressed, log_name, looks_like_a_log};
use walkdir::WalkDir;

use crate::files;

/// An input to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    /// The name to show: as the user wrote it, or its path in the folder that the user named.
    pub(crate) shown: String,
    source: Source,
    /// Whether the user named it, so that it must be readable. Files in a folder may be anything.
    pub(crate) named: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Stdin,
    /// A text created here.
    Text(String),
    File(PathBuf),
}

/// Folders that never contain logs.
const SKIPPED: [&str; 5] = [".git", ".hg", ".svn", "node_modules", "__pycache__"];

/// Returns the inputs for the named paths, in that order, with folders sorted by file name; each
/// file once. A path that cannot be listed is also an input; reading it reports why.
pub(crate) fn inputs(paths: &[PathBuf]) -> Vec<Input> {
    let mut found = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            found.push(Input { shown: "-".to_owned(), source: Source::Stdin, named: true });
        } else if path.is_dir() {
            found.extend(in_folder(path));
        } else {
            found.push(file(path, true));
        }
    }
    once(found)
}

/// Removes repetitions of a file, however its path is written. A file in a folder that is also
/// named counts as named.
fn once(found: Vec<Input>) -> Vec<Input> {
    let mut places: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut kept: Vec<Input> = Vec::new();
    for input in found {
        let path = input.path().unwrap_or(Path::new("-"));
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let first = *places.entry(place).or_insert(kept.len());
        match kept.get_mut(first) {
            Some(first) => first.named |= input.named,
            None => kept.push(input),
        }
    }
    kept
}

fn in_folder(folder: &Path) -> impl Iterator<Item = Input> {
    WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| {
            let name = entry.file_name();
            entry.depth() == 0
                || !(entry.file_type().is_dir() && SKIPPED.iter().any(|skipped| name == *skipped))
        })
        .filter_map(|entry| match entry {
            Ok(entry) if entry.file_type().is_file() && looks_like_a_log(entry.path()) => {
                Some(file(entry.path(), false))
            }
            Ok(_) => None,
            Err(error) => error.path().map(|path| file(path, true)),
        })
}

fn file(path: &Path, named: bool) -> Input {
    Input { shown: path.to_string_lossy().into_owned(), source: Source::File(path.into()), named }
}

impl Input {
    /// Creates an input from a text, with a name to show.
    pub(crate) fn text(shown: String, text: String) -> Self {
        Self { shown, source: Source::Text(text), named: true }
    }

    /// Creates an input from a file.
    pub(crate) fn file(path: &Path) -> Self {
        file(path, true)
    }

    /// Returns the path, if it is a file.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            Source::Stdin | Source::Text(_) => None,
        }
    }

    /// The name for a transcript without an id.
    pub(crate) fn name(&self) -> String {
        match &self.source {
            Source::Stdin => "stdin".to_owned(),
            Source::Text(_) => self.shown.clone(),
            Source::File(path) => log_name(path),
        }
    }

    /// The number of bytes to read, before decompression; `None` if unknown.
    pub(crate) fn bytes(&self) -> Option<u64> {
        match &self.source {
            Source::Stdin => None,
            Source::Text(text) => u64::try_from(text.len()).ok(),
            // A missing file has nothing to read.
            Source::File(path) => Some(path.metadata().map_or(0, |data| data.len())),
        }
    }

    /// Opens the input, decompressed. `tick` is called with the number of bytes after each read.
    pub(crate) fn open<'a>(&self, tick: impl Fn(usize) + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
        match &self.source {
            Source::Stdin => decompressed(BufReader::new(Watched { inner: io::stdin(), tick })),
            Source::Text(text) => Ok(Box::new(Cursor::new(text.clone()))),
            Source::File(path) => {
                let inner = files::open(path)?;
                decompressed(BufReader::with_capacity(64 * 1024, Watched { inner, tick }))
            }
        }
    }
}

/// A reader that reports how many bytes are read.
struct Watched<R, T> {
    inner: R,
    tick: T,
}

impl<R: Read, T: Fn(usize)> Read for Watched<R, T> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        (self.tick)(count);
        Ok(count)
    }
}
