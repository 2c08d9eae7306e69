//! Frame headers of MPEG audio, and the search for the place where frames begin.
//!
//! Eleven set bits are found everywhere in junk and pictures (field report: 800 false ones before the
//! first true frame), so that a frame counts only when others like it follow exactly where it ends.

use crate::limits::{MPEG_FREE_FRAME_BYTES_MAX, MPEG_SYNC_FRAMES};

/// The MPEG generation, which decides sample rates and frame sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// ISO 11172-3: 32 to 48 kHz.
    Mpeg1,
    /// ISO 13818-3: 16 to 24 kHz.
    Mpeg2,
    /// Fraunhofer's extension: 8 to 12 kHz.
    Mpeg25,
}

/// The first four bytes of a frame (ISO 11172-3, section 2.4.1.3), decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// The generation.
    pub version: Version,
    /// 1, 2 or 3.
    pub layer: u8,
    /// Bits a second; `None` in free format, where only the distance of two frames tells.
    pub bitrate_bps: Option<u32>,
    /// Samples a second.
    pub sample_rate_hz: u32,
    /// Whether the frame is one slot longer.
    pub padded: bool,
    /// Whether a 16-bit checksum follows the header.
    pub checked: bool,
    /// 1 or 2.
    pub channels: u16,
}

const BITRATES_1_1: [u16; 14] = [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448];
const BITRATES_1_2: [u16; 14] = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];
const BITRATES_1_3: [u16; 14] = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_2_1: [u16; 14] = [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256];
const BITRATES_2_23: [u16; 14] = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

impl FrameHeader {
    /// Length of a header in bytes.
    pub const LEN: usize = 4;

    /// Decodes the header at the start of `bytes`; `None` if it is none or uses reserved values.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let &[0xff, b, c, d, ..] = bytes else { return None };
        if b & 0xe0 != 0xe0 {
            return None;
        }
        let version = match b >> 3 & 3 {
            0 => Version::Mpeg25,
            2 => Version::Mpeg2,
            3 => Version::Mpeg1,
            _ => return None,
        };
        let layer = match b >> 1 & 3 {
            0 => return None,
            coded => 4 - coded,
        };
        let rate = *[44_100, 48_000, 32_000].get(usize::from(c >> 2 & 3))?;
        let sample_rate_hz = match version {
            Version::Mpeg1 => rate,
            Version::Mpeg2 => rate / 2,
            Version::Mpeg25 => rate / 4,
        };
        let bitrate_bps = match c >> 4 {
            0 => None,
            15 => return None,
            index => Some(u32::from(bitrates(version, layer)[usize::from(index) - 1]) * 1000),
        };
        let channels = if d >> 6 == 3 { 1 } else { 2 };
        Some(Self { version, layer, bitrate_bps, sample_rate_hz, padded: c & 2 != 0, checked: b & 1 == 0, channels })
    }

    /// Samples of one channel that a frame holds.
    pub fn samples(&self) -> u32 {
        match (self.layer, self.version) {
            (1, _) => 384,
            (3, Version::Mpeg2 | Version::Mpeg25) => 576,
            _ => 1152,
        }
    }

    /// Bytes of the frame, header included; `None` in free format.
    pub fn frame_bytes(&self) -> Option<usize> {
        let bits = u64::from(self.bitrate_bps?);
        let slots = u64::from(self.samples()) / 8 / self.slot_bytes() as u64 * bits / u64::from(self.sample_rate_hz);
        Some(slots as usize * self.slot_bytes() + self.padding_bytes())
    }

    /// Whether both can be frames of one stream: mode and bit rate may change between frames, these may not.
    pub fn same_stream(&self, other: &Self) -> bool {
        self.version == other.version
            && self.layer == other.layer
            && self.sample_rate_hz == other.sample_rate_hz
            && self.bitrate_bps.is_none() == other.bitrate_bps.is_none()
    }

    /// Where a Xing or Info header stands in a layer III frame: behind header, checksum and side information.
    pub fn xing_offset(&self) -> usize {
        let side = match (self.version, self.channels) {
            (Version::Mpeg1, 1) => 17,
            (Version::Mpeg1, _) => 32,
            (_, 1) => 9,
            _ => 17,
        };
        Self::LEN + side
    }

    fn slot_bytes(&self) -> usize {
        if self.layer == 1 { 4 } else { 1 }
    }

    fn padding_bytes(&self) -> usize {
        if self.padded { self.slot_bytes() } else { 0 }
    }
}

