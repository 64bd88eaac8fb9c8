//! Inputs of libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::profiles_labs_plans::run(data));
