use counterfoil_admission::Context;
use counterfoil_model::{Message, Role};
use memchr::memmem::Finder;
use std::path::{Component, Path};

/// The size of the window that is searched at a time, in bytes.
const WINDOW: usize = 64 * 1024;

/// The texts that may ground the values of a call in a live session: policy, user text and earlier
/// results. The agent's own text does not count.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// All texts in lower case, separated by line breaks.
    text: String,
    /// Where each text begins, in order.
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    start: usize,
    source: Source,
}

/// Where a text comes from, in the session's transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    /// The index of the message.
    pub(crate) message: usize,
    /// The index of the result in the message; `None` for the message's own text.
    pub(crate) outcome: Option<usize>,
}

impl Heard {
    /// Adds the message at this index of the transcript.
    pub(crate) fn message(&mut self, at: usize, message: &Message) {
        if matches!(message.role, Role::System | Role::User) {
            self.add(&message.text, Source { message: at, outcome: None });
        }
        for (n, outcome) in message.outcomes.iter().enumerate() {
            // A failure that repeats an argument does not ground it, so only successes are added.
            if outcome.is_error != Some(true) {
                self.add(&outcome.text, Source { message: at, outcome: Some(n) });
            }
        }
    }

    fn add(&mut self, text: &str, source: Source) {
        self.text.push('\n');
        let start = self.text.len();
        self.pieces.push(Piece { start, source });
        self.text.push_str(text);
        self.text.get_mut(start..).map(str::make_ascii_lowercase);
    }

    /// Finds the latest occurrence of one of the texts, within roughly the last `within` bytes, for
    /// which `counts` returns true. Returns which text it is, its source and its byte offset there.
    /// The search ignores the case of ASCII letters; `counts` may check it.
    pub(crate) fn latest(
        &self,
        texts: &[&str],
        within: usize,
        counts: impl Fn(usize, Source, usize) -> bool,
    ) -> Option<Source> {
        let lower: Vec<String> = texts.iter().map(|text| text.to_ascii_lowercase()).collect();
        let finders: Vec<Finder<'_>> = lower.iter().map(Finder::new).collect();
        let bytes = self.text.as_bytes();
        let mut end = bytes.len();
        let last = end.saturating_sub(within);
        while end > last {
            let start = end.saturating_sub(WINDOW);
            let mut found: Vec<(usize, usize)> = Vec::new();
            for (n, finder) in finders.iter().enumerate() {
                // A match that begins in the window may end after it.
                let until = (end + finder.needle().len()).saturating_sub(1).min(bytes.len());
                let window = bytes.get(start..until).unwrap_or_default();
                found.extend(finder.find_iter(window).map(|at| (start + at, n)));
            }
            found.sort_unstable();
            for (at, n) in found.into_iter().rev() {
                let length = texts.get(n).map_or(0, |text| text.len());
                let next = self.pieces.partition_point(|piece| piece.start <= at);
                let Some(piece) = next.checked_sub(1).and_then(|n| self.pieces.get(n)) else {
                    continue;
                };
                let ends = self.pieces.get(next).map_or(bytes.len(), |piece| piece.start - 1);
                if at + length <= ends && counts(n, piece.source, at - piece.start) {
                    return Some(piece.source);
                }
            }
            end = start;
        }
        None
    }
}

impl Context for Heard {
    /// Whether the text occurs as a whole word.
    fn mentions(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        let part = |c: char| c.is_alphanumeric() || c == '_';
        memchr::memmem::find_iter(self.text.as_bytes(), text.as_bytes()).any(|at| {
            let (before, after) = (self.text.get(..at), self.text.get(at + text.len()..));
            let goes_on_before = before.is_some_and(|before| before.ends_with(part));
            let goes_on_after = after.is_some_and(|after| after.starts_with(part));
            let within =
                text.starts_with(part) && goes_on_before || text.ends_with(part) && goes_on_after;
            !within
        })
    }

    /// The texts say nothing about files; [`Seen`] checks them.
    fn is_missing(&self, _path: &str) -> bool {
        false
    }
}

/// The texts, and a workspace in which the existence of files can be checked.
pub(crate) struct Seen<'h> {
    pub(crate) heard: &'h Heard,
    /// The root of the project; empty if there is none.
    pub(crate) workspace: &'h Path,
}

impl Context for Seen<'_> {
    fn mentions(&self, text: &str) -> bool {
        self.heard.mentions(text)
    }

    /// Only files in the workspace are checked.
    fn is_missing(&self, path: &str) -> bool {
        let path = Path::new(path);
        let inside = path.strip_prefix(self.workspace).unwrap_or(path);
        let plain = inside
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        !self.workspace.as_os_str().is_empty()
            && plain
            && matches!(self.workspace.join(inside).try_exists(), Ok(false))
    }

    fn has_looked(&self) -> bool {
        !self.workspace.as_os_str().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_looked_for_beneath_the_workspace_only() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let none = Heard::default();
        let seen = Seen { heard: &none, workspace: folder.path() };
        let inside = folder.path().join("gone.rs");
        for (path, missing) in [
            ("src", false),
            ("./src", false),
            ("src/gone.rs", true),
            (inside.to_str().unwrap(), true),
            ("../gone.rs", false),
            ("/nowhere/gone.rs", false),
        ] {
            assert_eq!(seen.is_missing(path), missing, "{path}");
        }
        assert!(!Seen { heard: &none, workspace: Path::new("") }.is_missing("gone.rs"));
    }

    fn heard(texts: &[&str]) -> Heard {
        let mut heard = Heard::default();
        for (at, text) in texts.iter().enumerate() {
            heard.message(at, &Message::text(Role::User, *text));
        }
        heard
    }

    fn latest(heard: &Heard, texts: &[&str], within: usize) -> Option<usize> {
        heard.latest(texts, within, |_, _, _| true).map(|source| source.message)
    }

    #[test]
    fn the_latest_place_counts() {
        let heard = heard(&["see a.rs and A.rs", "see b.rs", "nothing"]);
        assert_eq!(latest(&heard, &["a.rs"], 1000), Some(0));
        assert_eq!(latest(&heard, &["a.rs", "b.rs"], 1000), Some(1));
        assert_eq!(latest(&heard, &["c.rs"], 1000), None);
        assert_eq!(latest(&heard, &[], 1000), None);
        let exact = |_, _, at| at == 4;
        assert!(heard.latest(&["a.rs"], 1000, exact).is_some());
    }

    #[test]
    fn a_text_across_two_pieces_is_in_neither() {
        let heard = heard(&["http://a", "b"]);
        assert_eq!(latest(&heard, &["http://a\nb"], 1000), None);
        assert_eq!(latest(&heard, &["b"], 1000), Some(1));
    }

    #[test]
    fn a_text_at_the_edge_of_a_window_is_found() {
        for before in WINDOW - 12..WINDOW + 4 {
            let heard = heard(&[&format!("src/main.rs{}", "x".repeat(before))]);
            assert_eq!(latest(&heard, &["src/main.rs"], 2 * WINDOW), Some(0), "{before}");
            let first_window = latest(&heard, &["src/main.rs"], 1);
            assert_eq!(first_window.is_some(), before + 11 <= WINDOW, "{before}");
        }
    }
}