fn bitrates(version: Version, layer: u8) -> &'static [u16; 14] {
    match (version, layer) {
        (Version::Mpeg1, 1) => &BITRATES_1_1,
        (Version::Mpeg1, 2) => &BITRATES_1_2,
        (Version::Mpeg1, _) => &BITRATES_1_3,
        (_, 1) => &BITRATES_2_1,
        _ => &BITRATES_2_23,
    }
}

/// The place where frames begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// Of the first byte of the first frame.
    pub offset: usize,
    /// Its header.
    pub header: FrameHeader,
    /// Its length in bytes.
    pub frame_bytes: usize,
}

/// Finds the first frame that others like it follow. `whole`: nothing comes after `bytes` but, perhaps,
/// tags; then a chain may be shorter if it reaches the end.
///
/// Takes a few steps per byte, and in free format at most the longest frame per candidate.
pub fn find_frames(bytes: &[u8], whole: bool) -> Option<Sync> {
    let mut offset = 0;
    while let Some(step) = bytes.get(offset..)?.iter().position(|&byte| byte == 0xff) {
        offset += step;
        if let Some(sync) = frames_at(bytes, offset, whole) {
            return Some(sync);
        }
        offset += 1;
    }
    None
}

/// The frame at `offset`, if enough others like it follow.
pub fn frames_at(bytes: &[u8], offset: usize, whole: bool) -> Option<Sync> {
    let header = FrameHeader::parse(bytes.get(offset..)?)?;
    let Some(frame_bytes) = header.frame_bytes() else { return free_frames_at(bytes, offset, header, whole) };
    let sync = Sync { offset, header, frame_bytes };
    let length = |frame: &FrameHeader| frame.frame_bytes();
    (has_xing(bytes, offset, &header) || chain_holds(bytes, &sync, whole, length)).then_some(sync)
}

/// Free format: the distance to the next header of the stream is the length of all frames, but for their padding.
fn free_frames_at(bytes: &[u8], offset: usize, header: FrameHeader, whole: bool) -> Option<Sync> {
    let shortest = FrameHeader::LEN + 1;
    let window = &bytes[offset..bytes.len().min(offset + MPEG_FREE_FRAME_BYTES_MAX)];
    (shortest..window.len()).filter(|&at| window[at] == 0xff).find_map(|frame_bytes| {
        let next = FrameHeader::parse(&window[frame_bytes..])?;
        let unpadded = frame_bytes.checked_sub(header.padding_bytes())?;
        let sync = Sync { offset, header, frame_bytes };
        let length = |frame: &FrameHeader| Some(unpadded + frame.padding_bytes());
        (header.same_stream(&next) && chain_holds(bytes, &sync, whole, length)).then_some(sync)
    })
}

fn has_xing(bytes: &[u8], offset: usize, header: &FrameHeader) -> bool {
    let mark = bytes.get(offset + header.xing_offset()..).unwrap_or_default();
    header.layer == 3 && (mark.starts_with(b"Xing") || mark.starts_with(b"Info"))
}

/// Whether frames of the stream follow the first one, each where the one before it ends.
fn chain_holds(bytes: &[u8], sync: &Sync, whole: bool, length: impl Fn(&FrameHeader) -> Option<usize>) -> bool {
    let mut at = sync.offset + sync.frame_bytes;
    for frames in 1..MPEG_SYNC_FRAMES {
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.len() < FrameHeader::LEN || (whole && is_tag(rest)) {
            // A cut or single frame counts only at the very start or if it ends with the file. In free format, whose
            // frames may have any length, a short chain in the midst of junk would come by chance.
            let is_chance = sync.header.bitrate_bps.is_none() && sync.offset > 0;
            return !is_chance && (frames > 1 || (whole && (sync.offset == 0 || at <= bytes.len())));
        }
        match FrameHeader::parse(rest).filter(|header| header.same_stream(&sync.header)).and_then(|next| length(&next))
        {
            Some(len) => at += len,
            None => return false,
        }
    }
    true
}

