//! Streams that are nothing but frames, each with a sync word: MPEG audio, ADTS, FLAC without its marker.

use super::Format;
use crate::adts::header as adts;
use crate::limits::SNIFF_BYTES;
use crate::mpeg::header::{find_frames, frames_at};

/// The format of a stream of frames in `body`.
///
/// Where a tag or the extension promises such audio, junk in front of the first frame is passed over,
/// and one frame that reaches to the end is enough.
pub(super) fn format(body: &[u8], tagged: bool, hint: Option<Format>) -> Option<Format> {
    if hint == Some(Format::Flac) && is_flac_frame(body) {
        return Some(Format::Flac);
    }
    let promised = tagged || matches!(hint, Some(Format::Mpeg | Format::Adts));
    let whole = body.len() < SNIFF_BYTES;
    if frames_at(body, 0, whole && (promised || ends_with_tag(body))).is_some() {
        return Some(Format::Mpeg);
    }
    if adts::frames_at(body, promised) {
        return Some(Format::Adts);
    }
    if !promised {
        return None;
    }
    let mpeg = find_frames(body, whole).map(|sync| sync.offset);
    let adts = adts::find_frames(body, false);
    match (mpeg, adts) {
        (Some(mpeg), Some(adts)) if adts < mpeg => Some(Format::Adts),
        (Some(_), _) => Some(Format::Mpeg),
        (None, adts) => adts.map(|_| Format::Adts),
    }
}

/// Whether an ID3v1 or APE tag stands at the end.
fn ends_with_tag(body: &[u8]) -> bool {
    [(128, &b"TAG"[..]), (32, b"APETAGEX")]
        .iter()
        .any(|(len, mark)| body.len().checked_sub(*len).is_some_and(|at| body[at..].starts_with(mark)))
}

/// Whether a FLAC frame with a right header checksum begins here (RFC 9639, section 9.1).
fn is_flac_frame(bytes: &[u8]) -> bool {
    const HEADER_MAX: usize = 16;
    let starts = bytes.first() == Some(&0xff) && bytes.get(1).is_some_and(|byte| byte & 0xfe == 0xf8);
    let ends = 6..=bytes.len().min(HEADER_MAX);
    starts && ends.into_iter().any(|end| crc8(&bytes[..end - 1]) == bytes[end - 1])
}

/// The checksum of FLAC frame headers (RFC 9639, section 9.1.8): polynomial x^8 + x^2 + x + 1.
fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc: u8, _| if crc & 0x80 == 0 { crc << 1 } else { crc << 1 ^ 7 })
    })
}
