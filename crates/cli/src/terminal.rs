use std::env;
use std::io::{self, IsTerminal, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::choices::Colour;

/// Colours our own output. Findings are coloured by their renderer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// Creates the colours for standard error, according to the environment.
    pub(crate) fn for_errors() -> Self {
        Self(wanted(io::stderr().is_terminal()))
    }

    /// Creates the colours for standard output.
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

/// Whether colours and animation are disabled, whatever the terminal supports.
static PLAIN: AtomicBool = AtomicBool::new(false);

/// Disables colours and animation.
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

/// Shows a text in the pager if it is longer than the terminal; returns whether it did. `PAGER`
/// names the pager; if it is empty, none is used.
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
        // The user may quit the pager early.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait().is_ok()
}

/// The number of columns of the terminal on standard output; 0 if there is none.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(0, |(width, _)| usize::from(width.0))
}
