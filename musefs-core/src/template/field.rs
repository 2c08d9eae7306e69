//! The names that a template can ask for.

use musefs_format::table;

use super::error::nearest;

/// A fact of a track that is no tag, told by whoever renders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The track's number in the catalogue.
    Id,
    /// Extension of the served file, without the dot.
    Ext,
    /// Container: `flac`, `mp3`, `mp4`…
    Format,
    /// Codec: `flac`, `mp3`, `aac`…
    Codec,
    /// Mean kbit/s.
    Bitrate,
    /// Samples a second.
    Samplerate,
    /// Bits a sample.
    Bits,
    /// Number of channels.
    Channels,
    /// Play time as minutes:seconds.
    Length,
    /// Name of the source, without its extension.
    Filename,
    /// Name of the directory that holds the source.
    Folder,
    /// Path of the source below its root, with `/`, without its extension.
    Path,
    /// Date on which the track came into the catalogue, as YYYY-MM-DD in UTC.
    Added,
}

impl Fact {
    /// The fact whose field has this name.
    pub fn named(name: &str) -> Option<Self> {
        WORKED_OUT.iter().find_map(|(known, source)| match source {
            Source::Fact(fact) if known.eq_ignore_ascii_case(name) => Some(*fact),
            _ => None,
        })
    }
}

/// Where the value of a field comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Tag(Box<str>),
    Fact(Fact),
    AlbumArtist,
    Year,
    Decade,
    Initial,
    Number(&'static Numbering),
    Total(&'static Numbering),
    MultiDisc,
}

/// Tags that hold a position and how many there are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Numbering {
    /// Key of the position; its value may be "3/12".
    pub(super) number: &'static str,
    /// Key of the total, which goes before the part behind a slash.
    pub(super) total: &'static str,
}

pub(super) const TRACK: Numbering = Numbering { number: "tracknumber", total: "totaltracks" };
pub(super) const DISC: Numbering = Numbering { number: "discnumber", total: "totaldiscs" };
/// Keys whose first four digits are the year, best first.
pub(super) const DATES: &[&str] = &["date", "releasedate", "originaldate", "originalyear"];

/// Fields that are worked out, and facts. Everything else is a tag.
const WORKED_OUT: &[(&str, Source)] = &[
    ("albumartist", Source::AlbumArtist),
    ("year", Source::Year),
    ("decade", Source::Decade),
    ("initial", Source::Initial),
    ("track", Source::Number(&TRACK)),
    ("tracktotal", Source::Total(&TRACK)),
    ("disc", Source::Number(&DISC)),
    ("disctotal", Source::Total(&DISC)),
    ("multidisc", Source::MultiDisc),
    ("id", Source::Fact(Fact::Id)),
    ("ext", Source::Fact(Fact::Ext)),
    ("format", Source::Fact(Fact::Format)),
    ("codec", Source::Fact(Fact::Codec)),
    ("bitrate", Source::Fact(Fact::Bitrate)),
    ("samplerate", Source::Fact(Fact::Samplerate)),
    ("bits", Source::Fact(Fact::Bits)),
    ("channels", Source::Fact(Fact::Channels)),
    ("length", Source::Fact(Fact::Length)),
    ("filename", Source::Fact(Fact::Filename)),
    ("folder", Source::Fact(Fact::Folder)),
    ("path", Source::Fact(Fact::Path)),
    ("added", Source::Fact(Fact::Added)),
];

/// Names that beets uses for the same things.
const BEETS: &[(&str, &str)] = &[
    ("albumartist_sort", "albumartistsort"),
    ("albumstatus", "releasestatus"),
    ("albumtype", "releasetype"),
    ("artist_sort", "artistsort"),
    ("bitdepth", "bits"),
    ("catalognum", "catalognumber"),
    ("comments", "comment"),
    ("comp", "compilation"),
    ("composer_sort", "composersort"),
    ("country", "releasecountry"),
    ("disctitle", "discsubtitle"),
    ("initial_key", "key"),
    ("mb_albumartistid", "musicbrainz_albumartistid"),
    ("mb_albumid", "musicbrainz_albumid"),
    ("mb_artistid", "musicbrainz_artistid"),
    ("mb_releasegroupid", "musicbrainz_releasegroupid"),
    ("mb_releasetrackid", "musicbrainz_trackid"),
    ("mb_trackid", "musicbrainz_recordingid"),
    ("mb_workid", "musicbrainz_workid"),
    ("original_date", "originaldate"),
    ("original_year", "originalyear"),
];

