//! Code on the command line: scripts of interpreters, `awk`, `sed` and editors, which write the
//! files that they name.

use counterfoil_shell::{Command, Target as Redirected, Word, WordKind};

use super::arguments::Arguments;
use super::target::{Add, Change};

/// Programs that run code from their arguments or their input.
const INTERPRETERS: [&str; 22] = [
    "python",
    "pypy",
    "ipython",
    "node",
    "nodejs",
    "deno",
    "bun",
    "tsx",
    "ruby",
    "irb",
    "perl",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "osascript",
    "pwsh",
    "powershell",
    "Rscript",
    "julia",
    "elixir",
    "groovy",
];

/// Calls in code that change a file or run a command, in lower case. Any path near such a call
/// counts as changed.
const CHANGES: [&str; 49] = [
    "write",
    "unlink",
    "remove",
    "rename",
    "replace(",
    "rmtree",
    "rmdir",
    "rmsync",
    "rm_rf",
    "rm_r(",
    "rm(",
    "delete",
    "truncate",
    "copy",
    "cp(",
    "cp_r",
    "move",
    "mv(",
    "mv ",
    "symlink",
    "link(",
    "chmod",
    "chown",
    "touch",
    "mkdir",
    "put_contents",
    "appendfile",
    "outputstream",
    "to_csv",
    "to_json",
    "extractall",
    "unpack",
    "system",
    "exec",
    "spawn",
    "popen",
    "subprocess",
    "run(",
    "`",
    "%x",
    "qx",
    "set-content",
    "add-content",
    "out-file",
    "remove-item",
    "move-item",
    "o_wronly",
    "flock",
    "lockf",
];

/// File modes that open a file for writing.
const MODES: [&str; 24] = [
    "'w", "\"w", "'a'", "\"a\"", "'a+", "\"a+", "'ab", "\"ab", "'x'", "\"x\"", "'xb", "\"xb",
    "'r+", "\"r+", "'rb+", "\"rb+", "'>", "\">", "'+<", "\"+<", "'+>", "\"+>", "o_trunc", "o_rdwr",
];

/// Ways in which code names the home folder.
const HOME: [&str; 7] =
    ["home(", "homedir", "expanduser", "env.home", "{home}", "'home'", "\"home\""];

pub(super) fn targets(command: &Command, add: &mut Add<'_>) {
    let Some(program) = command.program() else { return };
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let mut named = |path: &str, change: Change| {
        let kind = if path.contains('*') { WordKind::Pattern } else { WordKind::Literal };
        add(Word { text: path.to_owned(), kind }, change);
    };
    match plain {
        "awk" | "gawk" | "mawk" | "nawk" => {
            let arguments = Arguments::new(&command.args, &["-F", "-v", "-f", "-i"]);
            let code = arguments.operands.first().map(|word| word.text.as_str());
            let code = code
                .filter(|code| code.contains('>') || code.contains("system") || code.contains('|'));
            pieces(code.unwrap_or_default()).for_each(|path| named(path, Change::Replaces));
        }
        "sed" | "gsed" => {
            let arguments =
                Arguments::new(&command.args, &["-e", "--expression", "-f", "--file", "-l"]);
            let scripts = arguments.values(&["-e", "--expression"]);
            let first = arguments.operands.first().filter(|_| scripts.is_empty());
            for script in scripts.iter().chain(first.copied()) {
                written_by_sed(&script.text).for_each(|path| named(path, Change::Writes));
            }
        }
        "ed" | "red" | "ex" | "vi" | "vim" | "nvim" | "gvim" | "emacs" => {
            let input = inputs(command);
            let words = command.args.iter().map(|word| word.text.as_str()).chain(input);
            for text in words {
                written_by_editor(text).for_each(|path| named(path, Change::Writes));
            }
        }
        name if INTERPRETERS.contains(&name) => {
            let code =
                command.args.iter().map(|word| word.text.as_str()).filter(|text| is_code(text));
            for code in code.chain(inputs(command)) {
                written_by_code(code, &mut named);
            }
        }
        _ => {}
    }
}

/// The command's here-documents and here-strings.
fn inputs(command: &Command) -> impl Iterator<Item = &str> {
    command.redirects.iter().filter_map(|redirect| match &redirect.target {
        Redirected::Text(word) => Some(word.text.as_str()),
        _ => None,
    })
}

fn is_code(text: &str) -> bool {
    text.contains(['(', ' ', '\n', ';', '`'])
}

/// The words of a piece of code, without quotes and brackets.
fn pieces(code: &str) -> impl Iterator<Item = &str> {
    let between = |c: char| c.is_whitespace() || "\"'`=,;|&<>(){}[]+".contains(c);
    code.split(between).filter(|piece| piece.len() > 1)
}

fn written_by_code(code: &str, named: &mut dyn FnMut(&str, Change)) {
    let lower = code.to_ascii_lowercase();
    let changes = |statement: &str| {
        let statement = statement.to_ascii_lowercase();
        let opens = statement.contains("open") && MODES.iter().any(|mode| statement.contains(mode));
        opens || CHANGES.iter().any(|call| statement.contains(call))
    };
    let at_home = HOME.iter().any(|name| lower.contains(name));
    let is_path =
        |piece: &&str| piece.contains('/') || piece.starts_with(['.', '~']) && piece.len() > 2;
    let statements = || code.split([';', '\n']);
    // A statement that changes a file without naming one uses a variable, so every file in the code
    // counts.
    let all = statements().filter(|s| changes(s)).any(|s| !literals(s).any(names_a_file));
    for statement in statements().filter(|statement| all || changes(statement)) {
        for piece in pieces(statement) {
            named(piece, Change::Replaces);
            if at_home && is_path(&piece) {
                named(
                    &format!("~/{}", piece.trim_start_matches("~/").trim_start_matches('/')),
                    Change::Replaces,
                );
            }
        }
    }
}

/// The quoted strings in a piece of code.
fn literals(code: &str) -> impl Iterator<Item = &str> {
    code.split(['"', '\'', '`']).skip(1).step_by(2)
}

fn names_a_file(text: &str) -> bool {
    text.contains(['/', '.']) && text.len() > 2
}

/// The file after a `w`: `w FILE`, `s/a/b/w FILE`.
fn written_by_sed(script: &str) -> impl Iterator<Item = &str> {
    after(script, |word| word.ends_with(['w', 'W']))
}

/// The file after a command that writes: `:w FILE`, `w! FILE`, `saveas FILE`.
fn written_by_editor(text: &str) -> impl Iterator<Item = &str> {
    const COMMANDS: [&str; 7] = ["w", "wq", "wr", "write", "sav", "saveas", "up"];
    after(text, |word| {
        let word = word.trim_end_matches('!').trim_start_matches([':', '%', ',', '$']);
        COMMANDS.contains(&word)
            || COMMANDS.iter().any(|known| word.ends_with(&format!("|{known}")))
    })
}

fn after<'t>(text: &'t str, writes: impl Fn(&str) -> bool + 't) -> impl Iterator<Item = &'t str> {
    let words = text.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty());
    let mut before = false;
    words
        .filter(move |word| std::mem::replace(&mut before, writes(word)) && !word.starts_with(">>"))
}
