use std::path::Path;

/// One path in the arguments of a call, as far as text shows it. Links are for the executors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// Absolute, or beginning with `~`; without `.`, `//` and `..`.
    pub(super) absolute: String,
    /// The same seen from the project's root, when it lies there.
    pub(super) inside: Option<String>,
    /// It looks like a path, and not only like a word that might be one.
    pub(super) certain: bool,
    /// It holds something that only the shell knows.
    pub(super) open: bool,
}

/// A text longer than this is content, not the name of a file. The paths in it still count.
const LONGEST_NAME: usize = 4096;

pub(super) fn paths_in(texts: &[&str], root: &Path, home: Option<&str>) -> Vec<Named> {
    let root = tidy(&root.to_string_lossy());
    let mut paths = Vec::new();
    for text in texts {
        // A whole text may be a path, with blanks in it.
        let whole = text.len() <= LONGEST_NAME && !text.contains('\n') && !is_url(text);
        if whole && !text.is_empty() {
            add(text, text.starts_with('/') || !text.contains(' '), &root, home, &mut paths);
        }
        let between = |c: char| "\"'`=:,;|&<>(){}[]".contains(c);
        for word in text.split_whitespace().filter(|word| !is_url(word)) {
            for piece in word.split(between).filter(|piece| !piece.is_empty()) {
                if !whole || piece.len() != text.len() {
                    add(piece, true, &root, home, &mut paths);
                }
            }
        }
    }
    paths
}

fn add(text: &str, one_word: bool, root: &str, home: Option<&str>, paths: &mut Vec<Named>) {
    let certain = one_word && (text.contains(['/', '\\']) || text.starts_with(['.', '~']));
    let open = text.contains(['$', '`', '*', '?']);
    let mut push = |path: &str, open: bool| {
        let absolute =
            if path.starts_with(['/', '~']) { tidy(path) } else { tidy(&format!("{root}/{path}")) };
        let below = root.trim_end_matches('/');
        let inside = absolute.strip_prefix(below).and_then(|rest| rest.strip_prefix('/'));
        let inside = inside.map(str::to_owned);
        paths.push(Named { inside, absolute, certain, open });
    };
    let text = text.strip_prefix("file://").unwrap_or(text).replace('\\', "/");
    push(&text, open);
    let in_home = ["~", "$HOME", "${HOME}", "$HOME}"].into_iter().find_map(|name| {
        text.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if let (Some(rest), Some(home)) = (in_home, home) {
        push(&format!("{home}{rest}"), rest.contains(['$', '`', '*', '?']));
    }
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme != "file" && !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if joined.starts_with('~') { joined } else { format!("/{joined}") }
}
