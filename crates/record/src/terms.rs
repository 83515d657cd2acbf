//! Terms for comparing words: hashes of lower-case runs of letters and digits.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::FxHasher;

/// Calls `push` with the hash of each word: a run of letters and digits that has at least three
/// bytes or contains a digit. In scripts without spaces, each pair of neighbouring characters is a
/// term.
pub fn terms(text: &str, mut push: impl FnMut(u64)) {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.by_ref().for_each(|word| {
        if word.is_ascii() {
            if word.len() >= 3 || word.bytes().any(|b| b.is_ascii_digit()) {
                push(hash(word.bytes().map(|b| b.to_ascii_lowercase())));
            }
        } else if word.chars().any(is_unspaced) {
            let mut before = None;
            for c in word.chars() {
                if let Some(first) = before.replace(c) {
                    push(hash([first, c].map(u32::from).into_iter().flat_map(u32::to_le_bytes)));
                }
            }
        } else {
            push(hash(word.to_lowercase().bytes()));
        }
    });
}

/// Whether the character belongs to a script without spaces: Chinese, Japanese, Thai.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0x2_0000..=0x3_ffff)
}

fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut hasher = FxHasher::default();
    bytes.for_each(|byte| byte.hash(&mut hasher));
    hasher.finish()
}

/// The hash under which a value is indexed.
pub(crate) fn hash_of(text: &str) -> u64 {
    hash(text.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_case() {
        let of = |text| {
            let mut found = Vec::new();
            terms(text, |term| found.push(term));
            found
        };
        assert_eq!(of("Größe: src/Lib.rs2"), of("größe SRC lib RS2"));
        assert_eq!(of("7"), of("(7)"));
        assert_eq!(of("a an the").len(), 1);
        assert_eq!(of("全部通过").len(), 3);
    }
}
