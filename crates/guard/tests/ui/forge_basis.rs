//! The basis of a permit cannot be constructed outside the guard.
//~ error[E0451]: field `by` of struct `counterfoil_guard::ByApproval` is private
use counterfoil_guard::ByApproval;

fn main() {
    let _ = ByApproval { by: String::from("me") };
}
