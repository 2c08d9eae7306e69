//! Every limit on what a file can make this crate do, in one place.

/// Most bytes of text that one value may have when it is read; longer ones are cut, with a problem.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

/// Frames of one stream that must follow each other before the first of them counts as the begin of MPEG audio.
pub const MPEG_SYNC_FRAMES: usize = 4;

/// Longest frame of free format that is looked for, in bytes: 640 kbit/s at 32 kHz has 2880, padding apart.
pub const MPEG_FREE_FRAME_BYTES_MAX: usize = 4096;
