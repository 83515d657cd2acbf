/// Sources that may ground the values of a call: policy, user text and earlier tool output, but not
/// the agent's own words.
///
/// Rules implement this for a recorded transcript, guards for a live session. Implementations must
/// be pure: all lookups are done beforehand.
pub trait Context {
    /// Whether a text occurs, ignoring case.
    fn mentions(&self, text: &str) -> bool;

    /// Whether a path is known not to exist.
    fn is_missing(&self, path: &str) -> bool;

    /// Whether files have actually been looked for, so that any file name can be doubted, not just
    /// those of calls that failed.
    fn has_looked(&self) -> bool {
        false
    }
}
