//! What is kept about a session between hook events: how far its transcript was read, and the
//! earlier part in condensed form. There is one file per session and sub-agent, readable only by
//! its owner. It can be deleted at any time: the next stop then reads the transcript from the
//! start.

mod condense;
mod mark;
mod record;
mod source;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use counterfoil_formats as formats;
use counterfoil_guard::Redactor;
use counterfoil_judge::Contradicted;
use counterfoil_model::{Digest, Format, Message, MessageKind, Role, Transcript};

use crate::stop::digest;

use mark::{GAP, MAGIC, MARK, MESSAGE, Mark, frame, framed, last_mark};
use record::{Bytes, Cursor};
use source::Source;

/// The size at which a file is rewritten in shortened form, in bytes.
const MOST: u64 = 8 * 1024 * 1024;
/// The time after which a session is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(60 * 60 * 24 * 30);

/// The memory of a session, or of a sub-agent in it.
#[derive(Debug)]
pub struct Memory {
    path: PathBuf,
    /// Locked as long as this value lives. `None` if another process has the lock; nothing is kept
    /// then.
    file: Option<File>,
    bytes: Vec<u8>,
    mark: Mark,
}

/// A transcript, and where its unjudged part begins.
#[derive(Debug)]
pub struct Turn {
    /// The messages and calls. The part that was judged before is condensed.
    pub transcript: Transcript,
    /// The index of the first new message.
    pub first: usize,
    /// The number of messages that come from the memory.
    known: usize,
    source: Option<Source>,
}

