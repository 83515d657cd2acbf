#![no_main]

use counterfoil_formats::{Options, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let options = Options { format: Some(counterfoil_model::Format::CopilotCli), ..Options::new("fuzz") };
    let _ = read(bytes, &options, &mut |_| ());
});
