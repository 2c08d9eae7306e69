//! A catalogue row in the words of templates.

use std::{borrow::Cow, ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path};

use musefs_db::TrackRow;
use musefs_format::Format;

use crate::template::{Fact, Fields};

/// The fields of one row; borrows everything.
pub struct RowFields<'a> {
    row: &'a TrackRow<'a>,
}

impl<'a> RowFields<'a> {
    /// The fields of `row`.
    pub fn new(row: &'a TrackRow<'a>) -> Self {
        Self { row }
    }

    /// The extension of the served file, without a dot: the source's own, unless its content says otherwise.
    pub fn extension(&self) -> Cow<'a, str> {
        let own = Path::new(OsStr::from_bytes(self.row.name)).extension().map(OsStr::to_string_lossy);
        match (Format::from_name(self.row.format), own) {
            (None | Some(Format::Unknown), own) => own.unwrap_or_default(),
            (Some(format), Some(own)) if format.has_extension(&own.to_lowercase()) => own,
            (Some(format), _) => Cow::Borrowed(format.extension()),
        }
    }

    fn path_below_root(&self) -> Cow<'a, str> {
        let below = self.row.dir.strip_prefix(self.row.root_path).unwrap_or(self.row.dir);
        let below = Path::new(OsStr::from_bytes(below));
        let path = below.strip_prefix("/").unwrap_or(below).join(self.stem());
        Cow::Owned(path.to_string_lossy().into_owned())
    }

    fn stem(&self) -> &'a OsStr {
        Path::new(OsStr::from_bytes(self.row.name)).file_stem().unwrap_or_default()
    }

    fn length(&self) -> Option<String> {
        let seconds = (self.row.duration_ms? + 500) / 1000;
        Some(format!("{}:{:02}", seconds / 60, seconds % 60))
    }

    fn added(&self) -> Option<String> {
        let added = jiff::Timestamp::from_millisecond(self.row.added_at_ms).ok()?;
        Some(added.strftime("%Y-%m-%d").to_string())
    }
}

impl Fields for RowFields<'_> {
    fn tag(&self, key: &str) -> Option<&str> {
        let first = self.row.tags.partition_point(|tag| &*tag.key < key);
        self.row.tags.get(first).filter(|tag| &*tag.key == key).map(|tag| tag.value.as_str())
    }

    fn values(&self, key: &str, each: &mut dyn FnMut(&str)) {
        let first = self.row.tags.partition_point(|tag| &*tag.key < key);
        self.row.tags[first..].iter().take_while(|tag| &*tag.key == key).for_each(|tag| each(&tag.value));
    }

    fn fact(&self, fact: Fact) -> Option<Cow<'_, str>> {
        let number = |value: Option<i64>| value.map(|value| Cow::Owned(value.to_string()));
        match fact {
            Fact::Id => number(Some(self.row.id.0)),
            Fact::Ext => Some(self.extension()),
            Fact::Format => Some(Cow::Borrowed(self.row.format)),
            Fact::Codec => Some(Cow::Borrowed(self.row.codec)).filter(|codec| !codec.is_empty()),
            Fact::Bitrate => number(self.row.bitrate_bps.map(|bps| (bps + 500) / 1000)),
            Fact::Samplerate => number(self.row.sample_rate_hz),
            Fact::Bits => number(self.row.bits),
            Fact::Channels => number(self.row.channels),
            Fact::Length => self.length().map(Cow::Owned),
            Fact::Filename => Some(self.stem().to_string_lossy()),
            Fact::Folder => Path::new(OsStr::from_bytes(self.row.dir)).file_name().map(OsStr::to_string_lossy),
            Fact::Path => Some(self.path_below_root()),
            Fact::Added => self.added().map(Cow::Owned),
        }
    }
}