/// The memory or the transcript could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The memory could not be read or written.
    #[error("the saved session state cannot be read or written: {0}")]
    Memory(#[source] io::Error),
    /// The transcript could not be read.
    #[error("the transcript `{path}` cannot be read: {reason}")]
    Transcript {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
}

impl Memory {
    /// Opens the memory of a session, or of a sub-agent in it, in this folder.
    ///
    /// # Errors
    /// When it cannot be read or created. A damaged file counts as empty.
    pub fn open(folder: &Path, session: &str, agent: Option<&str>) -> Result<Self, MemoryError> {
        Self::at(place(folder, session, agent), folder).map_err(MemoryError::Memory)
    }

    /// Whether a plugin of the agent installed the hook in a session, as far as the memory shows.
    #[must_use]
    pub fn is_by_plugin(folder: &Path, session: &str) -> bool {
        let bytes = source::open(&place(folder, session, None)).and_then(|mut file| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        });
        bytes.ok().and_then(|bytes| last_mark(&bytes)).is_some_and(|mark| mark.by_plugin)
    }

    /// Records whether a plugin of the agent installed the hook.
    pub(crate) fn set_by_plugin(&mut self, by_plugin: bool) {
        self.mark.by_plugin = by_plugin;
    }

    fn at(path: PathBuf, folder: &Path) -> io::Result<Self> {
        if !path.exists() {
            make_folder(folder)?;
            forget(folder);
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mark = last_mark(&bytes).unwrap_or_default();
        Ok(Self { path, file: locked.then_some(file), bytes, mark })
    }

    /// A memory that is empty and keeps nothing.
    pub(crate) fn none() -> Self {
        Self { path: PathBuf::new(), file: None, bytes: Vec::new(), mark: Mark::default() }
    }

    /// Whether changes will be kept. They are not if another process has the file.
    pub(crate) fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// How many times in a row the agent was sent back.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.mark.blocks
    }

    /// Sets how many times in a row the agent was sent back.
    pub fn set_blocks(&mut self, blocks: u64) {
        self.mark.blocks = blocks;
    }

    /// How often the agent was sent back since a stop last passed.
    pub(crate) fn sent_back(&self) -> u64 {
        self.mark.sent_back
    }

    /// Records whether the agent was sent back, and the text that was judged.
    pub(crate) fn set_judged(&mut self, sent_back: bool, text: &str) {
        self.mark.sent_back = if sent_back { self.mark.sent_back.saturating_add(1) } else { 0 };
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.mark.judged = (length, Digest::of_bytes(text.as_bytes()).to_string());
    }

    /// The part of a text that was not already judged at the last stop. Needed for agents that
    /// report everything they said in a turn, including what was said before they were sent back.
    pub(crate) fn not_judged<'t>(&self, text: &'t str) -> &'t str {
        let (length, digest) = &self.mark.judged;
        let split = usize::try_from(*length).ok().and_then(|at| text.split_at_checked(at));
        let rest = split.filter(|(judged, _)| {
            self.mark.sent_back > 0 && Digest::of_bytes(judged.as_bytes()).to_string() == *digest
        });
        rest.map(|(_, rest)| rest.trim()).filter(|rest| !rest.is_empty()).unwrap_or(text)
    }

    /// Records a prompt that is not from the user, such as the notification that a background task
    /// ended. It does not reset the counts.
    pub(crate) fn skip_prompt(&mut self, prompt: Option<&str>) {
        if let Some(prompt) = prompt {
            prompt.clone_into(&mut self.mark.prompt);
        }
    }

    /// Resets the counts at a new prompt of the user.
    pub fn at_prompt(&mut self, prompt: Option<&str>) {
        if let Some(prompt) = prompt.filter(|prompt| *prompt != self.mark.prompt) {
            self.mark.blocks = 0;
            self.mark.contradicted.clear();
            prompt.clone_into(&mut self.mark.prompt);
        }
    }

    /// The judge's contradictions in the answer that was sent back last.
    pub(crate) fn contradicted(&self) -> &[Contradicted] {
        &self.mark.contradicted
    }

    /// Replaces the judge's contradictions.
    pub(crate) fn set_contradicted(&mut self, contradicted: Vec<Contradicted>) {
        self.mark.contradicted = contradicted;
    }

    /// The digest of the last message, if it was judged before it was in the file.
    pub(crate) fn late(&self) -> &str {
        &self.mark.late
    }

    /// Records a message that was judged before it was in the file.
    pub(crate) fn set_late(&mut self, late: String) {
        self.mark.late = late;
    }

    /// Takes the note that the model is to get with the next prompt.
    pub fn take_pending(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.mark.pending)).filter(|text| !text.is_empty())
    }

    /// Sets a note that the model gets with the next prompt.
    pub fn set_pending(&mut self, text: String) {
        self.mark.pending = text;
    }

    /// The transcript with what was added since the last stop. `grows` says that the file is
    /// append-only, so that earlier parts need not be read again.
    ///
    /// # Errors
    /// When the transcript cannot be read.
    pub fn read_on(&self, path: &Path, format: Format, grows: bool) -> Result<Turn, MemoryError> {
        let unreadable = |reason: String| {
            let path = path.display().to_string();
            MemoryError::Transcript { path, reason }
        };
        let mut file = source::open(path).map_err(|error| unreadable(error.to_string()))?;
        let failed = |error: io::Error| unreadable(error.to_string());
        let goes_on = grows && self.mark.source.is_begun_in(&mut file).map_err(failed)?;
        let mut transcript = Transcript::new(path.display().to_string(), format);
        if goes_on {
            self.recall(&mut transcript);
        }
        let known = transcript.messages.len();
        let before = if goes_on { self.mark.source.clone() } else { Source::default() };
        let end = match grows {
            true => source::end_of_lines(&mut file, before.offset).map_err(failed)?,
            false => file.metadata().map_err(failed)?.len(),
        };
        let mut lines = before.lines;
        if end > before.offset {
            file.seek(SeekFrom::Start(before.offset)).map_err(failed)?;
            let options = formats::Options {
                format: Some(format),
                continues: goes_on,
                ..formats::Options::new(transcript.id.clone())
            };
            let input = BufReader::with_capacity(
                1 << 18,
                io::Read::by_ref(&mut file).take(end - before.offset),
            );
            let summary = formats::read(input, &options, &mut |reading| {
                append(&mut transcript, reading.transcript, before.lines);
            });
            let summary = summary.map_err(|error| unreadable(error.to_string()))?;
            lines += u64::try_from(summary.lines).unwrap_or(0);
        }
        let source = if grows { Source::describe(&mut file, end, lines).ok() } else { None };
        let spoken = transcript.messages.iter().rposition(is_spoken_by_a_person);
        let first = known.max(spoken.map_or(0, |at| at + 1));
        Ok(Turn { transcript, first, known, source })
    }

    /// Keeps what later stops need of the turn, and everything that was set.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&mut self, turn: Option<Turn>) -> Result<(), MemoryError> {
        self.write(turn).map_err(MemoryError::Memory)
    }

    fn write(&mut self, turn: Option<Turn>) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut added = Bytes::default();
        let mut anew = self.mark.end == 0;
        if let Some(turn) = turn
            && let Some(source) = turn.source
        {
            self.mark.source = source;
            let Transcript { mut messages, completeness, .. } = turn.transcript;
            // Without the earlier messages, the file begins with this turn.
            anew |= turn.known == 0;
            let limit = MOST.max(2 * self.mark.anew);
            let grown = u64::try_from(self.mark.end).unwrap_or(0);
            let shortened = anew || grown > limit;
            let kept = if shortened { 0 } else { turn.known };
            let new = messages.split_off(kept);
            let (mut condensed, places) = condensed(new, kept);
            if shortened {
                anew = true;
                condense::shorten(&mut condensed);
            }
            for message in &condensed {
                let mut bytes = Bytes::default();
                bytes.message(message);
                framed(&mut added, MESSAGE, &bytes.0);
            }
            for (gap, at) in completeness.gaps().iter().filter(|(_, at)| *at >= kept) {
                let mut bytes = Bytes::default();
                let at = places.get(at - kept).or(places.last()).copied().unwrap_or(*at);
                bytes.gap(*gap, at);
                framed(&mut added, GAP, &bytes.0);
            }
        }
        let start = if anew { 0 } else { self.mark.end };
        let mut out = Bytes::default();
        if anew {
            out.0.extend_from_slice(MAGIC);
            self.mark.anew = u64::try_from(added.0.len()).unwrap_or(0);
        }
        out.0.append(&mut added.0);
        framed(&mut out, MARK, &self.mark.bytes());
        if anew && start < self.bytes.len() {
            // A process that is reading keeps the file that it opened.
            let beside = self.path.with_extension("new");
            let mut fresh = private(&beside)?;
            fresh.write_all(&out.0)?;
            return std::fs::rename(&beside, &self.path);
        }
        file.set_len(u64::try_from(start).unwrap_or(0))?;
        file.seek(SeekFrom::Start(u64::try_from(start).unwrap_or(0)))?;
        file.write_all(&out.0)
    }

    fn recall(&self, transcript: &mut Transcript) {
        let mut cursor = Cursor(self.bytes.get(..self.mark.end).unwrap_or_default());
        cursor.0 = cursor.0.strip_prefix(MAGIC).unwrap_or_default();
        while let Some((kind, bytes)) = frame(&mut cursor) {
            let mut inner = Cursor(bytes);
            match kind {
                MESSAGE => transcript.messages.extend(inner.message()),
                GAP => {
                    if let Some((gap, at)) = inner.gap() {
                        transcript.completeness.add(gap, at);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Condenses messages. Also returns the new index of each, after `kept` others; indices shift where
/// prose is dropped.
fn condensed(messages: Vec<Message>, kept: usize) -> (Vec<Message>, Vec<usize>) {
    let mut places = Vec::with_capacity(messages.len() + 1);
    let redactor = Redactor::standard();
    let mut condensed: Vec<Message> = Vec::with_capacity(messages.len());
    // Messages that were only added to judge the turn have no line: the file will contain them
    // later.
    for message in messages.into_iter().filter(|message| message.line > 0) {
        places.push(kept + condensed.len());
        condensed.extend(condense::condensed(message, &redactor));
    }
    places.push(kept + condensed.len());
    (condensed, places)
}

impl Turn {
    /// Skips messages up to one that was judged before it was in the file.
    pub(crate) fn skip_late(&mut self, late: &str) {
        let new = self.transcript.messages.iter().enumerate().skip(self.first);
        let mut spoken = new.filter(|(_, m)| m.role == Role::Assistant && !m.text.is_empty());
        if let Some((at, _)) = spoken.find(|(_, m)| digest(&m.text) == late) {
            self.first = at + 1;
        }
    }
}

/// The path of the file of a session, or of a sub-agent in it.
fn place(folder: &Path, session: &str, agent: Option<&str>) -> PathBuf {
    let key = format!("{session}\0{}", agent.unwrap_or_default());
    folder.join(Digest::of_bytes(key.as_bytes()).to_string().chars().take(32).collect::<String>())
}

/// Appends what was read now to what was known.
fn append(whole: &mut Transcript, read: Transcript, lines: u64) {
    let (known, lines) = (whole.messages.len(), usize::try_from(lines).unwrap_or(0));
    for (gap, at) in read.completeness.gaps() {
        whole.completeness.add(*gap, known + at);
    }
    whole.id = read.id;
    whole.catalog = read.catalog;
    whole.messages.extend(read.messages.into_iter().map(|mut message| {
        message.line += lines;
        message.calls.iter_mut().for_each(|call| call.line += lines);
        message.outcomes.iter_mut().for_each(|outcome| outcome.line += lines);
        message
    }));
}

/// The last bytes of a file, at most `most`.
pub(crate) fn tail(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = source::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_spoken_by_a_person(message: &Message) -> bool {
    message.role == Role::User
        && message.kind == MessageKind::Ordinary
        && message.outcomes.is_empty()
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes files that were not used for a month. Files that cannot be removed stay.
fn forget(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        let old = changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > FORGOTTEN));
        if old {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests damage a memory file on purpose")]
mod tests {
    use std::io::Write as _;

    use counterfoil_model::Gap;
    use serde_json::json;

    use super::*;

    fn line(number: usize, kind: &str, content: &serde_json::Value) -> String {
        let line = json!({
            "type": kind, "sessionId": "s1", "uuid": format!("u{number}"),
            "parentUuid": (number > 0).then(|| format!("u{}", number - 1)),
            "timestamp": "2026-02-01T10:00:00.000Z",
            "message": { "role": kind, "content": content },
        });
        format!("{line}\n")
    }

    /// A turn: a prompt, a call with its result, an answer.
    fn turn(number: usize) -> String {
        let id = format!("t{number}");
        let call = json!([{ "type": "tool_use", "id": id, "name": "Bash",
                            "input": { "command": format!("echo {number}") } }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": id,
                              "content": format!("{number}") }]);
        let at = number * 4;
        [
            line(at, "user", &json!(format!("Prompt {number}"))),
            line(at + 1, "assistant", &call),
            line(at + 2, "user", &result),
            line(at + 3, "assistant", &json!([{ "type": "text", "text": "Done." }])),
        ]
        .concat()
    }

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn read(folder: &Path, path: &Path) -> Turn {
        let memory = Memory::open(folder, "s1", None).unwrap();
        memory.read_on(path, Format::ClaudeCode, true).unwrap()
    }

    fn keep(folder: &Path, turn: Turn) {
        Memory::open(folder, "s1", None).unwrap().keep(Some(turn)).unwrap();
    }

    /// The messages that later claims are checked against.
    fn facts(transcript: &Transcript) -> Vec<Message> {
        let redactor = Redactor::standard();
        transcript
            .messages
            .iter()
            .cloned()
            .filter_map(|m| condense::condensed(m, &redactor))
            .collect()
    }

    #[test]
    fn in_pieces_is_as_good_as_at_once() {
        let desk = tempfile::tempdir().unwrap();
        let (log, memory) = (desk.path().join("log.jsonl"), desk.path().join("memory"));
        for number in 0..5 {
            append(&log, &turn(number));
            let read = read(&memory, &log);
            let new = read.transcript.messages.get(read.first..).unwrap();
            assert_eq!(new.iter().map(|m| m.calls.len()).sum::<usize>(), 1, "turn {number}");
            assert!(read.transcript.completeness.gaps().is_empty());
            let fresh = self::read(&desk.path().join(format!("none{number}")), &log);
            assert_eq!(facts(&read.transcript), facts(&fresh.transcript));
            keep(&memory, read);
        }
    }

    #[test]
    fn gaps_are_remembered_where_they_were() {
        let desk = tempfile::tempdir().unwrap();
        let (log, memory) = (desk.path().join("log.jsonl"), desk.path().join("memory"));
        append(&log, &turn(0));
        append(&log, &turn(1));
        keep(&memory, read(&memory, &log));
        append(
            &log,
            &json!({ "type": "system", "subtype": "compact_boundary", "uuid": "c" }).to_string(),
        );
        append(&log, "\n");
        append(&log, &turn(2));
        keep(&memory, read(&memory, &log));
        append(&log, &turn(3));
        let gaps = read(&memory, &log).transcript.completeness.gaps().to_vec();
        // Three messages of each turn are kept.
        assert_eq!(gaps, [(Gap::Compacted, 6)]);
    }

    #[test]
    fn what_was_not_written_to_its_end_does_not_count() {
        let desk = tempfile::tempdir().unwrap();
        let (log, folder) = (desk.path().join("log.jsonl"), desk.path().join("memory"));
        append(&log, &turn(0));
        keep(&folder, read(&folder, &log));
        append(&log, &turn(1));
        keep(&folder, read(&folder, &log));
        let path = Memory::open(&folder, "s1", None).unwrap().path;
        let whole = std::fs::read(&path).unwrap();
        let fresh = facts(&read(&desk.path().join("none"), &log).transcript);
        for end in 0..whole.len() {
            std::fs::write(&path, whole.get(..end).unwrap()).unwrap();
            assert_eq!(facts(&read(&folder, &log).transcript), fresh, "{end}");
        }
    }

    #[test]
    fn a_long_memory_is_shortened_and_stays_right() {
        let desk = tempfile::tempdir().unwrap();
        let (log, folder) = (desk.path().join("log.jsonl"), desk.path().join("memory"));
        let long =
            json!([{ "type": "tool_result", "tool_use_id": "x", "content": "y".repeat(1 << 20) }]);
        for number in 0..12 {
            append(&log, &turn(number));
            append(&log, &line(1000 + number, "user", &long));
            keep(&folder, read(&folder, &log));
        }
        let memory = Memory::open(&folder, "s1", None).unwrap();
        let size = std::fs::metadata(&memory.path).unwrap().len();
        assert!(size < MOST + (2 << 20), "{size}");
        drop(memory);
        let transcript = read(&folder, &log).transcript;
        assert_eq!(transcript.messages.iter().map(|m| m.calls.len()).sum::<usize>(), 12);
        let outcomes = transcript.messages.iter().flat_map(|m| &m.outcomes);
        let whole = |size: usize| size < 100 || size == 1 << 20;
        assert!(outcomes.clone().all(|o| o.truncated != whole(o.text.len())));
        assert!(outcomes.clone().any(|o| o.truncated));
    }

    #[test]
    fn two_at_once_do_not_destroy_each_others_memory() {
        let desk = tempfile::tempdir().unwrap();
        let folder = desk.path().join("memory");
        let mut first = Memory::open(&folder, "s1", None).unwrap();
        let mut second = Memory::open(&folder, "s1", None).unwrap();
        first.set_blocks(1);
        second.set_blocks(7);
        first.keep(None).unwrap();
        second.keep(None).unwrap();
        drop((first, second));
        assert_eq!(Memory::open(&folder, "s1", None).unwrap().blocks(), 1);
    }
}
