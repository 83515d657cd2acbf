/// Returns the candidate nearest to `word`, if one is near enough.
pub(crate) fn nearest<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| {
            (strsim::normalized_damerau_levenshtein(&word, &candidate.to_lowercase()), candidate)
        })
        .filter(|&(likeness, _)| likeness >= 0.6)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

/// Returns the code that was meant: it looks like `word`, or is the only one with one difference.
/// Codes are short, so anything farther is a guess.
pub(crate) fn nearest_code<'c>(
    word: &str,
    codes: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let word = folded(word);
    let distance = |code: &str| strsim::damerau_levenshtein(&word, &folded(code));
    let near: Vec<_> = codes.into_iter().filter(|code| distance(code) <= 1).collect();
    match near.as_slice() {
        [only] => Some(*only),
        several => several.iter().copied().find(|code| distance(code) == 0),
    }
}

/// Lower case, with one character for each group that looks alike.
fn folded(word: &str) -> String {
    let alike = |c: char| match c {
        'o' => '0',
        'i' | 'l' => '1',
        c => c,
    };
    word.to_lowercase().chars().map(alike).collect()
}

/// ``did you mean `…`?``
pub(crate) fn did_you_mean<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<String> {
    nearest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far() {
        let known = ["fail_on", "severity", "show_supported"];
        assert_eq!(nearest("fail-on", known), Some("fail_on"));
        assert_eq!(nearest("Severty", known), Some("severity"));
        assert_eq!(nearest("colour", known), None);
        let codes = ["FK010", "FK014", "FK030", "CS016"];
        for (word, meant) in [
            ("fk01o", Some("FK010")),
            ("FKO1O", Some("FK010")),
            ("CSO16", Some("CS016")),
            ("CS0l6", Some("CS016")),
            ("KF030", Some("FK030")),
            ("FK01", None),
            ("FK011", None),
            ("FK999", None),
            ("ZZ000", None),
        ] {
            assert_eq!(nearest_code(word, codes), meant, "{word}");
        }
    }
}
