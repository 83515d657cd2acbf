//! Links the debug binary at fixed addresses on Linux: the loader then has nothing to relocate,
//! which is nearly half the page faults of a start, and the tests start it many hundred times.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script everything in variables"
)]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
