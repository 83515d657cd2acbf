use std::env;
use std::io::{self, IsTerminal, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::choices::Colour;

/// Colours for our own words. Findings are coloured by their renderer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// For standard error, as the environment asks.
    pub(crate) fn for_errors() -> Self {
        Self(wanted(io::stderr().is_terminal()))
    }

    /// For standard output.
    pub(crate) fn for_output(colour: Colour) -> Self {
        Self(colours(colour))
    }

    pub(crate) fn error(self, text: &str) -> String {
        self.wrap("1;91", text)
    }

    pub(crate) fn help(self, text: &str) -> String {
        self.wrap("1;96", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn code(self, text: &str) -> String {
        self.wrap("36", text)
    }

    pub(crate) fn is_on(self) -> bool {
        self.0
    }

    fn wrap(self, style: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Whether standard output gets colours.
pub(crate) fn colours(colour: Colour) -> bool {
    match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => wanted(io::stdout().is_terminal()),
    }
}

/// No colours and no movement, whatever the terminal can do.
static PLAIN: AtomicBool = AtomicBool::new(false);

/// Everything is said plainly from now on.
pub(crate) fn plainly() {
    PLAIN.store(true, Ordering::Relaxed);
}

fn wanted(is_terminal: bool) -> bool {
    if PLAIN.load(Ordering::Relaxed) {
        return false;
    }
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    is_terminal && !set("NO_COLOR") && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether a text was shown by the pager, because it is longer than the terminal is high. `PAGER`
/// says which one; an empty one is none.
pub(crate) fn paged(text: &str) -> bool {
    let high = terminal_size::terminal_size().map_or(0, |(_, height)| usize::from(height.0));
    let longer = high > 0 && text.lines().count() >= high;
    if !longer || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return false;
    }
    let pager = env::var("PAGER").unwrap_or_else(|_| "less -FRX".to_owned());
    let mut words = pager.split_whitespace();
    let Some(program) = words.next() else { return false };
    let child = Command::new(program).args(words).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Whoever leaves the pager early has read enough.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait().is_ok()
}

/// The columns of the terminal behind standard output; 0 when there is none.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(0, |(width, _)| usize::from(width.0))
}
