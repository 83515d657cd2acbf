//! Built-ins and variables that turn a command into another one.

use counterfoil_shell::{Command, Direction, Script, Stream, Target, Word};

use super::refusal::Refusal;
use super::text::{quoted, shown};
use super::{Blocklist, Substitution};

/// Commands that this analysis interprets, so no function may redefine them.
pub(super) const INTERPRETED: &[&str] = &[
    "cd", "pushd", "popd", "set", "rm", "find", "xargs", "dd", "tee", "source", ".", "command",
    "builtin", "exec", "env", "export", "unset", "return", "exit",
];

/// Variables that make a program run or load something else.
const VARIABLES: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS0",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "LD_PRELOAD",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
];

pub(super) fn blocked(command: &Command, list: &Blocklist) -> Option<Refusal> {
    let why = variables(command).or_else(|| late_scripts(command));
    why.or_else(|| by_name(command, list)).map(Refusal::unread)
}

/// Tools whose output is meant to be evaluated: `eval "$(ssh-agent -s)"`.
const SET_UP: &[&str] = &[
    "ssh-agent",
    "gpg-agent",
    "brew",
    "direnv",
    "pyenv",
    "rbenv",
    "nodenv",
    "goenv",
    "jenv",
    "fnm",
    "mise",
    "asdf",
    "conda",
    "mamba",
    "micromamba",
    "opam",
    "zoxide",
    "starship",
    "dircolors",
    "luarocks",
    "minikube",
    "docker-machine",
    "register-python-argcomplete",
];

/// Whether the command evaluates only the output of such a tool.
pub(super) fn sets_up_a_tool(command: &Command) -> bool {
    let ("eval", [only]) = (command.program().unwrap_or_default(), command.args.as_slice()) else {
        return false;
    };
    let inner = only.text.strip_prefix("$(").and_then(|text| text.strip_suffix(')'));
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_./=".contains(c);
    inner.is_some_and(|inner| {
        let program = inner.split_whitespace().next().unwrap_or_default();
        inner.chars().all(plain) && SET_UP.contains(&program.rsplit('/').next().unwrap_or_default())
    })
}

