//! An executor does not expose what performs its calls.
//~ error[E0616]: field `0` of struct `FileExecutor` is private
use counterfoil_guard::FileExecutor;

fn taken(executor: FileExecutor) {
    let _ = executor.0;
}

fn main() {}
