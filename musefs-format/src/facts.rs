//! What a reader found in a source.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::picture::Look;
use crate::{Format, Refusal, Tags};

/// A range of a source, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ByteRange {
    /// Of the first byte.
    pub offset: u64,
    /// In bytes.
    pub len: u64,
}

impl ByteRange {
    /// The range from `offset` to `end`, empty when `end` lies before it.
    pub fn between(offset: u64, end: u64) -> Self {
        Self { offset, len: end.saturating_sub(offset) }
    }

    /// Of the first byte behind the range; saturates.
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}

/// Technical facts of the audio. Absent means that the source does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Codec name, lower-case: `flac`, `mp3`, `aac`, `alac`, `opus`…
    pub codec: String,
    /// Play time in milliseconds.
    pub duration_ms: Option<u64>,
    /// Samples a second.
    pub sample_rate_hz: Option<u32>,
    /// Number of channels.
    pub channels: Option<u16>,
    /// Bits a sample, for codecs that have it.
    pub bits: Option<u16>,
    /// Mean bits a second of the audio.
    pub bitrate_bps: Option<u64>,
}

impl Properties {
    /// The same with the length of `samples` of each channel, whose stream has `audio_bytes`. Unknown without a rate.
    pub(crate) fn lasting(mut self, samples: u64, audio_bytes: u64) -> Self {
        if let Some(rate) = self.sample_rate_hz.filter(|rate| *rate > 0 && samples > 0) {
            self.duration_ms = Some(scale(samples, 1000, rate.into()));
            self.bitrate_bps = Some(scale(audio_bytes.saturating_mul(8), rate.into(), samples));
        }
        self
    }
}

/// `value * numerator / denominator`, rounded.
pub(crate) fn scale(value: u64, numerator: u64, denominator: u64) -> u64 {
    let (value, numerator, denominator) = (u128::from(value), u128::from(numerator), u128::from(denominator.max(1)));
    u64::try_from((value * numerator + denominator / 2) / denominator).unwrap_or(u64::MAX)
}

/// A picture inside a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Picture type 0–20 (ID3v2.4 frames, section 4.14): 3 is the front cover.
    pub kind: u8,
    /// MIME type, sniffed from the picture's first bytes; what the container claims if those tell nothing.
    pub mime: String,
    /// Pixels; 0 when unknown.
    pub width: u32,
    /// Pixels; 0 when unknown.
    pub height: u32,
    /// What the container says of it.
    pub description: String,
    /// Where its bytes are in the source. Empty when they are not one plain range there.
    pub range: ByteRange,
}

impl Picture {
    /// Takes what the picture's bytes say for what the container claims.
    pub(crate) fn adopt(&mut self, look: Look) {
        look.mime.clone_into(&mut self.mime);
        if look.width > 0 {
            (self.width, self.height) = (look.width, look.height);
        }
    }
}

/// The format's own description of a source: opaque to everybody but the container that made it.
///
/// The first byte is the version of its layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure(pub Vec<u8>);

impl Structure {
    /// The description that `parts` are, in this version of their layout.
    pub(crate) fn of(version: u8, parts: &impl Serialize) -> Self {
        let mut bytes = vec![version];
        bytes.extend(postcard::to_stdvec(parts).expect("plain data is always encoded"));
        Self(bytes)
    }

    /// The parts again, if they have this version and are sound: what a splice computes with them must stay within the
    /// source.
    ///
    /// # Errors
    /// [`Refusal::Structure`] otherwise.
    pub(crate) fn parts<T: DeserializeOwned>(
        &self,
        version: u8,
        is_sound: impl FnOnce(&T) -> bool,
    ) -> Result<T, Refusal> {
        let bytes = match self.0.split_first() {
            Some((stored, bytes)) if *stored == version => bytes,
            Some((stored, _)) => return Err(Refusal::Structure(format!("it has version {stored}, not {version}"))),
            None => return Err(Refusal::Structure("it is empty".to_owned())),
        };
        let parts = postcard::from_bytes(bytes).map_err(|error| Refusal::Structure(error.to_string()))?;
        if is_sound(&parts) { Ok(parts) } else { Err(Refusal::Structure("its parts do not add up".to_owned())) }
    }
}

/// Something odd that was met and survived, told in words for the owner of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(pub String);

/// Whether edits can reach the bytes of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Editing {
    /// A splice can be built from the structure.
    Possible,
    /// Served whole always, with the reason in words.
    Opaque(String),
}

/// Everything that a probe learns of a source.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The container found.
    pub format: Format,
    /// Technical facts.
    pub properties: Properties,
    /// The encoded audio, without tags before or behind it.
    pub audio: ByteRange,
    /// Canonical keys and values, in the source's order of values.
    pub tags: Tags,
    /// In the source's order.
    pub pictures: Vec<Picture>,
    /// Empty when [`Editing::Opaque`].
    pub structure: Structure,
    /// Whether edits reach the bytes.
    pub editing: Editing,
    /// What was odd.
    pub problems: Vec<Problem>,
}
