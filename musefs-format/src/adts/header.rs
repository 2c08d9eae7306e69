//! Frame headers of ADTS (ISO 13818-7, section 6.2), and the search for the place where frames begin.

use crate::limits::ADTS_SYNC_FRAMES;

/// Samples a second by index (ISO 13818-7, table 35).
const SAMPLE_RATES_HZ: [u32; 13] =
    [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];

/// The first seven bytes of a frame, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Samples a second.
    pub sample_rate_hz: u32,
    /// Number of channels; `None` if the stream itself tells.
    pub channels: Option<u16>,
    /// Bytes of the frame, header included.
    pub frame_bytes: usize,
    /// Blocks of 1024 samples.
    pub blocks: u32,
    /// What frames of one stream have in common.
    fixed: [u8; 3],
}

impl FrameHeader {
    /// Length of a header in bytes, without its checksum.
    pub const LEN: usize = 7;

    /// Decodes the header at the start of `bytes`; `None` if it is none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let &[0xff, b, c, d, e, f, g] = bytes.first_chunk::<{ Self::LEN }>()? else { return None };
        let sample_rate_hz = *SAMPLE_RATES_HZ.get(usize::from(c >> 2 & 15))?;
        let frame_bytes = usize::from(d & 3) << 11 | usize::from(e) << 3 | usize::from(f) >> 5;
        if b & 0xf6 != 0xf0 || frame_bytes <= Self::LEN {
            return None;
        }
        let channels = match u16::from(c & 1) << 2 | u16::from(d >> 6) {
            0 => None,
            7 => Some(8),
            count => Some(count),
        };
        let blocks = u32::from(g & 3) + 1;
        Some(Self { sample_rate_hz, channels, frame_bytes, blocks, fixed: [b, c, d & 0xc0] })
    }

    /// Whether both can be frames of one stream.
    pub fn same_stream(&self, other: &Self) -> bool {
        self.fixed == other.fixed
    }
}

/// Offset of the first frame that others like it follow. `whole`: nothing comes after `bytes`, so that a shorter chain
/// counts if it reaches the end, and at their very start a single frame.
pub fn find_frames(bytes: &[u8], whole: bool) -> Option<usize> {
    let marks = bytes.iter().enumerate().filter(|(_, byte)| **byte == 0xff);
    marks.map(|(at, _)| at).find(|at| frames_at(&bytes[*at..], whole && *at == 0))
}

/// Whether frames of one stream follow each other from here on; a `short` chain is one frame that reaches to the end.
pub fn frames_at(bytes: &[u8], short: bool) -> bool {
    let Some(first) = FrameHeader::parse(bytes) else { return false };
    let mut rest = bytes;
    for frames in 0..ADTS_SYNC_FRAMES {
        match FrameHeader::parse(rest).filter(|header| header.same_stream(&first)) {
            Some(header) => rest = rest.get(header.frame_bytes..).unwrap_or_default(),
            None => return frames > 0 && rest.is_empty() && (short || frames > 1),
        }
    }
    true
}

#[cfg(test)]
pub(crate) mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    /// MPEG-4 AAC LC, 44.1 kHz, stereo: `count` frames of `len` bytes.
    pub(crate) fn frames(len: usize, count: usize) -> Vec<u8> {
        let mut frame = vec![0x21; len];
        let size = [0x80 | (len >> 11) as u8, (len >> 3) as u8, (len << 5) as u8 | 0x1f, 0xfc];
        frame[..7].copy_from_slice(&[&[0xff, 0xf1, 0x50][..], &size].concat());
        frame.repeat(count)
    }

    #[test]
    fn headers_are_decoded() {
        let header = FrameHeader::parse(&frames(2050, 1)).unwrap();
        let told = (header.sample_rate_hz, header.channels, header.frame_bytes, header.blocks);
        assert_eq!(told, (44_100, Some(2), 2050, 1));
        for bytes in [
            &[0xff, 0xf1, 0x7c, 0x80, 1, 0, 0][..],
            &[0xff, 0xf3, 0x50, 0x80, 1, 0, 0],
            &[0xff, 0xe1, 0x50, 0x80, 1, 0, 0],
            &[0xff, 0xf1, 0x50, 0x80, 0, 0xe0, 0],
            &[0xff, 0xf1, 0x50, 0x80, 1, 0],
        ] {
            assert_eq!(FrameHeader::parse(bytes), None, "{bytes:02x?}");
        }
    }

    #[test]
    fn a_chain_has_the_demanded_length() {
        let junk = |count| [&[1; 9][..], &frames(20, count), &[1; 9]].concat();
        assert_eq!(find_frames(&junk(ADTS_SYNC_FRAMES), false), Some(9));
        assert_eq!(find_frames(&junk(ADTS_SYNC_FRAMES - 1), false), None);
        assert_eq!(find_frames(&frames(20, 1), true), Some(0));
        assert_eq!(find_frames(&frames(20, 1), false), None);
        let late = [&[1][..], &frames(20, 2)].concat();
        assert_eq!(find_frames(&late, false), Some(1));
        assert_eq!(find_frames(&late[..21], true), None);
    }
}
