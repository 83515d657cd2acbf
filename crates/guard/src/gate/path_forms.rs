//! Finds the files that a text may mean to a program that opens it: servers parse URIs, cut texts
//! at a NUL, and follow links like the kernel does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// How many times a URI may have been percent-encoded.
const ESCAPED: usize = 3;

/// The maximum number of folders of one call whose links are followed, and of texts that are joined
/// with a folder next to them. A call that names more counts as naming any path.
const MOST_LINKS: usize = 20_000;
pub(super) const MOST_PAIRS: usize = 20_000;

/// Members that name the folder in which the other members of their object are looked up.
const FOLDERS: [&str; 24] = [
    "base",
    "basedir",
    "basepath",
    "cwd",
    "dir",
    "directory",
    "folder",
    "location",
    "parent",
    "parentdir",
    "path",
    "prefix",
    "project",
    "projectdir",
    "projectpath",
    "repo",
    "repopath",
    "repository",
    "root",
    "rootdir",
    "rootpath",
    "workdir",
    "workingdir",
    "workingdirectory",
];

/// Members that hold content, messages or search terms, in the tools of any vendor. A path in them
/// is only mentioned.
const CONTENTS: [&str; 34] = [
    "content",
    "contents",
    "text",
    "body",
    "message",
    "msg",
    "commit_message",
    "subject",
    "title",
    "description",
    "summary",
    "comment",
    "comments",
    "note",
    "notes",
    "reason",
    "question",
    "prompt",
    "instructions",
    "instruction",
    "query",
    "regex",
    "old_string",
    "new_string",
    "old_str",
    "new_str",
    "insert_text",
    "file_text",
    "new_source",
    "old_text",
    "new_text",
    "todos",
    "todo",
    "plan",
];

/// Maximum number of names in a path whose links are followed. The kernel opens no longer one in one
/// step.
const MOST_NAMES: usize = 2_048;

/// Whether a member of this name holds content, whose paths are only mentioned.
pub(super) fn is_content(name: &str) -> bool {
    CONTENTS.contains(&name.to_ascii_lowercase().as_str())
}

/// Whether a path has too many names to be followed.
pub(super) fn is_too_long(path: &str) -> bool {
    path.len() > MOST_NAMES && path.bytes().filter(|byte| *byte == b'/').count() > MOST_NAMES
}

/// Whether a text is data and not a path: base64, in which a slash is one of 64 characters.
pub(super) fn is_base64(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.bytes().all(known) && text.bytes().filter(|byte| *byte == b'/').count() * 24 < text.len()
}

/// Returns the path that a text spells, and the other paths that it may mean: as a file URI, and
/// cut at a NUL, a fragment, a query, or the mark after an archive.
pub(super) fn forms(text: &str) -> (String, Vec<String>) {
    let uri = as_parsed(text);
    let mut forms = match of_file_uri(&uri) {
        None => vec![text.to_owned()],
        Some(rest) => {
            let host_and_path = rest.strip_prefix("//");
            let path = host_and_path.and_then(|rest| rest.get(rest.find('/')?..));
            let path = path.or(host_and_path).unwrap_or(rest);
            let mut forms = decoded(path);
            // Some programs take the host for the first folder.
            forms.extend(host_and_path.filter(|rest| *rest != path).map(|rest| format!("/{rest}")));
            forms
        }
    };
    for end in ['\0', '#', '?', '!'] {
        let cut = |form: &String| Some(form.split_once(end)?.0.to_owned());
        let cut: Vec<String> = forms.iter().filter_map(cut).filter(|cut| !cut.is_empty()).collect();
        forms.extend(cut);
    }
    let mut forms = forms.into_iter();
    (forms.next().unwrap_or_default(), forms.collect())
}

/// A path of a URI, decoded, with all intermediate forms.
fn decoded(path: &str) -> Vec<String> {
    let mut forms = vec![path.to_owned()];
    for _ in 0..ESCAPED {
        let last = forms.last().map_or("", String::as_str);
        let next = percent_decode_str(last).decode_utf8_lossy().into_owned();
        if next == last {
            break;
        }
        forms.push(next);
    }
    forms.reverse();
    forms
}

/// A text as parsers of URIs read it: without tabs and line breaks anywhere, and without control
/// characters and blanks around it.
fn as_parsed(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(|c: char| c <= ' ');
    match text.contains(['\t', '\n', '\r']) {
        true => Cow::Owned(text.replace(['\t', '\n', '\r'], "")),
        false => Cow::Borrowed(text),
    }
}

