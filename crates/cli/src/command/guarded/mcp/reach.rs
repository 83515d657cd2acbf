use std::path::Path;
use std::time::Duration;

use clap::Args;
use counterfoil_serve::{Program, Remote, Server};

use crate::exit::Complaint;
use crate::servers::filled;

/// The maximum time until a server over HTTP begins its answer.
pub(super) const REPLY: Duration = Duration::from_secs(300);

/// A server, and how to reach it.
#[derive(Debug, Clone, Args)]
pub(super) struct Reach {
    /// The server's command, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// The server's URL, if it is reached over HTTP
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(super) url: Option<String>,
    /// A header to send with each HTTP request, as `NAME: VALUE`; `${VARIABLE}` inserts an
    /// environment variable
    #[arg(long, value_name = "HEADER", requires = "url")]
    header: Vec<String>,
    /// The server's name in records [default: its package, program or host]
    #[arg(long)]
    name: Option<String>,
}

impl Reach {
    /// The server's name.
    pub(super) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.own_name())
    }

    /// The server's default name.
    pub(super) fn own_name(&self) -> String {
        match &self.url {
            Some(url) => host_of(url),
            None => name_of(&self.command),
        }
    }

    /// What identifies the server: its command, or its URL.
    pub(super) fn words(&self) -> Vec<String> {
        match &self.url {
            Some(url) => vec![url.clone()],
            None => self.command.clone(),
        }
    }

    /// Whether a server is named on the command line.
    pub(super) fn is_named(&self) -> bool {
        self.url.is_some() || !self.command.is_empty()
    }

    pub(super) fn server(&self) -> anyhow::Result<Server> {
        let Some(url) = &self.url else {
            if self.command.is_empty() {
                return Err(Complaint::new("no server specified")
                    .help(
                        "put the server's command after `--`, pass its address with `--url`, or \
                         add servers to the configuration (`[mcp.servers.NAME]`)",
                    )
                    .into());
            }
            let words = self.command.clone();
            return Ok(Server::Command(Program { words, ..Program::default() }));
        };
        let mut headers = Vec::new();
        for header in &self.header {
            let (name, value) = header.split_once(':').ok_or_else(|| {
                Complaint::new(format!("`{header}` is not a header")).help(
                    "write it as `NAME: VALUE`; `${VARIABLE}` inserts an environment variable",
                )
            })?;
            headers.push((name.trim().to_owned(), filled(value.trim())?));
        }
        let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Ok(Server::Remote(Remote::new(url, headers, REPLY)?))
    }
}

/// The name of a server over HTTP: its host.
fn host_of(url: &str) -> String {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    host.split(['/', ':', '?']).next().unwrap_or_default().to_owned()
}

/// The name of a command: the package that a runner starts, or else the program.
fn name_of(command: &[String]) -> String {
    const RUNNERS: [&str; 9] =
        ["npx", "bunx", "uvx", "node", "bun", "deno", "python", "python3", "pipx"];
    let stem = |word: &str| {
        let stem = Path::new(word).file_stem();
        stem.map_or_else(|| word.to_owned(), |stem| stem.to_string_lossy().into_owned())
    };
    let Some((program, words)) = command.split_first() else { return String::new() };
    let program = stem(program);
    let mut named = words.iter().filter(|word| !word.starts_with('-') && *word != "run");
    match named.next().filter(|_| RUNNERS.contains(&program.as_str())) {
        Some(package) => {
            let package = package.rsplit('/').next().unwrap_or(package);
            // A version may follow the name.
            let end = package.find('@').filter(|at| *at > 0).unwrap_or(package.len());
            let package = package.get(..end).unwrap_or(package);
            let ending = [".js", ".mjs", ".py", ".ts"].iter().find_map(|e| package.strip_suffix(e));
            ending.unwrap_or(package).to_owned()
        }
        None => program,
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn servers_have_names() {
        for (command, name) in [
            ("npx -y @modelcontextprotocol/server-filesystem@1.2 .", "server-filesystem"),
            ("uvx mcp-server-git --repository .", "mcp-server-git"),
            ("/usr/bin/python3 -m mcp_server_time", "mcp_server_time"),
            ("node build/index.js", "index"),
            ("/opt/github-mcp-server stdio", "github-mcp-server"),
            ("npx", "npx"),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(name_of(&words), name, "{command}");
        }
    }
}