fn is_tag(bytes: &[u8]) -> bool {
    [&b"TAG"[..], b"APETAGEX", b"LYRICSBEGIN", b"ID3", b"3DI"].iter().any(|mark| bytes.starts_with(mark))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    /// MPEG 1 layer III, 128 kbit/s, 44.1 kHz: 417 bytes.
    const HEADER: [u8; 4] = [0xff, 0xfb, 0x90, 0x64];

    fn frames(header: [u8; 4], len: usize, count: usize) -> Vec<u8> {
        let mut frame = vec![0; len];
        frame[..4].copy_from_slice(&header);
        frame.repeat(count)
    }

    #[test]
    fn lengths_follow_the_tables() {
        let cases: [([u8; 4], u8, u32, u32, usize); 7] = [
            (HEADER, 3, 44_100, 1152, 417),
            ([0xff, 0xfb, 0x92, 0xc4], 3, 44_100, 1152, 418),
            ([0xff, 0xfd, 0xc4, 0x00], 2, 48_000, 1152, 768),
            ([0xff, 0xff, 0xe8, 0x00], 1, 32_000, 384, 672),
            ([0xff, 0xf3, 0x84, 0x00], 3, 24_000, 576, 192),
            ([0xff, 0xe3, 0xe8, 0x00], 3, 8_000, 576, 1440),
            ([0xff, 0xf6, 0x10, 0x00], 1, 22_050, 384, 68),
        ];
        for (bytes, layer, rate, samples, len) in cases {
            let header = FrameHeader::parse(&bytes).unwrap();
            assert_eq!(
                (header.layer, header.sample_rate_hz, header.samples(), header.frame_bytes()),
                (layer, rate, samples, Some(len)),
                "{bytes:02x?}"
            );
        }
    }

    #[test]
    fn reserved_values_are_no_header() {
        for bytes in [
            &[0xff, 0xfb, 0xf0, 0][..],
            &[0xff, 0xfb, 0x9c, 0],
            &[0xff, 0xeb, 0x90, 0],
            &[0xff, 0xf9, 0x90, 0],
            &[0xff, 0x1b, 0x90, 0],
            &[0xff, 0xfb, 0x90],
        ] {
            assert_eq!(FrameHeader::parse(bytes), None, "{bytes:02x?}");
        }
    }

    #[test]
    fn junk_with_false_headers_is_passed() {
        let mut bytes: Vec<u8> = HEADER.iter().copied().chain([1; 20]).collect::<Vec<_>>().repeat(100);
        let junk = bytes.len();
        bytes.extend(frames(HEADER, 417, 5));
        let sync = find_frames(&bytes, true).unwrap();
        assert_eq!((sync.offset, sync.frame_bytes), (junk, 417));
    }

    #[test]
    fn a_chain_has_exactly_the_demanded_length() {
        let mut bytes = frames(HEADER, 417, MPEG_SYNC_FRAMES);
        bytes.extend([1; 500]);
        assert!(find_frames(&bytes, false).is_some());
        let mut short = frames(HEADER, 417, MPEG_SYNC_FRAMES - 1);
        short.extend([1; 500]);
        assert_eq!(find_frames(&short, false), None);
        short.truncate(417 * (MPEG_SYNC_FRAMES - 1));
        assert!(find_frames(&short, false).is_some(), "the window ends before the chain breaks");
    }

    #[test]
    fn one_frame_counts_where_the_file_ends_with_it() {
        let one = frames(HEADER, 417, 1);
        assert!(find_frames(&one, true).is_some());
        assert!(find_frames(&one[..300], true).is_some(), "cut short");
        assert_eq!(find_frames(&one, false), None);
        let tagged = [&one[..], b"TAG", &[0; 125]].concat();
        assert!(find_frames(&tagged, true).is_some());
        let junk = [&[0][..], &one[..300]].concat();
        assert_eq!(find_frames(&junk, true), None);
    }

    #[test]
    fn free_format_is_measured() {
        let bytes = frames([0xff, 0xfb, 0x00, 0x64], 1234, 5);
        let sync = find_frames(&bytes, false).unwrap();
        assert_eq!((sync.offset, sync.frame_bytes), (0, 1234));
        let junk = [&[0][..], &frames([0xff, 0xfb, 0x00, 0x64], 1234, 3)].concat();
        assert_eq!(find_frames(&junk, true), None);
        for (len, found) in [(MPEG_FREE_FRAME_BYTES_MAX - 4, true), (MPEG_FREE_FRAME_BYTES_MAX - 3, false)] {
            let bytes = frames([0xff, 0xfb, 0x00, 0x64], len, 5);
            assert_eq!(find_frames(&bytes, false).is_some(), found, "{len}");
        }
    }
}
