//! Nobody says by himself what a permit stands on.
use counterfoil_guard::ByApproval;

fn main() {
    let _ = ByApproval { by: String::from("me") };
}
