//! A permit has no public parts and no constructor.
use counterfoil_guard::{ByPolicy, Permit};

fn main() {
    let _: Permit<ByPolicy> = Permit {};
}
