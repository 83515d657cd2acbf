//! Extracts paths from a text: a command, a message or the arguments of a call.

use std::collections::BTreeSet;

/// Suffixes that make a name without a directory a path.
const SUFFIXES: [&str; 46] = [
    "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "env", "go", "h", "hpp", "html",
    "ini", "ipynb", "java", "js", "json", "jsonl", "jsx", "kt", "lock", "lua", "md", "mjs", "php",
    "pl", "proto", "py", "rb", "rs", "scala", "scss", "sh", "sql", "svelte", "swift", "tf", "toml",
    "ts", "tsx", "txt", "vue", "yaml", "yml",
];

/// Suffixes of host names: a word that starts with such a host is a web address without its scheme.
const HOSTS: [&str; 8] = [".com", ".org", ".net", ".io", ".dev", ".edu", ".gov", ".app"];

/// The maximum length of a URL, in characters, that is looked for around a place.
const LONGEST_URL: usize = 1_024;

/// Whether a character separates words.
fn separates(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"'`=,;|&<>(){}[]".contains(c)
}

/// Extracts the paths in a text, each once, in order: absolute ones, those that begin with `./`,
/// `../` or `~/`, words with a `/` between them, and names with the suffix of a source file. A path
/// in quotes may contain spaces; the value of `NAME=/path` is a path. URLs and their parts are not.
#[must_use]
pub fn extract_paths(text: &str) -> Vec<&str> {
    let (mut paths, mut known) = (Vec::new(), BTreeSet::new());
    let mut add = |path| {
        if known.insert(path) {
            paths.push(path);
        }
    };
    for stretch in without_urls(text) {
        for piece in quoted(stretch) {
            match piece {
                Piece::Quoted(path) => add(path),
                Piece::Plain(plain) => words(plain).for_each(&mut add),
            }
        }
    }
    paths
}

/// The words of a text that may be paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(separates)
        .scan(None, |before: &mut Option<char>, word| {
            let after_tag = *before == Some('<');
            *before = word.chars().next_back().filter(|c| separates(*c));
            let word = word.trim_end_matches(separates);
            Some(path(word).filter(|_| !after_tag))
        })
        .flatten()
}

/// The parts of a text between its URLs.
fn without_urls(text: &str) -> Vec<&str> {
    let mut stretches = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, from) = rest.split_at(at);
        let scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let start = before.trim_end_matches(scheme).len();
        let end = from.find(ends_url).unwrap_or(from.len());
        stretches.extend(rest.get(..start));
        rest = from.get(end..).unwrap_or_default();
    }
    stretches.push(rest);
    stretches
}

/// Whether a character ends a URL.
fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"'`<>".contains(c)
}

/// Whether a place in a text is inside a URL, so that what is there is not a path.
pub(crate) fn is_in_url(text: &str, at: usize) -> bool {
    let Some((before, after)) = text.split_at_checked(at) else { return false };
    let from = before.char_indices().rev().nth(LONGEST_URL).map_or(0, |(start, _)| start);
    let before = before.get(from..).unwrap_or_default();
    let url = before.rsplit(ends_url).next().unwrap_or_default();
    let word = before.rsplit(separates).next().unwrap_or_default();
    let rest = after.split(separates).next().unwrap_or_default();
    url.contains("://") || is_address(&[word, rest.get(..LONGEST_URL).unwrap_or(rest)].concat())
}

enum Piece<'t> {
    /// A path in quotes.
    Quoted(&'t str),
    Plain(&'t str),
}

/// Separates quoted paths that contain spaces from the rest.
fn quoted(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (before, from) = rest.split_at(at);
        pieces.push(Piece::Plain(before));
        let quote = from.get(..1).unwrap_or_default();
        let inside = from.get(1..).unwrap_or_default();
        rest = inside;
        let Some((within, after)) = inside.split_once(quote) else { continue };
        if is_one_path(within) {
            pieces.push(Piece::Quoted(within));
            rest = after;
        }
    }
    pieces.push(Piece::Plain(rest));
    pieces
}

/// Whether quoted text is one path with spaces: it starts like a path, and no later word does.
fn is_one_path(text: &str) -> bool {
    let begins = |word: &str| ["/", "./", "../", "~/"].iter().any(|start| word.starts_with(start));
    let mut words = text.split(' ');
    let first = words.next().is_some_and(|word| begins(word) && word.len() > 1);
    first
        && text.contains(' ')
        && !text.contains(|c: char| c.is_control() || "|;&<>*".contains(c))
        && !words.any(|word| begins(word) || word.starts_with('-') || word.is_empty())
}

