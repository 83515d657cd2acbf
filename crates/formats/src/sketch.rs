use std::borrow::Cow;
use std::collections::BTreeSet;

/// The members of a JSON text, found without parsing it, so that the beginning of a document is
/// enough.
///
/// `messages[].role` means that a member exists at that path, `messages[].role=user` that it has
/// this (short) text.
#[derive(Debug, Default)]
pub(crate) struct Sketch {
    paths: BTreeSet<String>,
}

/// Limits on nesting and text length; anything beyond is ignored.
const DEPTH: usize = 6;
const SHORT: usize = 48;

impl Sketch {
    /// Sketches a JSON text or the beginning of one.
    pub(crate) fn from_text(text: &str) -> Self {
        let mut sketch = Self::default();
        let mut path: Vec<Cow<'_, str>> = Vec::new();
        let mut walk = Walk::default();
        for token in Tokens::new(text) {
            match walk.step(&token) {
                Step::Key(key) => {
                    path.truncate(walk.open.len().saturating_sub(1));
                    path.resize(walk.open.len().saturating_sub(1), Cow::Borrowed("[]"));
                    path.push(Cow::Borrowed(key));
                    if path.len() <= DEPTH {
                        sketch.paths.insert(joined(&path));
                    }
                }
                Step::Text(value) if walk.open.len() <= DEPTH && value.len() <= SHORT => {
                    path.truncate(walk.open.len());
                    path.resize(walk.open.len(), Cow::Borrowed("[]"));
                    if walk.in_array() {
                        path.truncate(walk.open.len().saturating_sub(1));
                        path.push(Cow::Borrowed("[]"));
                    }
                    sketch.paths.insert(format!("{}={value}", joined(&path)));
                }
                Step::Open => {
                    // The path of an array's elements replaces whatever was there before.
                    let parent = walk.open.len().saturating_sub(2);
                    if walk.parent_is_array() {
                        path.truncate(parent);
                        path.resize(parent, Cow::Borrowed("[]"));
                        path.push(Cow::Borrowed("[]"));
                    }
                }
                Step::Text(_) | Step::Other | Step::Close => {}
            }
        }
        sketch
    }

    /// Whether the member exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Whether all of the members exist.
    pub(crate) fn has_all(&self, paths: &[&str]) -> bool {
        paths.iter().all(|path| self.has(path))
    }

    /// Whether any of the members exists.
    pub(crate) fn has_any(&self, paths: &[&str]) -> bool {
        paths.iter().any(|path| self.has(path))
    }

    /// Whether the member exists and has one of these texts.
    pub(crate) fn is_one_of(&self, path: &str, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.paths.contains(&format!("{path}={text}")))
    }
}

/// `["messages", "[]", "role"]` as `messages[].role`.
fn joined(path: &[Cow<'_, str>]) -> String {
    let mut text = String::new();
    for part in path {
        if part != "[]" && !text.is_empty() {
            text.push('.');
        }
        text.push_str(part);
    }
    text
}

/// Truncates a cut-off JSON text after the last complete value and closes it; `None` if nothing can
/// be kept.
pub(crate) fn closed(text: &str) -> Option<String> {
    let mut walk = Walk::default();
    let mut good = None;
    for token in Tokens::new(text) {
        match walk.step(&token) {
            Step::Key(_) => {}
            Step::Other if matches!(token.kind, Kind::Mark(_)) => {}
            _ => good = Some((token.end, walk.open.len())),
        }
    }
    let (end, depth) = good?;
    let mut kept = text.get(..end)?.to_owned();
    for open in walk.open.iter().take(depth).rev() {
        kept.push(if open.array { ']' } else { '}' });
    }
    Some(kept)
}

#[derive(Default)]
struct Walk {
    open: Vec<Container>,
}

struct Container {
    array: bool,
    /// In an object: whether a colon was read and a value comes next.
    value_next: bool,
}

enum Step<'t> {
    Key(&'t str),
    Text(&'t str),
    Open,
    Close,
    Other,
}

impl Walk {
    fn step<'t>(&mut self, token: &Token<'t>) -> Step<'t> {
        match token.kind {
            Kind::Open(array) => {
                if let Some(last) = self.open.last_mut() {
                    last.value_next = false;
                }
                self.open.push(Container { array, value_next: false });
                Step::Open
            }
            Kind::Close => {
                self.open.pop();
                Step::Close
            }
            Kind::Mark(mark) => {
                if let Some(last) = self.open.last_mut() {
                    last.value_next = mark == b':';
                }
                Step::Other
            }
            Kind::Text(text) => match self.open.last_mut() {
                Some(last) if !last.array && !last.value_next => Step::Key(text),
                Some(last) => {
                    last.value_next = false;
                    Step::Text(text)
                }
                None => Step::Text(text),
            },
            Kind::Scalar => {
                if let Some(last) = self.open.last_mut() {
                    last.value_next = false;
                }
                Step::Other
            }
        }
    }

    fn in_array(&self) -> bool {
        self.open.last().is_some_and(|last| last.array)
    }

    fn parent_is_array(&self) -> bool {
        self.open.iter().rev().nth(1).is_some_and(|parent| parent.array)
    }
}

