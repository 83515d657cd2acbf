//! What the libraries have to say while they work, on standard error.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::terminal::Paint;

/// How much of it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing
    Off,
    /// What went wrong
    Error,
    /// What may be wrong
    Warn,
    /// What was done
    Info,
    /// How
    Debug,
    /// All of it
    Trace,
}

/// Begins to tell it. The first call decides.
pub(crate) fn begin(level: LogLevel) {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(Out::new)
        .with_ansi(Paint::for_errors().is_on())
        .with_target(false)
        .without_time();
    // What other people's libraries tell is for their makers.
    let ours = Targets::new().with_target("counterfoil", level);
    // A second one is refused, and the first goes on.
    let _ = tracing_subscriber::registry().with(lines).with(ours).try_init();
}

/// What shows a line.
type Shows = Arc<dyn Fn(String) + Send + Sync>;

/// Who shows the lines, where standard error cannot.
static ELSEWHERE: Mutex<Option<Shows>> = Mutex::new(None);

fn shows() -> MutexGuard<'static, Option<Shows>> {
    ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lines are shown by this from now on, and standard error does not get them.
#[cfg(feature = "guard")]
pub(crate) fn elsewhere(show: impl Fn(String) + Send + Sync + 'static) {
    *shows() = Some(Arc::new(show));
}

/// Standard error gets them again.
#[cfg(feature = "guard")]
pub(crate) fn here() {
    *shows() = None;
}

/// Where the lines go.
enum Out {
    Here(io::Stderr),
    Elsewhere(Shows),
}

impl Out {
    fn new() -> Self {
        shows().clone().map_or_else(|| Self::Here(io::stderr()), Self::Elsewhere)
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Here(stderr) => stderr.write(bytes),
            Self::Elsewhere(show) => {
                let text = String::from_utf8_lossy(bytes);
                show(anstream::adapter::strip_str(&text).to_string());
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Here(stderr) => stderr.flush(),
            Self::Elsewhere(_) => Ok(()),
        }
    }
}
