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

/// Most segments of a JPEG picture that are stepped over on the way to its size.
pub const JPEG_SEGMENTS_MAX: usize = 64;

/// Most fields of a Vorbis comment that are read; a file with more keeps them but cannot be edited.
pub const VORBIS_FIELDS_MAX: usize = 1 << 16;

/// Bytes of a `METADATA_BLOCK_PICTURE` field, in base64, that are decoded to see what the picture is.
pub const PICTURE_FIELD_BYTES: usize = 128 << 10;

/// Bytes of a FLAC picture block that are read for what stands in front of the picture itself.
pub const PICTURE_HEAD_BYTES: usize = 64 << 10;

/// Most metadata blocks of a FLAC file; one with more is served whole.
pub const FLAC_BLOCKS_MAX: usize = 4096;

/// Most problems that are told of one tag.
pub const PROBLEMS_MAX: usize = 100;
