//! Names and extensions of formats.

use super::Format;

/// Format, name in catalogues, extensions: the usual one first.
const NAMES: [(Format, &str, &[&str]); 22] = [
    (Format::Flac, "flac", &["flac", "fla"]),
    (Format::Mpeg, "mp3", &["mp3", "mp2", "mp1", "mpa", "m2a", "mpga"]),
    (Format::Adts, "aac", &["aac", "adts", "adt"]),
    (Format::Mp4, "mp4", &["m4a", "m4b", "mp4", "m4p", "m4r", "3gp", "3g2", "3ga", "alac"]),
    (Format::OggVorbis, "vorbis", &["ogg", "oga"]),
    (Format::OggOpus, "opus", &["opus", "ogg", "oga"]),
    (Format::OggFlac, "oggflac", &["oga", "ogg"]),
    (Format::OggSpeex, "speex", &["spx", "ogg", "oga"]),
    (Format::OggOther, "ogg", &["ogg", "oga", "ogx"]),
    (Format::Wav, "wav", &["wav", "wave", "rf64", "bw64", "w64", "bwf"]),
    (Format::Aiff, "aiff", &["aiff", "aif", "aifc", "afc"]),
    (Format::MonkeysAudio, "ape", &["ape", "mac", "apl"]),
    (Format::WavPack, "wavpack", &["wv"]),
    (Format::Musepack, "musepack", &["mpc", "mp+", "mpp"]),
    (Format::TrueAudio, "tta", &["tta"]),
    (Format::OptimFrog, "optimfrog", &["ofr", "ofs"]),
    (Format::Tak, "tak", &["tak"]),
    (Format::Dsf, "dsf", &["dsf"]),
    (Format::Dff, "dff", &["dff"]),
    (Format::Matroska, "matroska", &["mka", "webm", "weba"]),
    (Format::Asf, "asf", &["wma", "asf"]),
    (Format::Unknown, "unknown", OTHER_AUDIO),
];

/// Extensions of audio whose content is not looked into.
const OTHER_AUDIO: &[&str] = &[
    "ac3", "eac3", "ac4", "dts", "dtshd", "thd", "mlp", "au", "snd", "caf", "amr", "awb", "shn", "la", "ra", "rm",
    "voc", "aa", "aax", "mid", "midi", "kar", "mod", "xm", "s3m", "it", "oma", "at3", "aa3", "vqf", "iff", "sid",
    "spc", "nsf",
];

impl Format {
    fn row(self) -> &'static (Self, &'static str, &'static [&'static str]) {
        NAMES.iter().find(|row| row.0 == self).expect("a test holds a row for each format")
    }

    /// The name in catalogues and templates.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The format of a name in a catalogue.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The usual extension, without a dot; empty for [`Format::Unknown`].
    pub fn extension(self) -> &'static str {
        match self {
            Self::Unknown => "",
            _ => self.row().2[0],
        }
    }

    /// The extension for audio of this codec in this format: layers of MPEG audio have one each.
    pub fn extension_for(self, codec: &str) -> &'static str {
        match (self, codec) {
            (Self::Mpeg, "mp1") => "mp1",
            (Self::Mpeg, "mp2") => "mp2",
            _ => self.extension(),
        }
    }

    /// Whether `extension` (lower-case) is usual for the format, so that it is kept.
    ///
    /// Content of no known kind contradicts no extension.
    pub fn has_extension(self, extension: &str) -> bool {
        self == Self::Unknown || self.row().2.contains(&extension)
    }
}

/// The format that an extension (lower-case, no dot) promises; `None` if it is not one of audio.
///
/// Audio that this crate does not look into is [`Format::Unknown`].
pub fn extension_format(extension: &str) -> Option<Format> {
    NAMES.iter().find(|row| row.2.contains(&extension)).map(|row| row.0)
}
