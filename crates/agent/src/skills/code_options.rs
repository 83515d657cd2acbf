//! Programs that run other programs, or code that they are given. A value from a model must not
//! become either.

use super::placeholder::Template;

/// Programs whose arguments are another command.
const CARRIERS: &str = "busybox chroot command doas env eval exec nice nohup nsenter parallel \
                        script setsid ssh stdbuf su sudo time timeout toybox unshare watch wsl \
                        xargs";

/// Programs that run code: a script, or an argument.
const INTERPRETERS: &str = "ash awk bash bun cmd csh dash deno fish gawk ksh lua mawk mksh nawk \
                            node nodejs osascript perl php powershell pwsh pypy python r rscript \
                            ruby sed sh tcsh zsh";

/// Options whose value is code.
const CODE_OPTIONS: &str = "-c -command -e -p -pe -ne -r --command --eval --expression --print /c";

fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Why a command may run what a model writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// The program starts another program.
    Carrier,
    /// This argument, counted from 0, is code or the name of a script.
    Code(usize),
}

/// Whether a command may run what a model writes: an argument of an interpreter with a placeholder,
/// unless a script or code that the skill gives comes before.
pub(super) fn runs(program: &str, arguments: &[Template]) -> Option<Runs> {
    let name = bare_name(program);
    if has(CARRIERS, &name) {
        return Some(Runs::Carrier);
    }
    if !has(INTERPRETERS, &name) {
        return None;
    }
    let (mut has_script, mut after_option) = (false, false);
    for (at, argument) in arguments.iter().enumerate() {
        match argument.literal() {
            None if !has_script || after_option => return Some(Runs::Code(at)),
            None => after_option = false,
            Some(text) => {
                let is_option = text.starts_with('-') || text.starts_with('/') && text.len() <= 3;
                has_script |= !is_option || after_option;
                after_option = has(CODE_OPTIONS, &text.to_lowercase());
            }
        }
    }
    None
}

/// The name of a program without folder, ending, version and case.
fn bare_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_writes_is_not_run() {
        let code = |at| Some(Runs::Code(at));
        for (command, expected) in [
            ("rg -- {x}", None),
            ("git log --grep={x}", None),
            ("scripts/fill.sh {x}", None),
            ("env A=b ls {x}", Some(Runs::Carrier)),
            ("/usr/bin/sudo ls", Some(Runs::Carrier)),
            ("xargs {x}", Some(Runs::Carrier)),
            ("sh -c {x}", code(1)),
            ("sh -c echo_{x}", code(1)),
            ("sh -c {x} script", code(1)),
            ("bash -lc echo {x}", None),
            ("bash {x}", code(0)),
            ("bash -x {x}", code(1)),
            ("bash fill.sh {x}", None),
            ("python3.12 -c {x}", code(1)),
            ("python3 -m json.tool {x}", None),
            ("python3 fill.py --name {x}", None),
            ("python3 /opt/fill.py --name {x}", None),
            ("python3 fill.py -c {x}", code(2)),
            ("node --eval={x}", code(0)),
            ("perl -e a -e {x}", code(3)),
            ("sed s/{x}/b/", code(0)),
            ("sed -n p {x}", None),
            ("C:\\Windows\\CMD.EXE /c {x}", code(1)),
        ] {
            let words: Vec<_> = command.split(' ').map(|w| Template::read(w).unwrap()).collect();
            let program = words[0].literal().unwrap();
            assert_eq!(runs(program, &words[1..]), expected, "{command}");
        }
    }
}
