//! Checks what an answer says against what its request shows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use counterfoil_guard::Guard;
use counterfoil_model::{Finding, Message, Subject};
use counterfoil_rules::{Fence, check_from};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::shown::Shown;

/// The maximum size that is judged on the current thread, in bytes, because starting another thread
/// would take longer.
const AT_ONCE: usize = 8 * 1024;

/// Judges answers, at most as many in parallel as there are processors.
#[derive(Debug)]
pub(crate) struct Judges(Arc<Semaphore>);

/// Why an answer was not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotJudged {
    #[error("judging took longer than {0} ms")]
    Late(u128),
    #[error("a word in the answer contains look-alike or invisible characters")]
    Letters,
    #[error("judging the answer failed")]
    Failed,
}

impl Judges {
    pub(crate) fn new() -> Self {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new(count)))
    }

    /// The findings in the messages of an answer. `limit` is the time limit, if any.
    pub(crate) async fn judge(
        &self,
        guard: &Guard,
        shown: &Arc<Shown>,
        answer: Vec<Message>,
        limit: Option<Duration>,
    ) -> Result<Vec<Finding>, NotJudged> {
        if limit.is_some_and(|limit| limit.is_zero()) {
            return Err(NotJudged::Late(0));
        }
        let length: usize = answer.iter().map(|message| message.text.len()).sum();
        if shown.size + length <= AT_ONCE {
            let judged = catch_unwind(AssertUnwindSafe(|| findings(guard, shown, answer)));
            return judged.map_err(|_| NotJudged::Failed);
        }
        let (guard, shown) = (guard.clone(), Arc::clone(shown));
        let permits = Arc::clone(&self.0);
        let judging = async move {
            let permit = permits.acquire_owned().await.map_err(|_| NotJudged::Failed)?;
            let judged = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                findings(&guard, &shown, answer)
            });
            judged.await.map_err(|_| NotJudged::Failed)
        };
        match limit {
            None => judging.await,
            Some(limit) => match timeout(limit, judging).await {
                Ok(judged) => judged,
                Err(_) => Err(NotJudged::Late(limit.as_millis())),
            },
        }
    }
}

fn findings(guard: &Guard, shown: &Shown, answer: Vec<Message>) -> Vec<Finding> {
    let mut transcript = shown.transcript.clone();
    let first = transcript.messages.len();
    transcript.messages.extend(answer);
    let mut findings = check_from(&transcript, guard.rules(), first).findings;
    findings.retain(|finding| {
        finding.turn >= first && matches!(finding.subject, Subject::Claim { .. })
    });
    findings
}

/// The end of the last sentence that is certainly complete.
pub(crate) fn last_end(text: &str) -> Option<usize> {
    let mut end = None;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let ended = matches!(before, '.' | '!' | '?' | '…' | '。' | '！' | '？');
        if letter == '\n' || (ended && letter.is_whitespace()) {
            end = Some(at + letter.len_utf8());
        }
        // A quotation or emphasis may end after the full stop.
        if !matches!(letter, '"' | '\'' | '”' | '’' | ')' | '*' | '_' | '`' | ']') || !ended {
            before = letter;
        }
    }
    end
}

/// The start of the sentence that contains this byte.
pub(crate) fn sentence_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    last_end(before).unwrap_or(0)
}

/// The number of bytes before new words that are judged with them. At the end, everything is
/// judged.
const BEFORE: usize = 2000;

/// How far back the start of a paragraph is looked for, in bytes.
const LONGEST_PARAGRAPH: usize = 16 * 1024;

/// The start of the last paragraph at or before this byte, or of the last sentence if there are no
/// paragraphs near it.
pub(crate) fn paragraph_start(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let from = text.floor_char_boundary(at.saturating_sub(LONGEST_PARAGRAPH));
    let before = text.get(from..at).unwrap_or_default();
    let found = before.rfind("\n\n").map(|found| found + 2).or_else(|| last_end(before));
    from + found.unwrap_or(0)
}

/// The part of a growing text that is judged with its newest words.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// The start of the first line that was not read.
    read: usize,
    /// The code block that is open there.
    fence: Option<Fence>,
}

impl Window {
    /// The text from a paragraph that starts at least `before` bytes before `cleared`, up to `end`.
    /// If it starts inside a code block, it begins with a fence.
    pub(crate) fn judged_text(&mut self, text: &str, (cleared, end): (usize, usize)) -> String {
        let start = paragraph_start(text, cleared.saturating_sub(BEFORE));
        while self.read < start {
            let rest = text.get(self.read..).unwrap_or_default();
            let Some(line) = rest.split_inclusive('\n').next().filter(|l| l.ends_with('\n')) else {
                break;
            };
            self.fence = Fence::after(self.fence, line);
            self.read += line.len();
        }
        let fence = self.fence.map(Fence::line).unwrap_or_default();
        format!("{fence}{}", text.get(start..end).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_nothing_can_be_added() {
        for (text, expected) in [
            ("", None),
            ("All tests pass", None),
            ("All tests pass.", None),
            ("All tests pass. ", Some(16)),
            ("It says \"done.\" And", Some(16)),
            ("| a | b |\n| 1", Some(10)),
            ("Version 1.2 is out", None),
            ("**Done.** Next", Some(10)),
            ("完了。 次", Some("完了。 ".len())),
        ] {
            assert_eq!(last_end(text), expected, "{text}");
        }
        assert_eq!(sentence_start("One. Two three.", 9), 5);
        assert_eq!(sentence_start("One.", 2), 0);
        assert_eq!(paragraph_start("One.\n\nTwo.\n\nÄ", 13), 12);
        assert_eq!(paragraph_start("One.\n\nTwo.", 8), 6);
        assert_eq!(paragraph_start("One. Two.", 7), 5);
        assert_eq!(paragraph_start("One.", 99), 0);
    }

    #[test]
    fn a_window_inside_a_code_block_begins_with_its_fence() {
        let code = "value = compute(1)\n\n".repeat(300);
        let text = format!("A script:\n\n```python\n{code}```\n\nI sent it. ");
        let mut window = Window::default();
        let judged = window.judged_text(&text, (text.len() - 11, text.len()));
        assert!(
            judged.starts_with("```\nvalue") && judged.ends_with("```\n\nI sent it. "),
            "{judged}"
        );
        // After the block, nothing is added.
        let longer = format!("{text}{}", "It is fine.\n\n".repeat(300));
        let judged = window.judged_text(&longer, (longer.len(), longer.len()));
        assert!(judged.starts_with("It is fine."), "{judged}");
    }
}
