//! What makes words in languages other than English: several of them one, or one run several.

use std::ops::Range;

use super::forms::Forms;
use super::language::is_katakana;
use super::lexicon::Entry;
use super::tokens::{Token, TokenKind};
use super::vocabulary::Vocabulary;
use super::words::Mark;

/// The words of a run without spaces: the longest that are known, and what stands between them.
pub(super) fn segments(run: &str, vocabulary: &Vocabulary) -> Vec<(Range<usize>, Entry)> {
    let mut found = Vec::new();
    let (mut from, mut here) = (0, 0);
    while let Some(left) = run.get(here..).filter(|left| !left.is_empty()) {
        if let Some((count, entry)) = vocabulary.longest_at(left, here == 0) {
            if from < here {
                found.push((from..here, Entry::default()));
            }
            found.push((here..here + count, *entry));
            here += count;
            from = here;
            continue;
        }
        let foreign = left.find(|c| !is_katakana(c)).unwrap_or(left.len());
        here += foreign.max(left.chars().next().map_or(1, char::len_utf8));
    }
    if from < run.len() {
        found.push((from..run.len(), Entry::default()));
    }
    found
}

/// Makes one token of the words of an entry of several.
pub(super) fn join_phrases(
    text: &str,
    vocabulary: &Vocabulary,
    first: usize,
    out: &mut Vec<Token>,
) {
    let (mut from, mut to) = (first, first);
    while let Some(&head) = out.get(from) {
        let words: Vec<&str> = match head.forms.any(Forms::LEADS) {
            true => {
                let rest = out.get(from..).unwrap_or_default().iter().take(4);
                rest.take_while(|t| t.kind == TokenKind::Word).map(|t| t.span().of(text)).collect()
            }
            false => Vec::new(),
        };
        let phrase = vocabulary.phrase_at(&words);
        let (count, joined) = match phrase {
            Some((count, entry)) => {
                let end = out.get(from + count - 1).map_or(head.end, |last| last.end);
                let Entry { tags, verb, noun, forms } = *entry;
                let bytes = text.as_bytes().get(head.start as usize..end as usize);
                let bytes = bytes.unwrap_or_default();
                let (mark, digits) = (Mark::of(bytes), bytes.iter().any(u8::is_ascii_digit));
                (count, Token { end, tags, verb, noun, forms, mark, digits, ..head })
            }
            None => (1, head),
        };
        if let Some(slot) = out.get_mut(to) {
            *slot = joined;
        }
        from += count;
        to += 1;
    }
    out.truncate(to);
}

/// The mark that closes a quotation opened by this one, beside those of English.
pub(super) fn closing_mark(open: char) -> Option<char> {
    Some(match open {
        '「' => '」',
        '『' => '』',
        '«' => '»',
        '„' => '“',
        '‘' => '’',
        _ => return None,
    })
}
