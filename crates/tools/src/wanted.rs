use serde_json::Value;

/// What is wanted of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'c> {
    /// The tool's name.
    pub tool: &'c str,
    /// The arguments: an object.
    pub arguments: &'c Value,
}
