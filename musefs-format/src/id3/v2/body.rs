//! The bytes between a tag's header and its end, with whole-tag unsynchronisation undone.

use std::io;

use super::super::unsync;
use crate::ReadAt;
use crate::limits::{ID3_STUFFINGS_MAX, ID3_WINDOW_BYTES};

/// Offsets count from the first byte behind the tag's header, stuffing left out.
pub(super) struct Body<'a> {
    source: &'a dyn ReadAt,
    offset: u64,
    len: u64,
    decoded: Option<Decoded>,
    window: Vec<u8>,
    window_at: u64,
}

struct Decoded {
    bytes: Vec<u8>,
    /// For each dropped byte, how many bytes that stay are before it.
    stuffing: Vec<u64>,
}

impl<'a> Body<'a> {
    /// `offset .. offset + len` of the source as it is.
    pub(super) fn plain(source: &'a dyn ReadAt, offset: u64, len: u64) -> Self {
        Self { source, offset, len, decoded: None, window: Vec::new(), window_at: 0 }
    }

    /// The same with stuffing left out; holds all of it in memory. `None` if there is too much stuffing.
    pub(super) fn decoded(source: &'a dyn ReadAt, offset: u64, len: u64) -> io::Result<Option<Self>> {
        let raw = source.bytes(offset, len, usize::MAX)?;
        let bytes = unsync::decode(&raw);
        let dropped = raw.windows(2).enumerate().filter(|(_, pair)| *pair == [0xff, 0]);
        let stuffing: Vec<_> = (0..).zip(dropped).map(|(earlier, (at, _))| at as u64 + 1 - earlier).collect();
        let len = bytes.len() as u64;
        let is_allowed = stuffing.len() <= ID3_STUFFINGS_MAX;
        let decoded = Some(Decoded { bytes, stuffing });
        Ok(is_allowed.then(|| Self { len, decoded, ..Self::plain(source, offset, 0) }))
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Some bytes from `at` on: all that there are, or more than any header needs.
    pub(super) fn window(&mut self, at: u64) -> io::Result<&[u8]> {
        let skipped = at.wrapping_sub(self.window_at);
        let held = self.window.len() as u64;
        let enough = (ID3_WINDOW_BYTES as u64 / 4).min(self.len.saturating_sub(at));
        if skipped > held || held - skipped < enough {
            self.window = self.bytes(at, ID3_WINDOW_BYTES as u64, ID3_WINDOW_BYTES)?;
            self.window_at = at;
        }
        Ok(&self.window[(at - self.window_at) as usize..])
    }

    /// The bytes of `at .. at + len` that exist, at most `limit`.
    pub(super) fn bytes(&self, at: u64, len: u64, limit: usize) -> io::Result<Vec<u8>> {
        let len = len.min(self.len.saturating_sub(at));
        match &self.decoded {
            Some(decoded) => decoded.bytes.bytes(at, len, limit),
            None => self.source.bytes(self.offset + at, len, limit),
        }
    }

    /// How many source bytes `at .. end` are, and which of them, counted from the first, are stuffing.
    ///
    /// A stuffed byte belongs to what is before it.
    pub(super) fn raw(&self, at: u64, end: u64) -> (u64, Vec<u32>) {
        let Some(decoded) = &self.decoded else { return (end - at, Vec::new()) };
        let before = |boundary: u64| decoded.stuffing.partition_point(|&dropped| dropped <= boundary);
        let dropped = &decoded.stuffing[before(at)..before(end)];
        let relative = (0..).zip(dropped).map(|(earlier, &dropped)| (dropped - at) as u32 + earlier).collect();
        (end - at + dropped.len() as u64, relative)
    }

    /// Of byte `at` in the source.
    pub(super) fn source_offset(&self, at: u64) -> u64 {
        self.offset + self.raw(0, at).0
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    #[test]
    fn stuffing_is_left_out_and_found_again() {
        let raw = vec![1, 0xff, 0, 2, 0xff, 0, 0xff, 0, 3];
        let mut body = Body::decoded(&raw, 0, 9).unwrap().unwrap();
        assert_eq!(body.window(0).unwrap(), [1, 0xff, 2, 0xff, 0xff, 3]);
        assert_eq!(body.raw(0, 2), (3, vec![2]));
        assert_eq!(body.raw(2, 5), (5, vec![2, 4]));
        assert_eq!(body.raw(5, 6), (1, vec![]));
        assert_eq!(body.source_offset(5), 8);
    }

    #[test]
    fn no_more_stuffing_than_the_limit() {
        for (count, allowed) in [(ID3_STUFFINGS_MAX, true), (ID3_STUFFINGS_MAX + 1, false)] {
            let raw = [0xff, 0].repeat(count);
            assert_eq!(Body::decoded(&raw, 0, raw.len() as u64).unwrap().is_some(), allowed);
        }
    }

    #[test]
    fn a_window_moves_along() {
        let raw: Vec<u8> = (0..200_000_u32).map(|at| at as u8).collect();
        let mut body = Body::plain(&raw, 7, 150_000);
        for at in [0_u64, 10, 16_000, 65_530, 149_990, 3, 150_000] {
            let window = body.window(at).unwrap();
            assert!(window.len() as u64 >= (150_000 - at).min(64), "{at}");
            assert!(window.first().is_none_or(|&byte| byte == (at + 7) as u8));
        }
    }
}
