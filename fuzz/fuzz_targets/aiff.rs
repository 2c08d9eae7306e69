//! Reads arbitrary bytes as AIFF and edits them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| musefs_fuzz::checks::edited(musefs_format::Format::Aiff, bytes));
