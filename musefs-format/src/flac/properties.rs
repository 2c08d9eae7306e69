//! STREAMINFO (RFC 9639, section 8.2).

use crate::Properties;

/// What STREAMINFO says; `audio_bytes` is the length of the frames. `None` if the block is too short.
pub(crate) fn properties(block: &[u8], audio_bytes: u64) -> Option<Properties> {
    let packed = u64::from_be_bytes(*block.get(10..18)?.first_chunk()?);
    let rate = (packed >> 44) as u32;
    let samples = packed & ((1 << 36) - 1);
    let duration_ms = (samples > 0 && rate > 0).then(|| samples * 1000 / u64::from(rate));
    Some(Properties {
        codec: "flac".to_owned(),
        duration_ms,
        sample_rate_hz: (rate > 0).then_some(rate),
        channels: Some((packed >> 41 & 7) as u16 + 1),
        bits: Some((packed >> 36 & 31) as u16 + 1),
        bitrate_bps: duration_ms.filter(|ms| *ms > 0).map(|ms| audio_bytes.saturating_mul(8000) / ms),
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;

    fn block(rate: u64, channels: u64, bits: u64, samples: u64) -> Vec<u8> {
        let packed = rate << 44 | (channels - 1) << 41 | (bits - 1) << 36 | samples;
        [&[0; 10][..], &packed.to_be_bytes(), &[0; 16]].concat()
    }

    #[test]
    fn unknown_lengths_have_no_duration() {
        let known = properties(&block(44_100, 2, 24, 88_200), 1000).unwrap();
        assert_eq!((known.duration_ms, known.bitrate_bps), (Some(2000), Some(4000)));
        assert_eq!((known.sample_rate_hz, known.channels, known.bits), (Some(44_100), Some(2), Some(24)));
        let unknown = properties(&block(0, 8, 32, 0), 1000).unwrap();
        assert_eq!((unknown.duration_ms, unknown.bitrate_bps, unknown.sample_rate_hz), (None, None, None));
        assert!(properties(&block((1 << 20) - 1, 1, 4, (1 << 36) - 1), u64::MAX).is_some());
        assert_eq!(properties(&[0; 17], 1), None);
    }
}
