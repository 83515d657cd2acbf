//! The constructor is private.
//~ error[E0624]: associated function `new` is private
use counterfoil_guard::Admitted;

fn main() {
    let _ = Admitted::new;
}
