//! Reads ranges of edited files, chosen by the first bytes of the input.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| musefs_fuzz::checks::ranges(bytes));
