//! Checks that what the configuration names exists: models, judges, folders of skills.

use counterfoil_judges::PROGRAMS;
use toml::Table;
use toml::de::DeTable;

use super::find::Configuration;
use super::layer::at;
use super::usable::offset_of;
use crate::exit::Complaint;
use crate::suggest::did_you_mean;
use crate::{files, provider, skills};

/// The keys that name one of `[[llm.providers]]`, or are empty.
const OF_PROVIDERS: [&str; 5] = [
    JUDGE,
    "tools.adversarial_policy.provider",
    "tools.retry.parameter_reformat_provider",
    "agent.provider",
    "agent.compress_provider",
];

/// The key that may also name a program.
const JUDGE: &str = "judge.name";

/// Checks that everything named by a key exists. A command reads only the keys it uses; this reads
/// all of them.
///
/// # Errors
/// Returns an error for the first name that does not exist, with the file and line.
pub(crate) fn names_exist(found: &Configuration) -> anyhow::Result<()> {
    let table = Table::try_from(&found.options)?;
    let wrong = provider::unusable(&found.options)
        .or_else(|| OF_PROVIDERS.iter().find_map(|key| no_provider(found, &table, key)))
        .or_else(|| no_skills(found));
    match wrong {
        Some((key, complaint)) => Err(placed(found, &key, &complaint).into()),
        None => Ok(()),
    }
}

/// Returns the complaint if a key names a provider that does not exist.
fn no_provider(found: &Configuration, table: &Table, key: &str) -> Option<(String, Complaint)> {
    let path: Vec<&str> = key.split('.').collect();
    let name = at(table, &path)?.as_str().filter(|name| !name.is_empty())?;
    let providers = found.options.llm.providers.iter().map(|provider| provider.name.as_str());
    let programs = PROGRAMS.into_iter().chain(["auto"]).filter(|_| key == JUDGE);
    let known: Vec<&str> = providers.chain(programs).collect();
    if known.contains(&name) {
        return None;
    }
    let help =
        did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match known.as_slice() {
            [] => {
                "`[[llm.providers]]` is empty; add a provider, or leave this key empty".to_owned()
            }
            known => format!("known: {}", known.join(", ")),
        });
    let noun = if key == JUDGE { "judge" } else { "provider" };
    let complaint = Complaint::new(format!("{key}: unknown {noun} `{name}`")).help(help);
    Some((key.to_owned(), complaint))
}

/// Returns the complaint if a folder of skills does not exist.
fn no_skills(found: &Configuration) -> Option<(String, Complaint)> {
    let (index, folder) =
        skills::named_folders(&found.options).enumerate().find(|(_, folder)| !folder.is_dir())?;
    let key = format!("agent.skill_paths[{index}]");
    let complaint = Complaint::new(format!("{key}: no such folder: `{}`", folder.display())).help(
        "create it or remove it from the list; relative paths are resolved from the \
         working directory",
    );
    Some((key, complaint))
}

/// Adds the file and line, or the variable, that sets the key.
fn placed(found: &Configuration, key: &str, complaint: &Complaint) -> Complaint {
    let path: Vec<&str> = key.split(['.', '[']).filter(|part| !part.ends_with(']')).collect();
    let Some(source) = found.source_of(&path) else {
        return Complaint::new(complaint.to_string())
            .maybe_help(complaint.advice().map(str::to_owned));
    };
    let file = found.files.iter().find(|file| file.display().to_string() == source);
    let line = file.and_then(|file| line_of(&files::read_text(file).ok()?, key));
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    Complaint::new(format!("{source}{line}: {complaint}"))
        .maybe_help(complaint.advice().map(str::to_owned))
}

/// Returns the line of a text that sets a key.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let before = offset_of(table.get_ref(), key);
    Some(1 + text.bytes().take(before).filter(|&byte| byte == b'\n').count())
}
