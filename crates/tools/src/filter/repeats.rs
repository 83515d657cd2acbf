use std::borrow::Cow;

use super::lines::{is_note, repeated};

/// Replaces repeated lines by one with a count, and consecutive blank lines by one. Also returns
/// the number of lines removed.
pub(super) fn without_repeats<'t>(lines: &[&'t str]) -> (Vec<Cow<'t, str>>, usize) {
    let mut out: Vec<Cow<'t, str>> = Vec::with_capacity(lines.len());
    let mut saved = 0;
    let mut place = 0;
    while let Some(line) = lines.get(place) {
        let blank = line.trim().is_empty();
        let same = |other: &&&str| if blank { other.trim().is_empty() } else { *other == line };
        let count =
            if is_note(line) { 1 } else { lines.iter().skip(place).take_while(same).count() };
        out.push(Cow::Borrowed(line));
        if count > 1 && blank {
            saved += count - 1;
        } else if count > 1 {
            out.push(Cow::Owned(repeated(count - 1)));
            saved += count - 1;
        }
        place += count.max(1);
    }
    (out, saved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_stand_once() {
        for (lines, expected, saved) in [
            (vec!["a", "a", "a", "b"], vec!["a", "[the line above 2 times more]", "b"], 2),
            (vec!["a", "", " ", "", "b"], vec!["a", "", "b"], 2),
            (vec!["a", "b", "a"], vec!["a", "b", "a"], 0),
            (
                vec!["[3 lines left out]", "[3 lines left out]"],
                vec!["[3 lines left out]", "[3 lines left out]"],
                0,
            ),
        ] {
            let (found, count) = without_repeats(&lines);
            assert_eq!((found.iter().map(|l| &**l).collect::<Vec<_>>(), count), (expected, saved));
        }
    }
}
