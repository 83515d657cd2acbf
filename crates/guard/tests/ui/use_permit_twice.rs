//! Using a permit spends it.
//~ error[E0382]: use of moved value: `permit`
use counterfoil_guard::{ByPolicy, Permit, Scene, ToolExecutor};

async fn twice(executor: &impl ToolExecutor, permit: Permit<ByPolicy>, scene: &Scene<'_>) {
    let _ = executor.execute_tool_call(permit, scene).await;
    let _ = executor.execute_tool_call(permit, scene).await;
}

fn main() {}
