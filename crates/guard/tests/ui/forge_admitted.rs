//! Only admission makes an admitted call.
use countersign_guard::Admitted;

fn main() {
    let _ = Admitted {};
}
