//! The environment and the runtime of this process.

use std::collections::BTreeMap;

use anyhow::Context as _;
use tokio::runtime::{Builder, Runtime};

/// The variables available to calls; each executor passes on only some of them.
pub(crate) fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Creates a runtime with threads on which calls run while a person is asked.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.context("cannot start a thread")
}
