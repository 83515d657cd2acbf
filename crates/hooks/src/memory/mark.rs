//! The file of a memory: framed records, and marks. Everything before a mark is valid.

use counterfoil_judge::Contradicted;

use super::record::{Bytes, Cursor};
use super::source::Source;

pub(super) const MAGIC: &[u8] = b"counterfoil hook memory 4\n";
pub(super) const MESSAGE: u8 = b'm';
pub(super) const GAP: u8 = b'g';
pub(super) const MARK: u8 = b'.';

/// A mark. The last one in the file determines what is valid.
#[derive(Debug, Clone, Default)]
pub(super) struct Mark {
    /// The number of bytes up to and including it.
    pub(super) end: usize,
    pub(super) source: Source,
    pub(super) blocks: u64,
    pub(super) prompt: String,
    pub(super) pending: String,
    /// The digest of the last message that was judged before it was in the file.
    pub(super) late: String,
    /// The length of the file when it was last rewritten.
    pub(super) anew: u64,
    /// How often the agent was sent back since a stop last passed, whatever was said in between.
    pub(super) sent_back: u64,
    /// The length in bytes and the digest of the text that was judged last.
    pub(super) judged: (u64, String),
    /// Whether a plugin of the agent installed the hook in this session.
    pub(super) by_plugin: bool,
    /// The judge's contradictions in the answer that was sent back last.
    pub(super) contradicted: Vec<Contradicted>,
}

impl Mark {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Bytes::default();
        self.source.write(&mut bytes);
        bytes.number(self.blocks);
        bytes.text(&self.prompt);
        bytes.text(&self.pending);
        bytes.text(&self.late);
        bytes.number(self.anew);
        bytes.number(self.sent_back);
        bytes.number(self.judged.0);
        bytes.text(&self.judged.1);
        bytes.number(u64::from(self.by_plugin));
        bytes.number(u64::try_from(self.contradicted.len()).unwrap_or(0));
        for kept in &self.contradicted {
            bytes.text(&kept.words);
            bytes.text(&kept.message);
            bytes.text(&kept.judge);
            bytes.number(kept.percent.into());
        }
        bytes.0
    }

    fn read(bytes: &[u8], end: usize) -> Option<Self> {
        let mut cursor = Cursor(bytes);
        Some(Self {
            end,
            source: Source::read(&mut cursor)?,
            blocks: cursor.number()?,
            prompt: cursor.text()?,
            pending: cursor.text()?,
            late: cursor.text()?,
            anew: cursor.number()?,
            sent_back: cursor.number()?,
            judged: (cursor.number()?, cursor.text()?),
            by_plugin: cursor.number()? == 1,
            contradicted: (0..cursor.number()?)
                .map(|_| contradicted(&mut cursor))
                .collect::<Option<_>>()?,
        })
    }
}

fn contradicted(cursor: &mut Cursor<'_>) -> Option<Contradicted> {
    let (words, message, judge) = (cursor.text()?, cursor.text()?, cursor.text()?);
    Some(Contradicted { words, message, judge, percent: u8::try_from(cursor.number()?).ok()? })
}

/// The last mark. Anything after it was not completely written.
pub(super) fn last_mark(bytes: &[u8]) -> Option<Mark> {
    let mut cursor = Cursor(bytes.strip_prefix(MAGIC)?);
    let mut last = None;
    while let Some((kind, inner)) = frame(&mut cursor) {
        if kind == MARK {
            last = Mark::read(inner, bytes.len() - cursor.0.len());
        }
    }
    last
}

pub(super) fn framed(out: &mut Bytes, kind: u8, bytes: &[u8]) {
    out.0.push(kind);
    out.number(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    out.0.extend_from_slice(bytes);
}

pub(super) fn frame<'b>(cursor: &mut Cursor<'b>) -> Option<(u8, &'b [u8])> {
    let (kind, rest) = cursor.0.split_first()?;
    let mut inner = Cursor(rest);
    let bytes = inner.bytes()?;
    *cursor = inner;
    Some((*kind, bytes))
}
