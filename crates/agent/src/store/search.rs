//! Search in notes: by words, by parts of words, by meaning, and how the three are joined.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde::Serialize;

use super::handle::{Store, StoreError, at_most};
use super::ids::NoteId;
use super::notes::{NoteOrigin, find};
use super::terms::Terms;
use super::vector::Compared;

/// A note that a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Its number.
    pub id: NoteId,
    /// What was said.
    pub text: String,
    /// Who said it.
    pub origin: NoteOrigin,
    /// The session in which it was said.
    pub session: Option<String>,
    /// When, in milliseconds since 1970 UTC.
    pub at: i64,
    /// The sum of 1 / (60 + rank) over its ranks: comparable within one search only.
    pub score: f64,
    /// What found it.
    pub ranks: Ranks,
}

/// The places of a note in three rankings, from 1; none where it was not found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Ranks {
    /// By whole words, whatever their case and accents.
    pub words: Option<usize>,
    /// By three or more characters in a row, anywhere in a word.
    pub trigrams: Option<usize>,
    /// By the cosine of the vectors, where it is above 0.
    pub meaning: Option<usize>,
}

/// How many notes each ranking holds at least, so that one which is far down in two of them can
/// still come first.
const DEPTH: usize = 100;

/// The constant of reciprocal rank fusion. A larger one brings first and later places closer.
/// Cormack, Clarke and Büttcher, SIGIR 2009, found 60.
const SMOOTHING: usize = 60;

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
        let terms = Terms::of(query);
        self.read(|connection| {
            let words = matching(connection, BY_WORDS, terms.words(), depth)?;
            let trigrams = matching(connection, BY_TRIGRAMS, terms.trigrams(), depth)?;
            let meaning = match vector {
                Some(vector) => nearest(connection, vector, depth)?,
                None => Vec::new(),
            };
            let mut found = Vec::new();
            for (id, score, ranks) in fuse(&words, &trigrams, &meaning).into_iter().take(limit) {
                let Some(note) = find(connection, id)? else { continue };
                let (text, origin, session, at) = (note.text, note.origin, note.session, note.at);
                found.push(Found { id, text, origin, session, at, score, ranks });
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
    let mut compared = Compared::new(vector);
    let mut statement = connection.prepare_cached("SELECT note, vector FROM vectors")?;
    let mut rows = statement.query([])?;
    let mut near: Vec<(f32, NoteId)> = Vec::new();
    while let Some(row) = rows.next()? {
        let cosine = compared.cosine(row.get_ref(1)?.as_blob()?);
        if let Some(cosine) = cosine.filter(|cosine| *cosine > 0.0) {
            near.push((cosine, row.get(0)?));
        }
    }
    let best_first = |left: &(f32, NoteId), right: &(f32, NoteId)| -> Ordering {
        right.0.total_cmp(&left.0).then(right.1.cmp(&left.1))
    };
    if near.len() > depth {
        near.select_nth_unstable_by(depth, best_first);
        near.truncate(depth);
    }
    near.sort_unstable_by(best_first);
    Ok(near.into_iter().map(|(_, id)| id).collect())
}

/// Joins rankings by reciprocal rank fusion. Of two notes with one score the newer comes first.
fn fuse(words: &[NoteId], trigrams: &[NoteId], meaning: &[NoteId]) -> Vec<(NoteId, f64, Ranks)> {
    let mut places: BTreeMap<NoteId, Ranks> = BTreeMap::new();
    for (id, rank) in words.iter().zip(1..) {
        places.entry(*id).or_default().words = Some(rank);
    }
    for (id, rank) in trigrams.iter().zip(1..) {
        places.entry(*id).or_default().trigrams = Some(rank);
    }
    for (id, rank) in meaning.iter().zip(1..) {
        places.entry(*id).or_default().meaning = Some(rank);
    }
    let mut fused: Vec<(NoteId, f64, Ranks)> =
        places.into_iter().map(|(id, ranks)| (id, score(ranks), ranks)).collect();
    fused.sort_by(|left, right| right.1.total_cmp(&left.1).then(right.0.cmp(&left.0)));
    fused
}

fn score(ranks: Ranks) -> f64 {
    let share = |rank: usize| {
        // Ranks beyond 4 billion weigh as much as that one.
        1.0 / f64::from(u32::try_from(rank.saturating_add(SMOOTHING)).unwrap_or(u32::MAX))
    };
    [ranks.words, ranks.trigrams, ranks.meaning].into_iter().flatten().map(share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rankings_are_fused() {
        let cases: [([&[i64]; 3], &[i64]); 6] = [
            ([&[], &[], &[]], &[]),
            ([&[3, 1, 2], &[], &[]], &[3, 1, 2]),
            // First in one ranking is less than second in two.
            ([&[1, 2], &[3, 2], &[]], &[2, 3, 1]),
            ([&[1], &[2], &[3]], &[3, 2, 1]),
            // Third in all is more than first in one.
            ([&[1, 2, 9], &[3, 4, 9], &[5, 6, 9]], &[9, 5, 3, 1, 6, 4, 2]),
            ([&[1, 2], &[1, 2], &[2, 1]], &[1, 2]),
        ];
        for (rankings, expected) in cases {
            let [words, trigrams, meaning] =
                rankings.map(|ids| ids.iter().copied().map(NoteId).collect::<Vec<_>>());
            let fused: Vec<i64> =
                fuse(&words, &trigrams, &meaning).into_iter().map(|(id, ..)| id.0).collect();
            assert_eq!(fused, expected, "{rankings:?}");
        }
    }

    #[test]
    fn a_score_adds_up_its_ranks() {
        let ranks = Ranks { words: Some(1), trigrams: None, meaning: Some(2) };
        assert!((score(ranks) - (1.0 / 61.0 + 1.0 / 62.0)).abs() < 1e-12);
        assert!(score(Ranks::default()).abs() < f64::EPSILON);
    }
}
