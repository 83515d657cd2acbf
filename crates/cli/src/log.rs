//! Shows log messages of the libraries on standard error.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::terminal::Paint;

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing
    Off,
    /// Errors
    Error,
    /// Errors and warnings
    Warn,
    /// Also each action
    Info,
    /// Also the details of each action
    Debug,
    /// Everything
    Trace,
}

/// Starts logging. Only the first call has an effect.
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
    // Only our own crates are logged.
    let ours = Targets::new().with_target("counterfoil", level);
    // A second subscriber is refused, and the first one stays.
    let _ = tracing_subscriber::registry().with(lines).with(ours).try_init();
}

/// A function that shows a line.
type Shows = Arc<dyn Fn(String) + Send + Sync>;

/// Where lines are shown instead of on standard error, if set.
static ELSEWHERE: Mutex<Option<Shows>> = Mutex::new(None);

fn shows() -> MutexGuard<'static, Option<Shows>> {
    ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends log lines to `show` instead of standard error.
#[cfg(feature = "guard")]
pub(crate) fn elsewhere(show: impl Fn(String) + Send + Sync + 'static) {
    *shows() = Some(Arc::new(show));
}

/// Sends log lines to standard error again.
#[cfg(feature = "guard")]
pub(crate) fn here() {
    *shows() = None;
}

/// The destination of log lines.
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
