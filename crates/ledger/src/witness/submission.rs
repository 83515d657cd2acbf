use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_model::Digest;

use super::refusal::WitnessRefusal;
use crate::note::Checkpoint;
use crate::tree::ConsistencyProof;

/// What a ledger sends to a witness: a checkpoint, and the proof that it continues one of an
/// earlier size. Written as C2SP's `add-checkpoint` requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// The earlier size; 0 if there was none.
    pub old: u64,
    /// The proof; empty if there was no earlier size.
    pub proof: ConsistencyProof,
    /// The checkpoint.
    pub checkpoint: Checkpoint,
}

/// The maximum number of lines of a proof: enough for 2^63 leaves.
const MOST_LINES: usize = 63;

impl Submission {
    /// Parses the body of a request.
    ///
    /// # Errors
    /// When it has the wrong form.
    pub fn read(body: &str) -> Result<Self, WitnessRefusal> {
        let wrong = WitnessRefusal::Malformed;
        let (head, note) = body.split_once("\n\n").ok_or(wrong("it has no empty line"))?;
        let mut lines = head.split('\n');
        let old = lines.next().and_then(|line| line.strip_prefix("old "));
        let size =
            old.and_then(|old| old.parse::<u64>().ok().filter(|size| size.to_string() == old));
        let old = size.ok_or(wrong("its first line must be `old` followed by a size"))?;
        let mut proof = Vec::new();
        for line in lines {
            let hash = STANDARD.decode(line).ok().and_then(|hash| hash.try_into().ok());
            let hash = hash.ok_or(wrong("a line of its proof is not a hash"))?;
            proof.push(Digest::from_bytes(hash));
        }
        if proof.len() > MOST_LINES {
            return Err(wrong("its proof is too long"));
        }
        let checkpoint =
            note.parse().map_err(|_| wrong("the part after the empty line is not a checkpoint"))?;
        Ok(Self { old, proof: ConsistencyProof(proof), checkpoint })
    }
}

impl fmt::Display for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "old {}", self.old)?;
        for hash in &self.proof.0 {
            writeln!(f, "{}", STANDARD.encode(hash.as_bytes()))?;
        }
        write!(f, "\n{}", self.checkpoint)
    }
}
