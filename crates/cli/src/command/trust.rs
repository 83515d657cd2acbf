use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use counterfoil_report::visible;

use crate::config;
use crate::exit::{Complaint, Exit};
use crate::files;
use crate::global::Global;

/// Trust the current version of a project's configuration file
///
/// Without your trust, a project's configuration can only tighten your settings. Keys that do more
/// take effect only after you trust the file, because they can turn off checks, and can name
/// programs to run, paths outside the project and network addresses. Trust applies to the content
/// of the file: if the file changes, you have to trust it again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil trust                    trust the nearest counterfoil.toml, after you read it
  counterfoil trust --revoke           stop trusting it
  counterfoil trust ci/counterfoil.toml --yes")]
pub(crate) struct Arguments {
    /// The file [default: the nearest `counterfoil.toml` in this folder or its parents]
    file: Option<PathBuf>,
    /// Stop trusting the file
    #[arg(long)]
    revoke: bool,
    /// Do not ask for confirmation
    #[arg(long, short, conflicts_with = "revoke")]
    yes: bool,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let found = || {
        config::project_file().ok_or_else(|| {
            Complaint::new("no counterfoil.toml in this folder or its parents")
                .help("pass the path of the file")
        })
    };
    let path = arguments.file.clone().map_or_else(found, Ok)?;
    let shown = visible(&path.display().to_string()).into_owned();
    let mut out = io::stdout().lock();
    if arguments.revoke {
        let was = config::revoke(&path)?;
        let outcome = if was { "no longer trusted" } else { "was not trusted" };
        writeln!(out, "{shown}: {outcome}")?;
        return Ok(Exit::Clean);
    }
    let text = files::read_text(&path).with_context(|| shown.clone())?;
    let beyond = config::beyond(&global.place(), &path, &text)?;
    if beyond.is_empty() {
        writeln!(out, "{shown}: sets no keys that require trust")?;
        return Ok(Exit::Clean);
    }
    if config::is_trusted(&path, &text) {
        writeln!(out, "{shown}: the current version is already trusted")?;
        return Ok(Exit::Clean);
    }
    writeln!(out, "{shown} sets keys that project configuration may not set:")?;
    for key in &beyond {
        writeln!(out, "  {}", visible(key))?;
    }
    if !arguments.yes && !agreed(&mut out)? {
        return Err(Complaint::new("not confirmed; the file is not trusted")
            .help("read the file, then answer `y` on a terminal or pass `--yes`")
            .into());
    }
    let list = config::trust(&path, &text)?;
    writeln!(out, "the current version is now trusted (recorded in {})", list.display())?;
    Ok(Exit::Clean)
}

fn agreed(out: &mut impl io::Write) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    write!(out, "Trust it? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
