//! A conversation on the whole terminal. [`view`] has what is shown and typed; this module handles
//! the events around it.

mod block;
mod draw;
mod keys;
mod person;
mod question;
mod view;
mod writing;

use std::future::{Future, pending};
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use counterfoil_agent::{TurnEvent, Turned, Watch};
use counterfoil_guard::CallEvent;
use counterfoil_report::{shorten, visible_output};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event, KeyEventKind};
use ratatui::crossterm::execute;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Interval, MissedTickBehavior, interval};

use self::keys::Keys;
pub(crate) use self::person::ScreenPerson;
use self::question::Question;
use self::view::{View, Wish};
use super::LOOK_AT_TASKS;
use super::begin::Begun;
use super::front::{Front, Next};
use super::row::{Row, Tone, rows};
use super::seen::{Seen, doubts, seen, turn_summary, under_way};
use crate::log;
use crate::signals::interrupted;
use crate::terminal::Paint;

/// The interval between redraws without input.
const PICTURE: Duration = Duration::from_millis(50);

/// The maximum number of lines of a result that are shown, and of characters in each.
const FIRST: usize = 3;
const WIDEST: usize = 200;

/// Whether there is a terminal that can show a screen, and a user for it.
pub(crate) fn is_for_a_screen() -> bool {
    let able = std::env::var("TERM").is_ok_and(|term| term != "dumb");
    // A terminal without a size shows nothing.
    let sized =
        ratatui::crossterm::terminal::size().is_ok_and(|(columns, rows)| columns > 0 && rows > 0);
    let terminals = io::stdin().is_terminal() && io::stdout().is_terminal();
    terminals && io::stderr().is_terminal() && able && sized
}

/// A screen that uses the terminal until this is dropped.
pub(crate) struct Screen {
    terminal: DefaultTerminal,
    keys: Keys,
    questions: UnboundedReceiver<Question>,
    tells: UnboundedSender<Seen>,
    seen: UnboundedReceiver<Seen>,
    events: broadcast::Receiver<CallEvent>,
    logged: UnboundedReceiver<String>,
    pictures: Interval,
    view: View,
    /// Whether it must be redrawn.
    stale: bool,
    wish: Option<Wish>,
}

impl Screen {
    /// Takes over the terminal. Must be called in a runtime.
    ///
    /// # Errors
    /// Returns an error if the terminal cannot be used.
    pub(crate) fn open(begun: &Begun, queue: UnboundedReceiver<Question>) -> anyhow::Result<Self> {
        let (tells, seen) = unbounded_channel();
        let terminal = ratatui::try_init()?;
        execute!(io::stdout(), EnableBracketedPaste)?;
        let mut pictures = interval(PICTURE);
        pictures.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (logs, logged) = unbounded_channel();
        log::elsewhere(move |line| {
            // After the screen is gone, log lines are dropped.
            let _ = logs.send(line);
        });
        let mut screen = Self {
            terminal,
            keys: Keys::read(),
            questions: queue,
            tells,
            seen,
            events: begun.agent.guard().events(),
            logged,
            pictures,
            view: View::new(Paint::for_output(crate::choices::Colour::Auto).is_on()),
            stale: true,
            wish: None,
        };
        screen.refresh(begun);
        Ok(screen)
    }

    fn refresh(&mut self, begun: &Begun) {
        let (full, fits) = begun.agent.context();
        let percent = full.saturating_mul(100).checked_div(fits).unwrap_or(0);
        self.view.status = format!("{} · context {percent}%", begun.model);
        self.view.session = begun.agent.session().id().to_owned();
        self.stale = true;
    }

    /// Waits for one event and handles it.
    async fn happen(&mut self) -> anyhow::Result<()> {
        tokio::select! {
            event = self.keys.next() => match event {
                Some(event) => {
                    self.typed(event);
                    self.draw()?;
                }
                None => self.wish = Some(Wish::Leave),
            },
            Some(question) = self.questions.recv() => self.view.ask(question),
            Some(seen) = self.seen.recv() => self.see(seen),
            event = self.events.recv() => match event {
                Ok(event) => {
                    if let Some(text) = under_way(&event) {
                        self.view.state(text);
                    }
                }
                // Missed events do not matter; the next one is shown.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => pending().await,
            },
            Some(line) = self.logged.recv() => self.view.push(&rows(Tone::Dim, &line)),
            () = interrupted() => self.wish = Some(Wish::Leave),
            _ = self.pictures.tick(), if self.stale || self.view.moves() => {
                self.view.forget_questions();
                return self.draw();
            }
        }
        self.stale = true;
        Ok(())
    }

