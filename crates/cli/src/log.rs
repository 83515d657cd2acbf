//! What the libraries have to say while they work, on standard error.

use std::io;

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
        .with_writer(io::stderr)
        .with_ansi(Paint::for_errors().is_on())
        .with_target(false)
        .without_time();
    // What other people's libraries tell is for their makers.
    let ours = Targets::new().with_target("counterfoil", level);
    // A second one is refused, and the first goes on.
    let _ = tracing_subscriber::registry().with(lines).with(ours).try_init();
}
