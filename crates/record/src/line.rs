use std::borrow::Cow;
use std::fmt;

/// The kind of a numbered line of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineKind {
    /// `Y`: system text, and text added by the agent's harness.
    System = 0,
    /// `U`: a text of the user.
    User,
    /// `A`: a text of the agent.
    Agent,
    /// `C`: a call with its tool and arguments.
    Call,
    /// `R`: the result of the call with the same number.
    Result,
    /// `F`: a line of the sheet of facts.
    Fact,
}

impl LineKind {
    const ALL: [Self; 6] =
        [Self::System, Self::User, Self::Agent, Self::Call, Self::Result, Self::Fact];

    fn letter(self) -> char {
        match self {
            Self::System => 'Y',
            Self::User => 'U',
            Self::Agent => 'A',
            Self::Call => 'C',
            Self::Result => 'R',
            Self::Fact => 'F',
        }
    }
}

/// The label of a line: `C7`, `R7`, `U1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// The kind of the line.
    pub kind: LineKind,
    /// The 1-based number. A result has the number of its call.
    pub number: usize,
}

impl Label {
    /// A label of a kind and a number.
    #[must_use]
    pub fn new(kind: LineKind, number: usize) -> Self {
        Self { kind, number }
    }

    /// Parses a label such as `R12`; the letter may be of either case. `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut chars = text.chars();
        let letter = chars.next()?.to_ascii_uppercase();
        let kind = LineKind::ALL.into_iter().find(|kind| kind.letter() == letter)?;
        let digits = chars.as_str();
        let plain = digits.len() <= 9 && digits.bytes().all(|b| b.is_ascii_digit());
        let number = digits.parse().ok().filter(|number| plain && *number > 0)?;
        Some(Self { kind, number })
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.letter(), self.number)
    }
}

/// One numbered line of the record. Its text may contain line breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'t> {
    /// The label.
    pub label: Label,
    /// The message that contains it.
    pub message: usize,
    /// The whole text, redacted.
    pub text: Cow<'t, str>,
    /// The origin of the text, if the label does not show it.
    pub note: Option<&'static str>,
}

/// A piece of a line, of at most [`Chunk::LONGEST`] bytes. Terms are indexed by chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The position of the line in [`Record::lines`](crate::Record::lines).
    pub line: usize,
    /// First byte in the line's text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Chunk {
    /// The maximum size of a chunk in bytes.
    pub const LONGEST: usize = 1_600;

    /// Cuts a text into chunks: at a line break near the end of the chunk, else at a space or a
    /// comma, else between two characters.
    pub(crate) fn cut(line: usize, text: &str, mut push: impl FnMut(Self)) {
        let mut start = 0;
        while start < text.len() {
            let limit = text.floor_char_boundary((start + Self::LONGEST).min(text.len()));
            let end = if limit == text.len() { limit } else { break_before(text, start, limit) };
            push(Self { line, start, end });
            start = end;
        }
        if text.is_empty() {
            push(Self { line, start: 0, end: 0 });
        }
    }
}

fn break_before(text: &str, start: usize, limit: usize) -> usize {
    let piece = text.get(start..limit).unwrap_or_default();
    let half = piece.len() / 2;
    let after = |mark: char| piece.rfind(mark).filter(|at| *at >= half).map(|at| at + 1);
    let at = after('\n').or_else(|| after(' ')).or_else(|| after(','));
    start + at.unwrap_or(piece.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read() {
        for (text, expected) in [
            ("R12", Some((LineKind::Result, 12))),
            ("c3", Some((LineKind::Call, 3))),
            ("F1", Some((LineKind::Fact, 1))),
            ("R", None),
            ("R0", None),
            ("R-1", None),
            ("R+1", None),
            ("R1 ", None),
            ("X1", None),
            ("", None),
            ("R9999999999999", None),
        ] {
            let read = Label::parse(text).map(|label| (label.kind, label.number));
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn chunks_cover_the_text() {
        for text in [String::new(), "é".repeat(3000), "word ".repeat(1000), "a\n".repeat(2000)] {
            let mut whole = String::new();
            Chunk::cut(0, &text, |chunk| {
                assert!(chunk.end - chunk.start <= Chunk::LONGEST);
                whole.push_str(text.get(chunk.start..chunk.end).unwrap());
            });
            assert_eq!(whole, text);
        }
    }
}
