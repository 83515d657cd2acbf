//! The configuration of the built-in executors, whichever of them are compiled in.

#[cfg_attr(not(feature = "file"), expect(dead_code, reason = "the executor reads it"))]
mod file;
mod range;
#[cfg_attr(not(feature = "shell"), expect(dead_code, reason = "the executor reads it"))]
mod shell;
mod shell_policy;
#[cfg_attr(not(feature = "web"), expect(dead_code, reason = "the executor reads it"))]
mod web;

#[cfg(feature = "file")]
pub(crate) use file::FilePolicy;
pub use file::{FileOptions, FileOptionsError, FileSettings};
pub use range::OutOfRange;
#[cfg(feature = "shell")]
pub(crate) use shell::TransactionSettings;
pub use shell::{ShellOptions, ShellOptionsError, ShellSettings};
pub use shell_policy::{ShellPolicy, ShellPolicyHandle};
pub use web::{WebOptions, WebOptionsError, WebSettings};
