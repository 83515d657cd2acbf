//! Lines of output in parts, each with a tone; each user interface has its own colours.

use crate::terminal::Paint;

/// The tone of a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// Important.
    Strong,
    /// Less important.
    Dim,
    /// A name, an id.
    Code,
    /// Doubtful, or a notice.
    Note,
    Wrong,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row(Vec<(Tone, String)>);

impl Row {
    pub(crate) fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self::default().and(tone, text)
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(Tone::Plain, text)
    }

    /// Appends a part.
    pub(crate) fn and(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.0.push((tone, text.into()));
        self
    }

    pub(crate) fn parts(&self) -> &[(Tone, String)] {
        &self.0
    }

    /// Formats the line for a terminal.
    pub(crate) fn painted(&self, paint: Paint) -> String {
        let part = |(tone, text): &(Tone, String)| match tone {
            Tone::Plain | Tone::Dim => text.clone(),
            Tone::Strong => paint.bold(text),
            Tone::Code => paint.code(text),
            Tone::Note => paint.help(text),
            Tone::Wrong => paint.error(text),
        };
        self.0.iter().map(part).collect()
    }
}

/// Converts each line of a text into a row.
pub(crate) fn rows(tone: Tone, text: &str) -> Vec<Row> {
    text.lines().map(|line| Row::new(tone, line)).collect()
}
