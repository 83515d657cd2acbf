//! Erasing is not for everybody: a wrapper could lose what the executor says.
use counterfoil_guard::ErasedToolExecutor;

struct Mine;

impl ErasedToolExecutor for Mine {}

fn main() {}
