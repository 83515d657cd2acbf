use brush_parser::ast::{
    AndOrList, AssignmentName, AssignmentValue, Command as Node, CommandPrefixOrSuffixItem as Item,
    CompoundList, ForClauseCommand, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline,
    RedirectList, SimpleCommand, SubshellCommand,
};

use super::command::{
    Assignment, Destination, Direction, Redirect, Stream, Target, Word, WordKind,
};
use super::doubt::{constant, ends_the_script};
use super::limits::NotAnalysable;
use super::quoting::{read_expansions, read_word};
use super::state::Surroundings;

/// The words of one simple command, with the scripts that stand in them.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) name: Option<Word>,
    pub(super) args: Vec<Word>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) scripts: Vec<String>,
    pub(super) processes: Vec<SubshellCommand>,
    pub(super) here_strings: usize,
}

impl Parts {
    pub(super) fn named(name: &str) -> Self {
        Self { name: Some(Word::fixed(name)), ..Self::default() }
    }

    /// The values that a loop gives its variable, as assignments without a command.
    pub(super) fn of_loop(clause: &ForClauseCommand) -> Result<Self, NotAnalysable> {
        let mut parts = Self::default();
        let all = ["$@".to_owned()];
        let values = clause.values.as_ref().map(|values| values.iter().map(|word| &word.value));
        let values: Vec<&String> = values.map_or_else(|| all.iter().collect(), Iterator::collect);
        for value in values {
            // What stands in them is read by the loop itself.
            let value = read_word(value, &mut Vec::new())?;
            let name = clause.variable_name.clone();
            parts.assignments.push(Assignment { name, value, append: false });
        }
        Ok(parts)
    }

    /// The first word is the name.
    pub(super) fn of_words(words: Vec<Word>) -> Self {
        let mut words = words.into_iter();
        Self { name: words.next(), args: words.collect(), ..Self::default() }
    }

    pub(super) fn of_redirects(list: &RedirectList) -> Result<Self, NotAnalysable> {
        let mut parts = Self::default();
        list.0.iter().try_for_each(|redirect| parts.redirect(redirect))?;
        Ok(parts)
    }

