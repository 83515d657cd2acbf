//! Developer tools: measurements, checks of the house rules, generated pages.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

#[expect(clippy::disallowed_methods, reason = "cargo is started, and records are files")]
mod api;
mod bench;
mod corpus;
mod docs;
#[expect(clippy::disallowed_methods, reason = "processes are started, in a folder of their own")]
mod gateway;
#[expect(clippy::disallowed_methods, reason = "packages are files, and npm is started")]
mod npm;
mod process;
#[expect(clippy::disallowed_methods, reason = "proxies are started")]
mod proxy;
#[expect(clippy::disallowed_methods, reason = "archives are files, and the program is asked")]
mod release;
mod requirements;
mod tidy;
#[expect(clippy::disallowed_methods, reason = "compilers are started")]
mod wheel;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Developer tools of Counterfoil")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compares the public API of the library crates with the recorded one.
    Api(api::Options),
    /// Measures how fast large logs are read and checked, and answers are verified.
    Bench(bench::Options),
    /// Measures what the MCP gateway adds to a call, and its behaviour when servers die.
    BenchGateway(gateway::Options),
    /// Measures what the proxy adds to answers and its cost under load, compared with other
    /// proxies.
    BenchProxy(proxy::Options),
    /// Measures precision, recall and false alarms on labelled transcripts.
    Corpus(corpus::Options),
    /// Writes the pages that are generated from the code.
    Docs(docs::Options),
    /// Runs the server behind the measured gateway.
    #[command(hide = true)]
    EchoServer(gateway::EchoOptions),
    /// Tests every requirement of the product's source documents.
    Requirements(requirements::Options),
    /// Builds the npm package, and the one with a platform's binary.
    Npm(npm::Options),
    /// Builds the files of a release: archives, checksums, installer, formula.
    Release(release::Options),
    /// Builds the Python package with the command line in it.
    Wheel(wheel::Options),
    /// Checks the house rules: floors, pages, names, length, links.
    Tidy,
}

#[expect(clippy::print_stderr, reason = "a developer reads it")]
fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        // Without a backtrace, because the cause is outside this program.
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Api(options) => api::run(&root(), &options),
        Command::Bench(options) => bench::run(&options),
        Command::BenchGateway(options) => gateway::run(&options),
        Command::BenchProxy(options) => proxy::run(&options),
        Command::EchoServer(options) => gateway::echo(&options),
        Command::Corpus(options) => corpus::run(&root(), &options),
        Command::Docs(options) => docs::run(&root(), &options),
        Command::Npm(options) => npm::run(&root(), &options),
        Command::Release(options) => release::run(&root(), &options),
        Command::Wheel(options) => wheel::run(&root(), &options),
        Command::Requirements(options) => requirements::run(&root(), &options),
        Command::Tidy => tidy::run(&root()),
    }
}

/// The root of the repository that this tool was built from.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}
