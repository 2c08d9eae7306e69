//! Reads arbitrary bytes as MP4 and edits them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| musefs_fuzz::checks::edited(musefs_format::Format::Mp4, bytes));
