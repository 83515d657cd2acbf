use std::time::Duration;

/// Increasing pauses between attempts.
#[derive(Debug)]
pub(super) struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(Duration::from_millis(20))
    }
}

impl Pause {
    const LONGEST: Duration = Duration::from_secs(1);

    pub(super) fn wait(&mut self) {
        std::thread::sleep(self.0);
        self.0 = (self.0 * 2).min(Self::LONGEST);
    }
}
