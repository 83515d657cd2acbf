use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use counterfoil_guard::{Approval, ApprovalReply, ApprovalRequest, Approver, BoxFuture};
use counterfoil_report::visible;
use rustix::termios::QueueSelector;

use crate::questions::{Asking, is_readable};

/// Asks whoever sits at the terminal: once, for the session, or not at all.
pub(crate) struct Asks {
    /// `--yes` was given.
    agreed: bool,
}

impl Asks {
    pub(crate) fn new(agreed: bool) -> Self {
        Self { agreed }
    }
}

impl Approver for Asks {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalReply> {
        if self.agreed {
            let approval = Approval::by(format!("{} (--yes)", user()));
            return Box::pin(async { ApprovalReply::Agreed(approval) });
        }
        let text = asked(request);
        // Reading blocks, and Ctrl-C must be heard meanwhile.
        let waits = Waits(Arc::new(AtomicBool::new(true)));
        let still = Arc::clone(&waits.0);
        let reading = tokio::task::spawn_blocking(move || answered(&text, &still));
        Box::pin(async move {
            let _waits = waits;
            match reading.await.unwrap_or(None) {
                Some(line) => reply(&line),
                None => ApprovalReply::Nobody,
            }
        })
    }
}

fn asked(request: &ApprovalRequest<'_>) -> String {
    let whys = request.questions.iter();
    let whys = whys.map(|question| format!("{} asks: {}\n", question.gate, visible(&question.why)));
    format!(
        "\r\x1b[K{}  {}\nAgree? [y]es, for this [s]ession, [N]o, or why not: ",
        whys.collect::<String>(),
        visible(request.call())
    )
}

/// What is typed on the terminal itself; `None` where nobody is there, or nobody waits any more.
/// What was typed before the question is no answer to it.
fn answered(text: &str, waits: &AtomicBool) -> Option<String> {
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
    let _asking = Asking::begin();
    rustix::termios::tcflush(&terminal, QueueSelector::IFlush).ok()?;
    terminal.write_all(text.as_bytes()).ok()?;
    while waits.load(Ordering::SeqCst) {
        if is_readable(&terminal) {
            let mut answer = Vec::new();
            let read = BufReader::new(terminal).read_until(b'\n', &mut answer).ok()?;
            return (read > 0).then(|| String::from_utf8_lossy(&answer).into_owned());
        }
    }
    None
}

/// Somebody waits for an answer, until this is dropped.
struct Waits(Arc<AtomicBool>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// Whatever is neither yes nor no is a no with its reason.
fn reply(line: &str) -> ApprovalReply {
    let by = format!("{} (terminal)", user());
    let line = line.trim();
    match line.to_ascii_lowercase().as_str() {
        "y" | "yes" => ApprovalReply::Agreed(Approval::by(by)),
        "s" | "session" => ApprovalReply::Agreed(Approval::by(by).for_session()),
        "" | "n" | "no" => ApprovalReply::Declined { by, reason: None },
        _ => ApprovalReply::Declined { by, reason: Some(line.to_owned()) },
    }
}

/// Whether somebody at the terminal says yes to a question. Where nobody is there, nobody does.
pub(crate) fn agreed(question: &str) -> bool {
    let answer = answered(question, &AtomicBool::new(true)).unwrap_or_default();
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Who sits there, as far as the system says.
pub(crate) fn user() -> String {
    ["USER", "LOGNAME", "USERNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()))
        .unwrap_or_else(|| "somebody".to_owned())
}

#[cfg(test)]
mod tests {
    use counterfoil_guard::Lasts;

    use super::*;

    #[test]
    fn what_is_typed_is_an_answer() {
        for (line, expected) in [
            ("y\n", Some(Lasts::Once)),
            ("YES", Some(Lasts::Once)),
            (" s ", Some(Lasts::Session)),
            ("", None),
            ("n", None),
            ("use the other file", None),
            ("yes, but", None),
        ] {
            let agreed = match reply(line) {
                ApprovalReply::Agreed(approval) => Some(approval.lasts),
                _ => None,
            };
            assert_eq!(agreed, expected, "{line}");
        }
        let reply = reply("use the other file\n");
        let ApprovalReply::Declined { reason, .. } = reply else { unreachable!() };
        assert_eq!(reason.as_deref(), Some("use the other file"));
    }
}
