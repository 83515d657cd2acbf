//! What of a word is compared, so that its ending does not matter.

use crate::prose::Lexicon;

/// So many letters of a word tell it from others.
const LETTERS: usize = 5;

/// How a word begins.
pub(super) fn head(word: &str) -> &str {
    word.get(..word.floor_char_boundary(LETTERS)).unwrap_or(word)
}

/// A verb without its ending: enough to find it in arguments.
pub(super) fn stem(verb: &str) -> &str {
    if let Some(base) = Lexicon::english().base_of(verb) {
        return base;
    }
    let cut = verb.strip_suffix("ed").or_else(|| verb.strip_suffix('d')).unwrap_or(verb);
    if cut.len() >= 4 { cut } else { verb }
}
