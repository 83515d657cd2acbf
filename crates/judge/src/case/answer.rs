use counterfoil_model::Span;
use counterfoil_record::Facts;

/// The redacted answer, and how it maps to the original message.
#[derive(Debug)]
pub(super) struct Answer<'r> {
    text: &'r str,
    original: &'r str,
    /// Ranges that are equal in both texts: the start in each, and the length.
    equal: Vec<(usize, usize, usize)>,
}

impl<'r> Answer<'r> {
    pub(super) fn new(facts: Facts<'r>) -> Option<Self> {
        let message = facts.message();
        let text = facts.record().text_line(message)?.text.as_ref();
        let original = facts.record().transcript().messages.get(message)?.text.as_str();
        Some(Self { text, original, equal: equal_stretches(text, original) })
    }

    pub(super) fn text(&self) -> &'r str {
        self.text
    }

    /// Maps a span of the redacted text to the bytes of the original. A span that touches a
    /// redaction grows to everything that was replaced there.
    pub(super) fn original(&self, span: Span) -> Span {
        let after = self.equal.partition_point(|(at, _, _)| *at <= span.start);
        let start = match after.checked_sub(1).and_then(|i| self.equal.get(i)) {
            Some((at, to, length)) if span.start < at + length => to + (span.start - at),
            Some((_, to, length)) => to + length,
            None => 0,
        };
        let from = self.equal.partition_point(|(at, _, length)| at + length < span.end);
        let end = match self.equal.get(from) {
            Some((at, to, _)) if span.end > *at => to + (span.end - at),
            Some((_, to, _)) => *to,
            None => self.original.len(),
        };
        Span::new(start, end)
    }
}

/// Finds the equal beginnings and ends: per line if both texts have the same number of lines, else
/// for the whole text.
fn equal_stretches(text: &str, original: &str) -> Vec<(usize, usize, usize)> {
    if text == original {
        return vec![(0, 0, text.len())];
    }
    let mut found = Vec::new();
    let mut add = |at: usize, to: usize, a: &str, b: &str| {
        let equal = |(x, y): &(char, char)| x == y;
        let head: usize =
            a.chars().zip(b.chars()).take_while(equal).map(|(c, _)| c.len_utf8()).sum();
        let most = a.len().min(b.len()) - head;
        let tail = a.chars().rev().zip(b.chars().rev()).take_while(equal);
        let mut end = 0;
        for (c, _) in tail {
            if end + c.len_utf8() > most {
                break;
            }
            end += c.len_utf8();
        }
        found.push((at, to, head));
        found.push((at + a.len() - end, to + b.len() - end, end));
    };
    if text.split('\n').count() == original.split('\n').count() {
        let (mut at, mut to) = (0, 0);
        for (a, b) in text.split_inclusive('\n').zip(original.split_inclusive('\n')) {
            add(at, to, a, b);
            (at, to) = (at + a.len(), to + b.len());
        }
    } else {
        add(0, 0, text, original);
    }
    found.retain(|(_, _, length)| *length > 0);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_lead_to_the_original() {
        for (original, text, words, expected) in [
            ("All is well.", "All is well.", "is", "is"),
            ("Key s3cret is set. Done.", "Key [key] is set. Done.", "Done", "Done"),
            ("Key s3cret is set. Done.", "Key [key] is set. Done.", "[key]", "s3cret"),
            ("Key s3cret is set. Done.", "Key [key] is set. Done.", "[key] is", "s3cret is"),
            ("Key s3cret is set. Done.", "Key [key] is set. Done.", "ey] i", "s3cret i"),
            ("a\nk s3 x\nb", "a\nk * x\nb", "* x\nb", "s3 x\nb"),
            ("k s3\ns4 x\nb", "k * x\nb", "x\nb", "x\nb"),
            ("s3", "*", "*", "s3"),
        ] {
            let answer = Answer { text, original, equal: equal_stretches(text, original) };
            let at = text.find(words).unwrap();
            let span = answer.original(Span::new(at, at + words.len()));
            assert_eq!(span.slice(original), expected, "{original} {words}");
        }
    }
}
