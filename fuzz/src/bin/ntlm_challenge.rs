//! Inputs of libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::ntlm_challenge::run(data));
