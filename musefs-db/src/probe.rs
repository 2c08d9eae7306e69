//! Whether somebody else wrote to the catalogue.

use crate::{Result, connection::Open};

/// A connection that only looks whether others committed.
#[derive(Debug)]
pub struct ChangeProbe {
    connection: Open,
    seen: i64,
}

impl ChangeProbe {
    pub(crate) fn new(connection: Open) -> Result<Self> {
        let mut probe = Self { connection, seen: 0 };
        probe.moved()?;
        Ok(probe)
    }

    /// Whether any other connection committed since the last call, of this program or of another.
    ///
    /// # Errors
    /// Those of reading.
    pub fn moved(&mut self) -> Result<bool> {
        let now = self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        Ok(std::mem::replace(&mut self.seen, now) != now)
    }
}
