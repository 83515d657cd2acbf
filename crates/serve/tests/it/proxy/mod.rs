//! The proxy, as a client and a server see it.

mod calls;
mod desk;
mod faults;
mod hostile;
mod judged;
mod operators;
mod paths;
mod said;
mod shapes;
mod verdicts;

use counterfoil_serve::ProxyMode;

const MODES: [ProxyMode; 4] =
    [ProxyMode::Observe, ProxyMode::Annotate, ProxyMode::Correct, ProxyMode::Block];

/// What was looked up and not done.
const LOOKED_UP: (&str, &str, &str, &str) =
    ("call_a", "get_order", "{\"id\": 7}", "{\"id\": 7, \"status\": \"shipped\"}");

const CANCELLED: (&str, &str, &str, &str) =
    ("call_b", "cancel_order", "{\"id\": 7}", "{\"id\": 7, \"status\": \"cancelled\"}");
