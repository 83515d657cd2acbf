//! Code that a script fetches from the network and runs unread.

use counterfoil_shell::{Command, Destination, Effect, Redirect, Script, Target, Word};

use super::code::{is_piped, reads_input};
use super::pattern::Line;
use super::tables::Tables;

/// What the commands of a script fetch.
pub(super) struct Fetched {
    /// The files, each with the index of the command that writes it.
    files: Vec<(String, usize)>,
    /// The indices of commands that print what they fetch.
    printed: Vec<usize>,
}

impl Fetched {
    pub(super) fn new<'l>(script: &Script, line: &dyn Fn(usize) -> Option<Line<'l>>) -> Self {
        let fetches = |at: usize| -> bool { line(at).is_some_and(|line| is_fetch(&line)) };
        let by: Vec<usize> = (0..script.commands().len()).filter(|at| fetches(*at)).collect();
        let mut found = Self { files: Vec::new(), printed: by.clone() };
        if by.is_empty() {
            return found;
        }
        // `curl … | tee x.sh`, `curl … > x.sh`, `curl -o x.sh …`
        let first = by.first().copied().unwrap_or_default();
        for write in script.writes() {
            let writer = script.commands().get(write.command).and_then(Command::program);
            let passes_on = writer == Some("tee") && write.command > first;
            if write.effect == Effect::Created && (by.contains(&write.command) || passes_on) {
                found.files.push((plain(&write.path.text).to_owned(), write.command));
            }
        }
        // `curl -O …/install.sh`, `wget …/install.sh`
        for at in by {
            let Some(line) = line(at) else { continue };
            let named = Tables::own().saves.keys().any(|pattern| line.fits(pattern));
            let names = line.command.args.iter().filter(|word| word.text.contains("://"));
            let names =
                names.filter_map(|word| word.text.split(['?', '#']).next()?.rsplit('/').next());
            found.files.extend(names.filter(|_| named).map(|name| (name.to_owned(), at)));
        }
        found
    }

    /// The fetched file or address that a command runs, as named there.
    pub(super) fn run_by<'c>(&self, line: &Line<'c>, at: usize) -> Option<&'c str> {
        let language = Tables::own().language(line.program);
        let shell = matches!(
            line.program,
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "source" | "."
        );
        let script = (shell || language.is_some()).then(|| line.next(0, "*", false)).flatten();
        let word = match script {
            Some(after) => line.command.args.get(after - 1)?,
            None => line.command.name.as_ref()?,
        };
        let is = |(file, by): &(String, usize)| file == plain(&word.text) && *by < at;
        if self.files.iter().any(is) {
            return Some(&word.text);
        }
        if Tables::own().unseen.keys().any(|pattern| line.fits(pattern)) {
            return line.command.args.iter().map(|w| w.text.as_str()).find(|w| w.contains("://"));
        }
        let language = language?;
        let is_after = |by: &usize| *by > at;
        let substituted = |word: &&Word| {
            let text = word.text.trim_start();
            let runs = ["$(", "`", "<(", "("].iter().any(|open| text.starts_with(open));
            runs && word.literal().is_none()
        };
        let inline = line.command.redirects.iter().filter_map(|redirect| match &redirect.target {
            Target::Text(word) => Some(word),
            _ => None,
        });
        let mut words = line.command.args.iter().chain(inline);
        if let Some(word) = words.find(substituted).filter(|_| self.printed.iter().any(is_after)) {
            return Some(&word.text);
        }
        let feeds = |by: &usize| {
            let stdout = line.site.script.commands().get(*by).map(|command| command.stdout);
            *by < at && !matches!(stdout, Some(Destination::Shown | Destination::Discarded) | None)
        };
        let from_process = |redirect: &Redirect| redirect.target == Target::Process;
        let fed = match is_piped(at, line.site.script) {
            true => self.printed.iter().any(feeds),
            false => {
                line.command.redirects.iter().any(from_process) && self.printed.iter().any(is_after)
            }
        };
        let name = line.command.name.as_ref()?;
        (fed && reads_input(line, language)).then_some(name.text.as_str())
    }
}

/// Whether a command fetches something.
pub(super) fn is_fetch(line: &Line<'_>) -> bool {
    Tables::own().fetches.keys().any(|pattern| line.fits(pattern))
}

fn plain(path: &str) -> &str {
    path.trim_start_matches("./")
}

/// Whether a shell runs only the output of a well-known installer.
pub(super) fn is_installer(script: &Script, shell: &Command) -> bool {
    let commands = script.commands();
    let at = commands.iter().position(|command| std::ptr::eq(command, shell));
    let before = at.and_then(|at| commands.get(at.checked_sub(1)?));
    let known = Tables::own().words("installers");
    let address = |word: &Word| {
        let text = word.literal().filter(|_| !word.text.starts_with('-'));
        text.is_some_and(|text| {
            known.iter().any(|known| match text.strip_prefix(known.as_str()) {
                Some(rest) => rest.is_empty() || known.ends_with('/') && !rest.contains(".."),
                None => false,
            })
        })
    };
    before.is_some_and(|fetch| {
        let mut others = fetch.args.iter().filter(|word| !address(word));
        matches!(fetch.program(), Some("curl" | "wget"))
            && fetch.stdout == Destination::Filtered
            && fetch.args.iter().any(address)
            && others.all(|word| {
                word.text.starts_with('-') && !word.text.contains(['K', 'x', 'k', 'o', ':', 'H'])
                    || matches!(word.text.as_str(), "=https" | "-o-" | "--proto")
            })
    })
}