struct Token<'t> {
    kind: Kind<'t>,
    end: usize,
}

enum Kind<'t> {
    /// `[` when true, else `{`.
    Open(bool),
    Close,
    /// `,` or `:`.
    Mark(u8),
    Text(&'t str),
    Scalar,
}

/// A tolerant JSON tokeniser: skips invalid input and drops an unfinished token.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn text_from(&mut self, start: usize) -> Option<Token<'t>> {
        let bytes = self.text.as_bytes();
        let mut at = start;
        loop {
            let next = memchr::memchr2(b'"', b'\\', bytes.get(at..)?)? + at;
            if bytes.get(next) == Some(&b'"') {
                self.at = next + 1;
                return Some(Token { kind: Kind::Text(self.text.get(start..next)?), end: self.at });
            }
            at = next + 2;
        }
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            self.at += 1;
            let end = self.at;
            let kind = match byte {
                b'{' | b'[' => Kind::Open(byte == b'['),
                b'}' | b']' => Kind::Close,
                b',' | b':' => Kind::Mark(byte),
                b'"' => {
                    let found = self.text_from(end);
                    if found.is_none() {
                        self.at = bytes.len();
                    }
                    return found;
                }
                b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                    let rest = bytes.get(end..)?;
                    let len = rest.iter().position(|b| {
                        !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'))
                    })?;
                    self.at += len;
                    return Some(Token { kind: Kind::Scalar, end: self.at });
                }
                _ => continue,
            };
            return Some(Token { kind, end });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_beginning() {
        let sketch = Sketch::from_text(
            r#"{"id":"a","messages":[{"role":"user","x":[1,{"y":2}]},{"role":"as"#,
        );
        let paths: Vec<_> = sketch.paths.iter().map(String::as_str).collect();
        assert_eq!(
            paths,
            [
                "id",
                "id=a",
                "messages",
                "messages[].role",
                "messages[].role=user",
                "messages[].x",
                "messages[].x[].y"
            ]
        );
        assert!(Sketch::from_text(r#"[{"role":"user"}]"#).has("[].role=user"));
        assert!(Sketch::from_text(r#"{"a":["b"]}"#).has("a[]=b"));
    }

    #[test]
    fn closing_what_was_cut() {
        for (cut, kept) in [
            (r#"{"a":[1,2"#, Some(r#"{"a":[1]}"#)),
            (r#"{"a":[1,{"b":"#, Some(r#"{"a":[1,{}]}"#)),
            (r#"{"a":"x","b":"y"#, Some(r#"{"a":"x"}"#)),
            (r#"{"a":"x","b"#, Some(r#"{"a":"x"}"#)),
            (r#"{"a":"x","b","#, Some(r#"{"a":"x"}"#)),
            (r#"[{"a":tru"#, Some("[{}]")),
            (r#"["a\"#, Some("[]")),
            ("", None),
        ] {
            assert_eq!(closed(cut).as_deref(), kept, "{cut}");
        }
    }
}
