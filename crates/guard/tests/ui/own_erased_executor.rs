//! Erasing is not for everybody: a wrapper could lose what the executor says.
use countersign_guard::ErasedToolExecutor;

struct Mine;

impl ErasedToolExecutor for Mine {}

fn main() {}
