//! What performs calls is not handed on: only executors have it.
//~ error[E0432]: unresolved imports `counterfoil_guard::FileTools`, `counterfoil_guard::ShellTools`, `counterfoil_guard::Wanted`, `counterfoil_guard::WebTools`
use counterfoil_guard::{FileTools, ShellTools, Wanted, WebTools};

fn main() {}
