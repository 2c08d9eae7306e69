//! The catalogue: sources, tracks, tags, edits and their log, in SQLite.
//!
//! The only crate that says SQL; it knows nothing of audio formats, trees or transports. A [`Catalog`] is
//! opened once and shared: [`Catalog::read`] gives a [`Reader`] over one consistent state, [`Catalog::writer`]
//! a [`Writer`] for scans and edits, [`Catalog::change_probe`] tells when somebody else wrote.
//!
//! `docs/catalog.md` describes the schema for people and for other programs that write edits.

pub mod limits;

mod busy;
mod catalog;
mod connection;
mod disk;
mod error;
mod holder;
mod metrics;
mod model;
mod probe;
mod read;
mod schema;
mod snapshot;
mod write;

pub use catalog::{Access, Catalog};
pub use error::{Error, Kind, Result};
pub use metrics::memory_used_bytes;
#[cfg(feature = "metrics")]
pub use metrics::statements_total;
pub use model::{
    Action, ChangeId, EditInput, EditRow, KeyChange, Keys, LogEntry, LogQuery, Override, Picture, Properties, Root,
    RootId, Sequence, SourceFile, SourceId, SourceState, Stamp, Tag, TrackDetail, TrackId, TrackRow, Which,
};
pub use probe::ChangeProbe;
pub use read::Reader;
pub use write::{Author, Batch, Dismissed, Found, Known, Moved, Put, TrackEdit, Twin, Writer};
