//! The constructor is not for everybody.
//~ error[E0624]: associated function `new` is private
use counterfoil_guard::Admitted;

fn main() {
    let _ = Admitted::new;
}