    pub(super) fn of_simple(command: &SimpleCommand) -> Result<Self, NotAnalysable> {
        let mut parts = Self::default();
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::AssignmentWord(assignment, _) => {
                    let assignment = parts.assignment(assignment)?;
                    parts.assignments.push(assignment);
                }
                other => parts.item(other)?,
            }
        }
        if let Some(name) = &command.word_or_name {
            parts.name = Some(read_word(&name.value, &mut parts.scripts)?);
        }
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            parts.item(item)?;
        }
        Ok(parts)
    }

    fn item(&mut self, item: &Item) -> Result<(), NotAnalysable> {
        match item {
            Item::IoRedirect(redirect) => self.redirect(redirect)?,
            Item::Word(word) | Item::AssignmentWord(_, word) => {
                let word = read_word(&word.value, &mut self.scripts)?;
                self.args.push(word);
            }
            Item::ProcessSubstitution(_, subshell) => {
                self.processes.push(subshell.clone());
                let text = subshell.to_string();
                self.args.push(Word { text, kind: WordKind::Dynamic });
            }
        }
        Ok(())
    }

    fn assignment(
        &mut self,
        assignment: &brush_parser::ast::Assignment,
    ) -> Result<Assignment, NotAnalysable> {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                read_expansions(index, &mut self.scripts)?;
                format!("{name}[{index}]")
            }
        };
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => read_word(&word.value, &mut self.scripts)?,
            AssignmentValue::Array(elements) => {
                let mut text = String::new();
                let mut kind = WordKind::Literal;
                for (key, element) in elements {
                    if let Some(key) = key {
                        read_expansions(&key.value, &mut self.scripts)?;
                    }
                    let word = read_word(&element.value, &mut self.scripts)?;
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    text.push_str(&word.text);
                    if word.kind != WordKind::Literal {
                        kind = word.kind;
                    }
                }
                Word { text, kind }
            }
        };
        Ok(Assignment { name, value, append: assignment.append })
    }

    fn redirect(&mut self, redirect: &IoRedirect) -> Result<(), NotAnalysable> {
        let redirect = match redirect {
            IoRedirect::OutputAndError(word, append) => Redirect {
                stream: Stream::OutputAndError,
                direction: if *append { Direction::Append } else { Direction::Write },
                target: Target::File(read_word(&word.value, &mut self.scripts)?),
            },
            IoRedirect::HereDocument(fd, document) => {
                let raw = &document.doc.value;
                let text = if document.requires_expansion {
                    read_expansions(raw, &mut self.scripts)?
                } else {
                    Word::fixed(raw.as_str())
                };
                Redirect {
                    stream: Stream::Fd(fd.unwrap_or(0)),
                    direction: Direction::Inline,
                    target: Target::Text(text),
                }
            }
            IoRedirect::HereString(fd, word) => {
                self.here_strings += 1;
                Redirect {
                    stream: Stream::Fd(fd.unwrap_or(0)),
                    direction: Direction::Inline,
                    target: Target::Text(read_word(&word.value, &mut self.scripts)?),
                }
            }
            IoRedirect::File(fd, kind, target) => self.file(*fd, kind, target)?,
        };
        self.redirects.push(redirect);
        Ok(())
    }

    fn file(
        &mut self,
        fd: Option<i32>,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
    ) -> Result<Redirect, NotAnalysable> {
        let (usual, direction) = match kind {
            IoFileRedirectKind::Read => (0, Direction::Read),
            IoFileRedirectKind::Write | IoFileRedirectKind::Clobber => (1, Direction::Write),
            IoFileRedirectKind::Append => (1, Direction::Append),
            IoFileRedirectKind::ReadAndWrite => (0, Direction::ReadWrite),
            IoFileRedirectKind::DuplicateInput => (0, Direction::Duplicate),
            IoFileRedirectKind::DuplicateOutput => (1, Direction::Duplicate),
        };
        let mut stream = Stream::Fd(fd.unwrap_or(usual));
        let mut direction = direction;
        let target = match target {
            IoFileRedirectTarget::Filename(word) => {
                Target::File(read_word(&word.value, &mut self.scripts)?)
            }
            IoFileRedirectTarget::Fd(fd) => Target::Fd(*fd),
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                self.processes.push(subshell.clone());
                Target::Process
            }
            IoFileRedirectTarget::Duplicate(word) => {
                let word = read_word(&word.value, &mut self.scripts)?;
                let digits = word.text.strip_suffix('-').unwrap_or(&word.text);
                if word.text == "-" {
                    Target::Closed
                } else if let Ok(fd) = digits.parse() {
                    Target::Fd(fd)
                } else {
                    // `>&name` is an old way to write `&>name`.
                    if fd.is_none() && matches!(kind, IoFileRedirectKind::DuplicateOutput) {
                        stream = Stream::OutputAndError;
                    }
                    direction = Direction::Write;
                    Target::File(word)
                }
            }
        };
        Ok(Redirect { stream, direction, target })
    }

    /// Where standard output and standard error end, redirects applied from left to right.
    pub(super) fn outputs(&self, around: &Surroundings) -> (Destination, Destination) {
        let (mut stdout, mut stderr) = (around.stdout, around.stderr);
        for redirect in &self.redirects {
            let to = match (redirect.direction, &redirect.target) {
                (Direction::Read | Direction::Inline, _) => continue,
                (_, Target::Fd(1)) => stdout,
                (_, Target::Fd(2)) => stderr,
                (_, Target::Fd(_) | Target::Text(_)) => Destination::Captured,
                (_, Target::Closed) => Destination::Discarded,
                (_, Target::Process) => Destination::Filtered,
                (_, Target::File(word)) => match word.literal() {
                    Some("/dev/null") => Destination::Discarded,
                    Some("/dev/stdout") => stdout,
                    Some("/dev/stderr") => stderr,
                    Some("/dev/tty") => Destination::Shown,
                    _ => Destination::File,
                },
            };
            match redirect.stream {
                Stream::Fd(1) => stdout = to,
                Stream::Fd(2) => stderr = to,
                Stream::OutputAndError => (stdout, stderr) = (to, to),
                Stream::Fd(_) => {}
            }
        }
        (stdout, stderr)
    }
}

