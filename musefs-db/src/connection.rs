//! Connections to a catalogue: how they are opened and set up, and the pool of those that read.

use std::{
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{
    Error, Result, busy, disk,
    limits::{JOURNAL_BYTES_MAX, PAGE_CACHE_KIB, READERS_MAX, STATEMENTS_MAX, WAIT_MAX},
};

/// Where a catalogue really is and how it may be opened.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// What the user named.
    pub(crate) catalog: PathBuf,
    /// What is opened: that, or a private copy of it.
    pub(crate) file: PathBuf,
    /// Nobody can write to it while it is open.
    pub(crate) immutable: bool,
    /// Connections that are open now.
    pub(crate) opened: Arc<AtomicU32>,
}

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write, and make the file if it is not there.
    Create,
    /// Write.
    Write,
    /// Only query, but tidy up when it is the last to close: that is, empty the write-ahead log.
    Query,
    /// Read.
    Read,
}

/// A connection that counts as open while it lives.
#[derive(Debug)]
pub(crate) struct Open {
    connection: Connection,
    opened: Arc<AtomicU32>,
}

impl Place {
    /// Opens a connection that waits for others in the name of `purpose`.
    pub(crate) fn connect(&self, mode: Mode, purpose: &str) -> rusqlite::Result<Open> {
        let access = match mode {
            Mode::Create => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            Mode::Write | Mode::Query => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Mode::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        let flags = access | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let uri = disk::uri(&self.file, if self.immutable { "?immutable=1" } else { "" });
        let mut connection = Connection::open_with_flags(uri, flags)?;
        busy::wait_politely(&mut connection, &self.catalog, purpose)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        // Plans must not depend on the values that are bound: otherwise this SQLite compiles a kept statement anew
        // for each use, which took 40 % of a scan's time in the catalogue.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.execute_batch(&format!(
            "PRAGMA cache_size = -{PAGE_CACHE_KIB}; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;"
        ))?;
        if matches!(mode, Mode::Query | Mode::Read) {
            connection.execute_batch("PRAGMA query_only = ON;")?;
        } else {
            connection.execute_batch(&format!("PRAGMA journal_size_limit = {JOURNAL_BYTES_MAX};"))?;
        }
        #[cfg(feature = "metrics")]
        crate::metrics::count_statements(&mut connection)?;
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Open { connection, opened: Arc::clone(&self.opened) })
    }

    /// [`Place::connect`], with the catalogue named in the error.
    pub(crate) fn open(&self, mode: Mode, purpose: &str) -> Result<Open> {
        self.connect(mode, purpose).map_err(|source| open_error(&self.catalog, source))
    }
}

/// The error for a catalogue that could not be opened.
pub(crate) fn open_error(path: &Path, source: rusqlite::Error) -> Error {
    match Error::from(source) {
        Error::Sql(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            Error::NotACatalog { path: path.to_owned() }
        }
        Error::Sql(source) => Error::Open { path: path.to_owned(), source },
        Error::ReadOnly { reason, .. } => Error::ReadOnly { path: path.to_owned(), reason },
        other => other,
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.opened.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Deref for Open {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Open {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

/// The pool of connections that read. They are opened when first needed.
pub(crate) type Pool = r2d2::Pool<Readers>;

/// Makes the pool of a place.
pub(crate) fn pool(place: Place, mode: Mode) -> Result<Pool> {
    r2d2::Pool::builder()
        .max_size(READERS_MAX)
        .min_idle(Some(0))
        .test_on_check_out(false)
        .connection_timeout(WAIT_MAX)
        .build(Readers { place, mode })
        .map_err(Error::Pool)
}

/// Tells the pool how to open a connection, and which ones to throw away.
#[derive(Debug)]
pub(crate) struct Readers {
    place: Place,
    mode: Mode,
}

impl r2d2::ManageConnection for Readers {
    type Connection = Open;
    type Error = rusqlite::Error;

    fn connect(&self) -> Result<Open, rusqlite::Error> {
        self.place.connect(self.mode, "reading the catalogue")
    }

    fn is_valid(&self, connection: &mut Open) -> Result<(), rusqlite::Error> {
        connection.execute_batch("SELECT 1")
    }

    fn has_broken(&self, connection: &mut Open) -> bool {
        // A panic inside a read leaves its transaction open, and with it an old view of the catalogue.
        !connection.is_autocommit()
    }
}
