//! Cheap tests before an expression is tried. Each accepts everything that the expression could
//! match.

/// For keywords that are rare enough.
pub(super) fn anything(_: &str, _: &[u8]) -> bool {
    true
}

/// After the name of a secret: the rest of a longer name, or something that leads to a value that
/// is not a name in a program.
pub(super) fn assigns(before: &str, after: &[u8]) -> bool {
    match after {
        [b':' | b'=', ..] => !is_name(after),
        [
            b'_'
            | b'-'
            | b'k'
            | b't'
            | b'>'
            | b'"'
            | b'\''
            | b'\\'
            | b']'
            | b'|'
            | b'0'..=b'9'
            | b'A'..=b'Z',
            ..,
        ] => true,
        [b'\t', value, ..] => !is_blank(*value),
        [first, ..] if is_blank(*first) => {
            let next = after.iter().position(|byte| !is_blank(*byte));
            let rest = next.and_then(|at| after.get(at..));
            // `--db-password value` and its like.
            let flag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            // `The password is …`, `| password | …`, and `login ada password …`.
            let is_linked = |rest: &[u8]| {
                [b"is ".as_slice(), b"was ", b"ist ", b"est ", b"es ", b"|"]
                    .iter()
                    .any(|word| rest.starts_with(word))
            };
            rest.is_some_and(|rest| {
                matches!(rest, [b':' | b'=', ..]) && !is_name(rest) || is_linked(rest)
            }) || before.ends_with(flag)
                || of_login(before)
        }
        // Non-ASCII white space.
        [first, ..] => !first.is_ascii(),
        [] => false,
    }
}

/// Whether the text before is from a file of logins: `machine x login ada `.
pub(super) fn of_login(before: &str) -> bool {
    let from = before.floor_char_boundary(before.len().saturating_sub(100));
    let near = before.get(from..).unwrap_or_default();
    let mut words = near.split_ascii_whitespace().rev();
    words.next().is_some() && words.next() == Some("login")
}

/// Whether a colon or equals sign, and a blank, lead to a name of letters only, or a path of such
/// names, followed by nothing that could be part of a secret: `= os.environ[`, `: string,`.
fn is_name(after: &[u8]) -> bool {
    let [b':' | b'=', b' ', value @ ..] = after else { return false };
    let letters =
        |text: &[u8]| text.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'_').count();
    let mut rest = value;
    loop {
        let count = letters(rest);
        let after = rest.get(count..).unwrap_or_default();
        match (count, after) {
            (0, _) => return false,
            (_, [b'.', more @ ..]) => rest = more,
            (_, [b'(' | b'[' | b' ' | b'\n', ..] | [b',' | b')', b' ' | b'\n', ..] | []) => {
                return true;
            }
            _ => return false,
        }
    }
}

/// After a vendor's prefix: the token continues.
pub(super) fn token(_: &str, after: &[u8]) -> bool {
    let of_token = |b: &u8| b.is_ascii_alphanumeric() || b"_./+=-".contains(b);
    after.get(..12).is_some_and(|first| first.iter().all(of_token))
}

/// After the letters of a key whose rest is hexadecimal.
pub(super) fn hexadecimal(_: &str, after: &[u8]) -> bool {
    after.get(..8).is_some_and(|first| first.iter().all(u8::is_ascii_hexdigit))
}

/// After `bearer` or `authorization`: a blank, or something that leads to a value.
pub(super) fn has_value(_: &str, after: &[u8]) -> bool {
    match after {
        [b' ' | b'%' | b'+' | b':' | b'=' | b'"' | b'\'' | b'\\', ..] => true,
        [first, ..] => is_blank(*first) || !first.is_ascii(),
        [] => false,
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || (b'\t'..=b'\r').contains(&byte)
}
