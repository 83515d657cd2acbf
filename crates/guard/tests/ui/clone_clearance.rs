//! A clearance is for one execution.
fn copies<T: Clone>() {}

fn main() {
    copies::<countersign_guard::Clearance>();
}
