//! Which format a file has: by content, with the extension as a hint.

use serde::{Deserialize, Serialize};

/// The containers that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Format {
    /// Native FLAC.
    Flac,
    /// MPEG audio layer I–III, with or without tags.
    Mpeg,
    /// AAC in ADTS frames.
    Adts,
    /// MP4, M4A, M4B, 3GP and their kin.
    Mp4,
    /// Vorbis in Ogg.
    OggVorbis,
    /// Opus in Ogg.
    OggOpus,
    /// FLAC in Ogg.
    OggFlac,
    /// Speex in Ogg.
    OggSpeex,
    /// Ogg with something else, or with several kinds of streams.
    OggOther,
    /// RIFF, RF64, BW64 and Wave64.
    Wav,
    /// AIFF and AIFF-C.
    Aiff,
    /// Monkey's Audio.
    MonkeysAudio,
    /// WavPack.
    WavPack,
    /// Musepack SV7 and SV8.
    Musepack,
    /// True Audio.
    TrueAudio,
    /// OptimFROG.
    OptimFrog,
    /// Tom's lossless audio kompressor.
    Tak,
    /// DSD stream file.
    Dsf,
    /// DSDIFF.
    Dff,
    /// Matroska and WebM.
    Matroska,
    /// ASF, WMA.
    Asf,
    /// An audio extension, but content of no known kind.
    Unknown,
}

impl Format {
    /// The name in catalogues and templates.
    pub fn name(self) -> &'static str {
        todo!()
    }

    /// The format of a name in a catalogue.
    pub fn from_name(_name: &str) -> Option<Self> {
        todo!()
    }

    /// The usual extension, without a dot.
    pub fn extension(self) -> &'static str {
        todo!()
    }

    /// Whether `extension` (lower-case) is usual for the format, so that it is kept.
    pub fn has_extension(self, _extension: &str) -> bool {
        todo!()
    }
}

/// The format that the content shows, judged from the first bytes of a file (at least 64 KiB of it, if it is as long).
///
/// ID3v2 tags in front are looked behind as far as `head` goes. `extension` (lower-case, no dot) decides between
/// candidates only where content alone does not.
pub fn sniff(_head: &[u8], _extension: Option<&str>) -> Option<Format> {
    todo!()
}

/// The format that an extension (lower-case, no dot) promises; `None` if it is not one of audio.
pub fn extension_format(_extension: &str) -> Option<Format> {
    todo!()
}
