use std::collections::BTreeMap;
use std::sync::Arc;

use counterfoil_sandbox::Globs;
use globset::GlobBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::Place;
use super::{Blocklist, CommandArgument, Substitution, Unread};

/// `[tools.blocklist]`: what is blocked beyond the floor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlocklistOptions {
    /// Additional blocked commands: a program (`terraform`), or a program with the words that must
    /// follow it (`git push`). `*` matches any characters of the program's name.
    pub blocked_commands: Vec<String>,
    /// Whether command and process substitutions are refused (`refuse`) or analysed (`analyse`).
    /// With `auto`, hooks analyse them, and everything else refuses them.
    pub substitution: Substitution,
    /// Whether `curl`, `wget` and the like may run. The sandbox still limits what they can reach.
    pub allow_network: bool,
    /// Files that the shell's `source` may read, as globs; `**` matches any number of folders.
    pub sources: Vec<String>,
    /// Tools that take shell commands, by name, each with the JSON Pointers to the command and, if
    /// there is one, to the working directory. `shell` and `bash` are always included.
    pub tools: BTreeMap<String, CommandArgument>,
    /// Commands that control Counterfoil itself, in the form of `blocked_commands`. Not
    /// configurable: hooks set them.
    #[serde(skip)]
    pub reserved_commands: Vec<String>,
    /// What happens to a command that cannot be analysed. Not configurable: only a guard that runs
    /// no commands itself may ask.
    #[serde(skip)]
    pub unread: Unread,
    /// Whether a person is asked about irreversible commands. Not configurable, for the same
    /// reason.
    #[serde(skip)]
    pub asks_irreversible: bool,
}

impl Default for BlocklistOptions {
    fn default() -> Self {
        let sources = [
            "**/bin/activate",
            "**/.cargo/env",
            "**/.nvm/nvm.sh",
            "**/.bashrc",
            "**/.bash_profile",
            "**/.profile",
            "**/.zshrc",
            "**/etc/profile",
            "**/etc/profile.d/conda.sh",
            "**/setup.bash",
        ];
        Self {
            blocked_commands: Vec::new(),
            reserved_commands: Vec::new(),
            substitution: Substitution::Auto,
            allow_network: false,
            sources: sources.map(str::to_owned).to_vec(),
            tools: BTreeMap::new(),
            unread: Unread::Deny,
            asks_irreversible: false,
        }
    }
}

/// Why the blocklist options are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlocklistOptionsError {
    /// An entry blocks nothing.
    #[error("blocked_commands[{index}] is empty")]
    EmptyCommand {
        /// Its index in the list.
        index: usize,
    },
    /// A glob in `sources` is invalid.
    #[error("sources[{index}]: `{glob}` is not a valid pattern: {reason}")]
    Source {
        /// Its index in the list.
        index: usize,
        /// The glob.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A pointer in `tools` is invalid.
    #[error("tools.{tool}: `{pointer}` is not a JSON Pointer")]
    Pointer {
        /// The tool.
        tool: String,
        /// The pointer.
        pointer: String,
    },
}

impl BlocklistOptions {
    /// The checked blocklist.
    ///
    /// # Errors
    /// When a command is empty, or a pattern or pointer is invalid.
    pub fn resolve(self) -> Result<Blocklist, BlocklistOptionsError> {
        let mut blocked = Vec::with_capacity(self.blocked_commands.len());
        for (index, command) in self.blocked_commands.iter().enumerate() {
            let words = words_of(command);
            if words.is_empty() {
                return Err(BlocklistOptionsError::EmptyCommand { index });
            }
            blocked.push(words);
        }
        let mut tools = BTreeMap::new();
        // The last is a tool of OpenAI's Responses API.
        for (name, cwd) in
            [("shell", "/cwd"), ("bash", "/cwd"), ("local_shell", "/working_directory")]
        {
            let usual =
                CommandArgument { command: "/command".to_owned(), cwd: Some(cwd.to_owned()) };
            tools.insert(name.to_owned(), usual);
        }
        for (tool, argument) in self.tools {
            let mut pointers = std::iter::once(&argument.command).chain(&argument.cwd);
            if let Some(pointer) = pointers.find(|pointer| !pointer.starts_with('/')) {
                let pointer = pointer.clone();
                return Err(BlocklistOptionsError::Pointer { tool, pointer });
            }
            tools.insert(tool, argument);
        }
        Ok(Blocklist {
            blocked: blocked.into(),
            reserved: self.reserved_commands.iter().map(|command| words_of(command)).collect(),
            sources: sources(&self.sources)?,
            substitution: match self.substitution {
                Substitution::Auto => Substitution::Refuse,
                decided => decided,
            },
            network: self.allow_network,
            tools: tools.into(),
            unread: self.unread,
            asks_irreversible: self.asks_irreversible,
            place: Place::default(),
            allowed: Arc::default(),
            layers: 0,
        })
    }
}

fn words_of(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_lowercase).collect()
}

impl Default for Blocklist {
    /// The floor: nothing added, substitutions refused, no network.
    fn default() -> Self {
        let fallback = Self {
            blocked: Arc::default(),
            reserved: Arc::default(),
            sources: Globs::default(),
            substitution: Substitution::Refuse,
            network: false,
            tools: Arc::default(),
            unread: Unread::Deny,
            asks_irreversible: false,
            place: Place::default(),
            allowed: Arc::default(),
            layers: 0,
        };
        BlocklistOptions::default().resolve().unwrap_or(fallback)
    }
}

fn sources(globs: &[String]) -> Result<Globs, BlocklistOptionsError> {
    let mut read = Vec::with_capacity(globs.len());
    let wrong = |index: usize, glob: &str, error: &globset::Error| BlocklistOptionsError::Source {
        index,
        glob: glob.to_owned(),
        reason: error.kind().to_string(),
    };
    for (index, glob) in globs.iter().enumerate() {
        let built = GlobBuilder::new(glob).literal_separator(true).build();
        read.push(built.map_err(|error| wrong(index, glob, &error))?);
    }
    Globs::new(read).map_err(|error| wrong(0, "", &error))
}
