//! Formats without a reader of their own: tags and properties as lofty reads them.
//!
//! lofty gives no byte positions, so pictures are left out, and one odd item can cost it the whole
//! file. It runs behind a panic boundary and on a reader that ends its reading early.

use std::{
    io::{self, Read, Seek, SeekFrom},
    panic::{AssertUnwindSafe, catch_unwind},
};

use lofty::{
    config::{ParseOptions, ParsingMode},
    error::FileParseError,
    file::{AudioFile as _, FileType, TaggedFile, TaggedFileExt as _},
    probe::Probe,
    tag::{ItemKey, Tag, TagType},
};
use musefs_format::{Format, Properties, ReadAt, Tags};

use super::file::SourceFile;
use crate::limits::{LONG_TAIL_BYTES_MAX, TEXT_BYTES_MAX};

/// What lofty tells of a source.
pub(super) struct LongTail {
    pub(super) tags: Tags,
    pub(super) properties: Properties,
    /// Whether the properties could be read.
    pub(super) complete: bool,
}

/// Reads a source with lofty. `None`: the format is not among lofty's.
///
/// # Errors
/// What went wrong, in words.
pub(super) fn read(format: Format, source: &SourceFile) -> Option<Result<LongTail, String>> {
    let file_type = file_type(format)?;
    source.allow(LONG_TAIL_BYTES_MAX);
    // Files with odd properties often have tags that can be read.
    let all = parse_guarded(file_type, true, source);
    let (outcome, complete) = match all {
        Err(_) => (parse_guarded(file_type, false, source).or(all), false),
        Ok(_) => (all, true),
    };
    Some(outcome.map(|file| LongTail { tags: tags(&file), properties: properties(&file, format), complete }))
}

fn parse_guarded(file_type: FileType, with_properties: bool, source: &SourceFile) -> Result<TaggedFile, String> {
    let parse = || parse(file_type, with_properties, &mut Cursor { source, at: 0 });
    match catch_unwind(AssertUnwindSafe(parse)) {
        Ok(outcome) => outcome.map_err(|error| in_words(&error)),
        Err(_) => Err("its reader failed".to_owned()),
    }
}

/// An error with its causes: lofty's outermost only names the format.
fn in_words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |words, cause| format!("{words}: {cause}"))
}

fn file_type(format: Format) -> Option<FileType> {
    Some(match format {
        Format::OggVorbis => FileType::Vorbis,
        Format::OggOpus => FileType::Opus,
        Format::OggSpeex => FileType::Speex,
        _ => return None,
    })
}

fn parse(file_type: FileType, with_properties: bool, cursor: &mut Cursor<'_>) -> Result<TaggedFile, FileParseError> {
    let options =
        ParseOptions::new().read_properties(with_properties).read_cover_art(false).parsing_mode(ParsingMode::Relaxed);
    Probe::with_file_type(cursor, file_type).options(options).read()
}

fn properties(file: &TaggedFile, format: Format) -> Properties {
    let found = file.properties();
    let duration_ms = u64::try_from(found.duration().as_millis()).ok();
    Properties {
        codec: usual_codec(format).to_owned(),
        duration_ms: duration_ms.filter(|duration| *duration > 0),
        sample_rate_hz: found.sample_rate().filter(|rate| *rate > 0),
        channels: found.channels().filter(|channels| *channels > 0).map(u16::from),
        bits: found.bit_depth().filter(|bits| *bits > 0).map(u16::from),
        bitrate_bps: found.audio_bitrate().filter(|rate| *rate > 0).map(|kilobits| u64::from(kilobits) * 1000),
    }
}

/// The codec that files of a format have unless something tells otherwise; empty where there is none.
pub(super) fn usual_codec(format: Format) -> &'static str {
    match format {
        Format::Flac | Format::OggFlac => "flac",
        Format::Mpeg => "mp3",
        Format::Adts | Format::Mp4 => "aac",
        Format::OggVorbis => "vorbis",
        Format::OggOpus => "opus",
        Format::OggSpeex => "speex",
        Format::Wav | Format::Aiff => "pcm",
        Format::MonkeysAudio => "ape",
        Format::WavPack => "wavpack",
        Format::Musepack => "musepack",
        Format::TrueAudio => "tta",
        Format::OptimFrog => "optimfrog",
        Format::Tak => "tak",
        Format::Dsf | Format::Dff => "dsd",
        Format::Asf => "wma",
        Format::OggOther | Format::Matroska | Format::Unknown => "",
    }
}

/// All tags of a file; where several tell a key, the format's main one wins.
fn tags(file: &TaggedFile) -> Tags {
    let mut tags = Tags::new();
    let main = file.primary_tag_type();
    for tag in file.tag(main).into_iter().chain(file.tags().iter().filter(|tag| tag.tag_type() != main)) {
        for (key, values) in one_tag(tag).iter() {
            if tags.get(key).is_empty() {
                tags.set(key, values.to_vec());
            }
        }
    }
    tags
}

