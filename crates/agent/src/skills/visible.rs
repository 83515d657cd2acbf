//! Foreign texts that may stand in a message.

use counterfoil_report::shorten;

/// The most characters of a foreign text that a message quotes.
const MOST: usize = 120;

/// A text on one line, without characters that could play tricks on a terminal, and not too long.
pub(super) fn visible(text: &str) -> String {
    shorten(&counterfoil_report::visible(text), MOST).into_owned()
}
