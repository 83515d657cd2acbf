use counterfoil_model::{Digest, ExactValue, Tool, ToolCall};

use crate::admitted::call_digest;

/// A call that a host is about to execute or has executed.
#[derive(Debug, Clone, PartialEq)]
pub struct HostedCall {
    /// The call as the model wrote it, with the host's id.
    pub call: ToolCall,
    /// The tool, as far as it is known. An unknown tool of a host has only a name.
    pub tool: Tool,
    /// The arguments, an object, with every number as the model wrote it.
    pub arguments: ExactValue,
}

impl HostedCall {
    pub(super) fn digest(&self) -> Digest {
        call_digest(&self.tool.name, &self.arguments)
    }
}
