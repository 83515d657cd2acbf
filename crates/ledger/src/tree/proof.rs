use counterfoil_model::Digest;
use serde::{Deserialize, Serialize};

use super::{leaf, node};

/// Proves that an event is in a tree: the sibling hashes along its path, from the leaf upward.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InclusionProof(pub Vec<Digest>);

/// Proves that one tree is a prefix of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConsistencyProof(pub Vec<Digest>);

/// The source of the hashes of complete subtrees.
pub(crate) trait Subtrees {
    /// The error when a hash is unavailable.
    type Error;
    /// The subtree of `2^height` leaves that begins at leaf `number · 2^height`.
    fn subtree(&mut self, height: u8, number: u64) -> Result<Digest, Self::Error>;
}

/// The proof that leaf `index` is in the tree of `size` leaves. `index` is below `size`.
pub(crate) fn inclusion<S: Subtrees>(
    from: &mut S,
    index: u64,
    size: u64,
) -> Result<InclusionProof, S::Error> {
    let (mut start, mut end) = (0, size);
    let mut hashes = Vec::new();
    while end - start > 1 {
        let middle = start + split(end - start);
        let (beside_start, beside_end);
        if index < middle {
            (beside_start, beside_end) = (middle, end);
            end = middle;
        } else {
            (beside_start, beside_end) = (start, middle);
            start = middle;
        }
        hashes.push(range(from, beside_start, beside_end)?);
    }
    hashes.reverse();
    Ok(InclusionProof(hashes))
}

/// The proof that the tree of `old` leaves is a prefix of the tree of `new` leaves. `old` is at
/// least 1 and at most `new`.
pub(crate) fn consistency<S: Subtrees>(
    from: &mut S,
    old: u64,
    new: u64,
) -> Result<ConsistencyProof, S::Error> {
    let (mut start, mut end) = (0, new);
    let mut hashes = Vec::new();
    // Whether the current range was a whole tree whose root the verifier knows.
    let mut known = true;
    while end != old {
        let middle = start + split(end - start);
        if old <= middle {
            hashes.push(range(from, middle, end)?);
            end = middle;
        } else {
            hashes.push(range(from, start, middle)?);
            start = middle;
            known = false;
        }
    }
    if !known {
        hashes.push(range(from, start, end)?);
    }
    hashes.reverse();
    Ok(ConsistencyProof(hashes))
}

/// The root of the tree of the leaves from `start` up to `end`.
pub(crate) fn range<S: Subtrees>(from: &mut S, start: u64, end: u64) -> Result<Digest, S::Error> {
    let count = end - start;
    if count.is_power_of_two() {
        let height = u8::try_from(count.trailing_zeros()).unwrap_or(u8::MAX);
        return from.subtree(height, start >> height);
    }
    let middle = start + split(count);
    Ok(node(&range(from, start, middle)?, &range(from, middle, end)?))
}

/// The largest power of two below `count`.
fn split(count: u64) -> u64 {
    1 << (u64::BITS - 1 - (count - 1).leading_zeros())
}

impl InclusionProof {
    /// Whether the event with this digest is leaf `index` of the tree with this root.
    #[must_use]
    pub fn holds(&self, event: &Digest, index: u64, size: u64, root: &Digest) -> bool {
        root_of_inclusion(&self.0, event, index, size).is_some_and(|found| found == *root)
    }
}

/// The root that a proof leads to; `None` if it has the wrong length (RFC 9162, 2.1.3.2).
fn root_of_inclusion(hashes: &[Digest], event: &Digest, index: u64, size: u64) -> Option<Digest> {
    let (mut at, mut last) = (index, size.checked_sub(1)?);
    if index > last {
        return None;
    }
    let mut root = leaf(event);
    for beside in hashes {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            root = node(beside, &root);
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            root = node(&root, beside);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    (last == 0).then_some(root)
}

impl ConsistencyProof {
    /// Whether the tree with the first size and root is a prefix of the second (RFC 9162, 2.1.4.2).
    /// The empty tree is a prefix of every tree.
    #[must_use]
    pub fn holds(&self, old: (u64, &Digest), new: (u64, &Digest)) -> bool {
        consistent(&self.0, old, new)
    }
}

fn consistent(
    hashes: &[Digest],
    (old, old_root): (u64, &Digest),
    (new, new_root): (u64, &Digest),
) -> bool {
    if old == 0 {
        return hashes.is_empty() && *old_root == Digest::of_bytes(b"");
    }
    if old >= new {
        return old == new && hashes.is_empty() && old_root == new_root;
    }
    let mut hashes = hashes.iter();
    let (mut at, mut last) = (old - 1, new - 1);
    while at & 1 == 1 {
        (at, last) = (at >> 1, last >> 1);
    }
    let first = if at == 0 { Some(old_root) } else { hashes.next() };
    let Some(first) = first else { return false };
    let (mut old_found, mut new_found) = (*first, *first);
    for beside in hashes {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            old_found = node(beside, &old_found);
            new_found = node(beside, &new_found);
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            new_found = node(&new_found, beside);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && old_found == *old_root && new_found == *new_root
}
