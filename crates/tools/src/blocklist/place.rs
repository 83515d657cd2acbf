//! Where commands start, and which folders around it are protected.

use std::path::Path;
use std::sync::Arc;

use counterfoil_shell::{Word, WordKind};
use globset::GlobBuilder;

/// Where commands start, and the folders around it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) root: String,
    home: String,
    /// The directory in which the script starts, absolute.
    directory: String,
    /// Whether this is another machine, about which nothing is known.
    is_elsewhere: bool,
    /// Folders of secrets that only this machine's configuration names, absolute.
    kept: Arc<[String]>,
}

impl Default for Place {
    /// An unknown project: only what is protected everywhere is known.
    fn default() -> Self {
        Self::new(Path::new("/unknown/project"), None, None)
    }
}

impl Place {
    pub(super) fn new(root: &Path, home: Option<&str>, directory: Option<&str>) -> Self {
        let root = tidy(&root.to_string_lossy());
        let directory = join(&root, directory.unwrap_or_default());
        let home = home.filter(|home| home.starts_with('/')).unwrap_or("/root");
        Self { home: tidy(home), root, directory, is_elsewhere: false, kept: Arc::default() }
    }

    /// The same with folders of secrets that only the configuration names.
    pub(super) fn keeping(self, kept: Arc<[String]>) -> Self {
        Self { kept, ..self }
    }

    pub(super) fn kept(&self) -> Arc<[String]> {
        Arc::clone(&self.kept)
    }

