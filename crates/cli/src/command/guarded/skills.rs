use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use counterfoil_agent::{Skill, SkillOrigin};
use counterfoil_guard::GuardSettings;
use counterfoil_report::{visible, visible_output};

use crate::approver::agreed;
use crate::config;
use crate::exit::{Complaint, Exit};
use crate::global::Global;
use crate::guard::settings;
use crate::skills::{Found, find, oddities};
use crate::terminal::Paint;

/// Manage the chat agent's skills: list, check, show, or trust one
///
/// A skill is a folder with a `SKILL.md`, in the format of the agentskills specification. Your own
/// skills are in `skills` next to your configuration file. A project's skills are in
/// `.counterfoil/skills`, `.agents/skills` or `.claude/skills`; they are used after you trust them,
/// until one of their files changes. Skills in `agent.skill_paths` are used as long as a scan finds
/// nothing suspicious in them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil skills list
  counterfoil skills check                    check every installed skill
  counterfoil skills check ./release-notes    check one folder; exits with 1 if anything is wrong
  counterfoil skills trust release-notes")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
    /// The project's root [default: the working directory]
    #[arg(long, global = true, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the skills, and whether they are used
    List,
    /// Report errors and suspicious content in skills
    Check {
        /// Skill folders [default: all installed skills]
        folders: Vec<PathBuf>,
    },
    /// Show a skill: its text, its tools, and any suspicious content
    Show {
        /// The name of the skill
        name: String,
    },
    /// Trust the current version of a skill
    Trust {
        /// The name of the skill
        name: String,
    },
    /// Stop trusting a skill
    Forget {
        /// The name of the skill
        name: String,
    },
}

pub(crate) fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = config::find(&global.place())?.options;
    let settings = settings(&options)?;
    let workspace = match &arguments.workspace {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().context("the working directory no longer exists")?,
    };
    let mut found = find(&options, &workspace)?;
    let mut out = io::stdout().lock();
    match &arguments.what {
        What::List => list(&found, &settings),
        What::Check { folders } if folders.is_empty() => {
            let skills = found.skills.iter().map(|skill| oddities(skill, &settings));
            let odd: Vec<String> = skills.flatten().map(|odd| odd.to_string()).collect();
            let wrong: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
            checked(&wrong, &odd, found.skills.len())
        }
        What::Check { folders } => check(folders, &settings),
        What::Show { name } => show(named(&found, name)?, &settings),
        What::Trust { name } => {
            let skill = named(&found, name)?.clone();
            trust(&mut found, &skill, &settings)
        }
        What::Forget { name } => {
            let forgotten = found.trusted.forget(name);
            match forgotten.map_err(Complaint::from_error)? {
                true => writeln!(out, "`{name}` is no longer trusted")?,
                false => writeln!(out, "`{name}` was not trusted")?,
            }
            Ok(Exit::Clean)
        }
    }
}

fn check(folders: &[PathBuf], settings: &GuardSettings) -> anyhow::Result<Exit> {
    let (mut wrong, mut odd, mut count) = (Vec::new(), Vec::new(), 0);
    for folder in folders {
        let real = folder.canonicalize();
        let folder = real.with_context(|| format!("{} cannot be read", folder.display()))?;
        match Skill::read(&folder, SkillOrigin::Project) {
            Ok(skill) => {
                count += 1;
                odd.extend(oddities(&skill, settings).iter().map(ToString::to_string));
            }
            Err(error) => wrong.push(error.to_string()),
        }
    }
    checked(&wrong, &odd, count)
}

fn show(skill: &Skill, settings: &GuardSettings) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}: {}", visible(&skill.name), visible(&skill.description))?;
    writeln!(out, "{} ({})\n", skill.folder.display(), skill.digest)?;
    writeln!(out, "{}", visible_output(&skill.body))?;
    for tool in &skill.tools {
        writeln!(out, "tool {}: {}", visible(&tool.name), visible(&tool.description))?;
    }
    warn(skill, settings)?;
    Ok(Exit::Clean)
}

fn warn(skill: &Skill, settings: &GuardSettings) -> io::Result<()> {
    let word = Paint::for_errors().help("warning");
    let odd = oddities(skill, settings);
    odd.iter().try_for_each(|odd| writeln!(io::stderr(), "{word}: {odd}"))
}

/// Asks on the terminal, because only the user may trust a skill.
fn trust(found: &mut Found, skill: &Skill, settings: &GuardSettings) -> anyhow::Result<Exit> {
    warn(skill, settings)?;
    if !agreed(&format!("Trust the current version of `{}`? [y/N] ", visible(&skill.name))) {
        let message = "not confirmed on a terminal; nothing was changed".to_owned();
        return Err(Complaint::new(message).into());
    }
    found.trusted.trust(skill).map_err(Complaint::from_error)?;
    let Skill { name, digest, .. } = skill;
    writeln!(io::stdout(), "the current version of `{name}` is now trusted: {digest}")?;
    Ok(Exit::Clean)
}

fn named<'f>(found: &'f Found, name: &str) -> anyhow::Result<&'f Skill> {
    let skill = found.skills.iter().find(|skill| skill.name == name);
    Ok(skill.ok_or_else(|| {
        Complaint::new(format!("no skill named `{}`", visible(name)))
            .help("`counterfoil skills list` lists all skills")
    })?)
}

fn list(found: &Found, settings: &GuardSettings) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    for skill in &found.skills {
        let usable = found.may_be_used(skill, settings);
        let state = match (skill.origin, found.trusted.is_trusted(skill)) {
            (SkillOrigin::User, _) => "yours",
            (_, true) => "trusted",
            (_, false) if usable => "in use: listed in `agent.skill_paths`, no warnings",
            (_, false) => "not in use: to use it, run `counterfoil skills trust`",
        };
        let (name, what) = (visible(&skill.name), visible(&skill.description));
        writeln!(out, "{name}  {state}\n  {what}")?;
    }
    for error in &found.errors {
        writeln!(io::stderr(), "{}: {error}", Paint::for_errors().error("error"))?;
    }
    if found.skills.is_empty() && found.errors.is_empty() {
        writeln!(out, "no skills")?;
    }
    Ok(if found.errors.is_empty() { Exit::Clean } else { Exit::Findings })
}

fn checked(wrong: &[String], odd: &[String], count: usize) -> anyhow::Result<Exit> {
    let paint = Paint::for_errors();
    let mut out = io::stdout().lock();
    for error in wrong {
        writeln!(out, "{}: {error}", paint.error("error"))?;
    }
    for warning in odd {
        writeln!(out, "{}: {warning}", paint.help("warning"))?;
    }
    writeln!(out, "{count} skills read, {} errors, {} warnings", wrong.len(), odd.len())?;
    Ok(if wrong.is_empty() && odd.is_empty() { Exit::Clean } else { Exit::Findings })
}
