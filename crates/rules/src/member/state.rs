//! Words for the state that a thing is in, and which of them cannot both be so.

/// A stage that a thing passes through or ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting,
    UnderWay,
    Arrived,
    Done,
    Confirmed,
    Failed,
    Cancelled,
    Active,
    Idle,
}

const WORDS: [(&str, Stage); 44] = [
    ("pending", Stage::Waiting),
    ("queued", Stage::Waiting),
    ("unpaid", Stage::Waiting),
    ("unshipped", Stage::Waiting),
    ("waiting", Stage::Waiting),
    ("shipped", Stage::UnderWay),
    ("dispatched", Stage::UnderWay),
    ("in transit", Stage::UnderWay),
    ("in_transit", Stage::UnderWay),
    ("out for delivery", Stage::UnderWay),
    ("out_for_delivery", Stage::UnderWay),
    ("delivered", Stage::Arrived),
    ("completed", Stage::Done),
    ("complete", Stage::Done),
    ("succeeded", Stage::Done),
    ("successful", Stage::Done),
    ("success", Stage::Done),
    ("executed", Stage::Done),
    ("paid", Stage::Done),
    ("settled", Stage::Done),
    ("confirmed", Stage::Confirmed),
    ("booked", Stage::Confirmed),
    ("failed", Stage::Failed),
    ("failure", Stage::Failed),
    ("declined", Stage::Failed),
    ("rejected", Stage::Failed),
    ("cancelled", Stage::Cancelled),
    ("canceled", Stage::Cancelled),
    ("voided", Stage::Cancelled),
    ("revoked", Stage::Cancelled),
    ("active", Stage::Active),
    ("enabled", Stage::Active),
    ("running", Stage::Active),
    ("online", Stage::Active),
    ("healthy", Stage::Active),
    ("inactive", Stage::Idle),
    ("disabled", Stage::Idle),
    ("paused", Stage::Idle),
    ("suspended", Stage::Idle),
    ("stopped", Stage::Idle),
    ("offline", Stage::Idle),
    ("unhealthy", Stage::Idle),
    ("degraded", Stage::Idle),
    ("expired", Stage::Idle),
];

/// For each first letter, the words that begin with it: a bit for each.
#[expect(clippy::indexing_slicing, reason = "the compiler does it")]
const STARTS: [u64; 26] = {
    let mut starts = [0; 26];
    let mut at = 0;
    while at < WORDS.len() {
        starts[(WORDS[at].0.as_bytes()[0] - b'a') as usize] |= 1 << at;
        at += 1;
    }
    starts
};

/// For each first letter, the second letters of the words: a bit for each.
const SECONDS: Seconds = seconds(&WORDS);

/// By the first letter of some words, the second ones: a bit for each.
pub(super) type Seconds = [u32; 26];

/// The second letters of some words in lower case.
#[expect(clippy::indexing_slicing, reason = "the compiler does it")]
pub(super) const fn seconds(words: &[(&str, Stage)]) -> Seconds {
    let mut seconds = [0; 26];
    let mut at = 0;
    while at < words.len() {
        let word = words[at].0.as_bytes();
        seconds[(word[0] - b'a') as usize] |= 1 << (word[1] - b'a');
        at += 1;
    }
    seconds
}

/// The place of a text's first letter in the alphabet, where a word with its first two letters is
/// among some words.
#[inline]
pub(super) fn first_letter(text: &str, words: &Seconds) -> Option<usize> {
    // Asked of every word of an answer.
    let [first, second, ..] = text.as_bytes() else { return None };
    let letter = |byte: u8| Some(byte.to_ascii_lowercase().wrapping_sub(b'a')).filter(|b| *b < 26);
    let (first, second) = (usize::from(letter(*first)?), letter(*second)?);
    (words.get(first)? & (1 << second) != 0).then_some(first)
}

impl Stage {
    /// The stage that a word, or the words that begin a text, name.
    #[inline]
    pub(super) fn of(text: &str) -> Option<Self> {
        Self::beginning(text, *STARTS.get(first_letter(text, &SECONDS)?)?)
    }

    /// The stage of one of some words that begins a text.
    fn beginning(text: &str, mut words: u64) -> Option<Self> {
        let begins = |word: &str| {
            let head = text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
            let next = text.get(word.len()..).and_then(|rest| rest.chars().next());
            head && next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        };
        while words != 0 {
            let (word, stage) = WORDS.get(words.trailing_zeros() as usize)?;
            if begins(word) {
                return Some(*stage);
            }
            words &= words - 1;
        }
        None
    }

    /// Whether a thing that is at one stage is not at the other.
    pub(super) fn excludes(self, other: Self) -> bool {
        use Stage::{Active, Arrived, Cancelled, Confirmed, Done, Failed, Idle, UnderWay, Waiting};
        let both = |a: &[Self], b: &[Self]| {
            (a.contains(&self) && b.contains(&other)) || (a.contains(&other) && b.contains(&self))
        };
        both(&[Waiting], &[UnderWay, Arrived, Done, Failed, Cancelled])
            || both(&[UnderWay], &[Arrived, Failed, Cancelled])
            || both(&[Arrived, Done, Confirmed], &[Failed, Cancelled])
            || both(&[Active], &[Idle, Cancelled, Failed])
            || both(&[Failed], &[Cancelled])
    }

    /// Whether a thing that is at the other stage has never been at this one.
    pub(super) fn is_ahead_of(self, other: Self) -> bool {
        use Stage::{Arrived, Done, Failed, UnderWay, Waiting};
        matches!(
            (self, other),
            (UnderWay | Arrived | Done, Waiting) | (Arrived, UnderWay) | (Arrived | Done, Failed)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_that_exclude_each_other() {
        for (said, held, excluded) in [
            ("shipped", "pending", true),
            ("Delivered", "in transit", true),
            ("pending", "pending (item modified)", false),
            ("healthy", "degraded", true),
            ("completed", "delivered", false),
            ("active", "pending", false),
            ("cancelled", "completed", true),
        ] {
            let stage = |text| Stage::of(text).unwrap();
            assert_eq!(stage(said).excludes(stage(held)), excluded, "{said} {held}");
            assert_eq!(stage(held).excludes(stage(said)), excluded, "{held} {said}");
        }
        assert_eq!(Stage::of("return requested"), None);
        assert_eq!(Stage::of("paidly"), None);
    }
}