    fn typed(&mut self, event: Event) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                if let Some(wish) = self.view.key(key, Instant::now()) {
                    self.wish = Some(wish);
                }
            }
            Event::Paste(text) => self.view.paste(&text),
            _ => {}
        }
    }

    fn see(&mut self, seen: Seen) {
        match seen {
            Seen::State(text) => self.view.state(text),
            Seen::Rows(rows) => self.view.push(&rows),
            Seen::Nothing => {}
        }
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        self.terminal.draw(|frame| self.view.draw(frame))?;
        self.stale = false;
        Ok(())
    }
}

impl Front for Screen {
    type Watching = Tells;

    async fn next(&mut self, begun: &Begun) -> anyhow::Result<Next> {
        self.refresh(begun);
        let mut look = interval(LOOK_AT_TASKS);
        loop {
            match self.wish.take().or_else(|| self.view.take_queued()) {
                Some(Wish::Say(text)) => {
                    self.view.add_message(&text);
                    return Ok(Next::Message(Some(text)));
                }
                Some(Wish::Why) => return Ok(Next::Message(Some("/why".to_owned()))),
                Some(Wish::Leave) => return Ok(Next::Message(None)),
                // There is nothing to interrupt.
                Some(Wish::BreakOff) | None => {}
            }
            tokio::select! {
                happened = self.happen() => happened?,
                _ = look.tick() => {
                    if let Some(due) = begun.due() {
                        return Ok(Next::Due(due));
                    }
                }
            }
        }
    }

    async fn during<T>(&mut self, work: impl Future<Output = T>) -> anyhow::Result<Option<T>> {
        tokio::pin!(work);
        self.view.begin();
        let done = loop {
            tokio::select! {
                done = &mut work => break Some(done),
                happened = self.happen() => happened?,
            }
            match self.wish.take() {
                Some(Wish::BreakOff) => break None,
                Some(Wish::Leave) => {
                    self.wish = Some(Wish::Leave);
                    break None;
                }
                Some(Wish::Say(text)) => self.view.queue(text),
                // There is no answer yet.
                Some(Wish::Why) | None => {}
            }
        };
        while let Ok(seen) = self.seen.try_recv() {
            self.see(seen);
        }
        self.view.end();
        self.stale = true;
        Ok(done)
    }

    fn watch(&mut self, _: &Begun) -> Tells {
        Tells(self.tells.clone())
    }

    fn show(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        self.view.push(rows);
        self.stale = true;
        Ok(())
    }

    fn answer(&mut self, turned: &Turned) -> anyhow::Result<()> {
        self.view.answer(&visible_output(&turned.answer), turned.accepted);
        self.show(&doubts(turned))?;
        let summary = turn_summary(turned);
        if !summary.is_empty() {
            self.show(&[Row::new(Tone::Dim, format!("  {summary}: Ctrl-R"))])?;
        }
        Ok(())
    }

    fn why(&mut self, rows: Vec<Row>) -> anyhow::Result<()> {
        self.view.lay_over(rows);
        self.stale = true;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        log::here();
        // The shell restores the rest.
        let _ = execute!(io::stdout(), DisableBracketedPaste);
        ratatui::restore();
        // Print the conversation, so that it stays readable.
        let mut out = io::stdout().lock();
        for line in self.view.lines() {
            let _ = writeln!(out, "{line}");
        }
    }
}

/// Returns the first lines of a result.
fn beginning(result: &str) -> Vec<Row> {
    let result = visible_output(result);
    let mut lines = result.lines().filter(|line| !line.trim().is_empty());
    let dim = |line: &str| Row::new(Tone::Dim, format!("  {}", shorten(line, WIDEST)));
    let mut shown: Vec<Row> = lines.by_ref().take(FIRST).map(dim).collect();
    match lines.count() {
        0 => {}
        1 => shown.push(Row::new(Tone::Dim, "  … 1 more line")),
        more => shown.push(Row::new(Tone::Dim, format!("  … {more} more lines"))),
    }
    shown
}

/// Sends events to the screen.
pub(crate) struct Tells(UnboundedSender<Seen>);

impl Watch for Tells {
    fn on_event(&mut self, what: TurnEvent<'_>) {
        let mut seen = seen(&what);
        if let (Seen::Rows(rows), TurnEvent::Answered(_, answer)) = (&mut seen, &what) {
            rows.extend(beginning(&answer.text));
        }
        // The screen may be gone.
        let _ = self.0.send(seen);
    }
}
