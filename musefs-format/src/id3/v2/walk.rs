//! From frame to frame through a tag, over damaged ones.

use std::io;

use super::body::Body;
use super::kind::is_name;
use super::{Version, syncsafe};
use crate::limits::{ID3_FRAMES_MAX, ID3_RESYNC_BYTES_MAX, ID3_RESYNC_PLACES_MAX, ID3_RESYNCS_MAX};

/// A frame, or bytes among the frames that are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Of its first byte in the body.
    pub(super) at: u64,
    /// Bytes, header included.
    pub(super) len: u64,
    /// Absent for bytes that are no frame.
    pub(super) frame: Option<FrameHeader>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) name: String,
    pub(super) flags: [u8; 2],
}

/// Bytes that show whether a frame stands at a place: more than a header, for a header alone is no frame.
const LOOK_BYTES: u64 = 16;

/// What a walk met.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// In order, without gaps.
    pub(super) stretches: Vec<Stretch>,
    /// Behind the last of them.
    pub(super) end: u64,
    /// Whether sizes were written as another version writes them.
    pub(super) swapped: bool,
    /// What was odd.
    pub(super) problems: Vec<String>,
}

impl Walk {
    /// How many frames were found, to choose between two readings.
    pub(super) fn frames(&self) -> usize {
        self.stretches.iter().filter(|stretch| stretch.frame.is_some()).count()
    }
}

struct Candidate {
    header: FrameHeader,
    len: u64,
    lands: bool,
    swapped: bool,
}

/// Walks from `at` to the padding, the end, or where nothing makes sense any more.
pub(super) fn walk(body: &mut Body<'_>, version: Version, at: u64) -> io::Result<Walk> {
    let mut walk = Walk { end: at, ..Walk::default() };
    let mut resyncs = 0;
    while !is_padding(body.window(walk.end)?, version) {
        if walk.stretches.len() >= ID3_FRAMES_MAX {
            walk.problems.push(format!("ID3v2 tag has more than {ID3_FRAMES_MAX} frames; the others are kept unread"));
            break;
        }
        let at = walk.end;
        let candidate = candidate(body, version, at)?;
        // A size that leads nowhere is wrong if a frame begins before it is over.
        let claimed = candidate.as_ref().map_or(body.len(), |frame| at + frame.len);
        let next = match &candidate {
            Some(frame) if frame.lands => None,
            _ if resyncs >= ID3_RESYNCS_MAX => None,
            _ => {
                resyncs += 1;
                let header = if candidate.is_some() { version.frame_header_bytes() as u64 } else { 1 };
                next_frame(body, version, at + header, claimed)?
            }
        };
        match (candidate, next) {
            (_, Some(next)) => {
                walk.problems.push(format!("ID3v2 frame at byte {at} of the tag is damaged; it is kept unread"));
                walk.push(next - at, None);
            }
            (Some(frame), None) => {
                walk.swapped |= frame.swapped;
                walk.push(frame.len, Some(frame.header));
            }
            (None, None) => {
                walk.problems.push(format!("ID3v2 tag has no frame at its byte {at}; what follows is kept unread"));
                break;
            }
        }
    }
    Ok(walk)
}

impl Walk {
    fn push(&mut self, len: u64, frame: Option<FrameHeader>) {
        self.stretches.push(Stretch { at: self.end, len, frame });
        self.end += len;
    }
}

fn is_padding(bytes: &[u8], version: Version) -> bool {
    bytes.len() <= version.frame_header_bytes() || bytes[..version.name_bytes()].iter().all(|&byte| byte == 0)
}

/// The frame at `at` if there is a header and the frame fits; of two readings of its size the one that lands.
fn candidate(body: &mut Body<'_>, version: Version, at: u64) -> io::Result<Option<Candidate>> {
    let Some((header, sizes)) = frame_header(body.window(at)?, version) else { return Ok(None) };
    let mut fitting = None;
    for (size, swapped) in sizes {
        let len = version.frame_header_bytes() as u64 + u64::from(size);
        if len > body.len() - at {
            continue;
        }
        let lands = lands(&body.bytes(at + len, LOOK_BYTES, LOOK_BYTES as usize)?, version);
        let candidate = Candidate { header: header.clone(), len, lands, swapped };
        if lands {
            return Ok(Some(candidate));
        }
        fitting.get_or_insert(candidate);
    }
    Ok(fitting)
}

type Sizes = Vec<(u32, bool)>;

/// Name, flags and the readings of the size, the standard's first.
fn frame_header(bytes: &[u8], version: Version) -> Option<(FrameHeader, Sizes)> {
    if version == Version::V22 {
        let &[a, b, c, d, e, f, ..] = bytes else { return None };
        let name = is_name(&[a, b, c]).then(|| text(&[a, b, c]))?;
        return Some((FrameHeader { name, flags: [0; 2] }, vec![(u32::from_be_bytes([0, d, e, f]), false)]));
    }
    let &[a, b, c, d, e, f, g, h, flag, more, ..] = bytes else { return None };
    let name = is_name(&[a, b, c, d]).then(|| text(&[a, b, c, d]))?;
    let plain = u32::from_be_bytes([e, f, g, h]);
    let sizes = match (version, syncsafe(plain)) {
        (Version::V24, Some(safe)) if safe != plain => vec![(safe, false), (plain, true)],
        (Version::V24, None) => vec![(plain, true)],
        (_, Some(safe)) if safe != plain => vec![(plain, false), (safe, true)],
        _ => vec![(plain, false)],
    };
    Some((FrameHeader { name, flags: [flag, more] }, sizes))
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).trim_end_matches(['\0', ' ']).to_owned()
}

