//! Names with wildcards, as in the tables of programs.

/// Whether a name matches a pattern, in which `*` is any characters.
pub(super) fn like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        last = Some(part);
        match rest.find(part).and_then(|at| rest.get(at + part.len()..)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    match last {
        None => rest.is_empty(),
        Some(last) => rest.is_empty() || last.is_empty() || name.ends_with(last),
    }
}

/// Whether the text matches one of the alternatives, ignoring case.
pub(super) fn like_any(alternatives: &str, text: &str) -> bool {
    alternatives.split('|').any(|glob| match glob {
        r"\*" => text == "*",
        glob if glob.contains('*') => like(&glob.to_lowercase(), &text.to_lowercase()),
        glob => glob.eq_ignore_ascii_case(text),
    })
}
