//! Every limit on what a file can make this crate do, in one place.

/// Most bytes of text that one value may have when it is read; longer ones are cut, with a problem.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

/// Frames of one stream that must follow each other before the first of them counts as the begin of MPEG audio.
pub const MPEG_SYNC_FRAMES: usize = 4;

/// Longest frame of free format that is looked for, in bytes: 640 kbit/s at 32 kHz has 2880, padding apart.
pub const MPEG_FREE_FRAME_BYTES_MAX: usize = 4096;

/// Bytes of a file, or of what follows its leading tags, from which its format is judged.
pub const SNIFF_BYTES: usize = 64 << 10;

/// Most tags in front of the audio that are looked behind.
pub const LEADING_TAGS_MAX: usize = 32;

/// Most bytes of junk in front of MPEG audio that are searched for its first frame, where the extension promises it.
pub const JUNK_BYTES_MAX: usize = 512 << 10;
