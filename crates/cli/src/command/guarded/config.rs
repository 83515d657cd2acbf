use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use counterfoil_guard::GuardSettings;
use similar::TextDiff;

use crate::config::{self, Configuration, Migration};
use crate::exit::{Complaint, Exit, note};
use crate::global::Global;
use crate::replace::replace;
use crate::{files, servers};

/// Check, show or migrate the configuration, or print its schema
///
/// The configuration is read from `counterfoil.toml` in the working directory or a folder above it,
/// and then from the user's file (`$XDG_CONFIG_HOME/counterfoil/counterfoil.toml`). Environment
/// variables `COUNTERFOIL_*` override the files, and flags override both.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  counterfoil config check
  counterfoil config show --config ci/counterfoil.toml
  COUNTERFOIL_TOOLS_RETRY_MAX_ATTEMPTS=5 counterfoil config show
  counterfoil config migrate --write
  counterfoil config schema > counterfoil.schema.json")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Read the configuration and report what is wrong with it
    Check,
    /// Print the effective configuration with defaults, and where each value is set
    Show {
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "toml")]
        format: ShowFormat,
    },
    /// Rename keys that have a new name, keeping their comments
    ///
    /// Shows the changes, or writes them with `--write`. Running it again has no further effect.
    #[command(after_help = "\
Examples:
  counterfoil config migrate                show the changes to the nearest file
  counterfoil config migrate --write        write the changes to that file
  counterfoil config migrate - < old.toml   migrate standard input and print the result")]
    Migrate {
        /// The file, or - for standard input [default: the nearest configuration file]
        file: Option<PathBuf>,
        /// Write the file instead of only showing the changes
        #[arg(long)]
        write: bool,
    },
    /// Print the JSON Schema of the configuration
    Schema,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ShowFormat {
    /// As in a configuration file
    Toml,
    /// One JSON object
    Json,
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    match &arguments.action {
        Action::Schema => {
            writeln!(out, "{}", counterfoil_report::json_pretty(&config::schema()))?;
        }
        Action::Check => {
            let found = config::find(&global.place())?;
            let (settings, unset) = checked(&found)?;
            if found.files.is_empty() {
                writeln!(out, "no configuration file; using defaults")?;
            }
            for file in found.files {
                writeln!(out, "{}: valid", file.display())?;
            }
            settings.dependencies.notice().map(note).transpose()?;
            unset.iter().try_for_each(note)?;
            found.options.guard().tools.without_effect().into_iter().try_for_each(note)?;
        }
        Action::Show { format } => {
            let found = config::find(&global.place())?;
            match format {
                ShowFormat::Toml => write!(out, "{}", config::show(&found)?)?,
                ShowFormat::Json => {
                    writeln!(out, "{}", counterfoil_report::json_pretty(&found.options))?;
                }
            }
        }
        Action::Migrate { file, write } => migrate(global, file.as_deref(), *write, &mut out)?,
    }
    Ok(Exit::Clean)
}

/// Checks everything about a configuration that can be checked without using it. Also returns a
/// message for each server whose variables are not set here.
pub(super) fn checked(found: &Configuration) -> anyhow::Result<(GuardSettings, Vec<String>)> {
    let settings = found.options.guard().resolve()?;
    config::names_exist(found)?;
    Ok((settings, servers::check(&found.options)?))
}

fn migrate(
    global: &Global,
    file: Option<&Path>,
    write: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    if file == Some(Path::new("-")) {
        if write {
            return Err(Complaint::new("cannot write to standard input")
                .help("omit `--write` to print the result to standard output")
                .into());
        }
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).context("standard input cannot be read")?;
        let migrated = config::migrate(&text).context("standard input")?;
        write!(out, "{}", migrated.text)?;
        return Ok(());
    }
    let path = match file {
        Some(path) => path.to_owned(),
        None => config::nearest_file(&global.place()).ok_or_else(|| {
            Complaint::new("no configuration file found")
                .help("specify one: `counterfoil config migrate FILE`")
        })?,
    };
    let shown = path.display();
    let text = files::read_text(&path)
        .with_context(|| format!("the configuration {shown} cannot be read"))?;
    let Migration { text: migrated, changes } =
        config::migrate(&text).with_context(|| shown.to_string())?;
    if changes.is_empty() {
        writeln!(out, "{shown}: already up to date")?;
    } else if write {
        replace(&path, &migrated)
            .with_context(|| format!("the configuration {shown} cannot be written"))?;
        for change in changes {
            writeln!(out, "{shown}: {change}")?;
        }
    } else {
        let (old, new) = (shown.to_string(), format!("{shown} (migrated)"));
        let diff = TextDiff::from_lines(&text, &migrated);
        write!(out, "{}", diff.unified_diff().header(&old, &new))?;
        writeln!(io::stderr(), "nothing was written; pass `--write` to apply the changes")?;
    }
    Ok(())
}
