//! Commands that cannot be undone, expose secrets or run fetched code: they destroy uncommitted
//! work, shared history, data or environments, show or send secrets, or run downloaded code unseen.
//! Tables list the programs; commands that a command runs are judged like any others.

use counterfoil_shell::{
    Command, Destination, Direction, Position, Script, Target, Word, WordKind,
};

mod calls;
mod code;
mod conditions;
mod fetched;
mod pattern;
mod secret;
mod tables;

use code::Code;
use fetched::Fetched;
use pattern::Line;
use tables::{Rows, Tables};

use super::judge::judge_inner;
use super::place::Place;
use super::refusal::{Refusal, RefusalKind};
use super::text::{quoted, shown};
use super::values::{Site, values_of};
use super::{Blocklist, worked_out};

/// The first command of a script that needs a person's approval.
pub(super) fn needing_approval(script: &Script, text: &str, list: &Blocklist) -> Option<Refusal> {
    let elsewhere = list.place.elsewhere();
    let scene = Scene { script, text, list, here: &list.place, elsewhere: &elsewhere };
    let fetched = Fetched::new(script, &|at| scene.line(at));
    let allowed = |refusal: &Refusal, at: usize| {
        let command = script.commands().get(at);
        refusal.kind.is_approvable() && command.is_some_and(|command| list.allows(command))
    };
    let judge = |at| scene.judge(at, &fetched).filter(|refusal| !allowed(refusal, at));
    (0..script.commands().len()).find_map(judge)
}

/// The first command of a script that changes the mode, owner, times or attributes of a file
/// outside the workspace, which Landlock does not restrict.
pub(super) fn attributes(script: &Script, text: &str, list: &Blocklist) -> Option<Refusal> {
    let elsewhere = list.place.elsewhere();
    let scene = Scene { script, text, list, here: &list.place, elsewhere: &elsewhere };
    let lines = (0..script.commands().len()).filter_map(|at| scene.line(at));
    let line = { lines }
        .find(|line| is_among(line, &Tables::own().attributes) && !list.allows(line.command))?;
    let command = written(&line);
    Some(Refusal::irreversible(format!("`{command}` changes a file outside the workspace")))
}

/// A script and its context.
struct Scene<'s> {
    script: &'s Script,
    text: &'s str,
    list: &'s Blocklist,
    here: &'s Place,
    elsewhere: &'s Place,
}

