//! Elements used by several pages. Everything in the ledger was written by a model or a tool, so it
//! is escaped, and deceptive characters are made visible.

use counterfoil_model::ExactValue;
use counterfoil_report::{json_pretty, shorten, visible, visible_output};
use jiff::Timestamp;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::Value;

use super::Dashboard;
use crate::api::{EvidenceItem, ReceiptItem};

/// Characters that are escaped in a path segment.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Encodes a path segment.
pub(super) fn part(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

/// One line of untrusted text.
pub(super) fn plain(text: &str) -> Markup {
    html! { (visible(text)) }
}

/// One line of untrusted text, shortened.
pub(super) fn brief(text: &str, limit: usize) -> Markup {
    html! { (visible(&shorten(text, limit))) }
}

/// Several lines of untrusted text, shortened.
pub(super) fn lines(text: &str, limit: usize) -> Markup {
    html! { (visible_output(&shorten(text, limit))) }
}

/// A date and time.
pub(super) fn time(millis: i64) -> Markup {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    html! {
        time datetime=(time.strftime("%Y-%m-%dT%H:%M:%SZ")) {
            (time.strftime("%Y-%m-%d %H:%M:%S"))
        }
    }
}

/// A duration.
pub(super) fn took(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{} ms", micros / 1_000),
        1_000_000..60_000_000 => format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10),
        _ => format!("{} min {} s", micros / 60_000_000, micros / 1_000_000 % 60),
    }
}

/// A number with a noun.
pub(super) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// A number with its digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push('\u{202f}');
        }
        shown.push(digit);
    }
    shown
}

/// A badge for the status of a call.
pub(super) fn status(status: &str) -> Markup {
    let kind = match status {
        "completed" => "good",
        "open" => "open",
        "denied" | "refused" => "held",
        _ => "bad",
    };
    html! { span .badge .(kind) { (status.replace('_', " ")) } }
}

/// A badge for the verdict on a claim.
pub(super) fn verdict(verdict: &str) -> Markup {
    html! { span .badge .(verdict_kind(verdict)) { (visible(&verdict.replace('_', " "))) } }
}

/// The CSS class of a verdict.
pub(super) fn verdict_kind(verdict: &str) -> &'static str {
    match verdict {
        "supported" => "good",
        "contradicted" => "bad",
        "unsupported" => "held",
        _ => "open",
    }
}

/// The text for an empty list; `meaning` only applies if the ledger was read to its end.
pub(super) fn none(dashboard: &Dashboard, meaning: &str) -> Markup {
    let is_known = dashboard.has_read_all().is_ok();
    let unknown = "Unknown: the ledger has not been read to its end.";
    html! { p .empty { @if is_known { (meaning) } @else { (unknown) } } }
}

/// A link to a session.
pub(super) fn session(id: &str) -> Markup {
    html! { a .id href={ "/sessions/" (part(id)) } { (brief(id, 48)) } }
}

/// A link to a receipt.
pub(super) fn receipt(id: &str) -> Markup {
    html! { a .id href={ "/receipts/" (part(id)) } { (brief(id, 60)) } }
}

/// Arguments on one line.
pub(super) fn arguments(value: &ExactValue, limit: usize) -> Markup {
    let text = match value.value() {
        Value::Object(members) if members.is_empty() => String::new(),
        // Arguments that could not be parsed, as the model wrote them.
        Value::String(text) => text.clone(),
        _ => value.to_string(),
    };
    html! { @if !text.is_empty() { code .args { (brief(&text, limit)) } } }
}

/// Formatted JSON.
pub(super) fn json(value: &impl Serialize, limit: usize) -> Markup {
    html! { pre tabindex="0" { (lines(&json_pretty(value), limit)) } }
}

/// Links to the next page of a list and back to the first.
pub(super) fn pager(path: &str, is_later_page: bool, next: Option<&str>, more: &str) -> Markup {
    html! {
        @if is_later_page || next.is_some() {
            nav .pager aria-label="More of the list" {
                @if is_later_page { a href=(path) { "Newest" } }
                @if let Some(next) = next {
                    @let mark = if path.contains('?') { '&' } else { '?' };
                    a rel="next" href={ (path) (mark) "cursor=" (next) } { (more) }
                }
            }
        }
    }
}

/// A call in a list: the tool, how it ended, and when.
pub(super) fn call(receipt: &ReceiptItem) -> Markup {
    html! {
        p .line {
            strong { a href={ "/receipts/" (part(&receipt.execution_id)) } { (brief(&receipt.tool, 60)) } }
            " " (status(&receipt.status))
            @if let Some(code) = receipt.exit_code { @if code != 0 { span .faint { "exit " (code) } } }
            @if let Some(micros) = receipt.duration_us.filter(|_| receipt.answer.is_none()) {
                span .faint { (took(micros)) }
            }
            @for code in receipt.codes.iter().take(4) { code .code { (brief(code, 40)) } }
        }
        (arguments(&receipt.arguments, 240))
    }
}

/// A piece of evidence.
pub(super) fn evidence(piece: &EvidenceItem) -> Markup {
    html! {
        div .evidence {
            p {
                @if let Some(tool) = &piece.tool { strong { (brief(tool, 60)) } " " }
                @if let Some(id) = &piece.execution_id { (self::receipt(id)) }
                @else if let Some(id) = &piece.call_id { code { (brief(id, 60)) } }
                @else if let Some(turn) = piece.turn { "message " (turn) }
                @if !piece.pointer.is_empty() && !piece.pointer.starts_with("bytes:") {
                    span .faint { " at " code { (brief(&piece.pointer, 80)) } }
                }
            }
            @if !piece.excerpt.is_empty() { pre tabindex="0" { (lines(&piece.excerpt, 600)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_readable() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1\u{202f}000")] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(grouped(12_345_678), "12\u{202f}345\u{202f}678");
        for (micros, expected) in
            [(7, "7 µs"), (39_500, "39 ms"), (1_250_000, "1.2 s"), (61_000_000, "1 min 1 s")]
        {
            assert_eq!(took(micros), expected);
        }
        assert_eq!(counted(1, "call"), "1 call");
    }

    #[test]
    fn a_name_is_one_part_of_a_path() {
        assert_eq!(part("a/b?c#d e\u{202e}"), "a%2Fb%3Fc%23d%20e%E2%80%AE");
    }
}
