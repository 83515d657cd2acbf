//! Only admission creates admitted calls.
//~ error: cannot construct `Admitted` with struct literal syntax due to private fields
use counterfoil_guard::Admitted;

fn main() {
    let _ = Admitted {};
}