    /// Whether a word names such a folder, or something in it.
    pub(super) fn is_kept(&self, text: &str, directory: Option<&str>) -> bool {
        let text = text.rsplit(['@', '=']).next().unwrap_or(text);
        let home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|home| text.strip_prefix(home));
        let path = match (home, directory) {
            (Some(inside), _) => join(&self.home, inside),
            (None, Some(directory)) => join(&self.from(directory), text),
            (None, None) => tidy(text),
        };
        !self.is_elsewhere && self.kept.iter().any(|folder| Path::new(&path).starts_with(folder))
    }

    /// The place on another machine, where nothing belongs to the project.
    pub(super) fn elsewhere(&self) -> Self {
        let nowhere = NOWHERE.to_owned();
        Self {
            root: nowhere.clone(),
            home: self.home.clone(),
            directory: nowhere,
            is_elsewhere: true,
            kept: self.kept(),
        }
    }

    /// The absolute path of a directory that is relative to where the script starts.
    pub(super) fn from(&self, directory: &str) -> String {
        match directory.strip_prefix('~') {
            Some(rest) => join(&self.home, rest.trim_start_matches('/')),
            None => join(&self.directory, directory),
        }
    }

    /// Whether this folder or file is protected.
    pub(super) fn protects(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        let parent_of = |inner: &str| {
            let inner = inner.to_lowercase();
            inner == path
                || path == "/"
                || inner.strip_prefix(&path).is_some_and(|r| r.starts_with('/'))
        };
        parent_of(&self.root)
            || parent_of(&self.home)
            || SYSTEM.contains(&path.as_str())
            || self.git().iter().any(|inside| inside.to_lowercase() == path)
            || ["/home/", "/users/"]
                .iter()
                .any(|homes| path.strip_prefix(homes).is_some_and(|user| !user.contains('/')))
    }

    /// Whether a word names a system folder or a home, as far as is known. The project's own root
    /// does not count.
    pub(super) fn loses(&self, word: &Word, directory: Option<&str>) -> bool {
        let elsewhere = Self { root: NOWHERE.to_owned(), ..self.clone() };
        protection(word, directory, &elsewhere, true) == Protection::Protected
    }

    /// Whether a word names something outside the project that is neither a cache (`~/.cache`) nor
    /// temporary (`/tmp`), as far as is known.
    pub(super) fn is_left(&self, word: &Word, directory: Option<&str>) -> bool {
        let text = word.text.as_str();
        let home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|home| text.strip_prefix(home));
        let path = match (home, word.kind, directory) {
            (Some(inside), ..) if !inside.contains('$') => join(&self.home, inside),
            (None, WordKind::Literal | WordKind::Pattern, _) if text.starts_with('/') => tidy(text),
            (None, WordKind::Literal | WordKind::Pattern, Some(directory))
                if !text.starts_with('~') && !text.contains(':') =>
            {
                join(&self.from(directory), text)
            }
            (None, WordKind::Literal | WordKind::Pattern, None) => {
                return self.is_elsewhere && !text.is_empty();
            }
            _ => return false,
        };
        let within = |folder: &str| Path::new(&path).starts_with(folder);
        let cache = join(&self.home, ".cache");
        let name = path.rsplit('/').next().unwrap_or_default();
        // Here these folders are in the project; on another machine their location is unknown.
        if self.is_elsewhere && BUILT_AGAIN.contains(&name) {
            return false;
        }
        !within(&self.root) && !within(&cache) && !SHORT_LIVED.iter().any(|folder| within(folder))
    }

    /// Whether a word names exactly one file of the project or a temporary one.
    pub(super) fn is_own(&self, word: &Word, directory: Option<&str>) -> bool {
        let Some((text, directory)) = word.literal().zip(directory) else { return false };
        let path = join(&self.from(directory), text);
        let within = |folder: &str| Path::new(&path).starts_with(folder);
        !text.starts_with('~') && (within(&self.root) || SHORT_LIVED.iter().any(|f| within(f)))
    }

    /// Whether a container with this mount can access the machine's own files: `/:/host`,
    /// `~:/data`, or in the long form `type=bind,source=/,target=/host`.
    pub(super) fn is_mounted(&self, text: &str) -> bool {
        let long = text
            .split(',')
            .find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
        let short = text.split(':').next().unwrap_or(text);
        let only_read = text.split([':', ',']).any(|part| matches!(part, "ro" | "readonly"));
        let from = long.unwrap_or(short);
        let word = Word { text: from.to_owned(), kind: WordKind::Literal };
        (text.contains(':') || long.is_some())
            && (from == "/" || !only_read && self.loses(&word, Some("")))
    }

    fn git(&self) -> [String; 3] {
        ["", "/objects", "/refs"].map(|inside| join(&self.root, &format!(".git{inside}")))
    }

    /// Whether a pattern matches something protected, or everything in it.
    fn covers(&self, pattern: &str) -> bool {
        // The glob library does not support classes, sequences and extended patterns.
        if pattern.contains("[:")
            || pattern.contains('(')
            || (pattern.contains('{') && pattern.contains(".."))
        {
            return true;
        }
        let git = self.git();
        let ends = FixedEnds::new(pattern);
        let around = [&self.root, &self.home].into_iter().flat_map(|path| ancestors(path));
        let mut perhaps = SYSTEM
            .iter()
            .copied()
            .chain(["/home/anybody", "/users/anybody"])
            .chain(around)
            .chain(git.iter().map(String::as_str))
            .filter(|path| ends.may_start(path))
            .flat_map(|path| {
                let inside = path.trim_end_matches('/');
                [path.to_owned(), format!("{inside}/{ANYTHING}"), format!("{inside}/{ANY_HIDDEN}")]
            })
            .filter(|path| ends.may_match(path))
            .peekable();
        // Most patterns concern something else, and need not be compiled.
        if perhaps.peek().is_none() {
            return false;
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).case_insensitive(true).build();
        let Ok(glob) = glob.map(|glob| glob.compile_matcher()) else { return true };
        perhaps.any(|path| glob.is_match(path))
    }
}

/// The fixed beginning and end of every path that a pattern matches, ignoring case. Empty if that
/// would require case rules of other languages.
struct FixedEnds<'p> {
    head: &'p str,
    tail: &'p str,
}

impl<'p> FixedEnds<'p> {
    fn new(pattern: &'p str) -> Self {
        let pattern = if pattern.is_ascii() { pattern } else { "" };
        let head = pattern.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
        let tail = pattern.rsplit(['*', '?', ']', '}', '\\']).next().unwrap_or_default();
        Self { head, tail }
    }

    /// Whether the path, or something in it, may have this beginning.
    fn may_start(&self, path: &str) -> bool {
        let mut pairs = path.bytes().zip(self.head.bytes());
        !path.is_ascii() || pairs.all(|(one, other)| one.eq_ignore_ascii_case(&other))
    }

    fn may_match(&self, path: &str) -> bool {
        let begins = path.len() >= self.head.len() && self.may_start(path);
        let end = path.len().checked_sub(self.tail.len()).and_then(|end| path.get(end..));
        !path.is_ascii() || begins && end.is_some_and(|end| end.eq_ignore_ascii_case(self.tail))
    }
}

/// Folders for temporary files.
const SHORT_LIVED: [&str; 5] = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/data/local/tmp"];

/// Folders that a build recreates.
const BUILT_AGAIN: [&str; 10] = [
    "node_modules",
    "dist",
    "build",
    "target",
    "__pycache__",
    ".next",
    ".cache",
    "coverage",
    ".venv",
    "venv",
];

