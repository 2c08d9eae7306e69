//! The words of the catalogue: ids and rows as the rest of the program sees them.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use crate::read::OverrideRows;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub i64);

        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                value.as_i64().map(Self)
            }
        }
    };
}

id!(
    /// A row that is listed and served. Never reused, the first is 16.
    TrackId
);
id!(
    /// A file on disk.
    SourceId
);
id!(
    /// A directory given to a scan.
    RootId
);
id!(
    /// The number of a change; later changes have higher ones.
    Sequence
);
id!(
    /// A change of edits: the id of its first entry in the log.
    ChangeId
);

/// What is known of a source's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceState {
    /// Read and understood: edits reach its bytes.
    Ok,
    /// Served whole always.
    Opaque,
    /// Not there when last looked for.
    Missing,
    /// There, but could not be read.
    Unreadable,
}

impl SourceState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Opaque, Self::Missing, Self::Unreadable];

    /// Its name in the catalogue.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Opaque => "opaque",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }
}

impl rusqlite::ToSql for SourceState {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl rusqlite::types::FromSql for SourceState {
    fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|state| state.as_str() == name).ok_or(rusqlite::types::FromSqlError::InvalidType)
    }
}

/// What tells whether a file is still the one that was scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// In bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Change time, nanoseconds since 1970.
    pub ctime_ns: i64,
}

/// One value of a tag. Lists of them are sorted by key, then by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Lower-case.
    pub key: Arc<str>,
    /// As it is served.
    pub value: String,
}

/// Which tags a query is about.
#[derive(Clone, Copy, Debug)]
pub enum Keys<'a> {
    /// All.
    All,
    /// Those of these lower-case keys.
    Only(&'a [&'a str]),
}

/// Which tracks a query is about.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    /// All.
    All,
    /// Those that changed after a number.
    Since(Sequence),
    /// One.
    One(TrackId),
}

/// One served track, borrowed from a streaming query.
#[derive(Clone, Copy, Debug)]
pub struct TrackRow<'a> {
    /// Of the track.
    pub id: TrackId,
    /// Raised by one with each change of its served bytes. A new track has 0.
    pub revision: u64,
    /// Number of its latest change.
    pub sequence: Sequence,
    /// When its served bytes last changed otherwise than its source's time tells. Milliseconds since 1970.
    pub changed_at_ms: Option<i64>,
    /// When its source was first seen. Milliseconds since 1970.
    pub added_at_ms: i64,
    /// The root that its source is under.
    pub root: RootId,
    /// Path of that root.
    pub root_path: &'a [u8],
    /// Absolute path of the source's directory.
    pub dir: &'a [u8],
    /// File name of the source.
    pub name: &'a [u8],
    /// Size and times of the source when it was scanned.
    pub stamp: Stamp,
    /// Health of the source.
    pub state: SourceState,
    /// Container.
    pub format: &'a str,
    /// Codec; empty when unknown.
    pub codec: &'a str,
    /// Play time in milliseconds.
    pub duration_ms: Option<i64>,
    /// Samples a second.
    pub sample_rate_hz: Option<i64>,
    /// Number of channels.
    pub channels: Option<i64>,
    /// Bits a sample.
    pub bits: Option<i64>,
    /// Mean bits a second.
    pub bitrate_bps: Option<i64>,
    /// Effective tags of the wanted keys.
    pub tags: &'a [Tag],
    /// What a splice needs; `Some` only for tracks that are edited.
    pub edit: Option<&'a EditInput>,
}

/// What the splice of an edited track is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditInput {
    /// The source's structure; empty when its bytes cannot be edited.
    pub structure: Vec<u8>,
    /// All tags of the source.
    pub source_tags: BTreeMap<String, Vec<String>>,
    /// Edited keys, sorted, with their new values; none = removed.
    pub changes: Vec<(String, Vec<String>)>,
}

/// What an open file of a track needs to know of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it was when it was scanned.
    pub stamp: Stamp,
    /// Container.
    pub format: String,
    /// Health.
    pub state: SourceState,
}

/// A picture inside a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Picture type of ID3v2.4 section 4.14; 3 is the front cover.
    pub kind: u8,
    /// MIME type.
    pub mime: String,
    /// Pixels; 0 when unknown.
    pub width: u32,
    /// Pixels; 0 when unknown.
    pub height: u32,
    /// In words.
    pub description: String,
    /// First byte in the source.
    pub offset: u64,
    /// Bytes in the source; 0 when it is not one plain range there.
    pub len: u64,
}