/// The path in a word, without trailing punctuation and line number.
fn path(word: &str) -> Option<&str> {
    let mut path = word.trim_end_matches([':', '.', '!', '?']);
    // `src/main.rs:12:5`
    while let Some((before, number)) = path.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        path = before;
    }
    // `-I/usr/include` contains a path, `--flag` does not.
    if let Some(rest) = path.strip_prefix('-') {
        path = path.get(path.len() - rest.trim_start_matches(is_flag).len()..)?;
        if !path.starts_with('/') {
            return None;
        }
    }
    let named = path.split('/').any(|part| part.contains(char::is_alphanumeric));
    (named && is_path(path)).then_some(path)
}

fn is_flag(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '-'
}

fn is_path(word: &str) -> bool {
    if word.contains('\\') || is_address(word) {
        return false;
    }
    if ["/", "./", "../", "~/"].iter().any(|start| word.starts_with(start)) {
        return true;
    }
    match word.split_once('/') {
        Some((first, _)) => {
            let only_numbers = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/');
            !first.is_empty() && !only_numbers
        }
        None => word.rsplit_once('.').is_some_and(|(name, suffix)| {
            let named = name.contains(char::is_alphanumeric) && !name.ends_with('.');
            named && SUFFIXES.contains(&suffix)
        }),
    }
}

/// Whether a word is a web address without its scheme, or `git@host:a/b`.
fn is_address(word: &str) -> bool {
    let host = word.split_once('/').map_or("", |(first, _)| first).to_ascii_lowercase();
    let web = host.starts_with("www.") || HOSTS.iter().any(|end| host.ends_with(end));
    let remote =
        word.split_once('@').is_some_and(|(user, _)| !user.is_empty() && word.contains(':'));
    word.starts_with("//") || web || remote
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(extract_paths(text), expected, "{text}");
    }

    #[test]
    fn extract_paths_finds_absolute_and_relative_paths() {
        check("cat /usr/share/doc", &["/usr/share/doc"]);
        check("open src/main.rs, then ./foo/bar.", &["src/main.rs", "./foo/bar"]);
        check("../up/x and ~/notes", &["../up/x", "~/notes"]);
        check("edit main.rs and Cargo.toml!", &["main.rs", "Cargo.toml"]);
        check("a/b a/b a/c", &["a/b", "a/c"]);
        check("at src/main.rs:12:5: error", &["src/main.rs"]);
        check("(see docs/x.md)", &["docs/x.md"]);
        check("日本/語 ü/ö", &["日本/語", "ü/ö"]);
        check("cc -I/usr/include x.c", &["/usr/include", "x.c"]);
        check("a/b|c/d;e/f&&g/h", &["a/b", "c/d", "e/f", "g/h"]);
    }

    #[test]
    fn extract_paths_finds_values_and_quoted_paths() {
        check("NAME=/path/x make", &["/path/x"]);
        check("HOME=/root PATH=/a/b:/c", &["/root", "/a/b:/c"]);
        check("--config=conf/app.toml", &["conf/app.toml"]);
        check("rm \"/my dir/a file\" 'x/y'", &["/my dir/a file", "x/y"]);
        check("cat './with blank/z' `b/c`", &["./with blank/z", "b/c"]);
        check("\"see src/main.rs for it\"", &["src/main.rs"]);
        check("'cp /a/b /c/d'", &["/a/b", "/c/d"]);
        check("\"/a/b /c/d\"", &["/a/b", "/c/d"]);
        check("{\"path\":\"/etc/hosts\"}", &["/etc/hosts"]);
        check("an unclosed \"/quote here", &["/quote"]);
    }

    #[test]
    fn extract_paths_never_finds_urls() {
        for text in [
            "https://example.com/a/b",
            "http://example.com/a/b.rs",
            "see <https://example.com/x/y?p=/etc/passwd&q=src/main.rs#a/b>",
            "url=https://example.com/a/b",
            "\"https://example.com/a\"",
            "ftp://host/x git+ssh://git@host/a/b",
            "file:///etc/passwd",
            "www.example.com/a/b",
            "example.com/a/b github.com/x/y",
            "git@host.example:a/b.git",
            "//cdn.example.com/x",
        ] {
            check(text, &[]);
        }
        check("curl https://example.com/x.rs -o out/x.rs", &["out/x.rs"]);
        check("https://a.example/x /etc/hosts", &["/etc/hosts"]);
    }

    #[test]
    fn extract_paths_leaves_alone_what_is_none() {
        for text in [
            "",
            "/",
            "//",
            "...",
            "1/2 2024/01/02",
            "</div>",
            "a = b / c",
            "--flag -x",
            "e.g. U.S.",
        ] {
            check(text, &[]);
        }
    }
}
