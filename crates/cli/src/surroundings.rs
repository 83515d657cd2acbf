//! What this process has around it.

use std::collections::BTreeMap;

use anyhow::Context as _;
use tokio::runtime::{Builder, Runtime};

/// The variables that a call may see; its executor lets little of it through.
pub(crate) fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Threads on which calls run while somebody is asked.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.context("no thread can be started")
}
