//! Commands attempt to break every confinement, and the kernel refuses. Prints what cannot be
//! tested on this machine.
#![cfg(target_os = "linux")]

mod again;
mod background;
mod bubblewrap;
mod calls;
mod files;
mod identity;
mod network;
mod profiles;
mod room;
