//! What an executor may do. Without this case, a missing crate would look like a refusal.
use counterfoil_guard::{ByApproval, ByPolicy, Gate, Permit, Scene, ToolExecutor};

async fn allowed(executor: &impl ToolExecutor, permit: Permit<ByPolicy>, scene: &Scene<'_>) {
    let _ = permit.call().digest();
    let _ = executor.execute_tool_call(permit, scene).await;
}

async fn approved(executor: &impl ToolExecutor, permit: Permit<ByApproval>, scene: &Scene<'_>) {
    let _ = executor.execute_tool_call_confirmed(permit, scene).await;
}

fn named(gate: &dyn Gate) -> counterfoil_guard::GateId {
    gate.id()
}

fn main() {}
