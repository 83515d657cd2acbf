//! What is seen while the agent works, line by line on standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use counterfoil_agent::{Due, Told, Turned, Watch};
use counterfoil_guard::{Answer, CallEvent, Guard, ToolEvent};
use counterfoil_model::{Finding, Severity, Status, ToolCall};
use counterfoil_report::{shorten, visible, visible_output};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

use crate::questions::draw;
use crate::terminal::Paint;

/// The longest arguments that are shown, in characters.
const LONGEST: usize = 100;

/// Tells on standard error what happens.
pub(crate) struct Shown {
    paint: Paint,
    /// Where somebody looks.
    bar: Option<ProgressBar>,
    /// Who tells the bar what a call prints while it runs.
    listens: Option<JoinHandle<()>>,
}

impl Shown {
    /// Inside a runtime.
    pub(crate) fn new(guard: &Guard) -> Self {
        let paint = Paint::for_errors();
        let bar = (io::stderr().is_terminal() && paint.is_on()).then(|| {
            let bar = ProgressBar::new_spinner();
            // Its parts are always there.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        draw(bar.clone());
        let listens = bar.clone().map(|bar| tokio::spawn(listen(guard.events(), bar)));
        Self { paint, bar, listens }
    }

    fn state(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }

    pub(crate) fn line(&self, text: &str) {
        let write = || {
            // Whoever closed standard error does not want to know.
            writeln!(io::stderr(), "{text}").ok();
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn call(&self, call: &ToolCall, answer: &Answer) {
        let arguments = visible(call.arguments.as_str());
        let arguments = shorten(&arguments, LONGEST).into_owned();
        let status = match answer.status {
            Status::Completed => self.paint.bold(answer.status.name()),
            status => self.paint.error(status.name()),
        };
        let codes = match answer.codes.as_slice() {
            [] => String::new(),
            codes => format!(" ({})", codes.join(", ")),
        };
        let id = self.paint.code(&answer.execution_id);
        self.line(&format!("• {} {arguments}\n  {status}{codes}, {id}", visible(&call.tool)));
    }
}

/// Shows the last line that a call printed, or how far it is.
async fn listen(mut events: Receiver<CallEvent>, bar: ProgressBar) {
    loop {
        let event = match events.recv().await {
            Ok(event) => event,
            // Whoever does not keep up sees the next one.
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let text = match &event.what {
            ToolEvent::Output { text, .. } => text.lines().last().unwrap_or_default().to_owned(),
            ToolEvent::Progress { message: Some(message), .. } => message.clone(),
            ToolEvent::Progress { done, total: Some(total), .. } => format!("{done} of {total}"),
            _ => continue,
        };
        let line = format!("running {}: {}", event.call.tool, text.trim());
        bar.set_message(shorten(&visible(&line), LONGEST).into_owned());
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        draw(None);
        if let Some(listens) = &self.listens {
            listens.abort();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Watch for Shown {
    fn told(&mut self, what: Told<'_>) {
        match what {
            Told::Asked(_) => self.state("thinking"),
            Told::Writing(count) => self.state(&format!("writing, {count} characters")),
            Told::Again { after, why } => {
                let note = self.paint.help("note");
                self.line(&format!("{note}: {}; again in {after} ms", visible(why)));
            }
            Told::Calling(call) => self.state(&format!("running {}", visible(&call.tool))),
            Told::Answered(call, answer) => self.call(call, answer),
            Told::HeldBack(findings) => {
                self.line(&format!("{}: an answer was held back", self.paint.error("checked")));
                told_once(findings, self.paint).iter().for_each(|line| self.line(line));
            }
            Told::Cut => {
                let note = self.paint.help("note");
                self.line(&format!("{note}: the model was cut off: its answer may be no longer"));
            }
            Told::Compressed(strategy) => {
                let note = self.paint.help("note");
                self.line(&format!("{note}: the conversation is told in short now ({strategy})"));
            }
            Told::NotCompressed(why) => {
                self.line(&format!("{}: {}", self.paint.help("note"), visible(why)));
            }
            _ => {}
        }
    }
}

/// Each finding in one line; what is found several times is said once.
pub(crate) fn told_once(findings: &[Finding], paint: Paint) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for finding in findings {
        let line = told(finding, paint);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn told(finding: &Finding, paint: Paint) -> String {
    let message = visible(&finding.message);
    let word = match finding.severity {
        Severity::Error => paint.error("error"),
        Severity::Warning => paint.help("warning"),
        Severity::Note => "note".to_owned(),
    };
    format!("  {word}[{}] {message}", finding.code)
}

/// Shows an answer on standard output, and what is doubtful about it beside that.
pub(crate) fn answer(turned: &Turned) -> io::Result<()> {
    // What a model says cannot move the cursor or hide itself; whoever reads a pipe gets it as it is.
    let text = match io::stdout().is_terminal() {
        true => visible_output(&turned.answer),
        false => turned.answer.as_str().into(),
    };
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    let mut out = io::stdout().lock();
    write!(out, "{text}{gap}")?;
    out.flush()?;
    let doubts = told_once(&turned.findings, Paint::for_errors());
    doubts.iter().filter(|_| turned.stands).try_for_each(|line| writeln!(io::stderr(), "{line}"))
}

/// What begins, and who wants it.
pub(super) fn begins(due: &Due, paint: Paint) -> String {
    let (task, word) = (&due.task, paint.bold("task"));
    let (phrase, prompt) = (visible(&task.phrase), visible(&task.prompt));
    format!("{word} {}: {phrase}, of session {}\n  {prompt}", task.id, visible(&task.session))
}

/// What stands behind an answer, in one line; nothing where nothing does.
pub(crate) fn behind(turned: &Turned) -> String {
    let count = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        more => Some(format!("{more} {one}s")),
    };
    let held = usize::try_from(turned.held_back).unwrap_or(usize::MAX);
    let parts = [
        count(turned.executions.len(), "receipt"),
        count(turned.findings.len(), "finding"),
        count(held, "answer").map(|text| format!("{text} held back")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}
