//! Search in notes: by words, by parts of words, by meaning, and how the three are joined.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use counterfoil_guard::cosine;
use rusqlite::{Connection, params};
use serde::Serialize;

use super::error::StoreError;
use super::handle::{Store, at_most};
use super::ids::NoteId;
use super::notes::{StoredNote, find};
use super::terms::{any_of, terms, trigrams};

/// A note that a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The note.
    #[serde(flatten)]
    pub kept: StoredNote,
    /// The sum of 1 / (60 + rank) over its ranks: comparable within one search only.
    pub score: f64,
}

/// How many notes each ranking holds at least, so that one which is far down in two of them can
/// still come first.
const DEPTH: usize = 100;

/// The constant of reciprocal rank fusion. A larger one brings first and later places closer.
/// Cormack, Clarke and Büttcher, SIGIR 2009, found 60.
const SMOOTHING: u32 = 60;

impl Store {
    /// The notes that share terms with a query or lie in the direction of its vector, the best
    /// first. A query has no syntax: any text will do. Vectors of other dimensions are passed over.
    ///
    /// # Errors
    /// When the store fails.
    pub fn search(
        &self,
        query: &str,
        vector: Option<&[f32]>,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let depth = limit.max(DEPTH);
        let terms = terms(query);
        self.read(|connection| {
            let words = matching(connection, BY_WORDS, any_of(&terms), depth)?;
            let trigrams = matching(connection, BY_TRIGRAMS, any_of(&trigrams(&terms)), depth)?;
            let meaning = match vector {
                Some(vector) => nearest(connection, vector, depth)?,
                None => Vec::new(),
            };
            let mut found = Vec::new();
            for (id, score) in fuse([words, trigrams, meaning]).into_iter().take(limit) {
                found.extend(find(connection, id)?.map(|kept| Found { kept, score }));
            }
            Ok(found)
        })
    }
}

const BY_WORDS: &str = "
    SELECT rowid FROM note_words WHERE note_words MATCH ?1 ORDER BY rank, rowid DESC LIMIT ?2";
const BY_TRIGRAMS: &str = "
    SELECT rowid FROM note_trigrams WHERE note_trigrams MATCH ?1 ORDER BY rank, rowid DESC LIMIT ?2";

fn matching(
    connection: &Connection,
    statement: &str,
    expression: Option<String>,
    depth: usize,
) -> rusqlite::Result<Vec<NoteId>> {
    let Some(expression) = expression else { return Ok(Vec::new()) };
    connection
        .prepare_cached(statement)?
        .query_map(params![expression, at_most(depth)], |row| row.get(0))?
        .collect()
}

/// By looking at all vectors: 10,000 of them take milliseconds.
fn nearest(connection: &Connection, vector: &[f32], depth: usize) -> rusqlite::Result<Vec<NoteId>> {
    let mut statement = connection.prepare_cached("SELECT note, vector FROM vectors")?;
    let mut rows = statement.query([])?;
    let mut near: Vec<(f64, NoteId)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (numbers, _) = row.get_ref(1)?.as_blob()?.as_chunks::<4>();
        let other: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        if let Some(cosine) = cosine(vector, &other).filter(|cosine| *cosine > 0.0) {
            near.push((cosine, row.get(0)?));
        }
    }
    let best_first = |left: &(f64, NoteId), right: &(f64, NoteId)| -> Ordering {
        right.0.total_cmp(&left.0).then(right.1.cmp(&left.1))
    };
    if near.len() > depth {
        near.select_nth_unstable_by(depth, best_first);
        near.truncate(depth);
    }
    near.sort_unstable_by(best_first);
    Ok(near.into_iter().map(|(_, id)| id).collect())
}

/// Joins rankings by reciprocal rank fusion: a note has the sum of 1 / (60 + rank) over its ranks,
/// which begin with 1. Of two notes with one sum the newer comes first.
fn fuse(rankings: [Vec<NoteId>; 3]) -> Vec<(NoteId, f64)> {
    let mut scores: BTreeMap<NoteId, f64> = BTreeMap::new();
    for ranking in rankings {
        for (id, rank) in ranking.into_iter().zip(1_u32..) {
            *scores.entry(id).or_default() += 1.0 / f64::from(SMOOTHING.saturating_add(rank));
        }
    }
    let mut fused: Vec<(NoteId, f64)> = scores.into_iter().collect();
    fused.sort_by(|left, right| right.1.total_cmp(&left.1).then(right.0.cmp(&left.0)));
    fused
}
