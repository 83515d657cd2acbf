//! What the rules know about a transcript: the calls joined with their results, what each did, and
//! what the agent said.

#[macro_use]
mod families;

mod answer;
mod arguments;
mod deed;
mod index;
mod judged;
mod known;
mod record;
mod shell_work;
mod upshot;

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use counterfoil_model::{Evidence, EvidenceSource, Message, MessageKind, Role, Status, Transcript};

use crate::settings::Settings;
use crate::tool_use::Names;
use crate::values::{Given, Source, Stated, Text, stated};

pub(crate) use answer::Answer;
pub use answer::LONGEST as LONGEST_ANSWER;
pub(crate) use counterfoil_record::Execution;
pub(crate) use deed::Deed;
pub(crate) use families::{Families, ToolName, kindred, of_name, vouching, words_of};
use index::FirstDeed;
pub(crate) use index::{Index, LatestRun, Memo, Reported};
pub(crate) use judged::Judged;
pub(crate) use known::Known;
pub(crate) use record::Record;
pub(crate) use shell_work::{Run, ShellWork};
pub use upshot::Upshot;

/// The maximum number of latest executions that are searched for one claim.
pub(crate) const LOOK_BACK: usize = 200;

/// The beginning of a text, for evidence.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(160).collect()
}

/// Everything that a rule may look at.
#[derive(Debug)]
pub(crate) struct Facts<'t> {
    known: Rc<Known<'t>>,
    settings: &'t Settings,
    /// The first message that is judged. Earlier messages are only evidence.
    first: usize,
    answers: OnceCell<Vec<Answer<'t>>>,
    stated: OnceCell<Vec<Stated<'t>>>,
    judged: Judged,
}

impl<'t> Facts<'t> {
    /// The facts for judging the messages from position `first` on.
    pub(crate) fn within(known: Rc<Known<'t>>, settings: &'t Settings, first: usize) -> Self {
        Self {
            known,
            settings,
            first,
            answers: OnceCell::new(),
            stated: OnceCell::new(),
            judged: Judged::default(),
        }
    }

