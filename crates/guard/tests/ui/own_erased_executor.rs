//! Erasing is not for everybody: a wrapper could lose what the executor says.
//~ error[E0046]: not all trait items implemented, missing: `id`, `tool_definitions`, `owns`, `execute_tool_call`, `execute_tool_call_confirmed`, `requires_confirmation`, `refusal`, `is_tool_retryable`, `is_tool_speculatable`
//~ error[E0277]: the trait bound `Mine: counterfoil_guard::executor::erased::sealed::Sealed` is not satisfied
use counterfoil_guard::ErasedToolExecutor;

struct Mine;

impl ErasedToolExecutor for Mine {}

fn main() {}
