//! An admitted call is not a permit.
//~ error[E0308]: mismatched types
use counterfoil_guard::{Admitted, Scene, ToolExecutor};

async fn run(executor: &impl ToolExecutor, call: Admitted, scene: &Scene<'_>) {
    let _ = executor.execute_tool_call(call, scene).await;
}

fn main() {}