/// A root that no command names.
const NOWHERE: &str = "/zqxj/zqxj";

/// Names that only a general pattern matches.
const ANYTHING: &str = "zqxj";
const ANY_HIDDEN: &str = ".zqxj";

const SYSTEM: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/users",
    "/system",
    "/library",
    "/applications",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/share",
    "/var/lib",
    "/etc/ssl",
];

/// Whether the target of a deletion is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Protection {
    None,
    /// Known only at run time.
    Unknown,
    Protected,
}

pub(super) fn strongest(
    words: &[Word],
    directory: Option<&str>,
    place: &Place,
    recursive: bool,
) -> Protection {
    let each = words.iter().map(|word| protection(word, directory, place, recursive));
    each.max().unwrap_or(Protection::None)
}

/// The protection of a target. `directory` is where the command runs, relative to where the script
/// starts.
pub(super) fn protection(
    target: &Word,
    directory: Option<&str>,
    place: &Place,
    recursive: bool,
) -> Protection {
    let text = target.text.as_str();
    if text.is_empty() {
        return Protection::None;
    }
    if let Some(words) = alternatives(target) {
        return strongest(&words, directory, place, recursive);
    }
    let when = |protected: bool| match protected {
        true => Protection::Protected,
        false => Protection::None,
    };
    let home = |rest: &str| join(&place.home, rest.trim_start_matches('/'));
    let known = ["$HOME", "${HOME}", "~"].into_iter().find_map(|name| {
        let rest = text.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| home(rest))
    });
    let absolute = match (known, target.kind) {
        (Some(path), _) if !path.contains('$') => path,
        // Any other variable may hold anything.
        (_, WordKind::Dynamic) if recursive => return Protection::Unknown,
        (_, WordKind::Dynamic) => return Protection::None,
        // Another user's home, such as `~ada`.
        (_, _) if text.starts_with('~') => {
            let (user, rest) = text.split_once('/').unwrap_or((text, ""));
            join(&format!("/home/{}", user.trim_start_matches('~')), rest)
        }
        (_, _) if text.starts_with('/') => tidy(text),
        (_, _) => match directory {
            Some(directory) => join(&place.from(directory), text),
            // The directory in which this runs is unknown.
            None => {
                let inside = tidy(text);
                let unknown = inside.is_empty()
                    || inside.starts_with("..")
                    || inside.starts_with(['*', '?', '[', '{', '.'])
                        && target.kind == WordKind::Pattern
                    || inside == ".git";
                return if unknown { Protection::Unknown } else { Protection::None };
            }
        },
    };
    if target.kind == WordKind::Literal || !absolute.contains(['*', '?', '[', '{']) {
        when(place.protects(&absolute))
    } else {
        when(place.covers(&absolute))
    }
}

/// The maximum number of commas in braces for which every alternative is checked: these make at
/// most a thousand words.
const MOST_COMMAS: usize = 10;

/// Expands the first braces of a word: `a{b,c}d` to `abd` and `acd`. `None` without braces; a word
/// that may be anything if there are too many.
fn alternatives(word: &Word) -> Option<Vec<Word>> {
    let text = word.text.as_str();
    let open = text.find('{').filter(|_| word.kind == WordKind::Pattern)?;
    let (mut depth, mut pieces, mut start, mut close) = (0_usize, Vec::new(), open + 1, None);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => {
                pieces.push(text.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
        if depth == 0 {
            close = Some(at);
            break;
        }
    }
    let close = close.filter(|_| !pieces.is_empty())?;
    pieces.push(text.get(start..close)?);
    if text.matches(',').count() > MOST_COMMAS {
        return Some(vec![Word { text: text.to_owned(), kind: WordKind::Dynamic }]);
    }
    let (before, after) = (text.get(..open)?, text.get(close + 1..)?);
    let kind = |text: &str| match text.contains(['*', '?', '[', '{']) {
        true => WordKind::Pattern,
        false => WordKind::Literal,
    };
    let words = pieces.into_iter().map(|piece| format!("{before}{piece}{after}"));
    Some(words.map(|text| Word { kind: kind(&text), text }).collect())
}

fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    Path::new(path).ancestors().filter_map(Path::to_str)
}

fn join(from: &str, to: &str) -> String {
    if to.starts_with('/') { tidy(to) } else { tidy(&format!("{from}/{to}")) }
}

/// Removes `.`, `//` and `..`; `/` stays.
pub(crate) fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}
