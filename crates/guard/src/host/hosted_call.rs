use counterfoil_model::{ExactValue, Origin, Tool, ToolCall, take_hidden_out};

use crate::admitted::Admitted;

/// A call that a host is about to execute or has executed, without the model's hidden thinking.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HostedCall {
    /// The call as the model wrote it, with the host's id.
    pub call: ToolCall,
    /// The tool, as far as it is known. An unknown tool of a host has only a name.
    pub tool: Tool,
    /// The arguments, an object, with every number as the model wrote it.
    pub arguments: ExactValue,
    /// Whether the call contained only the model's thinking.
    pub(super) only_thought: bool,
}

impl HostedCall {
    /// A call of this tool. Arguments that cannot be parsed become a value that is not an object,
    /// which is denied.
    #[must_use]
    pub fn new(call: ToolCall, tool: Tool) -> Self {
        let (call, only_thought) = take_hidden_out(call);
        let arguments = call.arguments.exact().unwrap_or_default();
        Self { call, tool, arguments, only_thought }
    }

    /// A call of a tool of which only the name and the origin are known.
    #[must_use]
    pub fn of_unknown(call: ToolCall, origin: Origin) -> Self {
        let tool = Tool { origin, ..Tool::named(&call.tool) };
        Self::new(call, tool)
    }

    /// The same call of a tool that is known better.
    #[must_use]
    pub fn of_tool(self, tool: Tool) -> Self {
        Self { tool, ..self }
    }
}

impl From<&Admitted> for HostedCall {
    fn from(admitted: &Admitted) -> Self {
        Self {
            call: admitted.call().clone(),
            tool: admitted.tool().clone(),
            arguments: admitted.exact_arguments().clone(),
            only_thought: false,
        }
    }
}
