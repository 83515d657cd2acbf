/// The numbers in a result line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: Option<u64>,
    pub(super) failed: Option<u64>,
    pub(super) errors: Option<u64>,
    pub(super) skipped: Option<u64>,
    pub(super) warnings: Option<u64>,
}

impl Counts {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn add(&mut self, other: &Self) {
        add(&mut self.passed, other.passed);
        add(&mut self.failed, other.failed);
        add(&mut self.errors, other.errors);
        add(&mut self.skipped, other.skipped);
        add(&mut self.warnings, other.warnings);
    }

    /// Takes over every number that is set in `other`.
    pub(super) fn replace(&mut self, other: &Self) {
        self.passed = other.passed.or(self.passed);
        self.failed = other.failed.or(self.failed);
        self.errors = other.errors.or(self.errors);
        self.skipped = other.skipped.or(self.skipped);
        self.warnings = other.warnings.or(self.warnings);
    }

    /// Reads `3 failed, 39 passed; 1 skipped`: each number with the word after it.
    ///
    /// `tests` and other words that do not describe a result are ignored.
    pub(super) fn number_word(text: &str) -> Self {
        let mut counts = Self::default();
        let mut number: Option<u64> = None;
        for word in words(text) {
            if let Ok(value) = word.parse() {
                number = Some(value);
            } else if let Some(value) = number.take() {
                counts.set(word, value);
            }
        }
        counts
    }

    /// Reads `Failures: 0, Errors: 1`: each word with the number after it.
    pub(super) fn word_number(text: &str) -> Self {
        let mut counts = Self::default();
        let mut last: Option<&str> = None;
        for word in words(text) {
            if let Ok(value) = word.parse() {
                if let Some(word) = last.take() {
                    counts.set(word, value);
                }
            } else {
                last = Some(word);
            }
        }
        counts
    }

    fn set(&mut self, word: &str, value: u64) {
        let place = match word.to_ascii_lowercase().as_str() {
            "passed" | "pass" | "passing" | "passes" | "success" | "successes" | "xpassed" => {
                &mut self.passed
            }
            "failed" | "fail" | "failing" | "failure" | "failures" | "failing." => &mut self.failed,
            "error" | "errors" => &mut self.errors,
            "skipped" | "skip" | "skips" | "pending" | "ignored" | "todo" | "xfailed" | "xfail"
            | "incomplete" | "excluded" | "disabled" => &mut self.skipped,
            "warning" | "warnings" => &mut self.warnings,
            _ => return,
        };
        add(place, Some(value));
    }
}

fn add(place: &mut Option<u64>, value: Option<u64>) {
    if let Some(value) = value {
        *place = Some(place.unwrap_or(0).saturating_add(value));
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric())).filter(|word| !word.is_empty())
}

/// The number at the beginning of the text, and the rest.
pub(super) fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

/// The first number anywhere in the text.
pub(super) fn first_number(text: &str) -> Option<u64> {
    words(text).find_map(|word| word.parse().ok())
}