/// A resolved field: one spelling of its name, and where its value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) source: Source,
}

/// A name that no field has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown field \"{name}\"")]
pub struct UnknownField {
    /// As it was written.
    pub name: String,
    /// The field that was probably meant.
    pub suggestion: Option<&'static str>,
}

impl UnknownField {
    /// What to do now.
    pub fn hint(&self) -> String {
        let tag = format!("any tag can be named as ${{tag:{}}}", self.name);
        match self.suggestion {
            Some(suggestion) => format!("did you mean \"{suggestion}\"? {tag}"),
            None => tag,
        }
    }
}

impl Field {
    /// Finds a field by name, case and beets' spelling ignored. A name with a colon is always a tag: `tag:KEY`, or the
    /// key of a native slot such as `id3:TXXX…`.
    pub(super) fn resolve(name: &str) -> Result<Self, UnknownField> {
        let lower = name.to_lowercase();
        let ours = BEETS.iter().find(|(beets, _)| *beets == lower).map_or(lower.as_str(), |(_, ours)| ours);
        if let Some((name, source)) = WORKED_OUT.iter().find(|(name, _)| *name == ours) {
            return Ok(Self { name: (*name).into(), source: source.clone() });
        }
        let tag = ours.strip_prefix("tag:").map(str::trim);
        let key = table::canonical_key(tag.unwrap_or(ours));
        let is_any_tag = tag.is_some() || ours.contains(':');
        if key.is_empty() || !(is_any_tag || table::keys().contains(&&*key)) {
            return Err(UnknownField { name: name.to_owned(), suggestion: nearest(&lower, names()) });
        }
        let key = &*key;
        Ok(Self { name: key.into(), source: Source::Tag(key.into()) })
    }

    /// The tags that its value is made from.
    pub(super) fn keys(&self) -> Vec<&str> {
        match &self.source {
            Source::Tag(key) => vec![key],
            Source::Fact(_) => Vec::new(),
            Source::AlbumArtist => vec!["albumartist", "compilation", "artist"],
            Source::Year | Source::Decade => DATES.to_vec(),
            Source::Initial => vec!["albumartistsort", "albumartist", "compilation", "artist"],
            Source::Number(numbering) => vec![numbering.number],
            Source::Total(numbering) => vec![numbering.number, numbering.total],
            Source::MultiDisc => vec![DISC.number, DISC.total],
        }
    }
}

/// Tag keys that need no `tag:`: those of the table of tags, without those that are worked out.
fn tags() -> impl Iterator<Item = &'static str> {
    table::keys().iter().copied().filter(|key| WORKED_OUT.iter().all(|(name, _)| name != key))
}

/// All names of fields in our own spelling; beets' further ones are not among them.
pub fn names() -> impl Iterator<Item = &'static str> {
    WORKED_OUT.iter().map(|(name, _)| *name).chain(tags())
}

/// beets' names of fields with ours.
pub fn beets_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    BEETS.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_resolve_to_themselves() {
        for name in names() {
            let field = Field::resolve(&name.to_uppercase()).expect(name);
            assert_eq!(&*field.name, name);
        }
        for (beets, ours) in beets_names() {
            assert_eq!(&*Field::resolve(beets).expect(beets).name, ours);
        }
    }

    #[test]
    fn any_tag_can_be_named() {
        for (name, key) in [("tag:My Key", "my key"), ("id3:TXXX:foo", "foo"), ("tag:id3:priv:x", "id3:priv:x")] {
            assert_eq!(Field::resolve(name).expect(name).source, Source::Tag(key.into()));
        }
        for name in ["tag:", "tag: ", "my key", ""] {
            assert!(Field::resolve(name).is_err(), "{name}");
        }
    }
}
