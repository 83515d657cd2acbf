//! Splits a text into tokens that may be values.

/// A run of characters that may be a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'s> {
    /// Byte offset in the whole text.
    pub(crate) start: usize,
    pub(crate) text: &'s str,
}

impl Token<'_> {
    /// The parts before and after the first mark that joins two values.
    pub(super) fn halves(self) -> Option<(Self, Self)> {
        let moment = || self.text.get(10..)?.starts_with('T').then_some(10);
        let at = moment()
            .or_else(|| self.text.find([':', '=', '/', '+']))
            .or_else(|| dash(self.text))?;
        let first = Self { start: self.start, text: self.text.get(..at)? };
        let second = Self { start: self.start + at + 1, text: self.text.get(at + 1..)? };
        Some((first.trimmed(), second.trimmed()))
    }

    /// Strips punctuation of the sentence from both ends.
    fn trimmed(self) -> Self {
        let text = self.text.trim_end_matches(['.', ':', '!', '?', '-', '=', '\\', '+', '&']);
        let dots = text.starts_with("./") || text.starts_with("../");
        let hidden = text.starts_with('.') && text.len() > 3;
        let kept = if dots || hidden { text } else { text.trim_start_matches(['.', ':', '=']) };
        let options = kept.trim_start_matches('-');
        let negative = kept.len() - options.len() == 1
            && options.starts_with(|c: char| c.is_ascii_digit() || "$€£".contains(c));
        let kept = if negative { kept } else { options };
        let start = self.start + text.len() - kept.len();
        Self { start, text: kept }
    }
}

/// The position of the dash in a range of two numbers: `34-38`.
fn dash(text: &str) -> Option<usize> {
    let at = text.get(1..)?.find('-')? + 1;
    let number = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_digit())
            && part.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',')
    };
    let (first, second) = (text.get(..at)?, text.get(at + 1..)?);
    (number(first.trim_start_matches(['$', '€', '£'])) && number(second)).then_some(at)
}

/// Calls `push` with each token of a text.
pub(super) fn each<'s>(text: &'s str, mut push: impl FnMut(Token<'s>)) {
    let mut start = None;
    let mut escape = false;
    let mut chars = text.char_indices().peekable();
    let mut emit = |from: Option<usize>, to: usize| {
        let Some(from) = from else { return };
        let Some(text) = text.get(from..to) else { return };
        let token = Token { start: from, text }.trimmed();
        if !token.text.is_empty() {
            push(token);
        }
    };
    while let Some((at, c)) = chars.next() {
        if std::mem::take(&mut escape) {
            continue;
        }
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            // An escape in JSON, not a path separator.
            '\\' if next.is_some_and(|next| "nrt\"/u".contains(next)) => {
                escape = true;
                true
            }
            ',' => !groups(text, start, at),
            c => delimits(c),
        };
        match (ends, start) {
            (true, _) => emit(start.take(), at),
            (false, None) => start = Some(at),
            (false, Some(_)) => {}
        }
    }
    emit(start, text.len());
}

fn delimits(c: char) -> bool {
    const ASCII: &str = "\"'`<>()[]{}|;*";
    const OTHERS: &str = "“”‘’«»–—…→·•、。";
    let marks = if c.is_ascii() { ASCII } else { OTHERS };
    c.is_whitespace() || c.is_control() || !c.is_alphanumeric() && marks.contains(c)
}

/// Whether a comma is part of a number. A thousands separator has exactly three digits after it and
/// at most three before it, and does not separate list items.
fn groups(text: &str, start: Option<usize>, at: usize) -> bool {
    let Some(start) = start else { return false };
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let three = digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4);
    let before = text.get(start..at).unwrap_or_default();
    let number = before.trim_start_matches(['$', '€', '£', '-', '+', '~']);
    let groups = !number.is_empty()
        && number
            .split(',')
            .all(|group| group.len() <= 3 && group.bytes().all(|b| b.is_ascii_digit()));
    let listed = start > 0 && matches!(bytes.get(start - 1), Some(b'[' | b',' | b':'));
    // A decimal comma: `3,5`.
    let single = digit(at + 1)
        && !digit(at + 3)
        && !listed
        && !number.contains(',')
        && number.bytes().all(|b| b.is_ascii_digit())
        && !number.is_empty()
        && bytes.get(at + 1..at + 4).is_some_and(|rest| !rest.contains(&b','));
    (three && groups && !listed) || single
}
