use std::borrow::Cow;

use counterfoil_model::Outcome;
use counterfoil_shell::{Script, exit_code_in_text};

use crate::arguments::{Arguments, words_of};
use crate::execution::Execution;
use crate::file::FileChange;
use crate::list::{ListLength, lengths};
use crate::lists::SHELLS;
use crate::run::{Output, Run};
use crate::status::CallStatus;

/// One call with its result.
#[derive(Debug, Clone)]
pub struct Call<'t> {
    /// The 1-based number: `C7` is the call, `R7` its result.
    pub number: usize,
    /// The call's id in the log.
    pub id: &'t str,
    /// The tool; for a meta-tool, the tool it was asked to run. Empty if only a result is recorded.
    pub tool: Cow<'t, str>,
    /// The message that made the call or, without a recorded call, carried the result.
    pub called_at: usize,
    /// The message that carried the result.
    pub answered_at: Option<usize>,
    /// The sub-agent that made the call; `None` for the main thread.
    pub agent: Option<&'t str>,
    /// How the call ended, according to its result.
    pub(crate) status: CallStatus,
    pub(crate) runs: Vec<Run>,
    pub(crate) files: Vec<FileChange>,
    pub(crate) lists: Vec<ListLength>,
    /// Whether it ran a command line.
    pub(crate) shell: bool,
    /// Whether it delegated work to another agent.
    pub(crate) delegates: bool,
    /// The number of calls that agent made, if the result says so.
    pub(crate) subagent_calls: Option<u64>,
    /// Whether the log shortened the result.
    pub(crate) truncated: bool,
}

impl<'t> Call<'t> {
    /// Reads an execution. `arguments` and `text` are redacted; `earlier` are the preceding calls.
    pub(crate) fn new(
        number: usize,
        pair: &Execution<'t>,
        (arguments, text): (&str, &str),
        folder: Option<&str>,
        earlier: &[Self],
    ) -> Self {
        let emitted = pair.call.map_or("", |call| call.tool.as_str());
        let read = Arguments::parse(arguments);
        let tool: Cow<'t, str> = match read.inner_tool() {
            Some(inner) => Cow::Owned(inner.to_owned()),
            None => Cow::Borrowed(emitted),
        };
        let words = words_of(&tool);
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let line = read.command_line(has(&SHELLS)).filter(|_| !has(&["patch"]));
        let (text, exit) = result_of(pair.outcome, text, line.is_some());
        let text: &str = &text;
        let script = line.as_deref().and_then(|line| Script::parse(line).ok());
        let status = status_of(pair.outcome, text, exit, script.as_ref(), line.is_some());
        let output = pair.outcome.map(|outcome| Output {
            text,
            exit,
            is_error: outcome.is_error,
            running: outcome.running,
            refused: status == CallStatus::Denied,
            unread: outcome.unread,
        });
        let runs = match &line {
            Some(line) => Run::of_line(line, script.as_ref(), output),
            None if has(&["stdin", "output", "poll", "wait"]) => continued(earlier, output),
            None => {
                let failed = status == CallStatus::Failed;
                Run::of_tool(&tool, &words, read.is_empty(), output, failed).into_iter().collect()
            }
        };
        let files = match (&script, &line) {
            (Some(script), _) => FileChange::by_script(script, folder),
            (None, Some(_)) => vec![FileChange::unnamed(false)],
            (None, None) => FileChange::by_tool(&words, &read, folder),
        };
        let asks = read.has(&["prompt", "subagent_type", "instructions"]);
        let lone = pair.outcome.map_or("", |outcome| outcome.call_id.as_str());
        Self {
            number,
            id: pair.call.map_or(lone, |call| call.id.as_str()),
            called_at: pair.called_at,
            answered_at: pair.answered_at,
            agent: pair.agent,
            status,
            runs,
            files,
            lists: if line.is_some() { Vec::new() } else { lengths(text) },
            shell: line.is_some(),
            delegates: asks && has(&["task", "agent", "subagent", "delegate"]),
            subagent_calls: pair.outcome.and_then(|outcome| outcome.subagent_calls),
            truncated: pair.outcome.is_some_and(|outcome| outcome.truncated),
            tool,
        }
    }
}

/// The text of a result, unwrapped from the harness's JSON object if there is one, and the exit
/// status of the command.
fn result_of<'s>(
    outcome: Option<&Outcome>,
    text: &'s str,
    prints: bool,
) -> (Cow<'s, str>, Option<i32>) {
    const LONGEST: usize = 256 * 1024;
    let Some(outcome) = outcome else { return (Cow::Borrowed(text), None) };
    if outcome.exit_code.is_none() && text.starts_with('{') && text.len() <= LONGEST {
        let mut inner = Outcome { text: text.to_owned(), ..Outcome::default() };
        inner.unwrap_command();
        if inner.exit_code.is_some() {
            return (Cow::Owned(inner.text), inner.exit_code);
        }
    }
    let printed = || exit_code_in_text(text).filter(|_| prints);
    (Cow::Borrowed(text), outcome.exit_code.or_else(printed))
}

fn status_of(
    outcome: Option<&Outcome>,
    text: &str,
    exit: Option<i32>,
    script: Option<&Script>,
    prints: bool,
) -> CallStatus {
    let Some(outcome) = outcome else { return CallStatus::Unfinished };
    // `grep` without a match has answered the question; it did not fail.
    let last = script.and_then(|script| script.commands().last());
    let is_question = last.is_some_and(|command| command.asks());
    if is_question && exit == Some(1) && text.trim().is_empty() {
        return CallStatus::Completed;
    }
    CallStatus::from_outcome(outcome, text, exit, prints)
}

/// Updates for earlier background runs, from a later look at their output.
fn continued(earlier: &[Call<'_>], output: Option<Output<'_>>) -> Vec<Run> {
    const LOOK_BACK: usize = 64;
    let Some(output) = output else { return Vec::new() };
    let background = |run: &&Run| {
        run.end == crate::run::RunEnd::Unfinished
            || run.hidden_by == Some("running in the background")
    };
    let recent = earlier.iter().rev().take(LOOK_BACK);
    let run = recent.flat_map(|call| call.runs.iter().rev()).find(background);
    run.and_then(|run| run.continued(output)).into_iter().collect()
}
