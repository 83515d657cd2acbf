//! Built-ins and variables by which a command becomes another one.

use countersign_shell::{Command, Target, Word};

use super::{Blocklist, shown};

/// Commands that this analysis follows, and that no function may therefore replace.
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

pub(super) fn blocked(command: &Command, list: &Blocklist) -> Option<String> {
    variables(command).or_else(|| late_scripts(command)).or_else(|| by_name(command, list))
}

fn by_name(command: &Command, list: &Blocklist) -> Option<String> {
    let name = command.name.as_ref()?.literal()?;
    let args = command.args.as_slice();
    let flag = |letter: char| args.iter().any(|word| has_flag(&word.text, letter));
    let dangerous = match name {
        "eval" | "trap" => true,
        "exec" => args.is_empty() && !command.redirects.is_empty(),
        "enable" | "alias" => !args.is_empty(),
        "mapfile" | "readarray" | "complete" | "compgen" => flag('C') || flag('F'),
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
        _ => return Some(format!("`source {}` is refused: the file is not known", shown(text))),
    };
    let known = list.sources.is_match(path.trim_start_matches("./"));
    (!known).then(|| format!("`source {}` is refused: the file is not a known one", shown(text)))
}

fn variables(command: &Command) -> Option<String> {
    let assigned = command.assignments.iter().map(|assignment| assignment.name.as_str());
    let takes = matches!(
        command.program(),
        Some("export" | "declare" | "typeset" | "local" | "readonly" | "env" | "printf" | "read")
    );
    let args = command.args.iter().filter(|_| takes).map(|word| word.text.as_str());
    let named = args.map(|text| text.split(['=', '+']).next().unwrap_or_default());
    assigned
        .chain(named)
        .find(|name| VARIABLES.contains(name) || name.starts_with("BASH_FUNC_"))
        .map(|name| format!("the variable `{}` makes programs run something else", shown(name)))
}

/// Text that the shell reads as a script only when it runs: `x='a[$(…)]'; echo $((x))`.
fn late_scripts(command: &Command) -> Option<String> {
    let hides =
        |word: &Word| word.literal().is_some_and(|text| text.contains("$(") || text.contains('`'));
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
        // What `printf` prints is no script; the name after `-v` is one.
        (Some("printf"), [option, name, ..]) => option.text == "-v" && hides(name),
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
        .then(|| "a script is hidden in a text that is evaluated later".to_owned())
}

fn has_flag(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains(letter))
}
