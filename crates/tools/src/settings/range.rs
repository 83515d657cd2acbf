/// A number of a configuration that is outside what makes sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is {given}, it must be between {least} and {most}")]
pub struct OutOfRange {
    /// Which one.
    pub key: &'static str,
    /// What was given.
    pub given: u64,
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

pub(super) fn in_range(
    key: &'static str,
    given: u64,
    least: u64,
    most: u64,
) -> Result<(), OutOfRange> {
    match (least..=most).contains(&given) {
        true => Ok(()),
        false => Err(OutOfRange { key, given, least, most }),
    }
}
