//! A probed track in the words of the catalogue.

use musefs_db as db;
use musefs_format::{Picture, Tags};

use super::{
    probe::{Readability, Track},
    walk::Found,
};

/// Owns what a row borrows.
pub(super) struct Row<'a> {
    found: &'a Found,
    track: &'a Track,
    properties: db::Properties,
    pictures: Vec<db::Picture>,
    tags: Vec<(&'a str, &'a [String])>,
}

impl<'a> Row<'a> {
    pub(super) fn new(found: &'a Found, track: &'a Track) -> Self {
        Self {
            found,
            track,
            properties: properties(track),
            pictures: track.pictures.iter().map(picture).collect(),
            tags: track.tags.iter().collect(),
        }
    }

    /// The row under a root.
    pub(super) fn put(&self, root: db::RootId) -> db::Found<'_> {
        let (state, reason) = match &self.track.readability {
            Readability::Editable => (db::SourceState::Ok, None),
            Readability::Opaque(reason) => (db::SourceState::Opaque, Some(reason.as_str())),
            Readability::Unreadable(reason) => (db::SourceState::Unreadable, Some(reason.as_str())),
        };
        db::Found {
            root,
            dir: self.found.dir_bytes(),
            name: self.found.name.as_encoded_bytes(),
            stamp: self.track.stamp,
            state,
            reason,
            properties: &self.properties,
            audio_hash: self.track.identity,
            structure: &self.track.structure.0,
            tags: &self.tags,
            pictures: &self.pictures,
        }
    }
}

fn properties(track: &Track) -> db::Properties {
    let found = &track.properties;
    db::Properties {
        format: track.format.name().to_owned(),
        codec: found.codec.clone(),
        duration_ms: found.duration_ms.and_then(|ms| i64::try_from(ms).ok()),
        sample_rate_hz: found.sample_rate_hz.map(i64::from),
        channels: found.channels.map(i64::from),
        bits: found.bits.map(i64::from),
        bitrate_bps: found.bitrate_bps.and_then(|rate| i64::try_from(rate).ok()),
        audio_offset: track.audio.offset,
        audio_len: track.audio.len,
    }
}

fn picture(picture: &Picture) -> db::Picture {
    db::Picture {
        kind: picture.kind,
        mime: picture.mime.clone(),
        width: picture.width,
        height: picture.height,
        description: picture.description.clone(),
        offset: picture.range.offset,
        len: picture.range.len,
    }
}

/// Takes out what no row holds, and says so.
pub(super) fn trim(tags: &mut Tags, problems: &mut Vec<String>) {
    let too_long = |text: &str, limit: usize| text.len() > limit;
    let refused: Vec<(String, bool)> = tags
        .iter()
        .filter_map(|(key, values)| {
            let bad_key = key.is_empty() || too_long(key, db::limits::KEY_BYTES_MAX);
            let bad_value = values.iter().any(|value| too_long(value, db::limits::VALUE_BYTES_MAX));
            (bad_key || bad_value).then(|| (key.to_owned(), bad_key))
        })
        .collect();
    for (key, bad_key) in refused {
        if bad_key {
            problems.push(format!("a tag was left out: its name has {} bytes", key.len()));
            tags.set(&key, Vec::new());
            continue;
        }
        let (kept, cut): (Vec<String>, Vec<String>) =
            tags.get(&key).iter().cloned().partition(|value| !too_long(value, db::limits::VALUE_BYTES_MAX));
        for value in cut {
            let (bytes, limit) = (value.len(), db::limits::VALUE_BYTES_MAX);
            problems.push(format!("a value of {key} was left out: it has {bytes} bytes, and {limit} is the limit"));
        }
        tags.set(&key, kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_a_limit_is_left_out_and_told() {
        let (key_edge, key_past) = ("k".repeat(db::limits::KEY_BYTES_MAX), "k".repeat(db::limits::KEY_BYTES_MAX + 1));
        let (edge, past) = ("v".repeat(db::limits::VALUE_BYTES_MAX), "v".repeat(db::limits::VALUE_BYTES_MAX + 1));
        let (mut tags, mut problems) = (Tags::new(), Vec::new());
        tags.push(&key_edge, "x");
        tags.push(&key_past, "x");
        tags.push("comment", edge.as_str());
        tags.push("comment", past);
        trim(&mut tags, &mut problems);
        assert_eq!(problems.len(), 2);
        assert_eq!((tags.get(&key_edge).len(), tags.get(&key_past).len()), (1, 0));
        assert_eq!(tags.get("comment"), [edge]);
    }
}
