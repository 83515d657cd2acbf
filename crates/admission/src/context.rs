/// What may ground the values of a call: policy, user text and earlier tool output, but not what
/// the agent itself said.
///
/// The rules bring that of a recorded transcript, a live session its own. Pure: whoever implements it
/// has looked already.
pub trait Context {
    /// Whether a text occurs, letter case aside.
    fn mentions(&self, text: &str) -> bool;

    /// Whether a path is known not to exist.
    fn is_missing(&self, path: &str) -> bool;

    /// Whether somebody has looked for files, so that every name of one can be doubted; and not only
    /// at how the call ended.
    fn has_looked(&self) -> bool {
        false
    }
}