/// The technical facts of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Container.
    pub format: String,
    /// Codec; empty when unknown.
    pub codec: String,
    /// Play time in milliseconds.
    pub duration_ms: Option<i64>,
    /// Samples a second.
    pub sample_rate_hz: Option<i64>,
    /// Number of channels.
    pub channels: Option<i64>,
    /// Bits a sample.
    pub bits: Option<i64>,
    /// Mean bits a second.
    pub bitrate_bps: Option<i64>,
    /// First byte of the encoded audio.
    pub audio_offset: u64,
    /// Bytes of the encoded audio.
    pub audio_len: u64,
}

/// A row of `edits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditRow {
    /// Lower-case.
    pub key: String,
    /// Order among the values of the key.
    pub position: i64,
    /// `None`: the key is removed.
    pub value: Option<String>,
    /// Who made it.
    pub who: String,
    /// Why.
    pub why: Option<String>,
}

/// Everything about one track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackDetail {
    /// Of the track.
    pub id: TrackId,
    /// Raised by one with each change of its served bytes.
    pub revision: u64,
    /// See [`TrackRow::changed_at_ms`].
    pub changed_at_ms: Option<i64>,
    /// See [`TrackRow::added_at_ms`].
    pub added_at_ms: i64,
    /// Path of the root that the source is under.
    pub root: PathBuf,
    /// Of the source.
    pub path: PathBuf,
    /// What the source was when it was scanned.
    pub stamp: Stamp,
    /// Health of the source.
    pub state: SourceState,
    /// Why it is in that state.
    pub reason: Option<String>,
    /// Technical facts.
    pub properties: Properties,
    /// The source's structure.
    pub structure: Vec<u8>,
    /// Tags of the source.
    pub source_tags: BTreeMap<String, Vec<String>>,
    /// Pictures of the source.
    pub pictures: Vec<Picture>,
    /// Current edits, by key and position.
    pub edits: Vec<EditRow>,
}

impl TrackDetail {
    /// The current overrides by key; none = removed.
    pub fn overrides(&self) -> BTreeMap<String, Vec<String>> {
        let mut rows = OverrideRows::default();
        for edit in &self.edits {
            rows.put(&edit.key, edit.position, edit.value.clone());
        }
        rows.changes().map(|(key, values)| (key.to_owned(), values)).collect()
    }

    /// The tags that are served, by key.
    pub fn effective_tags(&self) -> BTreeMap<String, Vec<String>> {
        let mut tags = self.source_tags.clone();
        tags.extend(self.overrides());
        tags.retain(|_, values| !values.is_empty());
        tags
    }
}

/// A directory given to a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Of the root.
    pub id: RootId,
    /// Absolute.
    pub path: PathBuf,
}

/// What became of a row of `edits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It has the value.
    Set,
    /// It says that the key is removed.
    Remove,
    /// It is gone.
    Clear,
}

/// One row of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Of the row.
    pub id: i64,
    /// The change that it is part of.
    pub change: ChangeId,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// Who made it.
    pub who: String,
    /// Why.
    pub why: Option<String>,
    /// Whose edits changed.
    pub track: TrackId,
    /// The track's revision that came out of it.
    pub revision: u64,
    /// Lower-case; `picture:KIND` for pictures.
    pub key: String,
    /// Order among the values of the key.
    pub position: i64,
    /// What happened.
    pub action: Action,
    /// The value of [`Action::Set`].
    pub value: Option<String>,
}

/// The override of one key: `None` = as in the source, no values = removed.
pub type Override = Option<Vec<String>>;

/// What one change did to one key of one track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChange {
    /// The change.
    pub change: ChangeId,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// Who made it.
    pub who: String,
    /// Why.
    pub why: Option<String>,
    /// The track.
    pub track: TrackId,
    /// Lower-case; `picture:KIND` for pictures.
    pub key: String,
    /// The override before.
    pub before: Override,
    /// The override after.
    pub after: Override,
}

/// Which changes [`Reader::log`](crate::Reader::log) tells of, newest first.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// Only of this track.
    pub track: Option<TrackId>,
    /// Only this change.
    pub change: Option<ChangeId>,
    /// At most so many, and never more than [`limits::LOG_ENTRIES_MAX`](crate::limits::LOG_ENTRIES_MAX).
    pub count_max: Option<usize>,
}
