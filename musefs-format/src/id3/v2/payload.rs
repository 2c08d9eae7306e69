//! What a frame holds behind its header: grouping, encryption, compression and unsynchronisation of one frame.

use std::io;

use super::body::Body;
use super::walk::{FrameHeader, Stretch};
use super::{FLAG_UNSYNCHRONISED, FrameSizes, Version};
use crate::facts::ByteRange;
use crate::id3::unsync;

/// The first bytes of a payload.
pub(super) struct Payload {
    /// At most as many as were asked for.
    pub(super) bytes: Vec<u8>,
    /// Where it is in the source, if it is one plain range there.
    pub(super) range: Option<ByteRange>,
}

/// Flags of a frame, whatever the version (ID3v2.3 section 3.3.1, ID3v2.4 section 4.1).
struct Flags {
    compressed: bool,
    encrypted: bool,
    unsynchronised: bool,
    /// Bytes that stand between header and payload.
    extra: u64,
}

impl Flags {
    fn of(header: &FrameHeader, version: Version, tag_flags: u8) -> Self {
        let bit = |mask: u8| header.flags[1] & mask != 0;
        match version {
            Version::V22 => Self { compressed: false, encrypted: false, unsynchronised: false, extra: 0 },
            Version::V23 => Self {
                compressed: bit(0x80),
                encrypted: bit(0x40),
                unsynchronised: false,
                extra: 4 * u64::from(bit(0x80)) + u64::from(bit(0x40)) + u64::from(bit(0x20)),
            },
            Version::V24 => Self {
                compressed: bit(0x08),
                encrypted: bit(0x04),
                unsynchronised: bit(0x02) || tag_flags & FLAG_UNSYNCHRONISED != 0,
                extra: u64::from(bit(0x40)) + u64::from(bit(0x04)) + 4 * u64::from(bit(0x01)),
            },
        }
    }
}

/// The payload of a frame; `None` if it is encrypted, or compressed and not to be read.
pub(super) fn payload(
    body: &Body<'_>,
    stretch: &Stretch,
    header: &FrameHeader,
    tag: (Version, u8, FrameSizes),
    limit: usize,
) -> io::Result<Option<Payload>> {
    let (version, tag_flags, sizes) = tag;
    let flags = Flags::of(header, version, tag_flags);
    let skipped = version.frame_header_bytes() as u64 + flags.extra;
    if flags.encrypted || skipped > stretch.len {
        return Ok(None);
    }
    let (at, len) = (stretch.at + skipped, stretch.len - skipped);
    let bytes = body.bytes(at, len, limit)?;
    if flags.compressed {
        let bytes = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&bytes, limit).ok();
        return Ok(bytes.map(|bytes| Payload { bytes, range: None }));
    }
    if flags.unsynchronised || sizes == FrameSizes::Stuffed {
        return Ok(Some(Payload { bytes: unsync::decode(&bytes), range: None }));
    }
    let range = body.raw(at, at + len).1.is_empty().then(|| ByteRange { offset: body.source_offset(at), len });
    Ok(Some(Payload { bytes, range }))
}
