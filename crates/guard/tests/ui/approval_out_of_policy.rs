//! The two ways to execute cannot be mixed up.
//~ error[E0308]: mismatched types
use counterfoil_guard::{ByPolicy, Permit, Scene, ToolExecutor};

async fn confirmed(executor: &impl ToolExecutor, permit: Permit<ByPolicy>, scene: &Scene<'_>) {
    let _ = executor.execute_tool_call_confirmed(permit, scene).await;
}

fn main() {}
