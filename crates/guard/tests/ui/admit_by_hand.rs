//! The constructor is not for everybody.
use counterfoil_guard::Admitted;

fn main() {
    let _ = Admitted::new;
}
