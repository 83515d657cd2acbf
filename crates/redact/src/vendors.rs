//! Tokens recognised by their vendor's prefix.

use std::sync::LazyLock;

use super::accept::is_random;
use super::pattern::Hit;

/// The alphabet of the rest of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// `0-9a-f`.
    Hex,
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Also `+`, `/`, `=` and `.`.
    Any,
}

impl Of {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Any => Self::Url.has(byte) || matches!(byte, b'+' | b'/' | b'=' | b'.'),
        }
    }
}

/// The name of the pattern.
pub(super) const NAME: &str = "vendor-token";

/// One kind of token: a line of `vendors.txt`.
pub(super) struct Vendor {
    #[cfg_attr(not(test), expect(dead_code, reason = "names the vendor that documents it"))]
    name: &'static str,
    prefix: &'static str,
    of: Of,
    least: usize,
}

static VENDORS: LazyLock<Vec<Vendor>> =
    LazyLock::new(|| include_str!("vendors.txt").lines().filter_map(vendor).collect());

fn vendor(line: &'static str) -> Option<Vendor> {
    let (prefix, rest) = line.split_once(' ').filter(|(prefix, _)| *prefix != "#")?;
    let (of, rest) = rest.trim_start().split_once(' ')?;
    let (least, name) = rest.trim_start().split_once(' ')?;
    let of = match of {
        "hex" => Of::Hex,
        "alnum" => Of::Alnum,
        "url" => Of::Url,
        "any" => Of::Any,
        _ => return None,
    };
    Some(Vendor { name: name.trim_start(), prefix, of, least: least.parse().ok()? })
}

/// Returns the prefixes of the tokens.
pub(super) fn prefixes() -> impl Iterator<Item = &'static str> {
    VENDORS.iter().map(|vendor| vendor.prefix)
}

/// The length of the vendor's token that begins here, if there is one.
pub(super) fn token(hit: &Hit<'_>) -> Option<usize> {
    let rows = VENDORS.iter().filter(|row| hit.rest.starts_with(row.prefix));
    let lengths = rows.filter_map(|row| {
        let rest = hit.rest.as_bytes().get(row.prefix.len()..)?;
        let length = rest.iter().take_while(|byte| row.of.has(**byte)).count();
        let rest = hit.rest.get(row.prefix.len()..)?.get(..length)?;
        // A full stop at the end of a sentence is not part of the token.
        let rest = rest.trim_end_matches('.');
        (rest.len() >= row.least && is_random(rest)).then_some(row.prefix.len() + rest.len())
    });
    lengths.max()
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;
    use super::*;

    fn drawn(count: usize, of: Of) -> String {
        let from = match of {
            Of::Hex => "0123456789abcdef",
            _ => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        };
        let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
        let from = from.as_bytes();
        let one = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            let at = usize::try_from(state >> 40).unwrap_or(0) % from.len();
            from.get(at).copied().map_or('x', char::from)
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_token_of_every_vendor_is_replaced() {
        let redactor = Redactor::standard();
        let lines = include_str!("vendors.txt").lines();
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(VENDORS.len(), lines.count(), "a line that cannot be parsed");
        for Vendor { name, prefix, of, least } in &*VENDORS {
            let token = format!("{prefix}{}", drawn(*least, *of));
            let text = format!("ready, using {token}. Next");
            let redacted = redactor.redact(&text);
            assert!(redacted.ends_with("]. Next"), "{name}: {redacted}");
            assert!(
                !redacted.contains(token.get(prefix.len()..).unwrap_or("")),
                "{name}: {redacted}"
            );
            let short = format!("{prefix}x1 and {prefix}, {prefix}name-of-a-thing");
            assert_eq!(redactor.redact(&short), short, "{name}");
        }
    }
}
