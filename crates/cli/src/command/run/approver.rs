use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};

use counterfoil_guard::{Approval, Approver, BoxFuture, Question};
use counterfoil_report::visible;

/// Who answers when a gate asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answerer {
    /// Whoever sits at the terminal; nobody, where there is none.
    Terminal,
    /// `--yes` was given.
    Agreed,
}

impl Approver for Answerer {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Option<Approval>> {
        match self {
            Self::Agreed => {
                Box::pin(async { Some(Approval { by: format!("{} (--yes)", user()) }) })
            }
            Self::Terminal => {
                let text = asked(question);
                // Reading blocks, and Ctrl-C must be heard meanwhile.
                let reading = tokio::task::spawn_blocking(move || agreed(&text));
                Box::pin(async move {
                    let agreed = reading.await.unwrap_or(false);
                    agreed.then(|| Approval { by: format!("{} (terminal)", user()) })
                })
            }
        }
    }
}

/// What stands on the terminal. What the call says cannot move the cursor or hide itself.
fn asked(question: &Question) -> String {
    let Question { gate, call, why, .. } = question;
    format!("{gate} asks: {}\n  {}\nAgree? [y/N] ", visible(why), visible(call))
}

/// Asks on the terminal itself: standard input may be the arguments, standard output a pipe.
fn agreed(text: &str) -> bool {
    let Ok(mut terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty") else {
        return false;
    };
    if terminal.write_all(text.as_bytes()).is_err() {
        return false;
    }
    let mut answer = String::new();
    let read = BufReader::new(terminal).read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn user() -> String {
    ["USER", "LOGNAME", "USERNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()))
        .unwrap_or_else(|| "somebody".to_owned())
}