fn one_tag(tag: &Tag) -> Tags {
    let (mut tags, mut seconds) = (Tags::new(), Tags::new());
    for item in tag.items() {
        let Some(value) = item.value().text() else { continue };
        // Longer ones are not tags of a song; the formats' own readers will cut them with a word about it.
        if value.is_empty() || value.len() > TEXT_BYTES_MAX {
            continue;
        }
        match canonical(item.key()) {
            Some(Slot::Main(key)) => tags.push(key, value),
            Some(Slot::Spelt(key)) => tags.push(&key.to_lowercase(), value),
            Some(Slot::Second(key)) => seconds.push(key, value),
            None => {}
        }
    }
    for (key, values) in seconds.iter() {
        if tags.get(key).is_empty() {
            tags.set(key, values.to_vec());
        }
    }
    tags
}

enum Slot {
    /// A canonical key.
    Main(&'static str),
    /// A canonical key, but for its case.
    Spelt(&'static str),
    /// A canonical key that another item tells better.
    Second(&'static str),
}

/// The canonical key of an item: mostly the name of the Vorbis comment, with these exceptions.
fn canonical(key: ItemKey) -> Option<Slot> {
    Some(match key {
        ItemKey::TrackTotal => Slot::Main("totaltracks"),
        ItemKey::DiscTotal => Slot::Main("totaldiscs"),
        ItemKey::Movement => Slot::Main("movement"),
        ItemKey::MovementNumber => Slot::Main("movementnumber"),
        ItemKey::MusicBrainzRecordingId => Slot::Main("musicbrainz_recordingid"),
        ItemKey::MusicBrainzTrackId => Slot::Main("musicbrainz_trackid"),
        ItemKey::InitialKey => Slot::Main("key"),
        ItemKey::EncoderSettings => Slot::Main("encodersettings"),
        ItemKey::UnsyncLyrics => Slot::Main("lyrics"),
        ItemKey::ShowName => Slot::Main("show"),
        ItemKey::ShowNameSortOrder => Slot::Main("showsort"),
        ItemKey::ComposerSortOrder => Slot::Main("composersort"),
        ItemKey::OriginalAlbumTitle => Slot::Main("originalalbum"),
        ItemKey::OriginalArtist => Slot::Main("originalartist"),
        ItemKey::OriginalLyricist => Slot::Main("originallyricist"),
        ItemKey::ParentalAdvisory => Slot::Main("explicit"),
        ItemKey::FlagPodcast => Slot::Main("podcast"),
        ItemKey::PodcastUrl => Slot::Main("podcasturl"),
        ItemKey::PodcastGlobalUniqueId => Slot::Main("podcastid"),
        ItemKey::PodcastDescription => Slot::Main("podcastdescription"),
        ItemKey::PodcastSeriesCategory => Slot::Main("podcastcategory"),
        ItemKey::PodcastKeywords => Slot::Main("podcastkeywords"),
        ItemKey::Year => Slot::Second("date"),
        ItemKey::IntegerBpm => Slot::Second("bpm"),
        ItemKey::Publisher => Slot::Second("label"),
        ItemKey::Description => Slot::Second("comment"),
        ItemKey::AppleId3v2ContentGroup => Slot::Second("grouping"),
        _ => Slot::Spelt(key.map_key(TagType::VorbisComments)?),
    })
}

/// A source as lofty wants it.
struct Cursor<'a> {
    source: &'a SourceFile,
    at: u64,
}

impl Read for Cursor<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read_at(buf, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Cursor<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.source.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn keys(items: &[(ItemKey, &str)]) -> Vec<(String, Vec<String>)> {
        let mut tag = Tag::new(TagType::VorbisComments);
        for (key, value) in items {
            tag.push(lofty::tag::TagItem::new(*key, lofty::tag::ItemValue::Text((*value).to_owned())));
        }
        one_tag(&tag).iter().map(|(key, values)| (key.to_owned(), values.to_vec())).collect()
    }

    #[test]
    fn items_get_canonical_keys_in_order() {
        let tags = keys(&[
            (ItemKey::TrackArtist, "A"),
            (ItemKey::TrackArtist, "B"),
            (ItemKey::TrackTotal, "12"),
            (ItemKey::Year, "1999"),
            (ItemKey::MusicBrainzTrackId, "x"),
        ]);
        let expected = [
            ("artist", vec!["A", "B"]),
            ("date", vec!["1999"]),
            ("musicbrainz_trackid", vec!["x"]),
            ("totaltracks", vec!["12"]),
        ];
        let expected = expected.map(|(key, values)| (key.to_owned(), values.into_iter().map(str::to_owned).collect()));
        assert_eq!(tags, expected);
    }

    #[test]
    fn a_better_item_wins_over_a_second() {
        let tags = keys(&[(ItemKey::Year, "1999"), (ItemKey::RecordingDate, "1999-03-02")]);
        assert_eq!(tags, [("date".to_owned(), vec!["1999-03-02".to_owned()])]);
    }

    #[test]
    fn overlong_text_is_left_out() {
        let (edge, past) = ("x".repeat(TEXT_BYTES_MAX), "x".repeat(TEXT_BYTES_MAX + 1));
        assert_eq!(keys(&[(ItemKey::Comment, &edge)]).len(), 1);
        assert_eq!(keys(&[(ItemKey::Comment, &past)]).len(), 0);
    }

    #[test]
    fn damage_is_told_in_words() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"OggS nothing of the kind").unwrap();
        let source = SourceFile::open(file.path()).unwrap();
        assert!(read(Format::OggVorbis, &source).unwrap().is_err());
        assert!(read(Format::Tak, &source).is_none());
    }
}
