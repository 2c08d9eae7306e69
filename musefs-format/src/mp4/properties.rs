//! Technical facts, from the first audio track.

use super::fragments::Fragments;
use super::sound::Sound;
use super::track::Track;
use crate::Properties;

/// What the tracks tell. `media_bytes` are those of all tracks together.
pub(super) fn properties(
    tracks: &[Track],
    movie: (u32, Option<u64>),
    fragments: Option<&Fragments>,
    media_bytes: u64,
) -> Properties {
    let Some(track) = first_audio(tracks) else {
        return Properties { duration_ms: millis(movie.1, movie.0), ..Properties::default() };
    };
    let Sound { codec, rate_hz, channels, bits, bitrate_bps } = track.sound.clone().unwrap_or_default();
    let told = millis(track.duration, track.timescale).or_else(|| millis(movie.1, movie.0));
    // Writers of fragments put 0, the length of the whole, or of the first fragment there: what plays is what counts.
    let played = fragments
        .filter(|fragments| !fragments.is_partial)
        .and_then(|fragments| millis(Some(fragments.end), track.timescale));
    let duration_ms = played.or(told);
    let is_alone = tracks.iter().all(|other| !matches!(&other.handler, b"vide" | b"soun") || other.id == track.id);
    let mean = duration_ms.map(|ms| u64::try_from(u128::from(media_bytes) * 8000 / u128::from(ms)).unwrap_or(u64::MAX));
    Properties {
        codec,
        duration_ms,
        sample_rate_hz: rate_hz,
        channels,
        bits,
        bitrate_bps: if is_alone { mean.filter(|mean| *mean > 0).or(bitrate_bps) } else { bitrate_bps },
    }
}

/// The track whose sound is meant when one speaks of the file's.
pub(super) fn first_audio(tracks: &[Track]) -> Option<&Track> {
    tracks.iter().find(|track| &track.handler == b"soun" && track.sound.is_some())
}

/// `None` for what is no play time.
fn millis(duration: Option<u64>, timescale: u32) -> Option<u64> {
    let (duration, timescale) = (u128::from(duration?), u128::from(timescale));
    let ms = (duration * 1000 + timescale / 2).checked_div(timescale)?;
    u64::try_from(ms).ok().filter(|ms| *ms > 0)
}
