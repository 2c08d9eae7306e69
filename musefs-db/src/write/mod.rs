//! Writing: batches of a scan, and edits.

mod batch;
mod dismissed;
mod edit;
mod moves;
mod put;
mod roots;
mod source_row;
mod undo;

use std::collections::HashMap;

use crate::{Catalog, Result, connection::Open};

pub use batch::Batch;
pub use dismissed::Dismissed;
pub use edit::{Author, TrackEdit};
pub use moves::{Moved, Twin};
pub use put::{Found, Put};
pub use roots::Known;

/// A connection that writes. One writer at a time has the catalogue; others wait for it.
#[derive(Debug)]
pub struct Writer {
    connection: Open,
    catalog: Catalog,
    /// Ids of keys of tags that were used before.
    keys: HashMap<Box<str>, i64>,
    /// The directory that was used last, with its id.
    dir: Option<(Vec<u8>, i64)>,
    /// The first track that this writer made.
    first_new: Option<i64>,
}

impl Writer {
    pub(crate) fn new(connection: Open, catalog: Catalog) -> Result<Self> {
        Ok(Self { connection, catalog, keys: HashMap::new(), dir: None, first_new: None })
    }
}

/// Now, in milliseconds since 1970.
fn now_ms() -> i64 {
    let now = std::time::SystemTime::now();
    match now.duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}

/// How bytes of a path or name that are not UTF-8 are shown; `None` when they all are.
fn shown(bytes: &[u8]) -> Option<String> {
    if std::str::from_utf8(bytes).is_ok() {
        return None;
    }
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        shown.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("\\x{byte:02X}")));
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_text_are_shown_as_numbers() {
        assert_eq!(shown("Björk".as_bytes()), None);
        assert_eq!(shown(b"Bj\xf6rk").as_deref(), Some("Bj\\xF6rk"));
    }
}
