//! Only the gates clear a call.
use counterfoil_guard::Clearance;

fn main() {
    let _ = Clearance {};
}
