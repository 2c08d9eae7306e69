//! ID3v1: the last 128 bytes of a file (id3.org, "ID3v1"), with the track number of ID3v1.1.
//!
//! Fields are of fixed size and Latin-1, so that the tag is rewritten in place, field by field.

use serde::{Deserialize, Serialize};

use super::genres;
use super::text::Encoding;
use super::v2::Pieces;
use crate::Edits;
use crate::found::Found;

/// Bytes of the tag.
pub const TAG_BYTES: u64 = 128;

/// Key, first byte and length of each text field.
const FIELDS: [(&str, usize, usize); 5] =
    [("title", 3, 30), ("artist", 33, 30), ("album", 63, 30), ("date", 93, 4), ("comment", 97, 30)];
const TRACK: usize = 126;
const GENRE: usize = 127;

/// A tag of a source, as much as a rewrite needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Of its first byte in the source.
    pub offset: u64,
    /// Whether the comment is 28 bytes long and a track number follows it.
    pub has_track: bool,
    /// Whether a track number can be put behind the comment without cutting it.
    pub has_room_for_track: bool,
}

/// Reads the tag that `bytes` are, at `offset` of the source; `None` if they are none.
pub fn read(bytes: &[u8], offset: u64) -> Option<(Tag, Found)> {
    if bytes.len() as u64 != TAG_BYTES || !bytes.starts_with(b"TAG") {
        return None;
    }
    let has_track = bytes[TRACK - 1] == 0 && bytes[TRACK] != 0;
    let tag = Tag { offset, has_track, has_room_for_track: bytes[TRACK - 1] == 0 };
    let mut found = Found::default();
    for (key, at, len) in FIELDS {
        let len = if key == "comment" && has_track { len - 2 } else { len };
        let text = Encoding::Latin1.split_first(&bytes[at..at + len]).0;
        let text = Encoding::Latin1.decode(text.trim_ascii_end());
        if !text.is_empty() {
            found.add(key, 0, text);
        }
    }
    if has_track {
        found.add("tracknumber", 0, bytes[TRACK].to_string());
    }
    if let Some(genre) = genres::name(usize::from(bytes[GENRE])) {
        found.add("genre", 0, genre);
    }
    Some((tag, found))
}

/// The tag with the edited keys in their fields, as much of them as fits.
pub fn rewrite(tag: &Tag, edits: &Edits) -> Pieces {
    let mut pieces = Pieces::default();
    let mut at = 0;
    let has_track = tag.has_track || (tag.has_room_for_track && edits.touches("tracknumber"));
    let mut put = |from: usize, bytes: Vec<u8>| {
        pieces.source(tag.offset + at as u64, (from - at) as u64);
        at = from + bytes.len();
        pieces.made(bytes);
    };
    for (key, from, len) in FIELDS {
        let len = if key == "comment" && has_track { len - 2 } else { len };
        if edits.touches(key) {
            put(from, field(edits.effective().first(key).unwrap_or_default(), len));
        }
    }
    if has_track && edits.touches("tracknumber") {
        let number = edits.effective().first("tracknumber").and_then(|number| number.trim().parse::<u8>().ok());
        put(TRACK, vec![number.unwrap_or(0)]);
    }
    if edits.touches("genre") {
        let number = edits.effective().first("genre").and_then(genres::number);
        put(GENRE, vec![number.unwrap_or(u8::MAX)]);
    }
    pieces.source(tag.offset + at as u64, TAG_BYTES - at as u64);
    pieces
}

fn field(text: &str, len: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    Encoding::Latin1.encode(text, &mut bytes);
    bytes.resize(len, 0);
    bytes
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
    use super::*;
    use crate::Tags;
    use crate::splice::SpliceBuilder;
    use crate::testing::materialise;

    fn sample(comment: &[u8], track: [u8; 2]) -> Vec<u8> {
        let mut bytes = vec![0; 128];
        bytes[..8].copy_from_slice(b"TAGTitle");
        bytes[33..35].copy_from_slice(b"Me");
        bytes[93..97].copy_from_slice(b"1999");
        bytes[97..97 + comment.len()].copy_from_slice(comment);
        bytes[125..127].copy_from_slice(&track);
        bytes[127] = 17;
        bytes
    }

    fn tags(found: &Found) -> Tags {
        let mut tags = Tags::new();
        found.fill(&mut tags);
        tags
    }

    fn edited(bytes: &[u8], changes: &[(&str, &str)]) -> Tags {
        let (tag, found) = read(bytes, 0).unwrap();
        let changes = changes
            .iter()
            .map(|(key, value)| (key.to_string(), if value.is_empty() { vec![] } else { vec![value.to_string()] }));
        let mut builder = SpliceBuilder::default();
        rewrite(&tag, &Edits::over(tags(&found), changes)).append_to(&mut builder);
        let served = materialise(&builder.finish(), bytes);
        tags(&read(&served, 0).unwrap().1)
    }

    #[test]
    fn fields_are_read() {
        let read = |bytes: &[u8]| tags(&super::read(bytes, 0).unwrap().1);
        let tags = read(&sample(b"hm", [0, 7]));
        for (key, value) in [
            ("title", "Title"),
            ("artist", "Me"),
            ("date", "1999"),
            ("comment", "hm"),
            ("tracknumber", "7"),
            ("genre", "Rock"),
        ] {
            assert_eq!(tags.first(key), Some(value), "{key}");
        }
        assert_eq!(read(&sample(&[b'x'; 30], *b"xx")).first("tracknumber"), None);
    }

    #[test]
    fn only_edited_fields_change() {
        let tags = edited(
            &sample(b"hm", [0, 7]),
            &[("title", "A title with more than thirty letters"), ("genre", "None such"), ("artist", "")],
        );
        assert_eq!(tags.first("title"), Some("A title with more than thirty"));
        assert_eq!((tags.first("genre"), tags.first("artist")), (None, None));
        assert_eq!((tags.first("comment"), tags.first("tracknumber")), (Some("hm"), Some("7")));
    }

    #[test]
    fn a_track_number_never_cuts_a_comment() {
        assert_eq!(edited(&sample(b"hm", [0, 0]), &[("tracknumber", "3")]).first("tracknumber"), Some("3"));
        let full = edited(&sample(&[b'x'; 30], *b"xx"), &[("tracknumber", "3")]);
        assert_eq!((full.first("tracknumber"), full.first("comment").unwrap().len()), (None, 30));
        assert_eq!(edited(&sample(b"hm", [0, 7]), &[("tracknumber", "300")]).first("tracknumber"), None);
    }
}
