use counterfoil_shell::{Command, Direction, Script, Target, WordKind};

/// Whether every part of the command line is one of these commands and writes nothing. Each command
/// is given as a program and its first words.
pub(crate) fn only_reads(command: &str, known: &[Vec<String>]) -> bool {
    Script::parse(command).is_ok_and(|script| {
        !script.commands().is_empty()
            && script.unread().is_empty()
            && script.functions().is_empty()
            && script.writes().is_empty()
            && script.commands().iter().all(|command| reads(command, known))
    })
}

fn reads(command: &Command, known: &[Vec<String>]) -> bool {
    // A program that is named by a path could be any program.
    let Some(name) = command.name.as_ref().and_then(|name| name.literal()) else { return false };
    let args: Vec<&str> = command.args.iter().map(|word| word.text.as_str()).collect();
    command.assignments.is_empty()
        && command.args.iter().all(|word| word.kind != WordKind::Dynamic)
        && command.redirects.iter().all(|redirect| match &redirect.target {
            Target::File(word) => {
                redirect.direction == Direction::Read || word.literal() == Some("/dev/null")
            }
            Target::Fd(_) | Target::Closed | Target::Text(_) => true,
            Target::Process => false,
        })
        && known.iter().any(|words| {
            words.split_first().is_some_and(|(program, first)| {
                program == name
                    && first.iter().zip(&args).filter(|(a, b)| a == *b).count() == first.len()
            })
        })
        && !args.iter().any(|arg| does_more(name, arg))
        // `uniq in out`, `uniq - out`, `uniq -- in -out`; `date 010203042025`
        && match name {
            "uniq" => operands(&args, &["-f", "-s", "-w", "--skip-fields", "--skip-chars", "--check-chars"]).len() < 2,
            "date" => operands(&args, &["-d", "--date", "-r", "--reference", "-f", "--file"])
                .iter()
                .all(|word| word.starts_with('+')),
            _ => true,
        }
}

/// The words that are neither options nor values of options.
fn operands<'a>(args: &[&'a str], valued: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if *arg == "--" {
            found.extend(args.copied());
            break;
        }
        if valued.contains(arg) {
            args.next();
        } else if !arg.starts_with('-') || *arg == "-" {
            found.push(*arg);
        }
    }
    found
}

/// Whether an option makes a read-only program write, set or run something. Covers abbreviated long
/// options and clusters of letters.
fn does_more(program: &str, arg: &str) -> bool {
    let starts = |options: &[&str]| options.iter().any(|option| arg.starts_with(option));
    // A long option may be abbreviated: `--comp` is `--compile`.
    let long = |options: &[&str]| {
        let name = arg.split('=').next().unwrap_or(arg);
        name.len() > 3 && options.iter().any(|option| option.starts_with(name))
    };
    match program {
        "find" => starts(&["-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from"]),
        "sort" => starts(&["-T", "--o", "--te", "--co", "--files0"]) || cluster(arg, 'o'),
        "rg" => {
            starts(&["--pre", "--hostname-bin"]) || long(&["--search-zip"]) || cluster(arg, 'z')
        }
        "git" => starts(&["-O"]) || long(&["--output", "--ext-diff", "--textconv", "--exec-path"]),
        "tree" => long(&["--output"]) || cluster(arg, 'o') || cluster(arg, 'R'),
        "date" => starts(&["--s"]) || cluster(arg, 's'),
        "file" => {
            long(&["--compile", "--uncompress", "--uncompress-noreport"])
                || ['C', 'z', 'Z'].into_iter().any(|letter| cluster(arg, letter))
        }
        "less" | "more" | "man" => true,
        _ => false,
    }
}

fn cluster(arg: &str, letter: char) -> bool {
    arg.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains(letter))
}
