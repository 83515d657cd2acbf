//! Compares words without their endings.

use crate::prose::Lexicon;

/// The maximum number of bytes of a word that are compared.
const LETTERS: usize = 5;

/// The beginning of a word.
pub(super) fn head(word: &str) -> &str {
    word.get(..word.floor_char_boundary(LETTERS)).unwrap_or(word)
}

/// A verb without its ending, so that it can be found in arguments.
pub(crate) fn stem(verb: &str) -> &str {
    if let Some(base) = Lexicon::english().base_of(verb) {
        return base;
    }
    let cut = verb.strip_suffix("ed").or_else(|| verb.strip_suffix('d')).unwrap_or(verb);
    if cut.len() >= 4 { cut } else { verb }
}
