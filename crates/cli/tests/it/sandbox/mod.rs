//! Every confinement is attempted by a command and refused by the kernel. What this machine cannot
//! show is printed.
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
