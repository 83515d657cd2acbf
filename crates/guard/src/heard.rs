use counterfoil_admission::Context;
use counterfoil_model::{Message, Role};
use memchr::memmem::Finder;
use std::path::{Component, Path};

/// So much is looked through at a time, in bytes.
const WINDOW: usize = 64 * 1024;

/// What may ground the values of a call in a live session: policy, user text, earlier results.
/// What the agent itself said does not.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Everything in lower case, pieces apart by a line break.
    text: String,
    /// Where each piece begins, in their order.
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    start: usize,
    source: Source,
}

/// Where something was heard, in the session's transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    /// The message's place.
    pub(crate) message: usize,
    /// The place of the result among the message's; `None`: the message's own text.
    pub(crate) outcome: Option<usize>,
}

impl Heard {
    /// Takes note of the message at this place of the transcript.
    pub(crate) fn message(&mut self, at: usize, message: &Message) {
        if matches!(message.role, Role::System | Role::User) {
            self.add(&message.text, Source { message: at, outcome: None });
        }
        for (n, outcome) in message.outcomes.iter().enumerate() {
            // A failure that repeats an argument does not ground it: only successes count.
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

    /// The latest place, of the last `within` bytes or so, where one of the texts stands and
    /// `counts`: which text, where it was heard and at which byte of that. The case of ASCII
    /// letters is for `counts` to look at.
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
                // What begins in the window may end behind it.
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
    /// As a word, not within another one.
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

    /// What was heard says nothing about files; [`Seen`] looks.
    fn is_missing(&self, _path: &str) -> bool {
        false
    }
}

/// What was heard, beside a workspace in which may be looked whether a file is there.
pub(crate) struct Seen<'h> {
    pub(crate) heard: &'h Heard,
    /// The project's root; empty where there is none.
    pub(crate) workspace: &'h Path,
}

impl Context for Seen<'_> {
    fn mentions(&self, text: &str) -> bool {
        self.heard.mentions(text)
    }

    /// Only beneath the workspace: elsewhere nobody looks for an agent.
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
