//! Finds the session logs of agents, and selects the one that the user means.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use counterfoil_model::{Agent, Digest};
use serde_json::Value;
use walkdir::WalkDir;

use super::Homes;
use crate::exit::Complaint;
use crate::files;

/// The maximum number of Codex logs that are opened to find their folder, newest first; Codex files
/// its logs by date.
const MOST_OPENED: usize = 200;
/// The maximum number of bytes read of a first line.
const LONGEST_LINE: u64 = 1 << 20;

/// The log of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogFile {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
    modified: SystemTime,
}

/// Returns an agent's logs, newest first, without those of sub-agents.
pub(crate) fn logs(homes: &Homes, agent: Agent) -> Vec<LogFile> {
    let Some(root) = root(homes, agent) else { return Vec::new() };
    let mut found: Vec<LogFile> = WalkDir::new(root)
        .into_iter()
        .filter_entry(|entry| entry.file_name() != "subagents")
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && is_a_log(agent, entry.path()))
        .filter_map(|entry| {
            let modified = entry.metadata().ok()?.modified().ok()?;
            Some(LogFile { agent, path: entry.into_path(), modified })
        })
        .collect();
    found.sort_by(|a, b| (Reverse(a.modified), &a.path).cmp(&(Reverse(b.modified), &b.path)));
    found
}

/// Returns the log that `--latest` selects, and whether it belongs to this folder: the newest log
/// of the nearest ancestor folder that has one, otherwise the newest of all.
pub(crate) fn latest(
    homes: &Homes,
    agents: &[Agent],
    here: &Path,
) -> Result<(LogFile, bool), Complaint> {
    let mut best: Option<(usize, LogFile)> = None;
    for agent in agents {
        for (at, log) in logs(homes, *agent).into_iter().enumerate() {
            let is_opened = *agent != Agent::Codex || at < MOST_OPENED;
            if is_opened && *agent == Agent::Codex && parent_of(&log.path).is_some() {
                continue;
            }
            let away = if is_opened { away(&log, here) } else { usize::MAX };
            let order = |away: usize, log: &LogFile| (away, Reverse(log.modified));
            if best.as_ref().is_none_or(|(least, old)| order(away, &log) < order(*least, old)) {
                best = Some((away, log));
            }
        }
    }
    match best {
        Some((away, log)) => Ok((log, away != usize::MAX)),
        None => Err(nothing(homes, agents)),
    }
}

fn nothing(homes: &Homes, agents: &[Agent]) -> Complaint {
    let looked: Vec<String> = agents
        .iter()
        .map(|agent| match root(homes, *agent) {
            Some(root) => format!("{}: `{}`", agent.name(), root.join(pattern(*agent)).display()),
            None => format!("{}: not searched, because HOME is not set", agent.name()),
        })
        .collect();
    Complaint::new("no agent sessions found on this machine").help(format!(
        "places searched: {}; pass a log instead: `counterfoil check PATH`",
        looked.join("; ")
    ))
}

fn root(homes: &Homes, agent: Agent) -> Option<PathBuf> {
    let below = match agent {
        Agent::ClaudeCode => "projects",
        Agent::Codex => "sessions",
        Agent::Gemini => "tmp",
    };
    Some(homes.folder(agent)?.join(below))
}

fn pattern(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "**/*.jsonl",
        Agent::Codex => "**/rollout-*.jsonl",
        Agent::Gemini => "*/chats/*.json",
    }
}

fn is_a_log(agent: Agent, path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str);
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    match agent {
        Agent::ClaudeCode => ending == Some("jsonl") && !name.starts_with("agent-"),
        Agent::Codex => ending == Some("jsonl") && name.starts_with("rollout-"),
        Agent::Gemini => {
            let folder = path.parent().and_then(Path::file_name);
            matches!(ending, Some("json" | "jsonl")) && folder == Some(OsStr::new("chats"))
        }
    }
}

/// Returns how many levels above `here` the log's project is; `usize::MAX` if it is elsewhere or
/// unknown.
fn away(log: &LogFile, here: &Path) -> usize {
    let position =
        |is_it: &dyn Fn(&Path) -> bool| here.ancestors().position(is_it).unwrap_or(usize::MAX);
    match log.agent {
        Agent::ClaudeCode => match log.path.parent().and_then(Path::file_name) {
            Some(folder) => {
                let folder = filed_as(&folder.to_string_lossy());
                position(&|path| filed_as(&path.to_string_lossy()) == folder)
            }
            None => usize::MAX,
        },
        Agent::Codex => match began_in(&log.path) {
            Some(folder) => position(&|path| path == folder),
            None => usize::MAX,
        },
        Agent::Gemini => {
            let Some(project) = log.path.ancestors().nth(2) else { return usize::MAX };
            // Newer versions write the folder to a file; older ones name their folder after its
            // digest.
            if let Ok(root) = files::read_text(project.join(".project_root")) {
                return position(&|path| path == Path::new(root.trim()));
            }
            let name = project.file_name().unwrap_or_default();
            position(&|path| {
                *name == *Digest::of_bytes(path.to_string_lossy().as_bytes()).to_string()
            })
        }
    }
}

/// Returns the name of the folder in which Claude Code stores a project's sessions.
fn filed_as(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Returns the folder in which a Codex rollout began.
fn began_in(path: &Path) -> Option<PathBuf> {
    let first = first_line(path)?;
    let folder = first.pointer("/payload/cwd").or_else(|| first.get("cwd"))?.as_str()?;
    Some(PathBuf::from(folder))
}

/// Returns the parent session of a Codex rollout that belongs to a sub-agent.
fn parent_of(path: &Path) -> Option<String> {
    let first = first_line(path)?;
    let text = |name: &str| first.pointer(name).and_then(Value::as_str);
    let (session, own) = (text("/payload/session_id")?, text("/payload/id")?);
    (session != own).then(|| session.to_owned())
}

/// Returns the first line of a log; `None` if it is not JSON.
fn first_line(path: &Path) -> Option<Value> {
    let mut line = String::new();
    BufReader::new(File::open(path).ok()?.take(LONGEST_LINE)).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

impl LogFile {
    /// Returns the logs of this session's sub-agents, sorted by path.
    pub(crate) fn of_sub_agents(&self) -> Vec<PathBuf> {
        let Some(folder) = self.path.parent() else { return Vec::new() };
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let own = |name: &str| first_line(&self.path)?.pointer(name)?.as_str().map(str::to_owned);
        let (folder, session) = match self.agent {
            Agent::ClaudeCode => (folder.join(&*stem).join("subagents"), None),
            Agent::Gemini => match own("/sessionId") {
                Some(id) => (folder.join(id), None),
                None => return Vec::new(),
            },
            Agent::Codex => match own("/payload/id") {
                Some(id) => (folder.to_owned(), Some(id)),
                None => return Vec::new(),
            },
        };
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let mut logs: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension() == Some(OsStr::new("jsonl")))
            .filter(|path| session.is_none() || parent_of(path) == session)
            .collect();
        logs.sort();
        logs
    }
}
