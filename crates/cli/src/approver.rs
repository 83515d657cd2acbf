use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};

use counterfoil_guard::{Approval, ApprovalReply, ApprovalRequest, Approver, BoxFuture};
use counterfoil_report::visible;

/// Who answers when a gate asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answerer {
    /// Whoever sits at the terminal; nobody, where there is none.
    Terminal,
    /// `--yes` was given.
    Agreed,
}

impl Approver for Answerer {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalReply> {
        match self {
            Self::Agreed => {
                let approval = Approval::by(format!("{} (--yes)", user()));
                Box::pin(async { ApprovalReply::Agreed(approval) })
            }
            Self::Terminal => {
                let text = asked(request);
                // Reading blocks, and Ctrl-C must be heard meanwhile.
                let reading = tokio::task::spawn_blocking(move || answered(&text));
                Box::pin(async move {
                    let by = format!("{} (terminal)", user());
                    match reading.await.unwrap_or(None) {
                        Some(true) => ApprovalReply::Agreed(Approval::by(by)),
                        Some(false) => ApprovalReply::Declined { by, reason: None },
                        None => ApprovalReply::Nobody,
                    }
                })
            }
        }
    }
}

/// What stands on the terminal. What the call says cannot move the cursor or hide itself.
fn asked(request: &ApprovalRequest<'_>) -> String {
    let whys = request.questions.iter();
    let whys = whys.map(|question| format!("{} asks: {}\n", question.gate, visible(&question.why)));
    format!("{}  {}\nAgree? [y/N] ", whys.collect::<String>(), visible(request.call()))
}

/// Asks on the terminal itself: standard input may be the arguments, standard output a pipe.
/// `None` where nobody is there.
pub(crate) fn answered(text: &str) -> Option<bool> {
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
    terminal.write_all(text.as_bytes()).ok()?;
    let mut answer = String::new();
    let read = BufReader::new(terminal).read_line(&mut answer).ok()?;
    (read > 0).then(|| matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

pub(crate) fn user() -> String {
    ["USER", "LOGNAME", "USERNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()))
        .unwrap_or_else(|| "somebody".to_owned())
}
