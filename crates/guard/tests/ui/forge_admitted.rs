//! Only admission makes an admitted call.
use counterfoil_guard::Admitted;

fn main() {
    let _ = Admitted {};
}
