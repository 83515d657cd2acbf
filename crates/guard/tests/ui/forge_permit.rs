//! A permit has no public parts and no constructor.
use countersign_guard::{ByPolicy, Permit};

fn main() {
    let _: Permit<ByPolicy> = Permit {};
}
