//! A clearance is for one execution and cannot be copied.
//~ error[E0277]: the trait bound `Clearance: Clone` is not satisfied
fn copies<T: Clone>() {}

fn main() {
    copies::<counterfoil_guard::Clearance>();
}
