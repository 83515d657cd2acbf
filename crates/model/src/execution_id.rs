use crate::span::Span;

/// An execution id: `{tool}_{unix milliseconds}_{hex}`.
///
/// Written with exactly 13 digits and 8 hex digits; read with 10 to 13 and 4 to 32. Parsed from the
/// end, because a tool's name may itself contain `_`, `-`, `.`, `/`, `:` and digits. The id
/// identifies an execution; it proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExecutionId<'a> {
    /// The whole id.
    pub id: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// Unix milliseconds if it has 13 digits; shorter times are scaled.
    pub millis: i64,
}

impl<'a> ExecutionId<'a> {
    /// Parses a whole token.
    #[must_use]
    pub fn parse(token: &'a str) -> Option<Self> {
        let (rest, unique) = token.rsplit_once('_')?;
        let (tool, stamp) = rest.rsplit_once('_')?;
        let hex = (4..=32).contains(&unique.len())
            && unique.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let digits = (10..=13).contains(&stamp.len()) && stamp.bytes().all(|b| b.is_ascii_digit());
        let starts = tool.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !hex || !digits || !starts || !tool.bytes().all(is_id_byte) {
            return None;
        }
        let value: i64 = stamp.parse().ok()?;
        let scale = 10_i64.pow(13 - u32::try_from(stamp.len()).ok()?);
        Some(Self { id: token, tool, millis: value * scale })
    }

    /// Creates an id for an execution of a tool. Characters that are not allowed become `-`.
    #[must_use]
    pub fn of_tool(name: &str, millis: i64, unique: u32) -> String {
        let kept = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
        let name: String = name.chars().take(128).map(|c| if kept(c) { c } else { '-' }).collect();
        let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let name = if starts { name } else { format!("tool{name}") };
        Self::format(&name, u64::try_from(millis).unwrap_or(0), unique)
    }

    /// Formats an id. `unique` becomes 8 hex digits.
    #[must_use]
    pub fn format(tool: &str, millis: u64, unique: u32) -> String {
        format!("{tool}_{millis:013}_{unique:08x}")
    }
}

/// Every execution id in a text, with its range. Finds whole tokens only.
#[must_use]
pub fn execution_ids(text: &str) -> Vec<(Span, ExecutionId<'_>)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    if !has_digits(bytes) {
        return found;
    }
    let mut at = 0;
    while let Some(start) = bytes.iter().skip(at).position(|&b| is_id_byte(b)).map(|n| at + n) {
        let len = bytes.iter().skip(start).take_while(|&&b| is_id_byte(b)).count();
        let mut end = start + len;
        at = end;
        if len < SHORTEST {
            continue;
        }
        // Sentence punctuation after an id is not part of it.
        while let Some(last) = text.get(start..end).and_then(|t| t.bytes().last()) {
            if matches!(last, b'.' | b':' | b'/' | b'-') {
                end -= 1;
            } else {
                break;
            }
        }
        // Nor is a label such as `execution_id:NAME`.
        let Some(token) = text.get(start..end) else { continue };
        let cut = token
            .get(..token.len().min(14))
            .and_then(|head| head.to_ascii_lowercase().find("execution_id:").map(|n| n + 13))
            .unwrap_or(0);
        if let Some(id) = token.get(cut..).and_then(ExecutionId::parse) {
            found.push((Span::new(start + cut, end), id));
        }
    }
    found
}

/// The minimum number of digits in a time stamp.
const DIGITS: usize = 10;

/// Whether there are at least [`DIGITS`] digits between two `_` anywhere. Checks every tenth byte,
/// and looks around those that are digits.
fn has_digits(bytes: &[u8]) -> bool {
    let digit = |b: &&u8| b.is_ascii_digit();
    let spots = (DIGITS - 1..bytes.len()).step_by(DIGITS);
    spots.into_iter().filter(|&at| bytes.get(at).is_some_and(u8::is_ascii_digit)).any(|at| {
        let before = bytes.get(..at).unwrap_or_default().iter().rev().take(2 * DIGITS);
        let after = bytes.get(at..).unwrap_or_default().iter().take(2 * DIGITS);
        let (before, after) = (before.take_while(digit).count(), after.take_while(digit).count());
        let bound = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b'_');
        before + after >= DIGITS && bound((at - before).checked_sub(1)) && bound(Some(at + after))
    })
}

/// One byte of a tool's name, 10 digits, 4 hex digits, and two `_`.
const SHORTEST: usize = 17;

fn is_id_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let id = ExecutionId::format("fs.read-file/v2:x_1", 1_735_999_999_123, 0x9f3a_01bc);
        let read = ExecutionId::parse(&id);
        assert_eq!(
            read.map(|r| (r.tool, r.millis)),
            Some(("fs.read-file/v2:x_1", 1_735_999_999_123))
        );
    }

    #[test]
    fn grammar() {
        for (token, tool) in [
            ("check_internet_connection_1735999999123_9f3a01bc", Some("check_internet_connection")),
            ("check_internet_connection_1234567890_abcd", Some("check_internet_connection")),
            ("a_1234567890_abcd", Some("a")),
            ("a_123456789_abcd", None),
            ("a_12345678901234_abcd", None),
            ("a_1234567890_abc", None),
            ("a_1234567890_ABCD", None),
            ("_1234567890_abcd", None),
            ("credit_card_3124723", None),
            ("", None),
        ] {
            assert_eq!(ExecutionId::parse(token).map(|id| id.tool), tool, "{token}");
        }
    }

    #[test]
    fn found_as_whole_tokens() {
        let text =
            "Done (execution_id: ping_1234567890_abcd). See execution_id:pong_1234567890_abcd.";
        let found: Vec<_> =
            execution_ids(text).into_iter().map(|(s, id)| (s.slice(text), id.tool)).collect();
        assert_eq!(found, [("ping_1234567890_abcd", "ping"), ("pong_1234567890_abcd", "pong")]);
        assert!(execution_ids("ping_1234567890_abcdéx ping_1234567890_abcdz").len() <= 1);
    }
}
