//! Whether two path patterns can match the same file.

/// Whether a path with wildcards in its names can match a path that the pattern matches. `**` in
/// the pattern is any number of folders; a path with `**` is not supported.
#[must_use]
pub fn may_mean(path: &str, pattern: &str) -> bool {
    let path: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    let pattern: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty()).collect();
    let wild = |name: &&str| name.contains(['*', '?', '[']);
    path.iter().any(wild) && !path.contains(&"**") && paths_meet(&path, &pattern)
}

fn paths_meet(path: &[&str], pattern: &[&str]) -> bool {
    // Row by row: which prefixes of the pattern match the names read so far.
    let mut fits = vec![false; pattern.len() + 1];
    if let Some(start) = fits.first_mut() {
        *start = true;
    }
    skip_folders(&mut fits, pattern);
    for name in path {
        let mut next = vec![false; fits.len()];
        for (at, known) in pattern.iter().enumerate() {
            if !fits.get(at).copied().unwrap_or_default() {
                continue;
            }
            let to =
                if *known == "**" { Some(at) } else { names_meet(name, known).then_some(at + 1) };
            if let Some(place) = to.and_then(|to| next.get_mut(to)) {
                *place = true;
            }
        }
        fits = next;
        skip_folders(&mut fits, pattern);
    }
    fits.last().copied().unwrap_or_default()
}

/// `**` may match no folder at all.
fn skip_folders(fits: &mut [bool], pattern: &[&str]) {
    for (at, _) in pattern.iter().enumerate().filter(|(_, name)| **name == "**") {
        if fits.get(at).copied().unwrap_or_default()
            && let Some(next) = fits.get_mut(at + 1)
        {
            *next = true;
        }
    }
}

/// One element of a name pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Char(char),
    One,
    Any,
}

/// The elements of a pattern. `[…]` is treated as any character, and `{…}` as any text.
fn steps(pattern: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        steps.push(match c {
            '*' => Step::Any,
            '?' => Step::One,
            '[' if chars.as_str().contains(']') => {
                chars.by_ref().find(|c| *c == ']');
                Step::One
            }
            '{' if chars.as_str().contains('}') => {
                chars.by_ref().find(|c| *c == '}');
                Step::Any
            }
            c => Step::Char(c),
        });
    }
    steps
}

/// Whether some name matches both. A leading wildcard does not match hidden files, as in a shell.
fn names_meet(a: &str, b: &str) -> bool {
    let hides = |a: &str, b: &str| a.starts_with(['*', '?']) && b.starts_with('.');
    if hides(a, b) {
        return false;
    }
    let (a, b) = (steps(a), steps(b));
    let mut fits = vec![vec![false; b.len() + 1]; a.len() + 1];
    for i in (0..=a.len()).rev() {
        for j in (0..=b.len()).rev() {
            let at = |i: usize, j: usize| {
                fits.get(i).and_then(|row: &Vec<bool>| row.get(j)).copied().unwrap_or_default()
            };
            let met = match (a.get(i), b.get(j)) {
                (None, None) => true,
                (Some(Step::Any), _) => at(i + 1, j) || j < b.len() && at(i, j + 1),
                (_, Some(Step::Any)) => at(i, j + 1) || i < a.len() && at(i + 1, j),
                (Some(Step::Char(x)), Some(Step::Char(y))) => x == y && at(i + 1, j + 1),
                (Some(_), Some(_)) => at(i + 1, j + 1),
                (None, Some(_)) | (Some(_), None) => false,
            };
            if let Some(place) = fits.get_mut(i).and_then(|row| row.get_mut(j)) {
                *place = met;
            }
        }
    }
    fits.first().and_then(|row| row.first()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_meet() {
        for (path, pattern, meet) in [
            ("/w/s*/x", "/w/secret/**", true),
            ("/w/s*/x", "/w/other/**", false),
            ("/w/.e*", "**/.env", true),
            ("/w/*", "**/.env", false),
            ("/w/*.ts", "**/*.pem", false),
            ("/w/a*", "**/*.pem", true),
            ("~/.cl*/settings.json", "**/.claude/settings*.json", true),
            ("~/.s?h/id_rsa", "~/.ssh/**", true),
            ("~/.[s]sh/id_rsa", "~/.ssh/**", true),
            ("~/.s?h/id_rsa", "~/.aws/**", false),
            ("/w/**/x", "**/x", false),
            ("/w/x", "**/x", false),
            ("/w/*/config", "**/.git/config", false),
            ("/w/.g*/config", "**/.git/config", true),
        ] {
            assert_eq!(may_mean(path, pattern), meet, "{path} {pattern}");
        }
        assert!(names_meet("a*c", "*bc") && !names_meet("a*c", "b*"));
    }
}
