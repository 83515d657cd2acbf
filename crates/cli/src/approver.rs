use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
#[cfg(unix)]
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use counterfoil_guard::{Approval, ApprovalReply, ApprovalRequest, Approver, BoxFuture};
use counterfoil_model::{Digest, ExactValue};
use rustix::termios::QueueSelector;

use crate::conversation::{Row, question_rows};
use crate::questions::{Asking, is_readable};
use crate::terminal::Paint;

/// Asks a person to approve a call: once, for the session, or not at all.
pub(crate) struct Asks<P> {
    person: P,
    /// Whether `--yes` was given.
    agreed: bool,
    /// The session and digest of calls that were refused for the rest of the session.
    never: Mutex<BTreeSet<(String, Digest)>>,
}

impl<P: Person> Asks<P> {
    pub(crate) fn new(person: P, agreed: bool) -> Self {
        Self { person, agreed, never: Mutex::default() }
    }

    fn never(&self) -> MutexGuard<'_, BTreeSet<(String, Digest)>> {
        self.never.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A person who can be asked.
pub(crate) trait Person: Send + Sync {
    /// Returns the person's decision on a call.
    fn say(&self, question: ApprovalQuestion) -> BoxFuture<'_, Word>;
}

/// A question to a person.
pub(crate) struct ApprovalQuestion {
    /// The lines that describe the question.
    pub(crate) rows: Vec<Row>,
    /// The arguments of the call as JSON, for editing.
    pub(crate) arguments: ExactValue,
}

/// A person's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    Yes,
    /// Yes to every call like this one in this session.
    YesForSession,
    /// No, with a reason that the model is told.
    No(Option<String>),
    /// No to every call like this one in this session.
    Never,
    /// Use these arguments instead.
    Instead(String),
    NoAnswer,
}

impl<P: Person> Approver for Asks<P> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalReply> {
        if self.agreed {
            let approval = Approval::by(format!("{} (--yes)", user()));
            return Box::pin(async { ApprovalReply::Agreed(approval) });
        }
        let by = format!("{} (terminal)", user());
        let call = request.questions.first().map(|question| question.digest);
        let call = call.map(|digest| (request.session.to_owned(), digest));
        if call.as_ref().is_some_and(|call| self.never().contains(call)) {
            let reason = Some("not in this session".to_owned());
            return Box::pin(async { ApprovalReply::Declined { by, reason } });
        }
        let rows = question_rows(request.questions, request.wrong);
        let word = self.person.say(ApprovalQuestion { rows, arguments: request.arguments.clone() });
        Box::pin(async move {
            match word.await {
                Word::Yes => ApprovalReply::Agreed(Approval::by(by)),
                Word::YesForSession => ApprovalReply::Agreed(Approval::by(by).for_session()),
                Word::No(reason) => ApprovalReply::Declined { by, reason },
                Word::Never => {
                    self.never().extend(call);
                    ApprovalReply::Declined { by, reason: Some("not in this session".to_owned()) }
                }
                Word::Instead(arguments) => ApprovalReply::Changed { by, arguments },
                Word::NoAnswer => ApprovalReply::NoAnswer,
            }
        })
    }
}

/// Asks the person at the terminal, line by line.
pub(crate) struct AtTerminal;

impl Person for AtTerminal {
    fn say(&self, question: ApprovalQuestion) -> BoxFuture<'_, Word> {
        let paint = Paint::for_errors();
        let rows = question.rows.iter().map(|row| row.painted(paint) + "\n");
        // Clears the line, where a progress bar may be drawn.
        let clear = if paint.is_on() { "\r\x1b[K" } else { "" };
        let text = format!("{clear}{}{CHOICE}", rows.collect::<String>());
        // Reading blocks, and Ctrl-C must still be handled.
        let waits = Waits(Arc::new(AtomicBool::new(true)));
        let still = Arc::clone(&waits.0);
        let reading = tokio::task::spawn_blocking(move || {
            let _asking = Asking::begin();
            let line = answered(&text, &still)?;
            if !matches!(line.trim(), "e" | "edit") {
                return Some(word(&line));
            }
            let shown = format!("Current arguments: {}\nNew arguments: ", question.arguments);
            Some(Word::Instead(answered(&shown, &still)?))
        });
        Box::pin(async move {
            let _waits = waits;
            reading.await.ok().flatten().unwrap_or(Word::NoAnswer)
        })
    }
}

const CHOICE: &str = "Approve? [y]es, yes for this [s]ession, [N]o, ne[v]er in this session, \
    [e]dit the arguments, or type a reason to decline: ";

/// Asks on the terminal and returns the typed line; `None` without a terminal, or if the question
/// is cancelled. Input typed before the question is discarded.
fn answered(text: &str, waits: &AtomicBool) -> Option<String> {
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
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

/// Keeps a question open until this is dropped.
struct Waits(Arc<AtomicBool>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// Parses a decision. Anything other than a known word is a no, with that text as the reason.
fn word(line: &str) -> Word {
    let line = line.trim();
    match line.to_ascii_lowercase().as_str() {
        "y" | "yes" => Word::Yes,
        "s" | "session" => Word::YesForSession,
        "v" | "never" => Word::Never,
        "" | "n" | "no" => Word::No(None),
        _ => Word::No(Some(line.to_owned())),
    }
}

/// Asks a yes-or-no question on the terminal. Returns false if no one can answer.
pub(crate) fn agreed(question: &str) -> bool {
    let _asking = Asking::begin();
    let answer = answered(question, &AtomicBool::new(true)).unwrap_or_default();
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// The account that runs this process. Environment variables do not count, because anyone can set
/// them.
#[cfg(unix)]
pub(crate) fn user() -> String {
    let uid = rustix::process::getuid().as_raw();
    let accounts = crate::files::read_text(Path::new("/etc/passwd")).unwrap_or_default();
    account(&accounts, uid).unwrap_or_else(|| format!("uid {uid}"))
}

/// The name of the account with this number, from the text of `/etc/passwd`.
#[cfg(unix)]
fn account(accounts: &str, uid: u32) -> Option<String> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == uid).then(|| name.to_owned())
    })
}

/// Returns the user's name, if the environment has one.
#[cfg(not(unix))]
pub(crate) fn user() -> String {
    let name = std::env::var("USERNAME").ok().filter(|user| !user.is_empty());
    name.unwrap_or_else(|| "unknown user".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn an_account_is_found_by_its_number() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\n#\n:x:7:7::/:\nkim:x:1000:1000::/:\n";
        for (uid, name) in [(0, Some("root")), (1000, Some("kim")), (7, None), (8, None)] {
            assert_eq!(account(accounts, uid).as_deref(), name, "{uid}");
        }
    }

    #[test]
    fn what_is_typed_is_an_answer() {
        let because = |reason: &str| Word::No(Some(reason.to_owned()));
        for (line, expected) in [
            ("y\n", Word::Yes),
            ("YES", Word::Yes),
            (" s ", Word::YesForSession),
            ("v", Word::Never),
            ("", Word::No(None)),
            ("n", Word::No(None)),
            ("use the other file\n", because("use the other file")),
            ("yes, but", because("yes, but")),
        ] {
            assert_eq!(word(line), expected, "{line}");
        }
    }
}