impl<'s> Scene<'s> {
    /// The command at this index, unless it is unreachable, in the form that the tables match.
    fn line(&self, at: usize) -> Option<Line<'s>> {
        let command = self.script.commands().get(at).filter(|command| command.reached)?;
        let program = command.program().unwrap_or_default();
        let place = if self.is_elsewhere(command) { self.elsewhere } else { self.here };
        let site = Site { script: self.script, text: self.text, at, working: None };
        Some(Line { program, command, site, place })
    }

    /// Whether the command runs on another machine.
    fn is_elsewhere(&self, command: &Command) -> bool {
        let wrapper = command.wrapped_by.and_then(|at| self.script.commands().get(at));
        wrapper.is_some_and(|wrapper| {
            wrapper.program() == Some("ssh") && command.inside != Position::Substitution
                || self.is_elsewhere(wrapper)
        })
    }

    fn judge(&self, at: usize, fetched: &Fetched) -> Option<Refusal> {
        let line = self.line(at)?;
        let tables = Tables::own();
        let code = Code::parse(&line);
        if is_among(&line, &tables.agents) {
            return Some(Refusal::agent(&written(&line)));
        }
        let dry = line.fits("* --help|-help|--dry-run|--dryrun|--whatif|--what-if");
        let message =
            if !dry && is_among(&line, &tables.lost) || code.as_ref().is_some_and(Code::destroys) {
                format!("`{}` cannot be undone", written(&line))
            } else if let Some(secret) = self.shows(&line, code.as_ref()) {
                format!("this would show or send a secret: `{}`", shown(&secret))
            } else if let Some(run) = fetched.run_by(&line, at) {
                format!("`{}` was just downloaded and has not been reviewed", shown(run))
            } else {
                return self.runs(&line, code.as_ref()).or_else(|| self.unread(&line));
            };
        Some(Refusal::irreversible(message))
    }

    /// A program of many commands, where it is not known which one runs: `read x < file; git $x`.
    fn unread(&self, line: &Line<'_>) -> Option<Refusal> {
        let many = Tables::own().words("programs of many commands");
        if !many.iter().any(|program| program == line.program) {
            return None;
        }
        let args = &line.command.args;
        let unread = |shown: &str| {
            let why = format!("the effect of `{shown}` is only known at run time");
            Some(Refusal::unread(why))
        };
        let Some(at) = line.next(0, "*", false) else {
            let fed = args.is_empty() && line.holds("@appended", 0);
            return if fed { unread(line.program) } else { None };
        };
        let word = args.get(at - 1).filter(|word| word.kind == WordKind::Dynamic)?;
        if worked_out::stated(word).is_some() {
            return None;
        }
        let Some(known) = values_of(word, &line.site, false) else {
            return unread(&format!("{} {}", line.program, shown(&word.text)));
        };
        // `for command in fetch push; do git $command -f; done`
        known.iter().find_map(|value| {
            let mut words = args.clone();
            words.splice(at - 1..at, [value.clone()]);
            words.insert(0, Word::fixed(line.program));
            let refusal = judge_inner(&script_of(&words), self.list, line.place)?;
            (refusal.kind != RefusalKind::Unread).then_some(refusal)
        })
    }

    /// A secret that a command prints, copies or sends.
    fn shows(&self, line: &Line<'_>, code: Option<&Code<'_>>) -> Option<String> {
        let tables = Tables::own();
        let sends = || tables.sent.keys().any(|pattern| line.fits(pattern));
        let read = line.command.redirects.iter().find_map(|redirect| match &redirect.target {
            Target::File(word) if redirect.direction == Direction::Read => Some(&word.text),
            _ => None,
        });
        let folder = line.command.directory.as_deref();
        let holds = |file: &str| {
            secret::is_place(file)
                || secret::is_place_in(folder, file)
                || line.place.is_kept(file, folder)
        };
        if let Some(file) = read.filter(|file| holds(file)) {
            return Some(file.clone());
        }
        // Files of keys count wherever the output goes; other secrets only if someone can see them.
        let is_shown = self.is_shown(line);
        let shows = || {
            let rows = tables.shown.keys();
            let is_place =
                |pattern: &str| pattern.contains("@secret") || pattern.contains("@from-secret");
            let mut rows = rows.filter(|pattern| is_shown || is_place(pattern));
            rows.any(|pattern| line.fits(pattern))
        };
        if sends() || shows() {
            let last = line.command.args.last().map(|word| word.text.as_str());
            return Some(last.unwrap_or(line.program).to_owned());
        }
        let code = code.filter(|_| line.command.stdout != Destination::Captured)?;
        code.shows().map(str::to_owned)
    }

    /// Whether the output of a command may become visible or leave the machine: `gh auth token |
    /// docker login --password-stdin` shows nothing.
    fn is_shown(&self, line: &Line<'_>) -> bool {
        let commands = self.script.commands().iter();
        let mut words = commands.clone().flat_map(|command| &command.args);
        let handed = words.any(|word| {
            matches!(word.text.as_str(), "--password-stdin" | "--with-token" | "--from-stdin")
        });
        match line.command.stdout {
            Destination::Shown | Destination::File => true,
            Destination::Filtered => !handed,
            Destination::Captured => false,
            Destination::Discarded => false,
        }
    }

    /// Why the commands that this command runs are refused.
    fn runs(&self, line: &Line<'_>, code: Option<&Code<'_>>) -> Option<Refusal> {
        let tables = Tables::own();
        let known = |refusal: &Refusal| refusal.kind != RefusalKind::Unread;
        // An inner command inherits the input of the outer one.
        let texts = code::input(line.site.at, self.script);
        let input = match texts.is_empty() {
            true => String::new(),
            false => format!(" <<< {}", quoted(&texts.join("\n"))),
        };
        let of_rows = |rows: &'static Rows, place: &Place| {
            let inner = rows.keys().filter_map(|pattern| line.capture(pattern));
            let scripts =
                inner.filter(|words| !words.is_empty()).map(|words| script_of(&words) + &input);
            scripts.filter_map(|script| judge_inner(&script, self.list, place)).next()
        };
        let launched = |refusal: &Refusal| {
            matches!(refusal.kind, RefusalKind::Irreversible | RefusalKind::Agent)
        };
        let of_code = || {
            code?.runs().into_iter().find_map(|(script, whole)| {
                let refusal = judge_inner(&script, self.list, line.place)?;
                (whole || known(&refusal)).then_some(refusal)
            })
        };
        of_rows(&tables.runs, line.place)
            .or_else(|| of_rows(&tables.perhaps, line.place).filter(known))
            .or_else(|| of_rows(&tables.elsewhere, self.elsewhere))
            .or_else(|| of_rows(&tables.launches, line.place).filter(launched))
            .or_else(|| self.variables(line))
            .or_else(of_code)
    }

    /// Commands in variables that programs run: `GIT_PAGER='sh -c …'`.
    fn variables(&self, line: &Line<'_>) -> Option<Refusal> {
        let known = Tables::own().words("variables with commands");
        let own = line.command.assignments.iter().map(|a| (a.name.as_str(), a.value.text.as_str()));
        let exports = line.fits("export|env|declare|typeset");
        let words = line.command.args.iter().filter(|_| exports);
        let words = words.filter_map(|word| word.text.split_once('='));
        own.chain(words)
            .filter(|(name, _)| known.iter().any(|variable| variable == name))
            .find_map(|(_, script)| judge_inner(script, self.list, line.place))
    }
}

/// Whether a shell runs only the output of a well-known installer.
pub(super) fn is_installer(script: &Script, shell: &Command) -> bool {
    fetched::is_installer(script, shell)
}

/// The command in a sentence.
fn written(line: &Line<'_>) -> String {
    let words = line.command.args.iter().map(|word| word.text.as_str());
    let words: Vec<&str> = std::iter::once(line.program).chain(words).collect();
    shown(&words.join(" "))
}

fn is_among(line: &Line<'_>, rows: &Rows) -> bool {
    rows.keys().any(|pattern| line.fits(pattern))
}

/// The words of a command as one script; a single word is a script already.
fn script_of(words: &[Word]) -> String {
    match words {
        [only] => only.text.clone(),
        words => {
            let words: Vec<String> = words
                .iter()
                .map(|word| word.literal().map_or_else(|| "\"$1\"".to_owned(), quoted))
                .collect();
            words.join(" ")
        }
    }
}