/// Returns what follows the scheme: `file:/a`, `FILE:///a`, `file://localhost/a`, also within
/// another scheme: `jar:file:/a`, `git+file:///a`.
fn of_file_uri(text: &str) -> Option<&str> {
    let mut from = text;
    loop {
        let (scheme, rest) = from.split_once(':')?;
        let last = scheme.rsplit('+').next().unwrap_or(scheme);
        if last.eq_ignore_ascii_case("file") {
            return Some(rest);
        }
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        if scheme.is_empty() || !scheme.chars().all(is_scheme) {
            return None;
        }
        from = rest;
    }
}

/// Whether a text is a file URI.
pub(super) fn is_file_uri(text: &str) -> bool {
    of_file_uri(&as_parsed(text)).is_some()
}

/// The path on this machine in a URI of any scheme without a host: `sqlite:////etc/a`.
pub(super) fn without_host(uri: &str) -> Option<&str> {
    uri.split_once("://").map(|(_, rest)| rest).filter(|rest| rest.starts_with('/'))
}

/// The path after a sign or an option with which a program takes it: `@/etc/a`, `-f/etc/a`.
pub(super) fn after_sign(text: &str) -> Option<&str> {
    match text.strip_prefix('@') {
        Some(rest) => Some(rest.trim_start_matches('@')).filter(|rest| !rest.is_empty()),
        None => text.strip_prefix('-')?.find(['/', '~', '.']).and_then(|at| text.get(at + 1..)),
    }
}

/// The path in the header of a patch, whose first folder is that of one side: `a/src/x`.
pub(super) fn of_patch(word: &str) -> Option<&str> {
    ["a/", "b/"].iter().find_map(|side| word.strip_prefix(side)).filter(|path| !path.is_empty())
}

