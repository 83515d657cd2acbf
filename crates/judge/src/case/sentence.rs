use counterfoil_model::Span;

/// One sentence, list item, table row or line of code of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence {
    /// The 1-based number, as in `S1`.
    pub number: usize,
    /// The byte range in the redacted answer; [`Case::original`](crate::Case::original) maps it to
    /// the original message.
    pub span: Span,
}

/// Splits a text into sentences: at line breaks, and within a line after `.`, `!` or `?` followed
/// by a space and the beginning of another sentence.
pub(super) fn split(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut add = |start: usize, part: &str| {
        let lead = part.len() - part.trim_start().len();
        let words = part.trim();
        // Horizontal rules and table separators are not sentences.
        if words.chars().any(|c| !matches!(c, '-' | '|' | ':' | '=' | '_' | '*' | ' ')) {
            let start = start + lead;
            let span = Span::new(start, start + words.len());
            found.push(Sentence { number: found.len() + 1, span });
        }
    };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let mut from = 0;
        for end in ends(line) {
            add(at + from, line.get(from..end).unwrap_or_default());
            from = end;
        }
        add(at + from, line.get(from..).unwrap_or_default());
        at += line.len();
    }
    found
}

/// The byte offsets at which sentences of this line end.
fn ends(line: &str) -> impl Iterator<Item = usize> {
    let mut chars = line.char_indices();
    std::iter::from_fn(move || {
        for (at, c) in chars.by_ref() {
            let end = at + c.len_utf8();
            if matches!(c, '。' | '！' | '？' | '।') {
                return Some(end);
            }
            let rest = line.get(end..).unwrap_or_default();
            let next = rest.trim_start();
            if matches!(c, '.' | '!' | '?') && rest.len() > next.len() && begins(next) {
                return Some(end);
            }
        }
        None
    })
}

/// Whether a text begins like a sentence; in scripts without capitals it always does.
fn begins(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|c| !c.is_lowercase() && (c.is_alphanumeric() || "`*\"“«(#_¿¡".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_cut_into_sentences() {
        for (text, expected) in [
            ("One. Two! Three?", &["One.", "Two!", "Three?"] as &[&str]),
            ("It is e.g. fine, v1.2 too. \"Yes\".", &["It is e.g. fine, v1.2 too.", "\"Yes\"."]),
            (
                "# Head\n\n- a\n- b. C\n---\n| x | y |\n|---|---|",
                &["# Head", "- a", "- b.", "C", "| x | y |"],
            ),
            ("全部通过。已推送。", &["全部通过。", "已推送。"]),
            ("", &[]),
            ("…", &["…"]),
            ("Готово. Тесты прошли.", &["Готово.", "Тесты прошли."]),
        ] {
            let found = split(text);
            let words: Vec<&str> = found.iter().map(|s| s.span.slice(text)).collect();
            assert_eq!(words, expected);
            assert!(found.iter().enumerate().all(|(at, s)| s.number == at + 1));
        }
    }
}
