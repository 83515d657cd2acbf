use serde_json::Value;

/// A call to perform.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'c> {
    /// The tool's name.
    pub tool: &'c str,
    /// The arguments: a JSON object.
    pub arguments: &'c Value,
}
