//! What the first frame tells of all frames: Xing or Info with LAME's extension, and Fraunhofer's VBRI.
//!
//! Sources: "MP3 Info Tag rev 1" (gabriel.mp3-tech.org), and the VBRI header as described by codeproject's "MPEG Audio
//! Frame Header", section 2.3.

use super::header::FrameHeader;

/// Counts of frames and bytes, as far as the first frame tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// Frames, without the one that tells it.
    pub(super) frames: Option<u32>,
    /// Bytes of all frames.
    pub(super) bytes: Option<u32>,
    /// Samples that the encoder put before and behind the music.
    pub(super) silence_samples: u32,
}

/// Where a VBRI header stands in a frame: 32 bytes behind the frame's header.
const VBRI_OFFSET: usize = 36;

/// Reads the summary in a frame at the start of `frame`; `None` if there is none.
pub(super) fn summary(frame: &[u8], header: &FrameHeader) -> Option<Summary> {
    if header.layer != 3 {
        return None;
    }
    let xing =
        |offset: usize| frame.get(offset..).filter(|bytes| bytes.starts_with(b"Xing") || bytes.starts_with(b"Info"));
    let checksum = if header.checked { 2 } else { 0 };
    // Writers disagree on whether the checksum moves the header.
    let found = xing(header.xing_offset()).or_else(|| xing(header.xing_offset() + checksum));
    found.and_then(parse_xing).or_else(|| parse_vbri(frame.get(VBRI_OFFSET..)?))
}

fn parse_xing(bytes: &[u8]) -> Option<Summary> {
    let flags = be32(bytes.get(4..)?)?;
    let mut at = 8;
    let mut field = |mask: u32, len: usize| {
        let present = flags & mask != 0;
        let value = bytes.get(at..).and_then(be32).filter(|_| present);
        at += if present { len } else { 0 };
        value
    };
    let (frames, size, _, _) = (field(1, 4), field(2, 4), field(4, 100), field(8, 4));
    let lame = bytes.get(at..).unwrap_or_default();
    let silence_samples = match lame {
        [b'L', b'A' | b'a', ..] => lame.get(21..24).map_or(0, |packed| {
            let (before, behind) = (
                u32::from(packed[0]) << 4 | u32::from(packed[1]) >> 4,
                u32::from(packed[1] & 15) << 8 | u32::from(packed[2]),
            );
            before + behind
        }),
        _ => 0,
    };
    Some(Summary { frames, bytes: size, silence_samples })
}

fn parse_vbri(bytes: &[u8]) -> Option<Summary> {
    let bytes = bytes.strip_prefix(b"VBRI")?;
    Some(Summary { bytes: be32(bytes.get(6..)?), frames: be32(bytes.get(10..)?), silence_samples: 0 })
}

fn be32(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    const HEADER: [u8; 4] = [0xff, 0xfb, 0x90, 0x64];

    #[test]
    fn xing_and_lame_are_read() {
        let header = FrameHeader::parse(&HEADER).unwrap();
        let lame = [&b"LAME3.100"[..], &[0; 12], &[0x24, 0x05, 0x0e]].concat();
        let xing =
            [&b"Info"[..], &15_u32.to_be_bytes(), &100_u32.to_be_bytes(), &41_700_u32.to_be_bytes(), &[0; 104], &lame]
                .concat();
        let frame = [&HEADER[..], &[0; 32], &xing].concat();
        let all = Summary { frames: Some(100), bytes: Some(41_700), silence_samples: 576 + 1294 };
        assert_eq!(summary(&frame, &header), Some(all));
        assert_eq!(summary(&frame[..46], &header), Some(Summary { frames: None, ..Summary::default() }));
    }

    #[test]
    fn vbri_is_read() {
        let header = FrameHeader::parse(&HEADER).unwrap();
        let frame = [&HEADER[..], &[0; 32], b"VBRI", &[0; 6], &[0, 0, 1, 0], &[0, 0, 0, 9]].concat();
        assert_eq!(summary(&frame, &header), Some(Summary { frames: Some(9), bytes: Some(256), silence_samples: 0 }));
        assert_eq!(summary(&HEADER, &header), None);
    }
}
