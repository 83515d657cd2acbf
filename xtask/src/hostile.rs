//! `cargo xtask hostile`: the attacks of a hostile model, repository or log, each attempted with
//! the real binary, with whether it was held.

#[expect(clippy::disallowed_methods, reason = "the binary is started, in folders of its own")]
mod bench;
mod commands;
mod configuration;
mod events;
mod output;
mod places;
mod runs;
#[expect(clippy::disallowed_methods, reason = "other processes are attacked, and looked at")]
mod sandbox;
mod schemas;
mod time;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use bench::Bench;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The binary, built with `--release`.
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// Run only these areas.
    #[arg(value_name = "AREA")]
    areas: Vec<String>,
    /// Show every attempt, not only those that succeeded.
    #[arg(long)]
    all: bool,
}

/// How an attempt ended.
enum Held {
    /// It was stopped.
    Yes,
    /// It succeeded, with this visible effect.
    No(String),
    /// It cannot be tried on this machine, for this reason.
    NotTried(String),
}

impl Held {
    fn when(held: bool, seen: impl FnOnce() -> String) -> Self {
        if held { Self::Yes } else { Self::No(seen()) }
    }
}

/// One attempt.
struct Attempt {
    name: String,
    held: Held,
}

impl Attempt {
    fn new(name: impl Into<String>, held: Held) -> Self {
        Self { name: name.into(), held }
    }
}

/// A group of attempts of one kind.
struct Area {
    name: &'static str,
    what: &'static str,
    attempt: fn(&Bench) -> Result<Vec<Attempt>>,
}

const AREAS: [Area; 9] = [
    Area {
        name: "places",
        what: "what decides is written, or spelled so that no rule sees it",
        attempt: places::attempt,
    },
    Area { name: "commands", what: "shell input past the blocklist", attempt: commands::attempt },
    Area { name: "sandbox", what: "a confined command reaches out", attempt: sandbox::attempt },
    Area {
        name: "configuration",
        what: "a project's file loosens the user's",
        attempt: configuration::attempt,
    },
    Area { name: "events", what: "hook events that hide a call", attempt: events::attempt },
    Area { name: "runs", what: "runs that prove nothing", attempt: runs::attempt },
    Area { name: "time", what: "texts that take too long", attempt: time::attempt },
    Area { name: "schemas", what: "schemas that take too long", attempt: schemas::attempt },
    Area {
        name: "output",
        what: "logs that write into terminals and reports",
        attempt: output::attempt,
    },
];

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = options.binary.canonicalize().with_context(|| {
        format!("{} is missing: build it with `cargo build --release`", options.binary.display())
    })?;
    for name in &options.areas {
        ensure!(AREAS.iter().any(|area| area.name == name), "there is no area `{name}`");
    }
    let mut totals = BTreeMap::new();
    println!("{:14} {:>6} {:>9} {:>10} {:>7}", "", "held", "not held", "not tried", "s");
    for area in AREAS {
        if !options.areas.is_empty() && !options.areas.iter().any(|name| name == area.name) {
            continue;
        }
        let began = Instant::now();
        let attempts = (area.attempt)(&Bench::new(&binary)?)?;
        ensure!(!attempts.is_empty(), "the area `{}` attempts nothing", area.name);
        let [held, not_held, not_tried] = count(&attempts);
        println!(
            "{:14} {held:6} {not_held:9} {not_tried:10} {:7.1}   {}",
            area.name,
            began.elapsed().as_secs_f64(),
            area.what
        );
        for attempt in &attempts {
            match &attempt.held {
                Held::Yes if options.all => println!("    held       {}", attempt.name),
                Held::Yes => {}
                Held::No(seen) => {
                    let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
                    println!("    NOT HELD   {}: {seen}", attempt.name);
                }
                Held::NotTried(why) => println!("    not tried  {}: {why}", attempt.name),
            }
        }
        for (kind, count) in [("held", held), ("not held", not_held), ("not tried", not_tried)] {
            *totals.entry(kind).or_insert(0) += count;
        }
    }
    let of = |kind: &str| totals.get(kind).copied().unwrap_or(0);
    let sum: usize = totals.values().sum();
    println!(
        "{sum} attempts: {} held, {} not held, {} not tried",
        of("held"),
        of("not held"),
        of("not tried")
    );
    ensure!(of("not held") == 0, "{} attempts got through", of("not held"));
    Ok(())
}

fn count(attempts: &[Attempt]) -> [usize; 3] {
    let mut counts = [0; 3];
    for attempt in attempts {
        let place = match attempt.held {
            Held::Yes => 0,
            Held::No(_) => 1,
            Held::NotTried(_) => 2,
        };
        if let Some(count) = counts.get_mut(place) {
            *count += 1;
        }
    }
    counts
}
