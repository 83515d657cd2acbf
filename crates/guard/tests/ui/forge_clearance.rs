//! Only the gates clear a call.
use countersign_guard::Clearance;

fn main() {
    let _ = Clearance {};
}
