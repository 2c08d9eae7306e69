//! Where the audio lies in containers that have no reader of their own yet, as far as a few bytes tell.
//!
//! Serves only to know a moved file again although its tags changed; a wrong guess costs that, not a
//! byte served.

use std::io;

use musefs_format::{ByteRange, Format, ReadAt};

use crate::limits::CHUNKS_MAX;

/// The encoded audio of a source, or `None` where the format or its damage hides it.
pub(super) fn audio_range(format: Format, source: &dyn ReadAt) -> io::Result<Option<ByteRange>> {
    match format {
        Format::Wav => wave(source),
        Format::Aiff => chunk(source, &IFF, b"SSND"),
        Format::Dff => Ok(chunk(source, &DSDIFF, b"DSD ")?.or(chunk(source, &DSDIFF, b"DST ")?)),
        Format::Dsf => chunk(source, &DSF, b"data"),
        _ => Ok(None),
    }
}

/// How a file of chunks is laid out.
struct Layout {
    /// Offset of the first chunk.
    start: u64,
    /// Bytes of a chunk's id and size.
    header_len: usize,
    /// Length of the header and of what follows it; `None`: to the end of the file.
    lens: fn(&[u8]) -> (u64, Option<u64>),
    /// Chunks begin at multiples of this.
    align: u64,
}

const RIFF: Layout = Layout { start: 12, header_len: 8, lens: |h| (8, open_ended(le32(h, 4))), align: 2 };
const RIFX: Layout = Layout { start: 12, header_len: 8, lens: |h| (8, open_ended(be32(h, 4))), align: 2 };
const IFF: Layout = Layout { start: 12, header_len: 8, lens: |h| (8, open_ended(be32(h, 4))), align: 2 };
/// Sony Wave64: 16-byte GUIDs, sizes that count their header.
const WAVE64: Layout =
    Layout { start: 40, header_len: 24, lens: |h| (24, Some(le64(h, 16).saturating_sub(24))), align: 8 };
/// DSDIFF 1.5, section 2: 64-bit sizes.
const DSDIFF: Layout = Layout { start: 16, header_len: 12, lens: |h| (12, Some(be64(h, 4))), align: 2 };
/// DSF 1.01: sizes count their header.
const DSF: Layout = Layout { start: 0, header_len: 12, lens: |h| (12, Some(le64(h, 4).saturating_sub(12))), align: 1 };
/// Sizes that recorders leave in place when they do not know better, and RF64's "see elsewhere".
fn open_ended(size: u64) -> Option<u64> {
    (size != 0 && size != u64::from(u32::MAX)).then_some(size)
}

fn wave(source: &dyn ReadAt) -> io::Result<Option<ByteRange>> {
    let mark = source.bytes(0, 4, 4)?;
    match &mark[..] {
        b"riff" => chunk(source, &WAVE64, b"data"),
        b"RIFX" => chunk(source, &RIFX, b"data"),
        _ => chunk(source, &RIFF, b"data"),
    }
}

/// The first non-empty chunk of an id: what follows its header, as far as the file has it.
fn chunk(source: &dyn ReadAt, layout: &Layout, id: &[u8]) -> io::Result<Option<ByteRange>> {
    let mut at = layout.start;
    for _ in 0..CHUNKS_MAX {
        let mut header = [0; 24];
        let read = source.read_at(&mut header[..layout.header_len], at)?;
        if read < 8 {
            break;
        }
        let (header_len, len) = (layout.lens)(&header);
        let begin = at.saturating_add(header_len);
        let end = len.map_or(source.len(), |len| begin.saturating_add(len).min(source.len()));
        if header.starts_with(id) && end > begin {
            return Ok(Some(ByteRange::between(begin, end)));
        }
        if len.is_none() && !header.starts_with(id) {
            // An empty chunk, or one that reaches to the end.
            at = begin;
        } else {
            at = end.checked_next_multiple_of(layout.align).unwrap_or(u64::MAX);
        }
    }
    Ok(None)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

fn le32(bytes: &[u8], at: usize) -> u64 {
    u32::from_le_bytes(array(bytes, at)).into()
}

fn be32(bytes: &[u8], at: usize) -> u64 {
    u32::from_be_bytes(array(bytes, at)).into()
}

fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(array(bytes, at))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use proptest::prelude::*;

    use super::*;

    fn range(format: Format, bytes: &[u8]) -> Option<(u64, u64)> {
        audio_range(format, &bytes.to_vec()).unwrap().map(|range| (range.offset, range.len))
    }

    #[test]
    fn chunks_are_found_behind_odd_ones() {
        let riff = [b"RIFF\0\0\0\0WAVE".as_slice(), b"LIST\x03\0\0\0abc\0", b"data\x04\0\0\0ABCD"].concat();
        assert_eq!(range(Format::Wav, &riff), Some((32, 4)));
        let iff = [b"FORM\0\0\0\0AIFF".as_slice(), b"NAME\0\0\0\x01a\0", b"SSND\0\0\0\x09ABCD"].concat();
        assert_eq!(range(Format::Aiff, &iff), Some((30, 4)));
    }

    #[test]
    fn a_lying_size_reaches_to_the_end() {
        for size in [[0; 4], [0xff; 4], [0xff, 0xff, 0xff, 0x7f]] {
            let riff = [b"RIFF\0\0\0\0WAVEdata".as_slice(), &size, b"ABCDEF"].concat();
            assert_eq!(range(Format::Wav, &riff), Some((20, 6)));
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_or_hangs(bytes in prop::collection::vec(any::<u8>(), 0..300), mark in 0..3_usize) {
            let formats = [
                (Format::Wav, b"RIFF"), (Format::Wav, b"riff"), (Format::Aiff, b"FORM"),
            ];
            let (format, mark) = formats[mark];
            let bytes = [mark.as_slice(), &bytes].concat();
            let range = audio_range(format, &bytes).unwrap();
            prop_assert!(range.is_none_or(|range| range.end() <= bytes.len() as u64 || range.len == 0));
        }
    }
}
