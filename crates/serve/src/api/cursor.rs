//! Cursors for the next page of a list.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::Serialize;

use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Page<T> {
    /// The entries.
    pub(crate) items: Vec<T>,
    /// The `cursor` of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default)]
    pub(crate) next: Option<String>,
}

/// The number in the cursor of a request to the list with this name.
pub(crate) fn cursor(request: &VisitorRequest, list: &str) -> Result<Option<u64>, HttpProblem> {
    let Some(text) = request.query.one("cursor")? else { return Ok(None) };
    read(text, list).map(Some).ok_or_else(|| {
        HttpProblem::bad("`cursor` must be the `next` value of the previous page of the same list")
    })
}

fn read(text: &str, list: &str) -> Option<u64> {
    if text.len() > 100 {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let plain = std::str::from_utf8(&bytes).ok()?;
    let number = plain.strip_prefix(list)?.strip_prefix(':')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|_| digits)
}

/// Creates a cursor for the list with this name.
pub(crate) fn written(list: &str, number: u64) -> String {
    URL_SAFE_NO_PAD.encode(format!("{list}:{number}"))
}

/// Creates a cursor for a window of a session's timeline.
pub(crate) fn timeline_cursor(after: u64) -> String {
    written("timeline", after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_for_its_list_alone() {
        for number in [0, 7, u64::MAX] {
            let cursor = written("receipts", number);
            assert_eq!(read(&cursor, "receipts"), Some(number));
            assert_eq!(read(&cursor, "sessions"), None);
        }
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        for wrong in [
            "",
            "x",
            "%",
            &encoded("receipts:"),
            &encoded("receipts:-1"),
            &encoded("receipts:18446744073709551616"),
            &encoded("receipts:+1"),
            &"A".repeat(200),
        ] {
            assert_eq!(read(wrong, "receipts"), None, "{wrong}");
        }
    }
}
