//! No text may panic, hang or overflow the stack.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(script) = counterfoil_shell::Script::parse(text) {
        let _ = counterfoil_shell::activities(&script);
        let _ = script.writes();
    }
});
