//! A clearance is for one execution.
//~ error[E0277]: the trait bound `Clearance: Clone` is not satisfied
fn copies<T: Clone>() {}

fn main() {
    copies::<counterfoil_guard::Clearance>();
}
