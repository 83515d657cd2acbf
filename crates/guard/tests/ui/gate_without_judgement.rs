//! A gate must implement its judgement: there is no default.
//~ error[E0046]: not all trait items implemented, missing: `judge`
use counterfoil_guard::{Gate, GateId};

struct Open;

impl Gate for Open {
    fn id(&self) -> GateId {
        GateId("open")
    }
}

fn main() {}
