//! Developer tools: measuring, checking the house, making the generated pages.

mod corpus;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Developer tools of Countersign")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures precision, recall and false alarms on labelled transcripts.
    Corpus(corpus::Options),
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Corpus(options) => corpus::run(&options),
    }
}
