/// A number in a configuration that is out of range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` must be between {least} and {most}, got {given}")]
pub struct OutOfRange {
    /// The option.
    pub key: &'static str,
    /// The given value.
    pub given: u64,
    /// The minimum.
    pub least: u64,
    /// The maximum.
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