    /// The transcript itself.
    pub(crate) fn transcript(&self) -> &'t Transcript {
        self.known.transcript
    }

    /// The settings in force.
    pub(crate) fn settings(&self) -> &'t Settings {
        self.settings
    }

    /// The calls with their results.
    pub(crate) fn record(&self) -> &Record<'t> {
        &self.known.record
    }

    /// The first message that is judged. Earlier messages are only evidence.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// The agent's answers in the judged messages.
    pub(crate) fn answers(&self) -> &[Answer<'t>] {
        self.answers.get_or_init(|| answer::answers(self.transcript(), self.first..usize::MAX))
    }

    /// What the rules have judged together.
    pub(crate) fn judged(&self) -> &Judged {
        &self.judged
    }

    /// The names of the tools that the agent had.
    pub(crate) fn names(&self) -> &Names {
        let tools = self.transcript().catalog.iter();
        self.known.names.get_or_init(|| Names::new(tools.map(|tool| tool.name.as_str())))
    }

    /// The executions called before message `turn`, newest first, with what each did.
    pub(crate) fn deeds_before(
        &self,
        turn: usize,
    ) -> impl Iterator<Item = (&Execution<'t>, &Deed<'t>)> {
        (0..self.record().count_before(turn)).rev().filter_map(|at| self.deed(at))
    }

    /// The latest executions in a range of the record, newest first, with what each did.
    pub(crate) fn latest_deeds(
        &self,
        among: Range<usize>,
    ) -> impl Iterator<Item = (&Execution<'t>, &Deed<'t>)> {
        among.rev().take(LOOK_BACK).filter_map(|at| self.deed(at))
    }

    /// One execution and what it did.
    pub(crate) fn deed(&self, index: usize) -> Option<(&Execution<'t>, &Deed<'t>)> {
        let execution = self.record().executions().get(index)?;
        Some((execution, self.known.deeds.get(index, execution, &self.known.transcript.catalog)?))
    }

    /// The index of the record.
    pub(crate) fn index(&self) -> &Index {
        &self.known.index
    }

    /// Whether the user gave the agent something to read: code, or a long text.
    pub(crate) fn was_given_text(&self, turn: usize) -> bool {
        const SHORT: usize = 400;
        const FEW: usize = 4;
        let messages = self.transcript().messages.get(..turn).unwrap_or_default().iter();
        let asks = |m: &&Message| m.role == Role::User && m.kind == MessageKind::Ordinary;
        let mut length = 0;
        messages.filter(asks).any(|m| {
            length += m.text.len();
            length > SHORT || m.text.contains('`') || m.text.lines().count() > FEW
        })
    }

    /// The message with the user's latest request before message `turn`; the first message if there
    /// is none.
    pub(crate) fn request_before(&self, turn: usize) -> usize {
        let requests = self.index().requests.get_or_init(|| {
            let asks = |m: &Message| m.role == Role::User && m.kind == MessageKind::Ordinary;
            let messages = self.transcript().messages.iter().enumerate();
            messages.filter(|(_, message)| asks(message)).map(|(at, _)| at).collect()
        });
        let latest = requests.partition_point(|&at| at < turn).checked_sub(1);
        latest.and_then(|nth| requests.get(nth)).copied().unwrap_or(0)
    }

    /// The names of the agent's tools, each with its words and families.
    pub(crate) fn tool_names(&self) -> &[ToolName] {
        self.known.tool_names.get_or_init(|| {
            let tools = self.transcript().catalog.iter();
            tools.map(|tool| ToolName::parse(&tool.name)).collect()
        })
    }

    /// Whether a command line was run before message `turn`.
    pub(crate) fn runs_shell_before(&self, turn: usize) -> bool {
        self.is_before(turn, &self.index().shell, |_, deed| deed.shell.is_some())
    }

    /// Whether an execution before message `turn` may have done more than the record shows.
    pub(crate) fn is_opaque_before(&self, turn: usize) -> bool {
        if !self.is_before(turn, &self.index().opaque, |_, deed| deed.opaque) {
            return false;
        }
        let speaker =
            self.transcript().messages.get(turn).and_then(|message| message.agent.as_ref());
        if speaker.is_none() {
            return true;
        }
        // A sub-agent that writes while the main agent waits for it: the record has all of its own
        // work.
        let waits = |execution: &Execution<'_>, deed: &Deed<'_>| {
            deed.delegates && execution.agent.is_none() && deed.status() == Status::Open
        };
        self.deeds_before(turn).any(|(execution, deed)| deed.opaque && !waits(execution, deed))
    }

    /// Whether the agent could change things before message `turn` by other means than a tool with
    /// a matching name: command lines, file edits, or another agent. A missing call does not prove
    /// that an action was not done then.
    pub(crate) fn acts_freely_before(&self, turn: usize) -> bool {
        let may_change = |_: &Execution<'_>, deed: &Deed<'_>| {
            deed.edits_files() || deed.shell.as_ref().is_some_and(|work| !work.only_looks())
        };
        self.delegates_before(turn)
            || self.is_opaque_before(turn)
            || self.is_before(turn, &self.index().changes_freely, may_change)
    }

    /// Whether a tool was called before message `turn` whose name does not say what it does.
    /// Command lines are read instead.
    pub(crate) fn called_unknown_tool_before(&self, turn: usize) -> bool {
        self.is_before(turn, &self.index().unknown, |execution, deed| {
            let named = ToolName::parse(execution.tool()).families != Families::default();
            deed.shell.is_none() && !named
        })
    }

    /// Whether work was delegated to another agent before message `turn`.
    pub(crate) fn delegates_before(&self, turn: usize) -> bool {
        self.is_before(turn, &self.index().delegates, |_, deed| deed.delegates)
    }

    /// Whether an execution before message `turn` did a certain thing; `first` caches the first one.
    fn is_before(
        &self,
        turn: usize,
        first: &FirstDeed,
        did: impl Fn(&Execution<'t>, &Deed<'t>) -> bool,
    ) -> bool {
        let did = |at| self.deed(at).is_some_and(|(execution, deed)| did(execution, deed));
        first.is_before(self.record().count_before(turn), did)
    }

    /// The typed facts that are known before message `turn`.
    pub(crate) fn typed_before(&self, turn: usize) -> counterfoil_record::Facts<'_> {
        let record = || counterfoil_record::Record::new(self.known.transcript);
        self.known.typed.get_or_init(record).up_to(turn)
    }

    /// Whether every call that the agent could have made before message `turn` is recorded.
    pub(crate) fn is_complete_before(&self, turn: usize) -> bool {
        self.transcript().completeness.is_complete_before(turn)
    }

    /// An execution as evidence.
    pub(crate) fn evidence(&self, execution: &Execution<'t>) -> Evidence {
        let call_id = execution
            .call
            .map(|c| c.id.clone())
            .or_else(|| execution.outcome.map(|o| o.call_id.clone()))
            .unwrap_or_default();
        Evidence {
            source: EvidenceSource::Call { call_id },
            tool: Some(execution.tool().to_owned()),
            pointer: String::new(),
            excerpt: excerpt(execution.text()),
            line: execution.outcome.map_or(0, |o| o.line),
        }
    }

    /// The execution at an index of the record, as evidence.
    pub(crate) fn evidence_at(&self, at: usize) -> Option<Evidence> {
        self.record().executions().get(at).map(|execution| self.evidence(execution))
    }

    /// What the agent was given.
    pub(crate) fn given(&self) -> &Given<'t> {
        self.known.given.get_or_init(|| Given::new(self.transcript(), self.record()))
    }

    /// The values that the agent states.
    pub(crate) fn stated(&self) -> &[Stated<'t>] {
        self.stated.get_or_init(|| self.answers().iter().flat_map(stated).collect())
    }

    /// The values that the agent states in message `turn`.
    pub(crate) fn stated_in(&self, turn: usize) -> &[Stated<'t>] {
        let stated = self.stated();
        let from = stated.partition_point(|value| value.turn < turn);
        let until = stated.partition_point(|value| value.turn <= turn);
        stated.get(from..until).unwrap_or_default()
    }

    /// Finds a text before message `turn` that contains the value. `own` includes the arguments of
    /// the agent's own calls.
    pub(crate) fn source_of(&self, word: &str, turn: usize, own: bool) -> Option<&Text<'t>> {
        self.given().find(word, turn, own, || {
            self.stated().iter().map(|stated| stated.text.to_owned()).collect()
        })
    }

    /// Whether the record has everything that the agent could have seen before message `turn`.
    pub(crate) fn shows_all_before(&self, turn: usize) -> bool {
        self.is_complete_before(turn)
            && self.given().is_whole_before(turn)
            && !self.is_opaque_before(turn)
    }

    /// A text that the agent was given, as evidence.
    pub(crate) fn evidence_in(&self, given: &Text<'t>) -> Evidence {
        let execution = match given.source {
            Source::Result(at) | Source::Argument(at) => self.record().executions().get(at),
            Source::Message => None,
        };
        execution.map(|execution| self.evidence(execution)).unwrap_or_else(|| Evidence {
            source: EvidenceSource::Message { turn: given.turn },
            tool: None,
            pointer: String::new(),
            excerpt: excerpt(given.text),
            line: self.transcript().messages.get(given.turn).map_or(0, |message| message.line),
        })
    }

    /// The number of answers that are too long to be read completely.
    pub(crate) fn answers_read_in_part(&self) -> usize {
        answer::read_in_part(self.transcript(), self.first)
    }

    /// The answers, if a rule has asked for them.
    pub(crate) fn answers_read(&self) -> &[Answer<'t>] {
        self.answers.get().map_or(&[], Vec::as_slice)
    }

    /// The number of answers with sentences in a language other than English, among those that were
    /// read.
    pub(crate) fn foreign_answers(&self) -> usize {
        let foreign = |answer: &&Answer<'_>| answer.prose.sentences.iter().any(|s| s.foreign);
        self.answers_read().iter().filter(foreign).count()
    }
}
