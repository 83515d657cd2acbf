//! A conversation line by line: answers on standard output, everything else on standard error.

use std::future::Future;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use counterfoil_agent::{TurnEvent, Turned, Watch};
use counterfoil_guard::{CallEvent, Guard};
use counterfoil_report::{visible_output, visible_piped};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

use super::LOOK_AT_TASKS;
use super::begin::Begun;
use super::front::{Front, Next};
use super::row::Row;
use super::seen::{Seen, doubts, seen, turn_summary, under_way};
use crate::questions::{draw, next_line};
use crate::signals::interrupted;
use crate::terminal::Paint;

/// Line-by-line input and output, on a terminal or in a file.
pub(crate) struct Lines {
    paint: Paint,
    /// The pending read of a line. A half-typed line is kept.
    reading: Option<JoinHandle<io::Result<Option<String>>>>,
    /// Whether a user types, so that `/why` is available.
    talks: bool,
}

impl Lines {
    pub(crate) fn new(talks: bool) -> Self {
        Self { paint: Paint::for_errors(), reading: None, talks }
    }
}

impl Front for Lines {
    type Watching = Bar;

    async fn next(&mut self, begun: &Begun) -> anyhow::Result<Next> {
        write!(io::stderr(), "{} ", self.paint.bold(">"))?;
        io::stderr().flush()?;
        let waits = self.reading.get_or_insert_with(|| tokio::task::spawn_blocking(next_line));
        loop {
            tokio::select! {
                line = &mut *waits => {
                    self.reading = None;
                    return Ok(Next::Message(line??));
                }
                () = tokio::time::sleep(LOOK_AT_TASKS) => {}
                () = interrupted() => {
                    writeln!(io::stderr())?;
                    return Ok(Next::Message(None));
                }
            }
            if let Some(due) = begun.due() {
                writeln!(io::stderr())?;
                return Ok(Next::Due(due));
            }
        }
    }

    async fn during<T>(&mut self, work: impl Future<Output = T>) -> anyhow::Result<Option<T>> {
        tokio::select! {
            done = work => Ok(Some(done)),
            () = interrupted() => Ok(None),
        }
    }

    fn watch(&mut self, begun: &Begun) -> Bar {
        Bar::new(begun.agent.guard())
    }

    fn show(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        let mut err = io::stderr();
        rows.iter().try_for_each(|row| writeln!(err, "{}", row.painted(self.paint)))?;
        Ok(())
    }

    fn answer(&mut self, turned: &Turned) -> anyhow::Result<()> {
        // What a model says cannot move the cursor or hide itself. A pipe may end at a terminal: it
        // gets the text as it is, but for what a terminal obeys.
        let text = match io::stdout().is_terminal() {
            true => visible_output(&turned.answer),
            false => visible_piped(&turned.answer),
        };
        let gap = if text.ends_with('\n') { "" } else { "\n" };
        let mut out = io::stdout().lock();
        write!(out, "{text}{gap}")?;
        out.flush()?;
        self.show(&doubts(turned))?;
        let summary = turn_summary(turned);
        if self.talks && !summary.is_empty() {
            self.show(&[Row::plain(format!("  {summary}: /why"))])?;
        }
        Ok(())
    }

    fn why(&mut self, rows: Vec<Row>) -> anyhow::Result<()> {
        self.show(&rows)
    }
}

/// Shows progress on standard error.
pub(crate) struct Bar {
    paint: Paint,
    /// The progress bar, if standard error is a terminal.
    bar: Option<ProgressBar>,
    /// The task that shows the output of running calls in the bar.
    listens: Option<JoinHandle<()>>,
}

impl Bar {
    /// Creates the bar; must be called in a runtime.
    fn new(guard: &Guard) -> Self {
        let paint = Paint::for_errors();
        let bar = (io::stderr().is_terminal() && paint.is_on()).then(|| {
            let bar = ProgressBar::new_spinner();
            // The template is valid.
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

    fn line(&self, row: &Row) {
        let write = || {
            // Standard error may be closed.
            writeln!(io::stderr(), "{}", row.painted(self.paint)).ok();
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// Shows the last line that a call printed, or its progress.
async fn listen(mut events: Receiver<CallEvent>, bar: ProgressBar) {
    loop {
        match events.recv().await {
            Ok(event) => {
                if let Some(text) = under_way(&event) {
                    bar.set_message(text);
                }
            }
            // Missed events do not matter; the next one is shown.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

impl Drop for Bar {
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

impl Watch for Bar {
    fn on_event(&mut self, what: TurnEvent<'_>) {
        match seen(&what) {
            Seen::State(text) => {
                if let Some(bar) = &self.bar {
                    bar.set_message(text);
                }
            }
            Seen::Rows(rows) => rows.iter().for_each(|row| self.line(row)),
            Seen::Nothing => {}
        }
    }
}
