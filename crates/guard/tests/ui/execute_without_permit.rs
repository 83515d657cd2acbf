//! An admitted call is not a permit.
use counterfoil_guard::{Admitted, Scene, ToolExecutor};

async fn run(executor: &impl ToolExecutor, call: Admitted, scene: &Scene<'_>) {
    let _ = executor.execute_tool_call(call, scene).await;
}

fn main() {}
