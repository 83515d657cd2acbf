//! Lines that only set variables: `echo 'export NODE_ENV=test' >> ~/.bashrc`.

use counterfoil_shell::{Command, Direction, Redirect, Target, Word};

/// Prefixes of variables that control what programs run or load, or which server an agent talks to.
const DECIDE: [&str; 24] = [
    "PATH",
    "LD_",
    "DYLD_",
    "BASH_",
    "ENV",
    "PROMPT_COMMAND",
    "PS",
    "IFS",
    "SHELL",
    "HOME",
    "ZDOTDIR",
    "PYTHON",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL",
    "RUBY",
    "GIT_",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "CLAUDE",
    "CODEX",
    "COUNTERFOIL",
    "GEMINI",
];
/// Suffixes of such variables.
const DECIDE_BY_END: [&str; 5] = ["_PATH", "_PROXY", "_BASE_URL", "_COMMAND", "_EDITOR"];
/// The directives that `direnv` offers besides code.
const DIRENV: [&str; 5] = ["use ", "layout ", "dotenv", "dotenv_if_exists", "source_up"];

/// Whether a command writes only lines that set variables: appended to a file, or as the whole of
/// an `.envrc`, which runs only after its user allows it.
pub(super) fn only_sets(command: &Command, redirect: &Redirect) -> bool {
    let Target::File(file) = &redirect.target else { return false };
    let direnv = file.text == ".envrc" || file.text.ends_with("/.envrc");
    let fits = redirect.direction == Direction::Append || direnv;
    if command.program() != Some("echo") || !fits {
        return false;
    }
    let texts: Option<Vec<&str>> = command.args.iter().map(Word::literal).collect();
    let Some(text) = texts.map(|texts| texts.join(" ")) else { return false };
    !text.is_empty() && text.lines().all(|line| sets(line.trim(), direnv))
}

fn sets(line: &str, direnv: bool) -> bool {
    if direnv && DIRENV.iter().any(|word| line.starts_with(word)) {
        return line.chars().all(|c| c.is_ascii_alphanumeric() || " _-./".contains(c));
    }
    let line = line.strip_prefix("export ").unwrap_or(line);
    let Some((name, value)) = line.split_once('=') else { return false };
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let decides = DECIDE.iter().any(|start| name.starts_with(start))
        || DECIDE_BY_END.iter().any(|end| name.ends_with(end));
    // The value contains nothing that a shell would run or expand.
    let inert = !value.contains(|c: char| c.is_whitespace() || "$`;|&()<>\\'\"".contains(c));
    plain && !decides && inert
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_sets_variables() {
        for (line, direnv, expected) in [
            ("export FOO=1", false, true),
            ("NODE_ENV=test", false, true),
            ("use flake", true, true),
            ("use flake", false, false),
            ("export PATH=/tmp/x", false, false),
            ("export LD_PRELOAD=/tmp/x.so", false, false),
            ("export ANTHROPIC_BASE_URL=http://x", false, false),
            ("export FOO=$(evil)", false, false),
            ("export FOO=1; evil", false, false),
            ("alias counterfoil=true", false, false),
            ("evil", true, false),
            ("use flake; evil", true, false),
        ] {
            assert_eq!(sets(line, direnv), expected, "{line}");
        }
    }
}
