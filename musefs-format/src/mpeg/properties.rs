//! Technical facts, from the first frames and the length of the audio.

use super::header::{FrameHeader, Sync};
use super::summary::{Summary, summary};
use crate::Properties;
use crate::facts::scale;

/// What the frames in `window` tell, the first of which is `sync`; `audio_bytes` are those of all frames.
pub(super) fn properties(window: &[u8], sync: &Sync, audio_bytes: u64) -> Properties {
    let header = &sync.header;
    let frames = window.get(sync.offset..).unwrap_or_default();
    let summary = summary(frames, header).unwrap_or_default();
    let holds_all = frames.len() as u64 >= audio_bytes;
    let samples = counted_samples(header, &summary, audio_bytes, holds_all)
        .unwrap_or_else(|| estimated_samples(frames, sync, audio_bytes).unwrap_or(0));
    let rate = u64::from(header.sample_rate_hz);
    let played = samples.checked_sub(u64::from(summary.silence_samples)).filter(|samples| *samples > 0);
    Properties {
        codec: format!("mp{}", header.layer),
        duration_ms: Some(scale(played.unwrap_or(samples), 1000, rate)),
        sample_rate_hz: Some(header.sample_rate_hz),
        channels: Some(header.channels),
        bits: None,
        bitrate_bps: (samples > 0).then(|| scale(audio_bytes * 8, rate, samples)),
    }
}

/// From the counts of the first frame. Where its bytes are not about those of the audio, the file was cut or joined,
/// and the counts hold for what they were made of: by them the length is estimated, unless all frames are at hand.
fn counted_samples(header: &FrameHeader, summary: &Summary, audio_bytes: u64, holds_all: bool) -> Option<u64> {
    let frames = u64::from(summary.frames.filter(|frames| *frames > 0)?);
    let samples = frames * u64::from(header.samples());
    let told_bytes = u64::from(summary.bytes.unwrap_or(0));
    if told_bytes > 0 && told_bytes.abs_diff(audio_bytes) > told_bytes.max(audio_bytes) / 16 {
        return (!holds_all).then(|| scale(samples, audio_bytes, told_bytes));
    }
    Some(samples)
}

/// From the mean length of the frames in the window.
fn estimated_samples(frames: &[u8], sync: &Sync, audio_bytes: u64) -> Option<u64> {
    let (mut at, mut count) = (0, 0_u64);
    while let Some(header) = frames.get(at..).and_then(FrameHeader::parse).filter(|next| next.same_stream(&sync.header))
    {
        at += header.frame_bytes().unwrap_or(sync.frame_bytes);
        count += 1;
    }
    (at > 0).then(|| scale(count * u64::from(sync.header.samples()), audio_bytes, at as u64))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;
    use crate::mpeg::header::find_frames;

    const HEADER: [u8; 4] = [0xff, 0xfb, 0x90, 0x64];

    fn frames(count: usize, first: &[u8]) -> Vec<u8> {
        let frame = [&HEADER[..], &[0; 413]].concat();
        let mut bytes = frame.repeat(count);
        bytes[36..36 + first.len()].copy_from_slice(first);
        bytes
    }

    fn duration(bytes: &[u8], audio_bytes: u64) -> u64 {
        let sync = find_frames(bytes, true).unwrap();
        properties(bytes, &sync, audio_bytes).duration_ms.unwrap()
    }

    fn xing(frames: u32, bytes: u32) -> Vec<u8> {
        [&b"Xing"[..], &3_u32.to_be_bytes(), &frames.to_be_bytes(), &bytes.to_be_bytes()].concat()
    }

    #[test]
    fn counts_are_believed_while_they_can_be_true() {
        let second = 44_100 / 1152;
        assert_eq!(duration(&frames(100, &[]), 417 * 1000), 1000 * 1000 * 1152 / 44_100);
        assert_eq!(duration(&frames(100, &xing(second, 417 * second)), 417 * 39), 993);
        // A tenth of the file that the counts were made of.
        assert_eq!(duration(&frames(100, &xing(10_000, 417 * 10_000)), 417 * 1000), 26_122);
        // Ten of them, joined.
        assert_eq!(duration(&frames(100, &xing(100, 417 * 100)), 417 * 1000), 26_122);
    }
}
