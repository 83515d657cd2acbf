//! Only the gates clear a call.
//~ error: cannot construct `Clearance` with struct literal syntax due to private fields
use counterfoil_guard::Clearance;

fn main() {
    let _ = Clearance {};
}