/// Where the standard output of each stage of a pipeline ends.
pub(super) fn stage_outputs(stages: &[Node], last: Destination) -> Vec<Destination> {
    let mut outputs = Vec::with_capacity(stages.len());
    let mut to = last;
    for stage in stages.iter().rev() {
        outputs.push(to);
        let Node::Simple(command) = stage else {
            to = filtered(to);
            continue;
        };
        // What cannot be read fails when the stage itself is walked.
        if let Ok(parts) = Parts::of_simple(command) {
            let around = Surroundings { stdout: to, ..Surroundings::of_script() };
            to = parts.outputs(&around).0;
            let whole = matches!(parts.name.as_ref().and_then(Word::literal), Some("tee" | "cat"));
            if !whole {
                to = filtered(to);
            }
        }
    }
    outputs.reverse();
    outputs
}

fn filtered(to: Destination) -> Destination {
    if to == Destination::Shown { Destination::Filtered } else { to }
}

/// Whether this list does nothing but end the script with the status of what came before.
pub(super) fn ends_with_last_status(list: &AndOrList) -> bool {
    list.additional.is_empty()
        && only_words(&list.first).is_some_and(|words| {
            matches!(words.as_slice(), ["exit"] | ["exit" | "return", "$?" | "\"$?\""])
        })
}

/// Whether this pipeline always ends in failure, so that `… || it` hides nothing.
pub(super) fn surely_fails(pipeline: &Pipeline) -> bool {
    if pipeline.bang {
        return false;
    }
    if let [Node::Compound(brush_parser::ast::CompoundCommand::BraceGroup(group), _)] =
        pipeline.seq.as_slice()
    {
        return group
            .list
            .0
            .last()
            .is_some_and(|item| item.0.additional.is_empty() && surely_fails(&item.0.first));
    }
    only_words(pipeline).is_some_and(|words| match words.as_slice() {
        ["false"] => true,
        ["exit" | "return", code] => code.parse::<u8>().is_ok_and(|code| code != 0),
        _ => false,
    })
}

/// Whether nothing behind this list starts any more.
pub(super) fn ends_here(list: &AndOrList) -> bool {
    list.additional.is_empty()
        && only_words(&list.first).is_some_and(|words| ends_the_script(&words))
}

/// What this pipeline answers whatever happens; `None` where that is not known.
pub(super) fn always(pipeline: &Pipeline) -> Option<bool> {
    only_words(pipeline).and_then(|words| constant(&words))
}

/// What a condition answers whatever happens; `None` where that is not known.
pub(super) fn always_of(condition: &CompoundList) -> Option<bool> {
    match condition.0.as_slice() {
        [only] if only.0.additional.is_empty() => always(&only.0.first),
        _ => None,
    }
}

/// The raw words of a pipeline that is one simple command without prefix and redirects.
fn only_words(pipeline: &Pipeline) -> Option<Vec<&str>> {
    let [Node::Simple(command)] = pipeline.seq.as_slice() else { return None };
    if command.prefix.is_some() || pipeline.bang {
        return None;
    }
    let mut words = vec![command.word_or_name.as_ref()?.value.as_str()];
    for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            Item::Word(word) => words.push(word.value.as_str()),
            Item::IoRedirect(_) => {}
            Item::AssignmentWord(..) | Item::ProcessSubstitution(..) => return None,
        }
    }
    Some(words)
}