/// The script of a `trap`, whose variables all have values that this script sets:
/// `trap "rm -rf $tmp" EXIT`.
pub(super) fn clean_up(command: &Command, script: &Script) -> Option<String> {
    let ("trap", [action, ..]) = (command.program().unwrap_or_default(), command.args.as_slice())
    else {
        return None;
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut whole = String::new();
    for after in action.text.split('$').skip(1) {
        let after = after.strip_prefix('{').unwrap_or(after);
        let name = after.split(|c| !is_name(c)).next().unwrap_or_default();
        let mut assigned = script.commands().iter().flat_map(|command| &command.assignments);
        let made = assigned.find(|made| made.name == name && !made.append)?;
        let value = match made.value.literal() {
            Some(text) => quoted(text),
            None if made.value.text.replace("$(mktemp", "").contains(['(', '`']) => return None,
            None => made.value.text.clone(),
        };
        whole.push_str(&format!("{name}={value}; "));
    }
    // The values are inserted when the script runs, whatever the quotes around them.
    whole.push_str(&action.text.replace('\'', ""));
    let hides = action.text.contains(['`', '\\']) || action.text.contains("$(");
    (!hides).then_some(whole)
}

fn by_name(command: &Command, list: &Blocklist) -> Option<String> {
    let name = command.name.as_ref()?.literal()?;
    let args = command.args.as_slice();
    let flag = |letter: char| args.iter().any(|word| has_flag(&word.text, letter));
    let analysed = list.substitution == Substitution::Analyse;
    // What the shell reads from then on may be a script.
    let diverts = command.redirects.iter().any(|redirect| match &redirect.target {
        Target::Fd(_) | Target::Closed => redirect.direction != Direction::Duplicate,
        // `exec 3<file` does not change where the script is read from; connections have a rule of
        // their own.
        Target::File(word)
            if redirect.stream > Stream::Fd(2)
                && (redirect.direction == Direction::Read
                    || word.text.starts_with("/dev/tcp/")) =>
        {
            false
        }
        Target::File(word) => {
            let writes = matches!(redirect.direction, Direction::Write | Direction::Append);
            !writes || !word.literal().is_some_and(|path| is_inside(path) || path == "/dev/null")
        }
        Target::Text(_) | Target::Process => true,
    });
    let dangerous = match name {
        // Their scripts are judged like all others.
        "eval" | "trap" => !analysed,
        "exec" => args.is_empty() && !command.redirects.is_empty() && (diverts || !analysed),
        "enable" | "alias" => !args.is_empty(),
        "mapfile" | "readarray" | "complete" => flag('C') || flag('F'),
        // `compgen -W` expands its words like a shell.
        "compgen" => ['C', 'F', 'W'].into_iter().any(flag),
        // A name reference, or a name known only at run time, may be any variable.
        "declare" | "typeset" | "local" => {
            flag('n')
                || args.iter().any(|word| word.literal().is_none() && word.text.starts_with('$'))
        }
        "export" | "readonly" | "read" | "unset" => {
            args.iter().any(|word| word.literal().is_none() && word.text.starts_with('$'))
        }
        "bind" => flag('x'),
        "hash" => flag('p'),
        "shopt" => args.iter().any(|word| word.text == "expand_aliases"),
        "source" | "." => return source(args, list),
        _ => false,
    };
    let what =
        if name == "exec" { "`exec` with redirects only".to_owned() } else { format!("`{name}`") };
    dangerous.then(|| format!("{what} is refused: it changes what later commands do"))
}

fn source(args: &[Word], list: &Blocklist) -> Option<String> {
    let file = args.iter().find(|word| word.text != "--")?;
    let text = file.text.as_str();
    let known = ["$HOME/", "${HOME}/", "~/"].into_iter().find_map(|home| text.strip_prefix(home));
    let path = match (known, file.literal()) {
        (Some(rest), _) if !rest.contains('$') => format!("/home/{rest}"),
        (_, Some(fixed)) => fixed.to_owned(),
        _ => {
            return Some(format!(
                "`source {}` is refused: the file is only known at run time",
                shown(text)
            ));
        }
    };
    // A script or settings file of the project is treated like any other script that it runs.
    let named = [".sh", ".bash", ".env"].iter().any(|ending| path.ends_with(ending))
        || path.rsplit('/').next().is_some_and(|name| name.starts_with(".env"));
    let own = list.substitution == Substitution::Analyse && named && is_inside(&path);
    let known = own || list.sources.is_match(path.trim_start_matches("./"));
    (!known).then(|| {
        format!(
            "`source {}` is refused: the file does not match `tools.blocklist.sources`",
            shown(text)
        )
    })
}

/// Whether a path stays inside the project.
fn is_inside(path: &str) -> bool {
    !path.starts_with(['/', '~']) && !path.split('/').any(|part| part == "..")
}

fn variables(command: &Command) -> Option<String> {
    let assigned = command.assignments.iter().map(|assignment| assignment.name.as_str());
    let takes = matches!(
        command.program(),
        Some(
            "export"
                | "declare"
                | "typeset"
                | "local"
                | "readonly"
                | "env"
                | "printf"
                | "read"
                | "mapfile"
                | "readarray"
                | "getopts"
        )
    );
    let args = command.args.iter().filter(|_| takes).map(|word| word.text.as_str());
    let named = args.map(|text| text.split(['=', '+']).next().unwrap_or_default());
    assigned
        .chain(named)
        .find(|name| VARIABLES.contains(name) || name.starts_with("BASH_FUNC_"))
        .map(|name| format!("the variable `{}` makes programs run other code", shown(name)))
}

/// Text that the shell evaluates as a script only at run time: `x='a[$(…)]'; echo $((x))`.
fn late_scripts(command: &Command) -> Option<String> {
    // `x=$'a[\\x24(cmd)]'; echo $((x))`: escapes hide the script.
    let hides = |word: &Word| {
        let text = word.text.as_str();
        let shows = text.contains("$(") || text.contains('`');
        let escaped = text.contains('[') && text.contains('\\') && text.contains('(');
        word.literal().is_some() && shows || word.literal().is_none() && escaped
    };
    let evaluates = matches!(
        command.program(),
        Some(
            "let"
                | "test"
                | "["
                | "[["
                | "unset"
                | "declare"
                | "typeset"
                | "local"
                | "export"
                | "readonly"
                | "read"
        )
    );
    let stored = command.assignments.iter().any(|assignment| hides(&assignment.value));
    let evaluated = match (command.program(), command.args.as_slice()) {
        // What `printf` prints is not a script; what it stores may be one.
        (Some("printf"), [option, rest @ ..]) => {
            option.text.starts_with("-v") && rest.iter().any(hides)
        }
        (Some("read" | "mapfile" | "readarray"), _) => {
            command.redirects.iter().any(|redirect| match &redirect.target {
                Target::Text(word) => hides(word),
                _ => false,
            }) || command.args.iter().any(hides)
        }
        _ => evaluates && command.args.iter().any(hides),
    };
    let prompts = |word: &Word| word.literal().is_none() && word.text.contains("@P}");
    let expanded =
        command.args.iter().chain(command.assignments.iter().map(|a| &a.value)).any(prompts)
            || command.redirects.iter().any(|redirect| match &redirect.target {
                Target::File(word) | Target::Text(word) => prompts(word),
                Target::Fd(_) | Target::Closed | Target::Process => false,
            });
    (stored || evaluated || expanded)
        .then(|| "a script is hidden in text that is evaluated later".to_owned())
}

fn has_flag(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains(letter))
}
