//! What is shown: lines in parts, each in its tone. Every face of the program has its own colours.

use crate::terminal::Paint;

/// How a part of a line is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// What matters.
    Strong,
    /// What matters less.
    Dim,
    /// A name, an id.
    Code,
    /// What is doubtful, or merely to be known.
    Note,
    Wrong,
}

/// A line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row(Vec<(Tone, String)>);

impl Row {
    pub(crate) fn of(tone: Tone, text: impl Into<String>) -> Self {
        Self::default().and(tone, text)
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::of(Tone::Plain, text)
    }

    /// Beside what is there.
    pub(crate) fn and(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.0.push((tone, text.into()));
        self
    }

    pub(crate) fn parts(&self) -> &[(Tone, String)] {
        &self.0
    }

    /// For a terminal, line by line.
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

/// Each line of a text as one of these.
pub(crate) fn rows(tone: Tone, text: &str) -> Vec<Row> {
    text.lines().map(|line| Row::of(tone, line)).collect()
}
