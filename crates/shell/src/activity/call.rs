use super::kind::{ActivityKind, Scope};
use crate::script::Word;

/// A program with its arguments.
pub(super) struct Call<'a> {
    pub(super) program: &'a str,
    pub(super) args: &'a [Word],
}

/// An activity that is not yet linked to its command.
pub(super) struct Found {
    pub(super) kind: ActivityKind,
    pub(super) runner: &'static str,
    pub(super) scope: Scope,
}

/// A single activity that covers everything.
pub(super) fn whole(kind: ActivityKind, runner: &'static str) -> Vec<Found> {
    vec![Found { kind, runner, scope: Scope::Whole }]
}

/// A single activity with a scope.
pub(super) fn scoped(kind: ActivityKind, runner: &'static str, scope: Scope) -> Vec<Found> {
    vec![Found { kind, runner, scope }]
}

impl<'a> Call<'a> {
    /// The same program with the arguments from `from` on.
    pub(super) fn after(&self, from: usize) -> Call<'a> {
        Call { program: self.program, args: self.args.get(from..).unwrap_or_default() }
    }

    /// A call of `program` with the arguments from `from` on.
    pub(super) fn renamed(&self, program: &'a str, from: usize) -> Call<'a> {
        Call { program, ..self.after(from) }
    }

    pub(super) fn arg(&self, at: usize) -> &'a str {
        self.args.get(at).map(|word| word.text.as_str()).unwrap_or_default()
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.texts().any(|text| {
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            names.contains(&name) || names.contains(&text)
        })
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.args.iter().map(|word| word.text.as_str())
    }

    /// Whether the call only asks for help or a version.
    pub(super) fn asks_for_help(&self) -> bool {
        self.texts()
            .take_while(|text| *text != "--")
            .any(|text| matches!(text, "--help" | "--version" | "-help"))
            || (self.args.len() == 1 && matches!(self.arg(0), "-h" | "-V" | "help" | "version"))
    }

    /// The position of the sub-command, which is the first word after the leading options; `valued`
    /// options take the next word.
    pub(super) fn sub(&self, valued: &[&str]) -> usize {
        let mut at = 0;
        while let Some(word) = self.args.get(at) {
            let text = word.text.as_str();
            if valued.contains(&text) {
                at += 2;
            } else if text.starts_with(['-', '+']) {
                at += 1;
            } else {
                break;
            }
        }
        at
    }

    /// The words that are neither options nor their values.
    pub(super) fn operands(&self, valued: &[&str]) -> Vec<&'a str> {
        let mut found = Vec::new();
        let mut words = self.texts();
        while let Some(text) = words.next() {
            if valued.contains(&text) {
                words.next();
            } else if !text.starts_with('-') || text == "-" {
                found.push(text);
            }
        }
        found
    }

    /// The scope, with the arguments that narrow the run.
    pub(super) fn scope(&self, options: &Options) -> Scope {
        let mut reasons: Vec<String> = Vec::new();
        let mut words = self.texts();
        while let Some(text) = words.next() {
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            let attached = name.len() < text.len();
            if options.narrowing.contains(&name) {
                let mut reason = text.to_owned();
                if !attached && let Some(value) = words.next() {
                    reason.push(' ');
                    reason.push_str(value);
                }
                reasons.push(reason);
            } else if options.flags.contains(&text) {
                reasons.push(text.to_owned());
            } else if options.valued.contains(&name) {
                if !attached {
                    words.next();
                }
            } else if text.starts_with('-') {
                // `-kname`: the value may directly follow a short option.
                let short = text.get(..2).unwrap_or_default();
                if text.len() > 2
                    && !text.starts_with("--")
                    && options.narrowing.contains(&short)
                    && !options.long_dashes
                {
                    reasons.push(text.to_owned());
                }
            } else if !options.all.contains(&text) {
                reasons.push(text.to_owned());
            }
        }
        match reasons.as_slice() {
            [] if options.folder && !self.has(&options.all) => Scope::Subset(".".to_owned()),
            [] => Scope::Whole,
            reasons => Scope::Subset(reasons.join(" ")),
        }
    }
}

/// How a runner's arguments narrow its scope.
#[derive(Default, Clone)]
pub(super) struct Options {
    /// Narrowing options that take a value.
    pub(super) narrowing: Vec<&'static str>,
    /// Narrowing options without a value.
    pub(super) flags: Vec<&'static str>,
    /// Other options that take a value.
    pub(super) valued: Vec<&'static str>,
    /// Operands that mean everything.
    pub(super) all: Vec<&'static str>,
    /// Whether long options begin with a single dash, as in Go.
    pub(super) long_dashes: bool,
    /// Whether no operand means only the current folder.
    pub(super) folder: bool,
}
