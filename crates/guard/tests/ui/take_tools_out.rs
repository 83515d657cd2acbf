//! An executor keeps what performs its calls to itself.
//~ error[E0616]: field `0` of struct `FileExecutor` is private
use counterfoil_guard::FileExecutor;

fn taken(executor: FileExecutor) {
    let _ = executor.0;
}

fn main() {}