/// A normalized path without the `/proc` links to the root and to a process's directory, both of
/// which are ours: `/proc/self/root/etc` is `/etc`.
pub(super) fn without_proc(path: &str, here: &str) -> Option<String> {
    let rest = path.strip_prefix("/proc/")?;
    for (link, target) in [("/root", ""), ("/cwd", here.trim_end_matches('/'))] {
        let ends = |at: &usize| {
            rest.get(at + link.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let at = rest.match_indices(link).map(|(at, _)| at).find(ends);
        if let Some(rest) = at.and_then(|at| rest.get(at + link.len()..)) {
            let path = format!("{target}{rest}");
            return Some(without_proc(&path, here).unwrap_or(path));
        }
    }
    None
}

/// Where the kernel takes a path with `..`, following links before going up; `None` if that is
/// where its text leads anyway. `here` is the folder of the project.
pub(super) fn gone_up(path: &str, here: &str) -> Option<String> {
    if !path.split('/').any(|name| name == "..") {
        return None;
    }
    let mut place = PathBuf::from("/");
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        if name == ".." {
            place = place.canonicalize().unwrap_or(place);
            place.pop();
        } else {
            place.push(name);
        }
        if let Some(real) = place.to_str().and_then(|place| without_proc(place, here)) {
            place = PathBuf::from(if real.is_empty() { "/" } else { &real });
        }
    }
    place.into_os_string().into_string().ok()
}

/// Follows the links of paths in one project.
pub(super) struct Links {
    root: PathBuf,
    real_root: Option<PathBuf>,
    /// The real paths of the folders that were looked up.
    known: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl Links {
    pub(super) fn below(root: &str) -> Self {
        let root = PathBuf::from(root);
        let real_root = root.canonicalize().ok();
        Self { root, real_root, known: BTreeMap::new() }
    }

    /// Whether the limit on followed folders is reached.
    pub(super) fn are_too_many(&self) -> bool {
        self.known.len() >= MOST_LINKS
    }

    /// Where a normalized path leads, as far as it exists; `None` if it leads to itself, or if the
    /// limit is reached. A path in the project is returned relative to the given root.
    pub(super) fn followed(&mut self, path: &str) -> Option<String> {
        if self.are_too_many() || is_too_long(path) {
            return None;
        }
        let path = Path::new(path);
        let existing = existing(path)?;
        let look = || existing.canonicalize().ok();
        let real = self.known.entry(existing.to_owned()).or_insert_with(look).as_ref()?;
        let real = real.join(path.strip_prefix(existing).ok()?);
        let inside = self.real_root.as_ref().and_then(|root| real.strip_prefix(root).ok());
        let real = inside.map_or(real.clone(), |inside| self.root.join(inside));
        let real = real.to_str()?;
        let real = if real.len() > 1 { real.trim_end_matches('/') } else { real };
        (Path::new(real) != path).then(|| real.to_owned())
    }
}

/// The longest beginning of a path that exists.
fn existing(path: &Path) -> Option<&Path> {
    // Most paths, or their folders, exist.
    let near = path.ancestors().take(2).find(|path| path.symlink_metadata().is_ok());
    if near.is_some() {
        return near;
    }
    let mut beginnings: Vec<&Path> = path.ancestors().collect();
    beginnings.reverse();
    beginnings.into_iter().take_while(|path| path.symlink_metadata().is_ok()).last()
}

/// Collects every text of the arguments together with each folder that a member next to it or above
/// it names.
pub(super) fn in_named_folders<'v>(
    value: &'v Value,
    folders: &mut Vec<&'v str>,
    pairs: &mut Vec<(&'v str, &'v str)>,
) {
    match value {
        Value::String(text) => {
            let others = folders.iter().filter(|folder| *folder != text);
            let room = MOST_PAIRS.saturating_sub(pairs.len());
            pairs.extend(others.map(|folder| (*folder, text.as_str())).take(room));
        }
        Value::Array(items) => {
            items.iter().for_each(|item| in_named_folders(item, folders, pairs));
        }
        Value::Object(members) => {
            let before = folders.len();
            for (name, value) in members {
                let name: String = name.chars().filter(|c| !matches!(c, '_' | '-')).collect();
                let names_one = FOLDERS.contains(&name.to_ascii_lowercase().as_str());
                let folder = value.as_str().filter(|text| names_one && !text.is_empty());
                folders.extend(folder.filter(|folder| !folders.contains(folder)));
            }
            let named =
                members.iter().filter(|(name, value)| !is_content(name) || value.is_object());
            named.for_each(|(_, value)| in_named_folders(value, folders, pairs));
            folders.truncate(before);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_means_what_a_server_may_open() {
        for (text, means) in [
            ("file:///etc/passwd", "/etc/passwd"),
            ("FILE:///etc/passwd", "/etc/passwd"),
            ("file:/etc/passwd", "/etc/passwd"),
            ("file://localhost/etc/passwd", "/etc/passwd"),
            ("file://any.example/etc/passwd", "/etc/passwd"),
            ("file:///w/%2eenv", "/w/.env"),
            ("file:///w/%252eenv", "/w/.env"),
            ("file:///w/.env#x", "/w/.env"),
            ("file:///w/%2eenv%23x", "/w/.env"),
            ("f\tile:///etc/pa\nss\rwd", "/etc/passwd"),
            ("\u{1} file:///etc/passwd \u{1f}", "/etc/passwd"),
            ("jar:file:///etc/passwd!/x", "/etc/passwd"),
            ("git+file:///etc/passwd", "/etc/passwd"),
            (".env\0.txt", ".env"),
            (".env#x", ".env"),
            (".env?x", ".env"),
        ] {
            let (spelled, others) = forms(text);
            assert!(
                spelled == means || others.iter().any(|form| form == means),
                "{text}: {others:?}"
            );
        }
        for text in ["src/main.rs", "a%2eb", "profile:/x", "https://x.example/a"] {
            assert_eq!(forms(text), (text.to_owned(), Vec::new()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_as_far_as_there_is_something() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (project, outside) = (real.join("project"), real.join("outside"));
        std::fs::create_dir_all(project.join("sub")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        for (link, target) in [("link", "sub"), ("away", "../outside")] {
            std::os::unix::fs::symlink(target, project.join(link)).unwrap();
        }
        std::os::unix::fs::symlink("project", real.join("named")).unwrap();
        let root = real.join("named").to_str().unwrap().to_owned();
        let away = outside.to_str().unwrap();
        for (path, leads) in [
            ("sub/new", None),
            ("link", Some(format!("{root}/sub"))),
            ("link/new/file", Some(format!("{root}/sub/new/file"))),
            ("away", Some(away.to_owned())),
            ("away/new", Some(format!("{away}/new"))),
            ("nothing/there", None),
        ] {
            let found = Links::below(&root).followed(&format!("{root}/{path}"));
            assert_eq!(found, leads, "{path}");
        }
    }

    #[test]
    fn proc_leads_back() {
        for (path, leads) in [
            ("/proc/self/root/etc/passwd", Some("/etc/passwd")),
            ("/proc/1/root", Some("")),
            ("/proc/thread-self/root/proc/self/root/etc", Some("/etc")),
            ("/proc/self/task/7/cwd/.env", Some("/w/.env")),
            ("/proc/self/cwd", Some("/w")),
            ("/proc/self/rootkit", None),
            ("/proc/cpuinfo", None),
            ("/etc/passwd", None),
        ] {
            assert_eq!(without_proc(path, "/w").as_deref(), leads, "{path}");
        }
    }
}
