use countersign_shell::{Command, Direction, Script, Target, WordKind};

/// Whether every part of the command line is one of these commands and writes nothing. Each
/// command is a program and its first words.
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
    // A program named by its path may be any program.
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
        // `uniq in out`
        && (name != "uniq" || args.iter().filter(|arg| !arg.starts_with('-')).count() < 2)
}

/// Options by which a program that reads writes or runs something.
fn does_more(program: &str, arg: &str) -> bool {
    let starts = |options: &[&str]| options.iter().any(|option| arg.starts_with(option));
    match program {
        "find" => starts(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        "sort" => starts(&["-o", "--o", "--compress", "-T", "--temp"]) || cluster(arg, 'o'),
        "rg" => starts(&["--pre", "--hostname-bin"]),
        "git" => starts(&["--output", "--ext-diff", "--textconv", "-O"]),
        "tree" => starts(&["-o", "--output"]) || cluster(arg, 'o'),
        "date" => starts(&["-s", "--s"]),
        "file" => starts(&["-C", "--compile"]),
        _ => false,
    }
}

fn cluster(arg: &str, letter: char) -> bool {
    arg.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains(letter))
}