/// Whether a frame may end here: at the end, before padding, or before another frame.
fn lands(bytes: &[u8], version: Version) -> bool {
    is_padding(bytes, version) || is_name(&bytes[..version.name_bytes()])
}

/// The first place of `from .. to` (not too far) where a frame stands that others can follow.
fn next_frame(body: &mut Body<'_>, version: Version, from: u64, to: u64) -> io::Result<Option<u64>> {
    let to = to.min(from + ID3_RESYNC_BYTES_MAX);
    let (mut at, mut places) = (from, 0);
    while at < to && places < ID3_RESYNC_PLACES_MAX {
        let window = body.window(at)?;
        let Some(step) = window.iter().position(u8::is_ascii_uppercase) else {
            if window.is_empty() {
                break;
            }
            at += window.len() as u64;
            continue;
        };
        at += step as u64;
        let candidate = candidate(body, version, at)?;
        places += usize::from(candidate.is_some());
        let is_frame = candidate.is_some_and(|frame| {
            let is_whole = version == Version::V22 || frame.header.name.len() == 4;
            frame.lands && is_whole && !frame.swapped && frame.len > version.frame_header_bytes() as u64
        });
        if is_frame && at < to {
            return Ok(Some(at));
        }
        at += 1;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    fn frame(name: &str, size: [u8; 4], payload: &[u8]) -> Vec<u8> {
        [name.as_bytes(), &size, &[0, 0], payload].concat()
    }

    fn names(bytes: &[u8], version: Version) -> (Vec<String>, bool) {
        let source = bytes.to_vec();
        let mut body = Body::plain(&source, 0, bytes.len() as u64);
        let walk = walk(&mut body, version, 0).unwrap();
        let name = |stretch: &Stretch| stretch.frame.as_ref().map_or(String::new(), |frame| frame.name.clone());
        (walk.stretches.iter().map(name).collect(), walk.swapped)
    }

    #[test]
    fn both_readings_of_a_size_are_tried() {
        let long = [&[0][..], &[b'x'; 199]].concat();
        let last = frame("TPE1", [0, 0, 0, 2], b"\0a");
        let standard = [frame("TIT2", [0, 0, 1, 72], &long), last.clone()].concat();
        let plain = [frame("TIT2", [0, 0, 0, 200], &long), last.clone()].concat();
        for (bytes, version, swapped) in [
            (&standard, Version::V24, false),
            (&plain, Version::V24, true),
            (&plain, Version::V23, false),
            (&standard, Version::V23, true),
        ] {
            assert_eq!(names(bytes, version), (vec!["TIT2".to_owned(), "TPE1".to_owned()], swapped), "{version:?}");
        }
    }

    #[test]
    fn a_damaged_frame_is_passed() {
        let good = frame("TPE1", [0, 0, 0, 2], b"\0a");
        let found = |broken: Vec<u8>| {
            names(&[good.clone(), broken, good.clone(), good.clone(), vec![0; 100]].concat(), Version::V23).0
        };
        for broken in [
            frame("TIT2", [0, 0, 1, 90], b"\0past the end"),
            frame("TIT2", [0, 0, 0, 12], b"\0into next"),
            frame("t??2", [0, 0, 0, 3], b"\0no"),
            frame("TIT2", [0xff; 4], b"\0no"),
        ] {
            assert_eq!(found(broken), ["TPE1", "", "TPE1", "TPE1"]);
        }
        assert_eq!(found(frame("TIT2", [0, 0, 0, 9], b"\0too short")), ["TPE1", "TIT2", "", "TPE1", "TPE1"]);
    }

    #[test]
    fn no_more_frames_than_the_limit() {
        for (count, odd) in [(ID3_FRAMES_MAX, false), (ID3_FRAMES_MAX + 1, true)] {
            let source = frame("TPE1", [0, 0, 0, 2], b"\0a").repeat(count);
            let mut body = Body::plain(&source, 0, source.len() as u64);
            let walk = walk(&mut body, Version::V23, 0).unwrap();
            assert_eq!((walk.frames(), !walk.problems.is_empty()), (ID3_FRAMES_MAX, odd));
        }
    }

    #[test]
    fn a_search_goes_as_far_as_the_limit() {
        let good = frame("TPE1", [0, 0, 0, 2], b"\0a");
        for (junk, found) in [(ID3_RESYNC_BYTES_MAX as usize, 1), (ID3_RESYNC_BYTES_MAX as usize + 1, 0)] {
            let source = [vec![b'?'; junk], good.repeat(2)].concat();
            let frames = names(&source, Version::V23).0.iter().filter(|name| !name.is_empty()).count();
            assert_eq!(frames, found * 2, "{junk}");
        }
        for (places, found) in [(ID3_RESYNC_PLACES_MAX - 1, 1), (ID3_RESYNC_PLACES_MAX, 0)] {
            // Headers of frames that lead nowhere.
            let lures = frame("T111", [0; 4], b"?").repeat(places);
            let source = [b"?".to_vec(), lures, good.repeat(2)].concat();
            let frames = names(&source, Version::V23).0.iter().filter(|name| !name.is_empty()).count();
            assert_eq!(frames, found * 2, "{places}");
        }
    }

    #[test]
    fn no_more_searches_than_the_limit() {
        let good = frame("TPE1", [0, 0, 0, 2], b"\0a");
        let source = [&good[..], &good, b"?"].concat().repeat(ID3_RESYNCS_MAX);
        let found = names(&source, Version::V23).0;
        // One search is for the end of the frame before the damage, one for the frame behind it.
        assert_eq!(found.iter().filter(|name| name.is_empty()).count(), ID3_RESYNCS_MAX / 2);
    }
}
