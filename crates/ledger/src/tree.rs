//! The Merkle tree of RFC 6962 over the digests of events.

mod proof;

use counterfoil_model::Digest;
use sha2::{Digest as _, Sha256};

pub use proof::{ConsistencyProof, InclusionProof};
pub(super) use proof::{Subtrees, consistency, inclusion};

/// Events per block: the number of leaves below a stored node of the lowest level.
pub(super) const BLOCK: u64 = 256;

/// The difference in height between two levels of stored nodes.
const STEP: u8 = 8;

/// The hash of a leaf, which is an event's digest.
pub(super) fn leaf(event: &Digest) -> Digest {
    hash(&[&[0], event.as_bytes()])
}

/// The hash of an inner node.
pub(super) fn node(left: &Digest, right: &Digest) -> Digest {
    hash(&[&[1], left.as_bytes(), right.as_bytes()])
}

fn hash(parts: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    Digest::from_bytes(hasher.finalize().into())
}

/// The complete subtrees of a tree, largest first: enough to add leaves and to compute the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frontier {
    size: u64,
    subtrees: Vec<(u8, Digest)>,
}

/// A complete subtree whose hash is stored: the `number`th one with `256^level` leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoredNode {
    pub(super) level: u8,
    pub(super) number: u64,
    pub(super) hash: Digest,
}

impl Frontier {
    /// The number of leaves.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf, and passes every stored node that it completes to `completed`, lowest first.
    pub(super) fn push(&mut self, event: &Digest, completed: impl FnMut(StoredNode)) {
        self.push_subtree(0, leaf(event), completed);
    }

    /// Adds a complete subtree of a stored level. The size must be a multiple of its leaves.
    pub(super) fn push_node(&mut self, level: u8, hash: Digest, completed: impl FnMut(StoredNode)) {
        self.push_subtree(level * STEP, hash, completed);
    }

    fn push_subtree(
        &mut self,
        mut height: u8,
        mut hash: Digest,
        mut completed: impl FnMut(StoredNode),
    ) {
        self.size += 1 << height;
        while let Some((_, left)) = self.subtrees.pop_if(|(top, _)| *top == height) {
            hash = node(&left, &hash);
            height += 1;
            if height.is_multiple_of(STEP) {
                let number = (self.size >> height) - 1;
                completed(StoredNode { level: height / STEP, number, hash });
            }
        }
        self.subtrees.push((height, hash));
    }

    /// The root of the tree.
    pub(super) fn root(&self) -> Digest {
        let mut smallest_first = self.subtrees.iter().rev().map(|(_, hash)| *hash);
        let Some(last) = smallest_first.next() else { return Digest::of_bytes(b"") };
        smallest_first.fold(last, |right, left| node(&left, &right))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::proof::{Subtrees, consistency, inclusion};
    use super::*;

    /// The tree as RFC 6962 defines it, implemented without regard to cost.
    fn naive(events: &[Digest]) -> Digest {
        match events {
            [] => Digest::of_bytes(b""),
            [event] => leaf(event),
            _ => {
                let split = events.len().next_power_of_two() / 2;
                let (left, right) = events.split_at(split);
                node(&naive(left), &naive(right))
            }
        }
    }

    struct Naive(Vec<Digest>);

    impl Subtrees for Naive {
        type Error = std::convert::Infallible;

        fn subtree(&mut self, height: u8, number: u64) -> Result<Digest, Self::Error> {
            let leaves = 1 << height;
            let start = usize::try_from(number).unwrap() * leaves;
            Ok(naive(&self.0[start..start + leaves]))
        }
    }

    fn events(count: u64) -> Vec<Digest> {
        (0..count).map(|n| Digest::of_bytes(&n.to_be_bytes())).collect()
    }

    fn root(count: u64) -> Digest {
        naive(&events(count))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_frontier_has_the_naive_root(count in 0_u64..1200) {
            let mut frontier = Frontier::default();
            let mut stored = Vec::new();
            for event in &events(count) {
                frontier.push(event, |node| stored.push(node));
            }
            prop_assert_eq!((frontier.size(), frontier.root()), (count, root(count)));
            let expected: Vec<_> = events(count)
                .chunks_exact(256)
                .zip(0..)
                .map(|(block, number)| StoredNode { level: 1, number, hash: naive(block) })
                .collect();
            prop_assert_eq!(&stored, &expected);
            // Rebuilt from the stored nodes, it is equal.
            let mut again = Frontier::default();
            for StoredNode { level, hash, .. } in stored {
                again.push_node(level, hash, |_| {});
            }
            for event in events(count).split_off(expected.len() * 256) {
                again.push(&event, |_| {});
            }
            prop_assert_eq!(again, frontier);
        }

        #[test]
        fn inclusion_is_proved_of_what_is_in(
            (size, index) in (1_u64..400).prop_flat_map(|size| (Just(size), 0..size)),
            other in 0_u64..400,
        ) {
            let all = events(size);
            let Ok(proof) = inclusion(&mut Naive(all.clone()), index, size);
            let event = all[usize::try_from(index).unwrap()];
            prop_assert!(proof.holds(&event, index, size, &root(size)));
            let elsewhere = other != index && proof.holds(&event, other, size, &root(size));
            prop_assert!(!elsewhere);
            prop_assert!(!proof.holds(&leaf(&event), index, size, &root(size)));
            prop_assert!(!proof.holds(&event, index, size, &root(size + 1)));
            let mut longer = proof.clone();
            longer.0.push(event);
            prop_assert!(!longer.holds(&event, index, size, &root(size)));
        }

        #[test]
        fn consistency_is_proved_of_beginnings(
            (new, old) in (1_u64..300).prop_flat_map(|new| (Just(new), 1..=new)),
            at in any::<prop::sample::Index>(),
        ) {
            let Ok(proof) = consistency(&mut Naive(events(new)), old, new);
            prop_assert!(proof.holds((old, &root(old)), (new, &root(new))));
            let other = Digest::of_bytes(b"another root");
            prop_assert!(!proof.holds((old, &other), (new, &root(new))));
            prop_assert!(!proof.holds((old, &root(old)), (new, &other)));
            if !proof.0.is_empty() {
                let mut changed = proof.clone();
                let at = at.index(changed.0.len());
                changed.0[at] = other;
                prop_assert!(!changed.holds((old, &root(old)), (new, &root(new))));
            }
        }
    }

    #[test]
    fn levels_follow_one_another() {
        let mut frontier = Frontier::default();
        let mut stored = Vec::new();
        for number in 0..256_u64 {
            frontier.push_node(1, Digest::of_bytes(&number.to_be_bytes()), |n| stored.push(n));
        }
        let levels: Vec<_> = stored.iter().map(|node| (node.level, node.number)).collect();
        assert_eq!((frontier.size(), levels), (65_536, vec![(2, 0)]));
    }
}
