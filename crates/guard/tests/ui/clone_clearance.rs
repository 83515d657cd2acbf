//! A clearance is for one execution.
fn copies<T: Clone>() {}

fn main() {
    copies::<counterfoil_guard::Clearance>();
}
