//! The file of a memory: framed records, and marks behind which everything is valid.

use counterfoil_judge::Contradicted;

use super::record::{Bytes, Cursor};
use super::source::Source;

pub(super) const MAGIC: &[u8] = b"counterfoil hook memory 4\n";
pub(super) const MESSAGE: u8 = b'm';
pub(super) const GAP: u8 = b'g';
pub(super) const MARK: u8 = b'.';

/// The last word of the file: all before it is valid.
#[derive(Debug, Clone, Default)]
pub(super) struct Mark {
    /// Bytes up to and with it.
    pub(super) end: usize,
    pub(super) source: Source,
    pub(super) blocks: u64,
    pub(super) prompt: String,
    pub(super) pending: String,
    /// Digest of the last message that was judged before it stood in the file.
    pub(super) late: String,
    /// How long the file was when it was last written anew.
    pub(super) anew: u64,
    /// How often the agent was sent back since a stop of it passed, whatever was said between.
    pub(super) sent_back: u64,
    /// How long what was judged last was, in bytes, and its digest.
    pub(super) judged: (u64, String),
    /// Whether a plugin of the agent brings the hook to this session.
    pub(super) by_plugin: bool,
    /// What a judge found false in the answer that was sent back last.
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

/// The last mark; what stands behind it was not written to its end.
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
