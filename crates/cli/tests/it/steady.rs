//! A clock and random numbers that are the same in every run.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use counterfoil_guard::{Clock, Randomness, RandomnessError};

/// A clock that advances by one second with every reading.
#[derive(Debug)]
pub(crate) struct Ticking(AtomicI64);

impl Ticking {
    /// Starts the clock at this time, in milliseconds since the Unix epoch.
    pub(crate) fn from(wall: i64) -> Self {
        Self(AtomicI64::new(wall))
    }
}

impl Clock for Ticking {
    fn wall(&self) -> i64 {
        self.0.fetch_add(1000, Ordering::Relaxed)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

/// Always the same bytes, and so the same key and names.
#[derive(Debug)]
pub(crate) struct Fixed(pub(crate) u8);

impl Randomness for Fixed {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        bytes.fill(self.0);
        Ok(())
    }
}

/// Different bytes each time, without repetition.
#[derive(Debug)]
pub(crate) struct Counted(AtomicU64);

impl Counted {
    pub(crate) fn from(number: u64) -> Self {
        Self(AtomicU64::new(number))
    }
}

impl Randomness for Counted {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        for chunk in bytes.chunks_mut(8) {
            let number = self.0.fetch_add(1, Ordering::SeqCst);
            chunk.copy_from_slice(
                &number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[..chunk.len()],
            );
        }
        Ok(())
    }
}
