//! Reads arbitrary bytes as each format that is a stream between tags, and edits them.

#![no_main]

use musefs_format::Format::{Adts, MonkeysAudio, Musepack, OptimFrog, Tak, TrueAudio, WavPack};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for format in [Adts, MonkeysAudio, Musepack, OptimFrog, Tak, TrueAudio, WavPack] {
        musefs_fuzz::checks::edited(format, bytes);
    }
});
