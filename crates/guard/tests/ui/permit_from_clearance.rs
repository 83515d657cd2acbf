//! A clearance alone gives no permit: the guard has to open the execution in the ledger first.
//~ error[E0624]: method `permit` is private
use counterfoil_guard::Clearance;

fn renewed(clearance: &Clearance) {
    let _ = clearance.permit("ex_1", 2);
}

fn main() {}
