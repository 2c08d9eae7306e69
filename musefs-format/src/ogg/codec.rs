//! What the codecs make of their first packets.

use serde::{Deserialize, Serialize};

use crate::Format;

/// The codecs whose headers are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Codec {
    /// Vorbis I specification, section 4.2.
    Vorbis,
    /// RFC 7845, section 5.
    Opus,
    /// RFC 9639, section 10.1.
    Flac,
    /// The Speex Codec Manual, section 7.
    Speex,
}

/// How many packets the headers of a stream have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderCount {
    /// So many, the first counted.
    Packets(u64),
    /// Up to a metadata block that says that it is the last.
    ToLastBlock,
}

/// Bytes of the first packet of FLAC in front of the content of STREAMINFO.
const FLAC_STREAM_INFO_AT: usize = 17;

impl Codec {
    /// The codec of a stream, by its first packet.
    pub(super) fn of(first: &[u8]) -> Option<Self> {
        let marks: [(&[u8], Self); 4] = [
            (b"\x01vorbis", Self::Vorbis),
            (b"OpusHead", Self::Opus),
            (b"\x7fFLAC\x01", Self::Flac),
            (b"Speex   ", Self::Speex),
        ];
        marks.into_iter().find(|(mark, _)| first.starts_with(mark)).map(|(_, codec)| codec)
    }

    pub(super) fn format(self) -> Format {
        match self {
            Self::Vorbis => Format::OggVorbis,
            Self::Opus => Format::OggOpus,
            Self::Flac => Format::OggFlac,
            Self::Speex => Format::OggSpeex,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Vorbis => "vorbis",
            Self::Opus => "opus",
            Self::Flac => "flac",
            Self::Speex => "speex",
        }
    }

    /// Bytes of the second packet in front of the comments.
    pub(super) fn prefix_bytes(self) -> usize {
        match self {
            Self::Vorbis => 7,
            Self::Opus => 8,
            Self::Flac => 4,
            Self::Speex => 0,
        }
    }

    /// Whether the second packet says that it is one of comments.
    pub(super) fn is_comments(self, second: &[u8]) -> bool {
        match self {
            Self::Vorbis => second.starts_with(b"\x03vorbis"),
            Self::Opus => second.starts_with(b"OpusTags"),
            Self::Flac => second.len() >= 4 && second[0] & 0x7f == 4,
            Self::Speex => true,
        }
    }

    /// The number of header packets, by the first of them.
    pub(super) fn header_count(self, first: &[u8]) -> HeaderCount {
        match self {
            Self::Vorbis => HeaderCount::Packets(3),
            Self::Opus => HeaderCount::Packets(2),
            Self::Flac => HeaderCount::ToLastBlock,
            Self::Speex => HeaderCount::Packets(2 + u64::from(le32(first, 68).unwrap_or(0))),
        }
    }

    /// Bytes behind the last comment that are not padding: of `rest`, which is all that follows there.
    pub(super) fn kept_bytes(self, rest: &[u8]) -> usize {
        let zeros = rest.iter().rev().take_while(|byte| **byte == 0).count();
        match self {
            // RFC 7845, section 5.2: the lowest bit of the first byte tells whether editors keep it.
            Self::Opus if rest.first().is_some_and(|first| first & 1 == 1) => rest.len(),
            Self::Opus => 0,
            // What taggers append are zeros: behind the framing bit, or at once.
            Self::Vorbis if zeros + 1 == rest.len() => 1,
            Self::Speex if zeros == rest.len() => 0,
            Self::Vorbis | Self::Speex | Self::Flac => rest.len(),
        }
    }
}

/// The content of STREAMINFO in the first packet of FLAC.
pub(super) fn flac_stream_info(first: &[u8]) -> &[u8] {
    first.get(FLAC_STREAM_INFO_AT..).unwrap_or_default()
}

pub(super) fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

pub(super) fn le16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}
