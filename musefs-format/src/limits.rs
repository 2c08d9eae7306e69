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

/// Bytes of an ID3v2 tag that are fetched at a time while it is walked through.
pub const ID3_WINDOW_BYTES: usize = 16 << 10;

/// Most frames of an ID3v2 tag; what follows them is kept unread.
pub const ID3_FRAMES_MAX: usize = 1 << 14;

/// How often the next frame behind a damaged one is searched for in one tag.
pub const ID3_RESYNCS_MAX: usize = 16;

/// Most bytes behind a damaged ID3v2 frame in which the next one is searched for.
pub const ID3_RESYNC_BYTES_MAX: u64 = 1 << 20;

/// Most places that look like a frame and are looked at closely in one such search.
pub const ID3_RESYNC_PLACES_MAX: usize = 1 << 10;

/// Most values of one frame or item that are read; a list with more is cut.
pub const LIST_VALUES_MAX: usize = 1 << 12;

/// Most stuffed bytes of an unsynchronised ID3v2.2 or 2.3 tag; one with more is kept unread.
pub const ID3_STUFFINGS_MAX: usize = 1 << 17;

/// Most bytes of text frames that are read of one ID3v2 tag; frames beyond that are kept unread.
pub const ID3_TEXT_BYTES_MAX: usize = 4 << 20;

/// Bytes of a picture frame in which MIME type and description must end.
pub const ID3_PICTURE_HEAD_BYTES: usize = 4 << 10;

/// Largest unsynchronised ID3v2.2 or 2.3 tag that is decoded, in memory; larger ones are kept unread.
pub const ID3_UNSYNC_BYTES_MAX: u64 = 16 << 20;

/// Most bytes of padding in an ID3v2 tag that are used; more is kept as it is.
pub const ID3_PADDING_BYTES_MAX: u64 = 1 << 20;

/// Largest ID3v2 tag without its header: its size has 28 bits.
pub const ID3_TAG_BYTES_MAX: u64 = (1 << 28) - 1;

/// Where a tag in front of the audio must grow, it grows by a multiple of this, so that audio keeps its place in pages.
pub const PADDING_UNIT_BYTES: u64 = 4096;

/// Longest key that is made of a description in a file, in bytes.
pub const KEY_BYTES_MAX: usize = 256;

/// Most items of an APE tag; what follows them is kept unread.
pub const APE_ITEMS_MAX: usize = 1 << 13;

/// Bytes of an APE item in which its name, or a picture's file name, must end.
pub const APE_ITEM_HEAD_BYTES: usize = 512;

/// Most bytes of text items that are read of one APE tag; items beyond that are kept unread.
pub const APE_TEXT_BYTES_MAX: u64 = 4 << 20;

/// Largest APE tag that is written: its size has 32 bits, and readers refuse much less.
pub const APE_TAG_BYTES_MAX: u64 = 64 << 20;

/// Most tags behind the audio that are looked for.
pub const TRAILING_TAGS_MAX: usize = 32;

/// Longest Lyrics3 tag of version 1: 5100 bytes of text between its marks.
pub const LYRICS_BYTES_MAX: u64 = 5100 + 20;

/// Most bytes of all comment blocks of a FLAC file, which are read whole: as much as one block can have.
pub const FLAC_COMMENT_BYTES_MAX: u64 = 1 << 24;

/// Most streams that lie beside each other in an Ogg file; one with more is served whole.
pub const OGG_STREAMS_MAX: usize = 16;

/// Most packets of the headers of an Ogg stream; one with more is served whole.
pub const OGG_HEADER_PACKETS_MAX: usize = 4096;

/// Most pages that the headers of an Ogg stream take; one with more is served whole.
pub const OGG_HEADER_PAGES_MAX: usize = 1 << 14;

/// Most bytes of the packet of comments of an Ogg stream, which is read whole.
pub const OGG_COMMENT_BYTES_MAX: u64 = 32 << 20;

/// Most bytes of junk between two pages behind which the next one is looked for.
pub const OGG_GAP_BYTES_MAX: usize = 64 << 10;

/// Most bytes at the end of an Ogg file in which the last page is looked for.
pub const OGG_TAIL_BYTES_MAX: u64 = 192 << 10;

/// Bytes of pages that are numbered anew at a time.
pub const OGG_WINDOW_BYTES: usize = 256 << 10;

/// Most boxes of an MP4 file whose headers are read; a file with more is served whole.
pub const MP4_BOXES_MAX: usize = 1 << 17;

/// Most tables of offsets in an MP4 file: one for each track, and for each fragment that has offsets into the file.
pub const MP4_TABLES_MAX: usize = 1 << 12;

/// Most bytes of text items that are read of one MP4 file; items beyond that are kept unread.
pub const MP4_TEXT_BYTES_MAX: u64 = 4 << 20;

/// Bytes of a box that describes a codec in which all that matters stands.
pub const MP4_DESCRIPTION_BYTES_MAX: usize = 4 << 10;

/// Longest run of samples in an MP4 fragment whose durations are added up.
pub const MP4_RUN_BYTES_MAX: usize = 1 << 20;

/// Most bytes of such runs that are read of one file; with more, its play time is what `moov` tells.
pub const MP4_FRAGMENT_BYTES_MAX: u64 = 4 << 20;

/// Longest free box that is made of an MP4 file's shorter tags; with more to fill, what follows moves.
pub const MP4_FREE_BYTES_MAX: u64 = 1 << 20;

/// Bytes of ADTS audio whose frames are counted; the length of longer streams is estimated from them.
pub const ADTS_COUNTED_BYTES: usize = 128 << 10;

/// Frames of one stream that must follow each other before the first of them counts as the begin of ADTS audio.
pub const ADTS_SYNC_FRAMES: usize = 3;

/// Most WavPack blocks that are looked into for the first with samples and for its other channels.
pub const WAVPACK_BLOCKS_MAX: usize = 32;

/// Most sub-blocks of a WavPack block that are stepped over.
pub const WAVPACK_SUB_BLOCKS_MAX: usize = 64;

/// Most Musepack packets, or TAK metadata blocks, that are stepped over in search of the one with the properties.
pub const HEADER_PACKETS_MAX: usize = 32;

/// Most chunks of a RIFF, AIFF or DSDIFF file; one with more is served whole.
pub const CHUNKS_MAX: usize = 1 << 12;

/// Most lengths of other chunks that are read of a `ds64` chunk.
pub const DS64_SIZES_MAX: usize = 1 << 10;

/// Most entries of an INFO list; what follows them is kept unread.
pub const INFO_ENTRIES_MAX: usize = 1 << 10;

/// Most bytes of texts in chunks that are read of one file; further ones are not read.
pub const CHUNK_TEXT_BYTES_MAX: u64 = 4 << 20;

/// Bytes of the property chunk of a DSDIFF file that are read.
pub const DFF_PROPERTY_BYTES: usize = 64 << 10;
