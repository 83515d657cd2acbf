//! The constructor is not for everybody.
use countersign_guard::Admitted;

fn main() {
    let _ = Admitted::new;
}
