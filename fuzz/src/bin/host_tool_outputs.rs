//! Inputs of libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::host_tool_outputs::run(data));
