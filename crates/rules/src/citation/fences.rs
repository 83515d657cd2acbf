//! Fenced blocks of a text.

use counterfoil_model::Span;

/// The kind of text that contains an object or an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Running text.
    Plain,
    /// A fenced block without a language, or with a language for data or tool traffic.
    Fence,
    /// A fenced block of a programming language.
    Code,
}

/// The fenced blocks of a text.
#[derive(Debug)]
pub(crate) struct Fences(Vec<(Span, Setting)>);

impl Fences {
    /// Finds the fenced blocks.
    pub(crate) fn find(text: &str) -> Self {
        let mut found = Vec::new();
        let mut open: Option<(&str, usize, Setting)> = None;
        let mut at = 0;
        for raw in text.split_inclusive('\n') {
            let start = at;
            at += raw.len();
            let line = raw.trim();
            match open {
                Some((mark, from, setting)) => {
                    if line.starts_with(mark) && line.trim_start_matches(['`', '~']).is_empty() {
                        let span = Span::new(from, start);
                        // A literal alone is data, whatever the language.
                        let literal = span.slice(text).trim();
                        let data = literal.starts_with('{') && literal.ends_with('}');
                        found.push((span, if data { Setting::Fence } else { setting }));
                        open = None;
                    }
                }
                None => {
                    if let Some(mark) = ["```", "~~~"].into_iter().find(|m| line.starts_with(m)) {
                        let language = line.trim_start_matches(['`', '~']).trim();
                        open = Some((mark, at, setting_of(language)));
                    }
                }
            }
        }
        if let Some((_, from, setting)) = open {
            found.push((Span::new(from, text.len()), setting));
        }
        Self(found)
    }

    /// Whether a text consists of its only fenced block.
    pub(super) fn only(&self, text: &str) -> bool {
        let lines = text.trim().lines().count();
        let [(span, _)] = &*self.0 else { return false };
        text.trim_start().starts_with(['`', '~']) && span.slice(text).lines().count() + 2 == lines
    }

    /// The kind of text at byte `at`.
    pub(crate) fn setting(&self, at: usize) -> Setting {
        let after = self.0.partition_point(|(span, _)| span.start <= at);
        let last = after.checked_sub(1).and_then(|i| self.0.get(i));
        last.filter(|(span, _)| at < span.end).map_or(Setting::Plain, |(_, setting)| *setting)
    }
}

fn setting_of(language: &str) -> Setting {
    let language = language.to_ascii_lowercase();
    let data =
        matches!(
            language.as_str(),
            "" | "json" | "jsonc" | "json5" | "text" | "txt" | "yaml" | "yml"
        ) || ["output", "result", "tool", "console", "plain"].iter().any(|w| language.contains(w));
    if data { Setting::Fence } else { Setting::Code }
}
