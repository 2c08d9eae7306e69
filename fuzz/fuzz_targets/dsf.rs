//! Reads arbitrary bytes as DSF and edits them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| musefs_fuzz::checks::edited(musefs_format::Format::Dsf, bytes));
